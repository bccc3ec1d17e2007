"""A server on a loopback port, in this process, with its store in a temporary folder."""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from weakref import WeakSet

import checked_once
import msgspec
import pytest
import structlog
import trio
from server import compiled_once
from server.rawclient import RawClient, RawSeat
from server.stored import new_database, url

from truc_protocol.audit import Result
from truc_server.identity.identity import load_identity
from truc_server.operation import logs
from truc_server.server import serve
from truc_server.settings.folder import Folder, open_folder
from truc_server.settings.settings import (
    LimitSettings,
    ListenSettings,
    LogSettings,
    MatchDefaults,
    Settings,
    TableSettings,
)
from truc_server.settings.variants import read_catalogue
from truc_server.storage.archive import Archive, open_archive
from truc_server.storage.sql import Store, open_store

QUICK = Settings(
    listen=ListenSettings(hosts=("127.0.0.1",), port=0),
    tables=TableSettings(between_hands_ms=0, window_ms=0),
    limits=LimitSettings(
        requests_per_s=10_000,
        burst=10_000,
        acts_per_s=10_000,
        table_acts_per_s=10_000,
        connections_per_address=100,
        failed_logins_per_min=10_000,
        tables_per_min=10_000,
        tables_per_address=10_000,
        connects_per_min=100_000,
    ),
    match=MatchDefaults(guests=4),
)


def changed(settings, **sections):
    """Return settings with fields of sections replaced: changed(QUICK, limits={"burst": 3})."""
    replaced = {
        name: msgspec.structs.replace(getattr(settings, name), **value) if isinstance(value, dict) else value
        for name, value in sections.items()
    }
    return msgspec.structs.replace(settings, **replaced)


def under(settings=QUICK, **sections):
    """Let the server of a test, or of all tests of a class, have settings of its own."""
    return pytest.mark.under(changed(settings, **sections))


PATIENT = changed(QUICK, limits={"idle_s": 3600, "login_s": 600})
"""Where a test lets time jump, and nobody is to be taken for lost."""

compiled_once.install()


class Running:
    """A server that runs, and what its tests need of it."""

    def __init__(self, settings, folder, store) -> None:
        self.settings = settings
        self.folder = folder
        self.store = store
        self.port = 0
        self.scope = trio.CancelScope()
        self.clients: list[RawClient] = []

    async def connect(self, source: str | None = None) -> RawClient:
        client = RawClient(await trio.open_tcp_stream("127.0.0.1", self.port, local_address=source))
        self.clients.append(client)
        return client

    async def seat(self, *, want=(), **fields) -> RawSeat:
        seat = RawSeat(await self.connect(), **fields)
        assert (await seat.login(want=want))["t"] == "welcome"
        return seat

    async def seats(
        self, count, variant="truc-french", *, guests=(), boxed=True, seed=1, want=(), **fields
    ) -> list[RawSeat]:
        """Return `count` players at one table, none of them ready."""
        seats = [
            await self.seat(seed=seed * 10 + i, keyed=i not in guests, boxed=boxed, want=want)
            for i in range(count)
        ]
        table = await seats[0].create(variant, seats=count, **fields)
        for i, seat in enumerate(seats[1:], 1):
            await seat.join(table, i)
        return seats

    async def match(self, count=2, variant="truc-french", **fields) -> list[RawSeat]:
        """Return `count` players who have all said ready."""
        seats = await self.seats(count, variant, **fields)
        for seat in seats:
            assert (await seat.ready())["t"] == "ok"
        return seats

    def stop(self) -> None:
        self.scope.cancel()


@asynccontextmanager
async def running(path, settings=QUICK, *, wrap=lambda store: store, control=None):
    """Run a server on a folder; `wrap` puts something before its store, `control` is what a host has in hand."""
    folder = Folder(path)
    path.mkdir(exist_ok=True, mode=0o700)
    path.chmod(0o700)
    catalogue = read_catalogue(folder.variants)
    identity = load_identity(folder)
    if not folder.database.exists():
        folder.database.write_bytes(new_database())
    store = wrap(open_store(f"sqlite:///{path / 'truc.db'}"))
    server = Running(settings, folder, store)
    async with trio.open_nursery() as nursery:
        listening = trio.Event()

        def announce(port, _origin):
            server.port = port
            listening.set()

        async def run():
            with closing(store), server.scope:
                await serve(settings, folder, store, identity, announce, catalogue=catalogue, control=control)

        nursery.start_soon(run)
        await listening.wait()
        try:
            yield server
        finally:
            server.stop()
            with trio.CancelScope(shield=True):  # also where the server has failed
                for client in server.clients:
                    await trio.aclose_forcefully(client.stream)


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch):
    """No setting comes from the environment in which the tests run."""
    for variable in [name for name in os.environ if name.startswith("TRUC_")]:
        monkeypatch.delenv(variable)


@pytest.fixture
def any_port(monkeypatch):
    """Let commands try a port that the system chooses: on the usual one another server may run."""
    monkeypatch.setenv("TRUC_LISTEN_PORT", "0")


@pytest.fixture(autouse=True)
def plain_logs():
    """Log as a server does, and not with the values of variables in tracebacks."""
    logs.configure(LogSettings(), sys.stderr)
    yield
    structlog.reset_defaults()


@pytest.fixture
def shown():
    """Return what is logged from now on, as text that people read."""
    logs.configure(LogSettings(), text := StringIO())
    return text


@pytest.fixture(autouse=True)
def checks_are_shared(monkeypatch):
    """No signature and no point is checked twice by all those who are one process here."""
    checked_once.install(monkeypatch)


