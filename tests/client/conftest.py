from pathlib import Path

import pytest
import trio

from truc_client import Player, open_home


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak English, whatever the environment of the tests."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def player(tmp_path: Path) -> Player:
    return Player(open_home(tmp_path / "home"), "north")


@pytest.fixture
def guest(tmp_path: Path) -> Player:
    return Player(open_home(tmp_path / "home"), "north", is_guest=True)


@pytest.fixture
async def scripted(nursery: trio.Nursery):
    """Return a way to make scripted servers whose tasks end with the test."""
    from client.scripted import ScriptedServer

    def make(*args, **options) -> ScriptedServer:
        server = ScriptedServer(*args, **options)
        server.nursery = nursery
        return server

    return make


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory):
    """Return a server process that all tests of the session share."""
    from client.serving import RealServer

    server = RealServer(tmp_path_factory.mktemp("server")).start()
    yield server
    server.stop()
