"""What a run takes for granted of its database: that a transaction is made at one moment. Held against SQLite and PostgreSQL.

One operation of a node is held open between any two of its statements, and before its commit. Meanwhile a lease ends and another
process does something. What all of them are told, and what is stored at the end, must be as if they had come one after the
other, in whatever order; which orders give what is found with the store that the runs use.
"""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import Any, NamedTuple

import pytest
from chaos.postgres import cluster, programs
from server.stored import MATCH, MID, SEAT, TABLE, new_database, record
from sqlalchemy import event, select, text

from truc_server.storage import NodePlace, StoreError, StoreLostError, leases, statements
from truc_server.storage.schema import nodes
from truc_server.storage.sql import Store, open_store

pytestmark = pytest.mark.slow

PLACE = NodePlace("one.example:7373", "10.0.0.1:7374", "0.1.0")
LONG_MS = 3_600_000
PATIENCE_S = 20
STATE = (
    "SELECT name, claimed, epoch, lease_until_ms > 0 FROM nodes ORDER BY name",
    "SELECT code, owner, epoch FROM tables ORDER BY code",
    "SELECT epoch, node FROM claims ORDER BY epoch",
    "SELECT k, epoch FROM records ORDER BY k",
    "SELECT table_code, seat FROM seats ORDER BY seat",
)