@pytest.fixture(autouse=True)
def only_listed_refusals(monkeypatch):
    """No request is refused with a code that the reference does not list for it."""
    # here, as it reads the documentation's code, which a benchmark that imports this module need not find
    from server.refusals import unlisted_refusals

    unlisted = unlisted_refusals(monkeypatch)
    yield
    assert unlisted == []


@pytest.fixture
def settings(request):
    """Return what a test or its class is `under`, or else what its module has as SETTINGS, or else the usual settings."""
    own = request.node.get_closest_marker("under")
    return own.args[0] if own else getattr(request.module, "SETTINGS", QUICK)


@pytest.fixture
def path(tmp_path):
    """Return where the data folder of the servers of a test is, or will be."""
    return tmp_path / "data"


@pytest.fixture
async def server(path, settings):
    async with running(path, settings) as server:
        yield server


@contextmanager
def limited(what: int, most: int):
    """Let the process have no more of something within the block."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


def no_more_files():
    """Let the process open no file and no connection within the block."""
    return limited(resource.RLIMIT_NOFILE, 3)


def no_file_longer_than(size: int):
    """Let no file that is written within the block get longer, as if the disk were full then."""
    return limited(resource.RLIMIT_FSIZE, size)


def living(monkeypatch, kind: type) -> WeakSet:
    """Return those that are made of a kind from now on, as long as anybody holds them."""
    made, begin = WeakSet(), kind.__init__

    def noted(self, *parts, **named) -> None:
        begin(self, *parts, **named)
        made.add(self)

    monkeypatch.setattr(kind, "__init__", noted)
    return made


async def together(*tasks) -> None:
    """Run plays at the same time, with an end to patience."""
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for task in tasks:
                nursery.start_soon(task)


async def play_on(seats, until=lambda seat: seat.done) -> None:
    """Play at the same time, each seat until a condition holds of it, by default to the end of the match."""
    await together(*(partial(seat.play, until) for seat in seats))


async def play_out(seats) -> None:
    """Play to the end of a match, which must be proven."""
    await play_on(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def give_up(seats) -> None:
    """Play on to a decision in a hand, where the first seat gives the match up, which must be proven."""
    first, *others = seats
    first.chooses = lambda message, options: None if first.ledger.hand else first.pick(message, options)
    for seat in others:
        seat.chooses = seat.pick

    async def resign() -> None:
        while not first.done:
            await first.play(lambda seat: seat.done or asked(seat))
            if not first.done:
                here = first.next
                await first.resign()
                await first.play(lambda seat, here=here: seat.done or seat.next > here)

    await together(resign, *(seat.play for seat in others))
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


def asked(seat: RawSeat) -> bool:
    """Tell whether the first decision of the first hand has come to this seat."""
    return any(
        told is not None and told["at"] == seat.next and seat.ledger.hand
        for told in (seat.options, seat.waiting)
    )


async def in_hand(server, variant="truc-french", *, count=2, **fields) -> list[RawSeat]:
    """Return players in the middle of a hand, none of whom moves any more."""
    seats = await server.match(count, variant, **fields)
    for seat in seats:
        seat.chooses = only_cut
    await play_on(seats, asked)
    return seats


async def over(server, **fields) -> list[RawSeat]:
    """Return two players whose match is over, as the first has resigned."""
    seats = await in_hand(server, **fields)
    await seats[0].resign()
    await play_on(seats)
    return seats


def only_cut(message, options):
    """Choose nothing but a cut."""
    return next((option for option in options if option["kind"] == "cut"), None)


def holder_of(seats) -> tuple[RawSeat, RawSeat]:
    """Return the seat that is to move, and the other."""
    first, second = seats
    return (first, second) if is_to_move(first) else (second, first)


def is_to_move(seat: RawSeat) -> bool:
    """Tell whether a seat holds the decision at this position."""
    return seat.options is not None and seat.options["must"] and seat.options["at"] == seat.next


@pytest.fixture
def data(path: Path) -> Folder:
    """Return the folder of a server that has run; a module may have another one."""
    folder = open_folder(path)
    load_identity(folder)
    folder.database.write_bytes(new_database())
    return folder


@pytest.fixture
def call(data: Folder):
    """Call a command on the data folder of the test."""
    from server import commands  # slow to import

    return partial(commands.call, data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "truc.db").write_bytes(new_database())
    return tmp_path


@pytest.fixture
def database_url(folder: Path) -> str:
    """Return where the database of the test is; a module may have another one."""
    return url(folder)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with closing(open_store(database_url)) as with_claim:
        with_claim.claim("this process")
        yield with_claim


@pytest.fixture
def archive(database_url: str) -> Iterator[Archive]:
    """What another program reads of the same store."""
    with closing(open_archive(database_url)) as opened:
        yield opened


def another_store(database_url: str) -> Iterator[Store]:
    """Another process on the same database, before its claim."""
    with closing(open_store(database_url)) as other:
        yield other


rival, fresh, third = (pytest.fixture(another_store, name=name) for name in ("rival", "fresh", "third"))


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch):
    """Nodes that share a database, and look often for what others have done."""
    from server.nodes import Nodes  # which runs them as is done here

    for wait in ("bulletin_exchange.TELL_EVERY_S", "bulletin_exchange.HEAR_EVERY_S", "lease_keeper.LOOK_S"):
        monkeypatch.setattr(f"truc_server.cluster.{wait}", 0.1)
    monkeypatch.setattr("truc_server.upkeep.draining.ORDERS_S", 0.1)
    return Nodes(tmp_path)


@pytest.fixture
async def both(nodes, settings):
    """Two nodes on one database."""
    async with nodes.run("one", settings) as one, nodes.run("two", settings) as two:
        yield one, two
