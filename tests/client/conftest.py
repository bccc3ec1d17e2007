from collections.abc import Iterator
from contextlib import closing
from copy import copy
from pathlib import Path

import pytest
import trio

from truc_client import Player, connect, open_home
from truc_client.home.home import Home, master_seed, write_seed
from truc_client.home.store import HomeStore


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak English, whatever the environment of the tests."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def truc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a way to run a command in a home of its own."""
    from client.running import truc

    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    return truc


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return the home of whoever runs commands."""
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    return open_home(tmp_path / "home")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HomeStore]:
    """Return a store of its own, not that of a home."""
    with closing(HomeStore(tmp_path / "state.sqlite")) as store:
        yield store


@pytest.fixture
def player(tmp_path: Path) -> Player:
    return Player(open_home(tmp_path / "home"), "north")


@pytest.fixture
def guest(tmp_path: Path) -> Player:
    return Player(open_home(tmp_path / "home"), "north", is_guest=True)


@pytest.fixture
def elsewhere(player: Player, tmp_path: Path) -> Player:
    """Return the same player in another home, which has the key alone."""
    other = Player(open_home(tmp_path / "elsewhere"), "north")
    write_seed(other.home, master_seed(player.home))
    return other


@pytest.fixture
async def scripted(nursery: trio.Nursery):
    """Return a way to make scripted servers whose tasks end with the test."""
    from client.strict import Strict

    def make(*args, kind: type[Strict] = Strict, **options) -> Strict:
        server = kind(*args, **options)
        server.nursery = nursery
        return server

    return make


@pytest.fixture
async def server(scripted, request: pytest.FixtureRequest):
    """Return a scripted server, with company; of another `KIND` and `TARGET`, if the test's module says one."""
    from client.hosting import Hosting

    kind, target = (
        getattr(request.module, name, usual) for name, usual in (("KIND", Hosting), ("TARGET", 3))
    )
    return scripted(kind=kind, target=target)


@pytest.fixture
async def connection(server, player: Player):
    """Return a connection of the player's to that server."""
    async with connect("host", player, dial=server.dial) as connection:
        yield connection


@pytest.fixture
async def deserted(scripted):
    """Return a server at which a match to 6 waits for a substitute in seat 0."""
    from client.deserting import DesertedServer

    server = scripted(kind=DesertedServer, target=6)
    await server.desert()
    return server


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the language known in which every text stands in brackets."""
    from client.pseudo import speak

    speak(monkeypatch.setattr)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory):
    """Return a scripted server with company and a match that was played to its end."""
    from client.hosting import Hosting
    from client.playing import play_on

    server = Hosting(target=3)

    async def play() -> None:
        player = Player(open_home(tmp_path_factory.mktemp("player")), "north")
        async with trio.open_nursery() as server.nursery:
            async with connect("host", player, dial=server.dial) as connection:
                table = await connection.create("truc-french")
                await table.ready()
                await play_on(table)
            server.nursery.cancel_scope.cancel()

    trio.run(play)
    return server


@pytest.fixture
async def played_server(nursery: trio.Nursery, played):
    """Return a server of one's own with that match."""
    server = copy(played)
    server.nursery, server.heard, server.sent, server._writing = nursery, [], [], trio.Lock()
    return server