class Scene:
    """A database with two nodes: `one` has a table with a match, `two` has none; `third` is somebody who comes."""

    def __init__(self, url: str) -> None:
        self.one, self.two, self.third, self.host = (open_store(url) for _ in range(4))
        self.is_file = url.startswith("sqlite")

    def close(self) -> None:
        for store in (self.one, self.two, self.third, self.host):
            store.close()

    def prepare(self) -> None:
        """Begin anew."""
        with self.host._engine.begin() as connection:
            for name in ("seats", "records", "matches", "claims", "orders", "tables", "nodes"):
                connection.execute(text(f"DELETE FROM {name}"))
            connection.execute(text("UPDATE ownership SET epoch = 0"))
        self.lease = self.one.join("one", PLACE, lease_ms=LONG_MS)
        self.other = self.two.join("two", PLACE, lease_ms=LONG_MS)
        self.one.commit([TABLE, MATCH, record(0)])

    def end_lease(self) -> None:
        with self.host._engine.begin() as connection:
            connection.execute(text("UPDATE nodes SET lease_until_ms = 0 WHERE name = 'one'"))

    def state(self) -> tuple[Any, ...]:
        with self.host._reading.connect() as connection:
            return tuple(
                tuple(tuple(row) for row in connection.execute(text(query)).all()) for query in STATE
            )

    def waiting(self) -> int:
        """Return how many transactions wait for another."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        with self.host._reading.connect() as connection:
            return int(connection.execute(text(query)).scalar_one())


class Operation(NamedTuple):
    """What a process does, and through which connection, which makes one thing at a time."""

    line: str
    do: Callable[[Scene], object]


def seen(store: Store, answer: object) -> tuple[object, int]:
    """Return an answer with how much of the match is there when whoever takes the table up reads it."""
    return answer, store.record_count(MID)


OPERATIONS = {
    "append": Operation("one", lambda scene: scene.one.commit([record(1)])),
    "commit": Operation("one", lambda scene: scene.one.commit([record(1), SEAT])),
    "renew": Operation(
        "beside", lambda scene: scene.one.renew(scene.lease, lease_ms=LONG_MS, place=PLACE, draining=False)
    ),
    "release": Operation("beside", lambda scene: scene.one.release(scene.lease)),
    "take": Operation("two", lambda scene: seen(scene.two, scene.two.take_tables(scene.other, most=9))),
    "again": Operation(
        "third", lambda scene: seen(scene.third, scene.third.join("one", PLACE, lease_ms=LONG_MS))
    ),
    "alone": Operation("third", lambda scene: seen(scene.third, scene.third.claim("alone"))),
}
END = "the lease of one ends"


def told(scene: Scene, name: str) -> object:
    """Do something, and return what whoever does it is told."""
    try:
        return scene.end_lease() if name == END else OPERATIONS[name].do(scene)
    except StoreLostError:
        return "lost"
    except StoreError as error:
        return f"failed: {error}"


def in_turn(scene: Scene, names: tuple[str, ...]) -> tuple[object, ...]:
    """Return what comes of operations one after the other, with the store of the runs: what each is told, by name, and the state."""
    scene.prepare()
    found = {name: told(scene, name) for name in names}
    return (tuple(sorted(found.items(), key=lambda pair: pair[0])), scene.state())


@cache
def orders(file: Scene, names: frozenset[str]) -> frozenset[tuple[object, ...]]:
    """Return all that may come of operations."""
    return frozenset(in_turn(file, names) for names in itertools.permutations(sorted(names)))


class Hold:
    """Stops an operation once, behind so many of its statements, until it may go on."""

    def __init__(self, after: int) -> None:
        self.is_there = threading.Event()
        self.goes_on = threading.Event()
        self._left = after
        self._thread: threading.Thread | None = None

    def begin(self, thread: threading.Thread) -> None:
        self._thread = thread

    def step(self) -> None:
        if threading.current_thread() is self._thread:
            if self._left == 0:
                self.is_there.set()
                assert self.goes_on.wait(PATIENCE_S)
            self._left -= 1


@contextmanager
def held(scene: Scene, hold: Hold) -> Iterator[None]:
    """Let a hold see every statement, of the short way for records too, and every commit."""
    engines = [store._engine for store in (scene.one, scene.two, scene.third)]
    behind_fence, appended = statements._record_rows, statements._append

    def rows(*values: Any) -> Any:
        hold.step()
        return behind_fence(*values)

    def append(*values: Any) -> None:
        appended(*values)
        hold.step()

    def executed(*_: object) -> None:
        hold.step()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(statements, "_record_rows", rows)
        patched.setattr(statements, "_append", append)
        for engine in engines:
            event.listen(engine, "after_cursor_execute", executed)
        try:
            yield
        finally:
            for engine in engines:
                event.remove(engine, "after_cursor_execute", executed)


def interleaved(scene: Scene, first: str, second: str, after: int) -> tuple[object, ...] | None:
    """Return what comes of two operations and the end of a lease while the first is held; None if it has no so many statements."""
    scene.prepare()
    found: dict[str, object] = {}

    def do(name: str) -> None:
        found[name] = told(scene, name)

    hold = Hold(after)
    threads = [threading.Thread(target=do, args=[name]) for name in (first, END, second)]
    with held(scene, hold):
        hold.begin(threads[0])
        threads[0].start()
        while not hold.is_there.wait(0.005):
            if not threads[0].is_alive():
                return None
        for thread in threads[1:]:
            thread.start()
            settle(scene, threads[1:])
        hold.goes_on.set()
        for thread in threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
    return (tuple(sorted(found.items(), key=lambda pair: pair[0])), scene.state())


def settle(scene: Scene, threads: list[threading.Thread]) -> None:
    """Wait until all that has begun is done, or waits for what is held; in a file everything that writes waits."""
    if scene.is_file:
        return
    for _ in range(PATIENCE_S * 200):
        alive = sum(thread.is_alive() for thread in threads)
        if scene.waiting() >= alive:
            return
        threading.Event().wait(0.005)
    raise AssertionError("neither done nor waiting")


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Iterator[Scene]:
    database = tmp_path_factory.mktemp("database") / "truc.db"
    database.write_bytes(new_database())
    with closing(Scene(f"sqlite:///{database}")) as scene:
        yield scene


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Scene]:
    if programs() is None:
        pytest.skip("needs PostgreSQL (Debian's package postgresql)")
    with cluster() as running, closing(Scene(running.create("truc"))) as scene:
        yield scene


def check_pair(scene: Scene, file: Scene, first: str, second: str) -> int:
    """Hold the first between any two statements; return how often that was."""
    allowed = orders(file, frozenset((first, END, second)))
    for after in itertools.count():
        came = interleaved(scene, first, second, after)
        if came is None:
            return after
        assert came in allowed, (first, second, after)
    raise AssertionError


PAIRS = [
    (first, second)
    for first, second in itertools.permutations(OPERATIONS, 2)
    if OPERATIONS[first].line != OPERATIONS[second].line
]


@pytest.mark.parametrize("first", OPERATIONS)
@pytest.mark.parametrize("kind", ["file", "postgresql"])
def test_what_is_held_open_between_any_two_statements_is_as_if_made_at_one_moment(kind, first, file, request):
    scene = request.getfixturevalue(kind)
    times = [check_pair(scene, file, first, second) for one, second in PAIRS if one == first]
    assert min(times) > 0


@pytest.mark.parametrize("second", ["take", "again", "alone"])
def test_fence_that_keeps_no_row_is_found(postgresql, file, monkeypatch, second):
    def unkept(lease):
        return select(nodes.c.epoch).where(*leases.own_row(lease), leases._LEASE_LASTS)

    monkeypatch.setattr(leases, "fence", unkept)
    leases.fence_sql.cache_clear()
    try:
        with pytest.raises(AssertionError):
            check_pair(postgresql, file, "append", second)
    finally:
        leases.fence_sql.cache_clear()
