"""A store that fails or waits exactly where a plan says.

It stands before a real one: what it lets through is really written, what it breaks off is really rolled back. A place
is found by what a commit writes, so that it stays the same moment of a match however commits are batched. Invariant:
without a fault it is the store behind it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import event

from truc_protocol.records import Record, parse, tag_of
from truc_server.storage import AddRecord, StoreError, Write, statements
from truc_server.storage.sql import Store

COMMIT: Final = "commit"
READS: Final = frozenset(
    {
        "tables",
        "seats",
        "terms",
        "match",
        "records",
        "wishes",
        "record_count",
        "count_until",
        "past_match",
        "guests",
        "chat",
        "next_line",
        "ignored",
        "guests_by_tokens",
        "stray_secrets",
        "members",
        "is_member",
    }
)


class Point(StrEnum):
    """Where in a commit a fault strikes, or at a read."""

    BEFORE = "before"
    MIDDLE = "middle"  # a part of its statements is carried out
    AFTER = "after"  # it is durable, and nobody knows yet
    READ = "read"


class Fault(NamedTuple):
    """What is done, and where: at the `n`-th write or read of a name.

    `what` is `commit` for any, the name of a write (`SaveChat`), the kind of a record (`close`), or the name of a read.
    """

    point: Point
    what: str
    n: int
    do: Callable[[], None]


def fail() -> None:
    """Fail as a disk does.

    Raises:
        StoreError: Always.
    """
    raise StoreError("cannot write to the database: by plan")


class FaultyStore:
    """A store under a plan; what it has committed is in `committed`."""

    def __init__(self, store: Store, faults: Sequence[Fault]) -> None:
        self.committed: list[Write] = []
        self.faults = list(faults)
        self._store = store
        self._seen: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in READS:
            return method

        def read(*arguments: Any, **named: Any) -> Any:
            self._strike(Point.READ, Counter([name, COMMIT]))
            return method(*arguments, **named)

        return read

    def commit(self, writes: Sequence[Write]) -> None:
        """Commit as the plan wants it."""
        names = Counter(name for write in writes for name in _names(write))
        names[COMMIT] = 1
        self._strike(Point.BEFORE, names)
        faults = self._due(Point.MIDDLE, names)
        if faults:
            self._commit_in_part(writes, faults)
        else:
            self._store.commit(writes)
        self.committed += writes
        after = self._due(Point.AFTER, names)
        self._seen += names
        for fault in after:
            fault.do()

    def _strike(self, point: Point, names: Counter[str]) -> None:
        faults = self._due(point, names)
        if point is Point.READ:
            self._seen += names
        for fault in faults:
            fault.do()

    def _due(self, point: Point, names: Counter[str]) -> list[Fault]:
        return [
            fault
            for fault in self.faults
            if fault.point is point
            and self._seen[fault.what] < fault.n <= self._seen[fault.what] + names[fault.what]
        ]

    def _commit_in_part(self, writes: Sequence[Write], faults: Sequence[Fault]) -> None:
        """Strike when the first of the statements that change something has been carried out, through SQLAlchemy or past it."""
        alone = statements._append

        def append(*arguments: Any) -> bool:
            is_done = alone(*arguments)
            for fault in faults:
                fault.do()
            return is_done

        def strike(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
            if statement.startswith(("INSERT", "UPDATE", "DELETE")):
                for fault in faults:
                    fault.do()

        event.listen(self._store._engine, "after_cursor_execute", strike)
        statements._append = append
        try:
            self._store.commit(writes)
        finally:
            statements._append = alone
            event.remove(self._store._engine, "after_cursor_execute", strike)


def _names(write: Write) -> tuple[str, ...]:
    name = type(write).__name__
    if isinstance(write, AddRecord):
        tag = tag_of(parse(Record(write.signer, write.body, write.sig)))
        return (name, tag.rpartition("/")[2])
    return (name,)
