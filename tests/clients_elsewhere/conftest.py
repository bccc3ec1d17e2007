import subprocess
from pathlib import Path

import pytest
from client.serving import RealServer
from clients_elsewhere.programs import JAVA


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory):
    """Return a server process that all tests of the session share."""
    server = RealServer(tmp_path_factory.mktemp("server")).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def keyed_java(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the command of the client in Java, which is compiled once: that takes longer than a match."""
    classes = tmp_path_factory.mktemp("java")
    sources = Path(__file__).with_name("keyed").glob("*.java")
    subprocess.run(["javac", "-d", classes, *sources], check=True)
    return (*JAVA, "-cp", str(classes), "keyed.Keyed")


@pytest.fixture
def client(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Return the command of a client, given it or the fixture that makes it."""
    return request.getfixturevalue(request.param) if isinstance(request.param, str) else request.param
