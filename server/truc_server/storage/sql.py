"""The store on SQLAlchemy Core: SQLite in a file, or another database by its URL.

Writing goes through one kept connection, one transaction at a time; reading goes through a small pool beside it. Every
method blocks and may be called from any thread: under Trio call it in a worker thread. Invariants: when `commit` returns,
all of its writes will be found again after a crash; when it raises, either all or none of them will, as a disk can fail
after everything was written: nobody may be told of them, and nothing may be written after them. A commit begins with the
fence, so that a process that lost a table writes nothing to it; and two records never share a position, whoever writes.
"""

import os
import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from threading import Lock
from typing import Any, Concatenate, Final, ParamSpec, TypeVar
from weakref import WeakSet

from sqlalchemy import Connection, Engine, Select, and_, event, func, select
from sqlalchemy.exc import SQLAlchemyError

from truc_protocol.records import Record
from truc_server.storage import (
    AddRecord,
    AddWish,
    DamagedRowError,
    Lease,
    NodePlace,
    PastMatch,
    PlayerKind,
    RunningMatch,
    SaveChat,
    SaveGuest,
    SaveSeat,
    SaveTable,
    StoreBusyError,
    StoredSeat,
    StoredTerms,
    StoreError,
    Write,
    archive,
    bulletins,
    housekeeping,
    leases,
    node_keys,
    ratings,
)
from truc_server.storage.archive import unpack_setup
from truc_server.storage.bulletins import BulletinListener, open_listener
from truc_server.storage.column_types import ColumnError
from truc_server.storage.engine import (
    damage_in,
    for_reading,
    is_busy,
    open_engine,
    reading,
    reason,
    shown_url,
)
from truc_server.storage.schema import (
    chat,
    guests,
    ignored,
    match_players,
    matches,
    records,
    seats,
    secrets,
    tables,
    terms,
    wishes,
)
from truc_server.storage.sqlite_file import DatabaseFiles, checkpoint_wal, files_of
from truc_server.storage.statements import append_records, apply

_TABLES: Final = select(*(tables.c[field] for field in SaveTable._fields))
_SEATS: Final = select(*(seats.c[field] for field in SaveSeat._fields))
_SEATS_OF: Final = (
    select(seats.c.table, seats.c.seat, seats.c.name, match_players.c.mid)
    .select_from(seats)
    .join(tables, tables.c.code == seats.c.table)
    .join(
        match_players,
        and_(
            match_players.c.mid == tables.c.match,
            match_players.c.player == seats.c.player,
            match_players.c.seat == seats.c.seat,
            # While terms are out the table still has the match before, which is over.
            tables.c.state != "terms",
        ),
        isouter=True,
    )
    .order_by(seats.c.table)
)
_RECORDS: Final = select(*(records.c[field] for field in AddRecord._fields))
_WISHES: Final = select(*(wishes.c[field] for field in AddWish._fields)).order_by(wishes.c.k, wishes.c.seat)
_GUESTS: Final = select(*(guests.c[field] for field in SaveGuest._fields))
_CHAT: Final = select(*(chat.c[field] for field in SaveChat._fields))
_MATCHES: Final = select(*(matches.c[field] for field in RunningMatch._fields[:-1]), secrets.c.sealed).join(
    secrets, secrets.c.th == matches.c.th, isouter=True
)
_TERMS: Final = (
    select(terms.c.th, terms.c.signer, terms.c.body, terms.c.sig, secrets.c.sealed)
    .join(secrets, secrets.c.th == terms.c.th, isouter=True)
    .order_by(terms.c.signer)
)
_STRAY_SECRETS: Final = (
    select(secrets.c.th)
    .join(matches, matches.c.th == secrets.c.th, isouter=True)
    .where(matches.c.mid.is_(None), secrets.c.th.not_in(select(terms.c.th)))
    .order_by(secrets.c.th)
)


