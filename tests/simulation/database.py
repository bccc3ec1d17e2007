"""The database that the nodes of a run share: the server's own store on SQLite, and between each node and it a line that may fail.

A transaction is made at one moment, as the fences let it appear on PostgreSQL too (test_transactions.py holds both to that).
It may be late, may not be made, and may be made without the node being told of it: what a node is not told of may be so or
not, as with any database.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import StrEnum, auto
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from server import compiled_once
from simulation.machine import PostponedError
from simulation.world import EPOCH_S

from truc_server.storage import StoreError, Write
from truc_server.storage.sql import Store, open_store

if TYPE_CHECKING:
    from simulation.machine import Machine
    from simulation.observer import Observer
    from simulation.world import World

compiled_once.install()

LOOK_S: Final = 0.25  # between two looks of what waits for a line


class Loss(StrEnum):
    """What becomes of the next commit of a node: it is not made, or it is and the node hears that it has failed."""

    BEFORE = auto()
    AFTER = auto()


class Line:
    """The connection of one node to the database.

    Attributes:
        asks_from: nothing that the node asks arrives before this moment.
        hears_from: nothing that the database answers arrives before this one.
        loss: what becomes of the node's next commit.
    """

    def __init__(self) -> None:
        self.asks_from = self.hears_from = 0.0
        self.loss: Loss | None = None


class Database:
    """The database of a run.

    Attributes:
        lines: to each process that has opened it.
        down_until: nobody reaches it before this moment.
    """

    def __init__(self, world: "World", file: Path, observer: "Observer") -> None:
        self.world = world
        self.observer = observer
        self.lines: defaultdict[Machine, Line] = defaultdict(Line)
        self.down_until = 0.0
        self._file = file

    def now_ms(self) -> int:
        """Return what the database's own clock shows."""
        return int((EPOCH_S + self.world.now) * 1_000)

    def restart(self, seconds: float) -> None:
        """Be down for a while; what was asked for and not answered may have been done or not."""
        self.down_until = max(self.down_until, self.world.now + seconds)
        for line in self.lines.values():
            line.loss = self.world.dice.choice(list(Loss))

    def open(self, machine: "Machine", *, patience_s: float | None) -> "LineToStore":
        """Connect a node, which waits for an answer as long as its patience."""
        store = open_store(f"sqlite:///{self._file}")
        machine.on_kill.append(store.close)
        return LineToStore(self, machine, store, inf if patience_s is None else patience_s)


class LineToStore:
    """The store as a node has it."""

    def __init__(self, database: Database, machine: "Machine", store: Store, patience_s: float) -> None:
        self._database = database
        self._machine = machine
        self._store = store
        self._line = database.lines[machine]
        self._patience_s = patience_s
        self._is_severed = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._over_the_line(found) if callable(found) else found

    def _over_the_line(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            self._reach()
            answer = method(*values, **named)
            self._hear()
            return answer

        return call

    def close(self) -> None:
        """Let the database go."""
        self._store.close()

    def sever(self) -> None:
        """Let a commit that waits for an answer fail at once."""
        self._is_severed = True

    def take_tables(self, *values: Any, **named: Any) -> Any:
        """Take tables, which no living node may have."""
        self._reach()
        with self._database.observer.taking(self._machine):
            answer = self._store.take_tables(*values, **named)
        self._hear()
        return answer

    def commit(self, writes: Sequence[Write]) -> None:
        """Commit, unless the line is lost before; say so, unless it is lost behind it."""
        if self._is_severed:
            raise StoreError("cannot write to the database: the connection was cut")
        self._reach()
        loss, self._line.loss = self._line.loss, None
        if loss is Loss.BEFORE:
            raise StoreError("cannot write to the database: the connection was lost")
        self._store.commit(writes)
        lease = self._store._lease
        self._database.observer.committed(self._machine, "" if lease is None else lease.owner, writes)
        if loss is Loss.AFTER:
            raise StoreError("cannot write to the database: the connection was lost")
        self._hear()

    def _reach(self) -> None:
        """Come to the database, later or not at all.

        Raises:
            StoreError: Not at all.
            PostponedError: Later.
        """
        now, machine = self._database.world.now, self._machine
        if self._database.down_until > now:
            raise StoreError("cannot reach the database: connection refused")
        if self._line.asks_from > now:
            until = machine.call_began + self._patience_s
            if now >= until or machine.calls_made:
                raise StoreError("cannot reach the database: no answer in time")
            raise PostponedError(min(self._line.asks_from, until, now + LOOK_S))
        machine.calls_made += 1

    def _hear(self) -> None:
        """Hear the answer, at once or later.

        Raises:
            StoreError: Never.
        """
        late_s = self._line.hears_from - self._database.world.now
        if late_s > 0:
            self._machine.answer_late_s = min(late_s, self._patience_s)
            if late_s > self._patience_s:
                raise StoreError("cannot reach the database: no answer in time")
