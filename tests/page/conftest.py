import pytest
from client.browser import chromium
from page.playing import WebServer


@pytest.fixture(scope="session")
def web_server(tmp_path_factory):
    """Return a server with a door for browsers that all tests of the session share."""
    server = WebServer(tmp_path_factory.mktemp("server"))
    server.real.start()
    yield server
    server.real.stop()


@pytest.fixture(scope="session")
def chrome(tmp_path_factory):
    """Return a browser that all tests of the session share; each opens pages of its own in it."""
    with chromium(tmp_path_factory.mktemp("browser")) as running:
        yield running
