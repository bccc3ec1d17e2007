import pytest
from client.serving import RealServer


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory):
    """Return a server process that all tests of the session share."""
    server = RealServer(tmp_path_factory.mktemp("server")).start()
    yield server
    server.stop()