def open_store(url: str, *, patience_s: float | None = None, node: str = "") -> "Store":
    """Open the database at `url`, bringing its schema up to date; `patience_s` and `node` as in `open_engine`.

    Raises:
        StoreError: It cannot be opened, or belongs to a newer version.
    """
    engine = open_engine(url, patience_s=patience_s, node=node)
    try:
        return Store(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise StoreError(f"cannot open {shown_url(engine)}: {reason(error)}") from error


Given = ParamSpec("Given")
Found = TypeVar("Found")


def _reads(
    work: Callable[Concatenate[Connection, Given], Found],
) -> Callable[Concatenate["Store", Given], Found]:
    """Return the method of the store that reads something from one state of the database."""

    def method(self: "Store", /, *values: Given.args, **named: Given.kwargs) -> Found:
        with reading(self._reading) as connection:
            return work(connection, *values, **named)

    return method


def _writes(
    work: Callable[Concatenate[Connection, Given], Found],
) -> Callable[Concatenate["Store", Given], Found]:
    """Return the method of the store that writes something in a durable transaction of its own."""

    def method(self: "Store", /, *values: Given.args, **named: Given.kwargs) -> Found:
        with self._transaction("write to") as connection:
            return work(connection, *values, **named)

    return method


def _writes_beside(
    work: Callable[Concatenate[Connection, Given], Found],
) -> Callable[Concatenate["Store", Given], Found]:
    """Return the method of the store that writes something in a durable transaction, beside a commit that may be under way."""

    def method(self: "Store", /, *values: Given.args, **named: Given.kwargs) -> Found:
        try:
            with self._engine.begin() as connection:
                return work(connection, *values, **named)
        except SQLAlchemyError as error:
            raise self._failed("write to", error) from error

    return method


class Store:
    """Tables, seats, guests, matches and their records, kept for good in one database."""

    matches_of = _reads(archive.matches_of)
    leaderboard = _reads(ratings.leaderboard)
    profile = _reads(ratings.profile)
    members = _reads(housekeeping.members_by_age)
    is_member = _reads(housekeeping.is_member)
    invites = _reads(housekeeping.invites_by_end)
    sanctions = _reads(housekeeping.sanctions_by_age)
    count_old_matches = _reads(housekeeping.count_old_matches)
    old_matches = _reads(housekeeping.old_matches)
    nodes = _reads(leases.all_nodes)
    table_owner = _reads(leases.table_owner)
    owned_codes = _reads(leases.owned_codes)
    epoch = _reads(leases.epoch)
    count_unowned = _reads(leases.count_unowned)
    has_orders = _reads(leases.has_orders)
    table_codes = _reads(leases.table_codes)
    is_any_table_free = _reads(leases.is_any_table_free)
    news_of_others = _reads(bulletins.news_of_others)
    stray_listings = _reads(bulletins.stray_listings)

    # These need no claim of the tables, so that a command can do them beside a running server.
    admit = _writes(housekeeping.admit)
    expel = _writes(housekeeping.expel)
    issue = _writes(housekeeping.issue)
    use_invite = _writes(housekeeping.use_invite)
    withdraw = _writes(housekeeping.withdraw)
    impose = _writes(housekeeping.impose)
    lift = _writes(housekeeping.lift)
    prune_guests = _writes(housekeeping.prune_guests)
    delete_match = _writes(housekeeping.delete_match)
    unrate = _writes(ratings.unrate)

    raise_epoch = _writes(leases.raise_epoch)
    check_keys = _writes(node_keys.check_keys)

    # Of leases: on connections of their own, so that no long commit keeps a renewal waiting.
    renew = _writes_beside(leases.renew)
    take_tables = _writes_beside(leases.take_tables)
    release = _writes_beside(leases.release)
    leave_order = _writes_beside(leases.leave_order)
    take_orders = _writes_beside(leases.take_orders)

    # What nodes tell each other, which no commit waits for either.
    tell = _writes_beside(bulletins.tell)
    sweep_bulletins = _writes_beside(bulletins.sweep_bulletins)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reading = for_reading(engine)
        # For `sever`: with SQLite there is no connection to a server that could be cut.
        self._drivers = WeakSet[Any]()
        self._drivers_lock = Lock()
        if engine.dialect.name != "sqlite":
            event.listen(engine, "checkout", self._note_driver)
        # Kept for good, so that no commit waits for a connection of the pool.
        self._writing = engine.connect()
        self._turn = Lock()
        self._files: DatabaseFiles | None = None
        self._lease: Lease | None = None

    def claim(self, owner: str) -> Lease:
        """Take every table for `owner`, alone on the database, under a new epoch; earlier owners can write no more."""
        with self._transaction("claim the tables of") as connection:
            self._lease = leases.claim(connection, owner)
        return self._lease

    def join(self, name: str, place: NodePlace, *, lease_ms: int) -> Lease:
        """Join as the node of this name, which owns the tables that the name owned; its earlier process can write no more.

        Raises:
            StoreError: The database failed, or there are too many nodes.
        """
        with self._transaction("join the nodes of") as connection:
            self._lease = leases.join(connection, name, place, lease_ms=lease_ms)
        return self._lease

    def commit(self, writes: Sequence[Write]) -> None:
        """Write all, in order, in one durable transaction.

        Raises:
            StoreLostError: This process may write no more, or a position is taken.
            StoreBusyError: Another program holds the database; the same commit may be tried again.
            StoreError: The database failed, or its files are not where they were.
        """
        lease = self._lease
        if lease is None:
            raise StoreError("expected a claim of the tables before the first commit, got none")
        # Nearly every commit has records alone. What SQLAlchemy does around each statement was two fifths of
        # the processor time of a small one, in a thread that waits for the same core as the tables.
        records = [write for write in writes if isinstance(write, AddRecord)]
        if len(records) == len(writes):
            with self._turn_to("write to") as connection:
                append_records(connection, lease, records)
            return
        with self._transaction("write to") as connection:
            epoch = leases.hold_lease(connection, lease)
            # Before any row is locked: nodes that rate the same players wait for each other here and nowhere
            # else.
            ratings.lock_players(connection, writes)
            # Only neighbours of one kind become one statement: what was written later must win.
            for _kind, alike in groupby(writes, type):
                apply(connection, lease, epoch, tuple(alike))

    def table(self, code: str) -> SaveTable | None:
        """Return a table as it was last saved, or None if there is none of this code."""
        rows = self._read(_TABLES.where(tables.c.code == code))
        return SaveTable._make(rows[0]) if rows else None

    def seats(self, table: str) -> tuple[SaveSeat, ...]:
        """Return the taken seats of a table, in seat order."""
        rows = self._read(_SEATS.where(seats.c.table == table).order_by(seats.c.seat))
        return tuple(SaveSeat._make(row)._replace(kind=PlayerKind(row.kind)) for row in rows)

    def seats_of(self, player: bytes) -> tuple[StoredSeat, ...]:
        """Return every seat of a player, whichever node has its table."""
        return tuple(StoredSeat._make(row) for row in self._read(_SEATS_OF.where(seats.c.player == player)))

    def terms(self, table: str) -> StoredTerms | None:
        """Return the terms of a table that wait for signatures, or None if there are none."""
        rows = self._read(_TERMS.where(terms.c.table == table))
        if not rows:
            return None
        return StoredTerms(rows[0].th, tuple(Record(*row[1:4]) for row in rows), rows[0].sealed)

    def match(self, mid: bytes) -> RunningMatch | None:
        """Return a match, ended or not, or None if there is none."""
        rows = self._read(_MATCHES.where(matches.c.mid == mid))
        return _match(rows[0]) if rows else None

    def records(self, mid: bytes, *, first: int, limit: int) -> tuple[AddRecord, ...]:
        """Return at most `limit` records of a match from position `first` on."""
        page = _RECORDS.where(records.c.mid == mid, records.c.k >= first).order_by(records.c.k).limit(limit)
        return tuple(AddRecord._make(row) for row in self._read(page))

    def wishes(self, mid: bytes) -> tuple[AddWish, ...]:
        """Return what the seats of a match have asked for, in the order of its records."""
        return tuple(AddWish._make(row) for row in self._read(_WISHES.where(wishes.c.mid == mid)))

    def record_count(self, mid: bytes) -> int:
        """Return the next position of a match: the number of records stored."""
        ((last,),) = self._read(select(func.max(records.c.k)).where(records.c.mid == mid))
        return 0 if last is None else int(last) + 1

    def count_until(self, mid: bytes, at_ms: int) -> int:
        """Return how many records of a match were made up to a time."""
        later = select(func.min(records.c.k)).where(records.c.mid == mid, records.c.at_ms > at_ms)
        ((first,),) = self._read(later)
        return self.record_count(mid) if first is None else int(first)

    def past_match(self, mid: bytes) -> PastMatch | None:
        """Return the facts that decide who may read a match, or None if there is no such match."""
        columns = (
            matches.c.table,
            matches.c.document,
            matches.c.setup,
            matches.c.readers,
            matches.c.ended_ms,
        )
        rows = self._read(select(*columns).where(matches.c.mid == mid))
        if not rows:
            return None
        table, document, setup, readers, ended_ms = rows[0]
        players = self._read(select(match_players.c.player).where(match_players.c.mid == mid))
        ids = frozenset(player for (player,) in players)
        return PastMatch(table, document, unpack_setup(setup), readers, ended_ms is not None, ids)

    def guests(self, mid: bytes) -> dict[int, bytes]:
        """Return the ids of the guests who have played a match, by seat."""
        played = (match_players.c.mid == mid, match_players.c.kind == PlayerKind.GUEST)
        return dict(self._read(select(match_players.c.seat, match_players.c.player).where(*played)))

    def chat(self, table: str, limit: int) -> tuple[SaveChat, ...]:
        """Return the newest lines of a table's chat, at most `limit`, oldest first."""
        said = _CHAT.where(chat.c.table == table, chat.c.text != "")  # forgotten lines are empty
        rows = self._read(said.order_by(chat.c.n.desc()).limit(limit))
        return tuple(SaveChat._make(row) for row in reversed(rows))

    def next_line(self, table: str) -> int:
        """Return the number of the next line of a table's chat: after every one said, the forgotten included."""
        ((newest,),) = self._read(select(func.max(chat.c.n)).where(chat.c.table == table))
        return 0 if newest is None else int(newest) + 1

    def ignored(self, player: bytes) -> frozenset[str]:
        """Return the tags of those whom a player ignores."""
        return frozenset(
            tag for (tag,) in self._read(select(ignored.c.tag).where(ignored.c.player == player))
        )

    def ignoring(self) -> frozenset[bytes]:
        """Return the ids of the players who ignore anybody."""
        return frozenset(player for (player,) in self._read(select(ignored.c.player).distinct()))

    def guests_by_tokens(self, hashes: Collection[bytes]) -> dict[bytes, SaveGuest]:
        """Return the guests who have the tokens with these hashes, by hash."""
        found = map(SaveGuest._make, self._read(_GUESTS.where(guests.c.token_hash.in_(hashes))))
        return {guest.token_hash: guest for guest in found}

    def stray_secrets(self) -> tuple[bytes, ...]:
        """Return the `th` of secrets whose match never started."""
        return tuple(th for (th,) in self._read(_STRAY_SECRETS))

    def listener(self) -> BulletinListener | None:
        """Return a listener for news from other nodes; None where the database has none.

        Raises:
            StoreError: The database cannot be reached.
        """
        try:
            return open_listener(self._engine)
        except SQLAlchemyError as error:
            raise self._failed("listen to", error) from error

    def sever(self) -> None:
        """Cut every connection, from any thread: what the database does not answer fails at once. Not for files."""
        with self._drivers_lock:
            drivers = tuple(self._drivers)
        for driver in drivers:
            _shut_down(driver)

    def close(self) -> None:
        """Release the database; nothing may be called afterwards."""
        with self._turn:
            self._writing.close()
            # A thread that was left behind may still have a connection, which nothing else would close.
            event.listen(self._engine.pool, "checkin", _close_returned)
            self._engine.dispose()

    def _note_driver(self, driver: Any, _record: object, _checked_out: object) -> None:
        """Remember a connection in use, to be able to cut it."""
        with self._drivers_lock:
            self._drivers.add(driver)

    @contextmanager
    def _turn_to(self, purpose: str) -> Iterator[Connection]:
        """Give the one connection that writes; when it is given back, what was written is checked to be there."""
        try:
            with self._turn:
                yield self._writing
                self._check_files()
        except (SQLAlchemyError, ColumnError) as error:
            raise self._failed(purpose, error) from error

    @contextmanager
    def _transaction(self, purpose: str) -> Iterator[Connection]:
        with self._turn_to(purpose) as connection, connection.begin():
            # Not before the first transaction, which makes the write-ahead log.
            self._files = self._files or files_of(connection)
            yield connection

    def _failed(self, purpose: str, error: SQLAlchemyError | ColumnError) -> StoreError:
        what = f"cannot {purpose} {shown_url(self._engine)}"
        if isinstance(error, ColumnError):
            return DamagedRowError(f"{what}: {damage_in(error)}")
        kind = StoreBusyError if is_busy(error) else StoreError
        return kind(f"{what}: {reason(error)}")

    def _check_files(self) -> None:
        """Check that what was written will be found; if only the log is lost, put what it holds into the database.

        Raises:
            StoreError: It may not be found.
        """
        # After each commit: SQLite itself notices nothing, and would go on writing to a file without a name.
        try:
            if self._files is not None:
                self._files.check()
        except StoreError:
            checkpoint_wal(self._writing)
            raise

    def _read(self, query: Select[*tuple[Any, ...]]) -> Sequence[Any]:
        with reading(self._reading) as connection:
            return connection.execute(query).all()


def _shut_down(driver: Any) -> None:
    """End the wait of whoever waits for an answer on a connection of psycopg."""
    # Shut down, not closed: that wakes the thread that waits in the driver, and a descriptor that was closed
    # beneath it might by then be somebody else's. The error is that of one that is closed already.
    with suppress(OSError, driver.Error), socket.socket(fileno=os.dup(driver.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RDWR)


def _match(row: Any) -> RunningMatch:
    return RunningMatch._make(row)._replace(setup=unpack_setup(row.setup))


def _close_returned(connection: Any, _record: object) -> None:
    """Close a connection that comes back to a store that is closed."""
    connection.close()
