import pytest
from page.playing import WebServer


@pytest.fixture(scope="session")
def web_server(tmp_path_factory):
    """Return a server with a door for browsers that all tests of the session share."""
    with WebServer(tmp_path_factory.mktemp("server")) as server:
        yield server
