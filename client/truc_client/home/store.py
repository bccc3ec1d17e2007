"""What a client must never forget, in one SQLite file: pinned servers, terms accepted, and every body it signed.

Each write is on the disk when its method returns (synchronous = FULL), before the bytes it concerns are sent. That is
why the calls are synchronous: between deciding and storing nothing else may happen. Invariant: for each place (a
release of a deal, an act at a position) there is one body, whatever the server says of it; only a new chain that it has
refused by signature may give way to another.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from truc_client.errors import HomeError, SignedBeforeError
from truc_protocol.bodies import Act, Rekey, Resign, Sub
from truc_protocol.crypto.keys import box_key
from truc_protocol.records import SERVER, SIGNATURE_BYTES, Record, is_of_kind
from truc_protocol.wire.handshake import Pin
from truc_words import Sentence

VERSION: Final = 4
_MATCHES: Final = """CREATE TABLE matches (
    th BLOB PRIMARY KEY, tn BLOB NOT NULL, server BLOB NOT NULL, code TEXT NOT NULL, seat INTEGER NOT NULL,
    mid BLOB UNIQUE, k INTEGER, head BLOB,
    UNIQUE (server, tn))"""
_STOPPED: Final = "CREATE TABLE stopped (id BLOB PRIMARY KEY, why TEXT NOT NULL)"
_CHAINS: Final = """CREATE TABLE chains (
    match BLOB NOT NULL, x BLOB NOT NULL, first INTEGER NOT NULL, root BLOB NOT NULL, secret BLOB NOT NULL,
    after_loss INTEGER NOT NULL, counter INTEGER NOT NULL DEFAULT -1,
    PRIMARY KEY (match, x))"""
_TABLES: Final = (
    """CREATE TABLE servers (
        server TEXT PRIMARY KEY, first BLOB NOT NULL, present BLOB NOT NULL, serial INTEGER NOT NULL,
        tls INTEGER NOT NULL DEFAULT 0)""",
    "CREATE TABLE tokens (server BLOB PRIMARY KEY, token TEXT NOT NULL)",
    """CREATE TABLE statements (
        match BLOB NOT NULL, what TEXT NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL,
        body BLOB NOT NULL, sig BLOB NOT NULL, refusal BLOB,
        PRIMARY KEY (match, what, number, attempt))""",
    _MATCHES,
    _CHAINS,
    _STOPPED,
)


def bring_up_to_date(database: sqlite3.Connection) -> None:
    """Make the tables, or change those of an older file; the caller has begun a transaction.

    Raises:
        HomeError: The file was made by a newer client.
    """
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise HomeError(Sentence("failures.newer_database", version=version))
    if version == 0:
        for statement in _TABLES:
            database.execute(statement)
    if version == 1:
        _give_chains_a_table(database)
    if version in (1, 2):
        _bind_nonces_to_servers(database)
    if version in (1, 2, 3):
        database.execute("ALTER TABLE servers ADD COLUMN tls INTEGER NOT NULL DEFAULT 0")
    database.execute(f"PRAGMA user_version = {VERSION}")


def _give_chains_a_table(database: sqlite3.Connection) -> None:
    """Version 1 had one chain for each match, in the row of the match."""
    database.execute(_CHAINS)
    running = database.execute("SELECT th, root, secret, counter FROM matches WHERE root IS NOT NULL")
    for th, root, secret, counter in running.fetchall():
        values = (th, box_key(secret).public, root, secret, counter)
        database.execute("INSERT INTO chains VALUES (?, ?, 0, ?, ?, 0, ?)", values)


def _bind_nonces_to_servers(database: sqlite3.Connection) -> None:
    """Up to version 2 a nonce was unique across all servers, so that one server could use up another's."""
    database.execute("ALTER TABLE matches RENAME TO matches_before")
    database.execute(_MATCHES)
    database.execute(
        "INSERT INTO matches SELECT th, tn, server, code, seat, mid, k, head FROM matches_before"
    )
    database.execute("DROP TABLE matches_before")
    database.execute(_STOPPED)


_BUSY_S: Final = 10.0
_MOST: Final = 2**63 - 1  # that SQLite counts; a server may count its boxes further
_MATCH_COLUMNS: Final = "th, tn, server, code, seat, mid, k, head"


class Slot(NamedTuple):
    """A place for one signed body: `what` is seat, release, act or ack; `number` a deal index or position.

    An act, a resignation, a rekey and a sub share the place of an act: each position has only one of them. In mode blind
    `what` is also a step with the pack of a deal: mask; lock, keys and lend, each with what tells it from others of its kind.
    """

    what: str
    number: int = 0


class Statement(NamedTuple):
    """A body this client signed, as sent."""

    body: bytes
    sig: bytes

    @property
    def begins_chain(self) -> bool:
        """Whether it begins a new chain, for one's own seat or for one taken over."""
        return is_of_kind(self.body, Rekey, Sub)

    @property
    def is_decision(self) -> bool:
        """Whether it is an act or a resignation."""
        return is_of_kind(self.body, Act, Resign)


_Attempt = tuple[int, bytes, bytes, bytes | None]
"""What was signed for a place: the number of the try, its signature, and the server's refusal of it."""


def _gives_way(row: _Attempt) -> bool:
    """Tell whether another body may be signed in the place of one."""
    # the anchor of a new chain may have been copied by another seat, and is then refused for ever (C7); a
    # decision is made once, as both could be published (specification.md, 13)
    _, body, sig, refusal = row
    return refusal is not None and Statement(body, sig).begins_chain


class AcceptedPlace(NamedTuple):
    """The highest position and head accepted in a match, and the counter of the newest box sealed to the key `x`."""

    k: int
    head: bytes
    x: bytes = b""
    counter: int = -1


@dataclass(frozen=True, slots=True)
class Joined:
    """A table record this client accepted: one it signed for, or that of a match it joined later."""

    th: bytes
    tn: bytes
    server: bytes
    code: str
    seat: int
    mid: bytes | None = None
    k: int | None = None
    head: bytes | None = None


@dataclass(frozen=True, slots=True)
class HeldChain:
    """One chain of this client in a match, with the X25519 key that came with it; dropped when the match has ended.

    Attributes:
        x: the public half of the key, which identifies the chain.
        first: the first deal that it serves.
        root: its last link.
        secret: the X25519 secret.
        after_loss: whether it was made to go on without the secrets that were in force.
        counter: the counter of the newest private box under the key.
    """

    x: bytes
    first: int
    root: bytes = field(repr=False)
    secret: bytes = field(repr=False)
    after_loss: bool = False
    counter: int = -1


_Value = bytes | str | int | None


class HomeStore:
    """The client's database; a method for which the disk has no room raises HomeError, and changes nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stopped: dict[bytes, str] = {}
        try:
            fresh = not path.exists()
            with ExitStack() as unopened:
                connected = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
                self._database = unopened.enter_context(closing(connected))
                if fresh:
                    path.chmod(0o600)
                self._open()
                unopened.pop_all()
        except (sqlite3.Error, OSError) as error:
            raise HomeError(Sentence("failures.cannot_use", path=path, reason=error)) from error

    def _open(self) -> None:
        # FULL: what is sent next must be on the disk. secure_delete:
        # secrets that are dropped are overwritten, not only unlinked
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
            self._database.execute(f"PRAGMA {pragma}")
        with self._writing():
            bring_up_to_date(self._database)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _execute(self, statement: str, values: Sequence[_Value] = ()) -> sqlite3.Cursor:
        """Execute a statement.

        Raises:
            HomeError: The database does not take it: the disk is full, or another process has locked it for too long.
        """
        try:
            return self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise HomeError(Sentence("failures.cannot_use", path=self._path, reason=error)) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        # locked before the first read: of two processes with one home only one may find a place free
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
            self._execute("COMMIT")
        except BaseException:
            # a full disk may have ended the transaction already
            with suppress(HomeError):
                self._execute("ROLLBACK")
            raise

    def pin(self, server: str) -> Pin | None:
        """Return the pin of a server, by `host:port`."""
        query = "SELECT first, present, serial FROM servers WHERE server = ?"
        row = self._execute(query, (server,)).fetchone()
        return Pin(*row) if row else None

    def encrypts(self, server: str) -> bool:
        """Tell whether the last connection to a known server was encrypted."""
        row = self._execute("SELECT tls FROM servers WHERE server = ?", (server,)).fetchone()
        return bool(row and row[0])

    def pins(self) -> dict[str, Pin]:
        """Return the pin of every server known."""
        rows = self._execute("SELECT server, first, present, serial FROM servers ORDER BY server")
        return {server: Pin(*pin) for server, *pin in rows}

    def keep_pin(self, server: str, pin: Pin, *, is_tls: bool = False) -> None:
        """Remember a server's keys, and whether connections to it are encrypted."""
        self._execute("INSERT OR REPLACE INTO servers VALUES (?, ?, ?, ?, ?)", (server, *pin, is_tls))

    def forget_pin(self, server: str) -> bool:
        """Forget a server's keys, so that the next contact is a first one; tell whether it was known."""
        return self._execute("DELETE FROM servers WHERE server = ?", (server,)).rowcount > 0

    def token(self, server: bytes) -> str | None:
        """Return a guest's token for a server, by its first key."""
        row = self._execute("SELECT token FROM tokens WHERE server = ?", (server,)).fetchone()
        return row[0] if row else None

    def keep_token(self, server: bytes, token: str | None) -> None:
        """Remember a guest's token; None forgets it."""
        if token is None:
            self._execute("DELETE FROM tokens WHERE server = ?", (server,))
        else:
            self._execute("INSERT OR REPLACE INTO tokens VALUES (?, ?)", (server, token))

    def join(self, joined: Joined, chain: HeldChain, statement: Statement) -> None:
        """Store the acceptance of a table record, with the secrets for its match and the seat record in answer.

        Secrets for earlier terms of the table that never became a match are dropped.
        """
        with self._writing():
            self._drop_unbegun(joined.server, joined.code)
            self._execute(
                "INSERT INTO matches (th, tn, server, code, seat) VALUES (?, ?, ?, ?, ?)",
                (joined.th, joined.tn, joined.server, joined.code, joined.seat),
            )
            self._hold(joined.th, chain)
            self._insert(joined.th, Slot("seat"), 0, statement)

    def come_into(self, joined: Joined) -> None:
        """Store that this client plays a seat in a match that it did not begin; it may have had another seat before."""
        self._execute(
            "INSERT INTO matches (th, tn, server, code, seat, mid) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (th) DO UPDATE SET seat = excluded.seat, mid = excluded.mid",
            (joined.th, joined.tn, joined.server, joined.code, joined.seat, joined.mid),
        )

    def drop_unbegun(self, server: bytes, code: str) -> None:
        """Drop the secrets for terms of a table that never became a match."""
        with self._writing():
            self._drop_unbegun(server, code)

    def _drop_unbegun(self, server: bytes, code: str) -> None:
        self._execute(
            "DELETE FROM chains WHERE match IN"
            " (SELECT th FROM matches WHERE server = ? AND code = ? AND mid IS NULL)",
            (server, code),
        )

    def drop_secrets(self, th: bytes) -> None:
        """Drop the secrets of a match that is no longer played from here; what was signed stays for ever."""
        self._execute("DELETE FROM chains WHERE match = ?", (th,))

    def _hold(self, th: bytes, chain: HeldChain) -> None:
        counter = min(chain.counter, _MOST)
        values = (th, chain.x, chain.first, chain.root, chain.secret, chain.after_loss, counter)
        self._execute(
            "INSERT INTO chains VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (match, x) DO UPDATE SET after_loss = MAX(after_loss, excluded.after_loss)",
            values,
        )

    def chains(self, th: bytes) -> tuple[HeldChain, ...]:
        """Return every chain of this client in the match of a table record, oldest first."""
        query = (
            "SELECT x, first, root, secret, after_loss, counter FROM chains WHERE match = ? ORDER BY rowid"
        )
        return tuple(
            HeldChain(x, first, root, secret, bool(after_loss), counter)
            for x, first, root, secret, after_loss, counter in self._execute(query, (th,))
        )

    def joined(self, th: bytes) -> Joined | None:
        """Return an acceptance by the hash of its table record."""
        return self._match("th = ?", th)

    def held(self, server: bytes) -> tuple[Joined, ...]:
        """Return every acceptance at a server, by its first key, whose secrets are here, so none that has ended."""
        query = f"SELECT {_MATCH_COLUMNS} FROM matches WHERE server = ? AND th IN (SELECT match FROM chains) ORDER BY rowid"
        return tuple(Joined(*row) for row in self._execute(query, (server,)))

    def joined_with(self, server: bytes, tn: bytes) -> Joined | None:
        """Return an acceptance by the server's first key and the table's nonce: two servers may use the same nonce."""
        return self._match("server = ? AND tn = ?", server, tn)

    def playing(self, mid: bytes) -> Joined | None:
        """Return the acceptance that became this match."""
        return self._match("mid = ?", mid)

    def played(self, server: bytes) -> tuple[bytes, ...]:
        """Return every match that this client has a seat in at a server, by its first key, newest first."""
        query = "SELECT mid FROM matches WHERE server = ? AND mid IS NOT NULL ORDER BY rowid DESC"
        return tuple(mid for (mid,) in self._execute(query, (server,)))

    def _match(self, where: str, *values: bytes) -> Joined | None:
        query = f"SELECT {_MATCH_COLUMNS} FROM matches WHERE {where}"
        row = self._execute(query, values).fetchone()
        return Joined(*row) if row else None

    def begin(self, th: bytes, mid: bytes) -> None:
        """Note which match an accepted table record has become."""
        self._execute("UPDATE matches SET mid = ? WHERE th = ?", (mid, th))

    def keep_place(self, mid: bytes, place: AcceptedPlace) -> None:
        """Note the highest position accepted; a lower one than noted before changes nothing."""
        with self._writing():
            self._keep_place(mid, place)

    def _keep_place(self, mid: bytes, place: AcceptedPlace) -> None:
        self._execute(
            # the mark never falls, so that nothing is signed below it when
            # a server shows an earlier head after a crash (threats.md)
            "UPDATE matches SET k = ?, head = ? WHERE mid = ? AND (k IS NULL OR k <= ?)",
            (place.k, place.head, mid, place.k),
        )
        self._execute(
            "UPDATE chains SET counter = MAX(counter, ?)"
            " WHERE x = ? AND match = (SELECT th FROM matches WHERE mid = ?)",
            (min(place.counter, _MOST), place.x, mid),
        )

    def end(self, mid: bytes, place: AcceptedPlace) -> None:
        """Drop the secrets of a match that has ended; the rest stays for ever."""
        with self._writing():
            self._keep_place(mid, place)
            self._execute("DELETE FROM chains WHERE match = (SELECT th FROM matches WHERE mid = ?)", (mid,))

    def stop(self, which: bytes, why: str) -> None:
        """Remember that a match or a table record, named by its hash, is stopped for good; the first reason counts.

        If the disk takes nothing more, it is remembered as long as this store is open.
        """
        # without the disk too: a match that is stopped is not signed for, whether or not that can be kept
        self._stopped.setdefault(which, why)
        with suppress(HomeError):
            self._execute("INSERT OR IGNORE INTO stopped VALUES (?, ?)", (which, why))

    def stopped(self, which: bytes) -> str | None:
        """Return why a match or a table record was stopped for good; None if it was not."""
        row = self._execute("SELECT why FROM stopped WHERE id = ?", (which,)).fetchone()
        return row[0] if row else self._stopped.get(which)

    def statement(self, match: bytes, slot: Slot) -> Statement | None:
        """Return the body signed for a place; None if the server has refused a new chain there."""
        row = self._newest(match, slot)
        return Statement(row[1], row[2]) if row and not _gives_way(row) else None

    def keep_statement(
        self,
        match: bytes,
        slot: Slot,
        statement: Statement,
        place: AcceptedPlace,
        chain: HeldChain | None = None,
    ) -> Statement:
        """Store a body before it is sent, with the place reached and the chain it begins, if any.

        If the same body is stored already, the stored statement is returned.

        Raises:
            SignedBeforeError: Another body was signed for this place.
        """
        with self._writing():
            row = self._newest(match, slot)
            if row and not _gives_way(row):
                if row[1] != statement.body:
                    raise SignedBeforeError(
                        Sentence("failures.signed_before", what=slot.what, number=slot.number)
                    )
                statement = Statement(row[1], row[2])
            else:
                self._insert(match, slot, row[0] + 1 if row else 0, statement)
            if chain is not None:
                (th,) = self._execute("SELECT th FROM matches WHERE mid = ?", (match,)).fetchone()
                self._hold(th, chain)
            self._keep_place(match, place)
        return statement

    def keep_refusal(self, match: bytes, slot: Slot, refusal: bytes) -> None:
        """Keep the server's signed refusal beside the body it refused."""
        row = self._newest(match, slot)
        if row:
            place = (refusal, match, *slot, row[0])
            self._execute(
                "UPDATE statements SET refusal = ? WHERE match = ? AND what = ? AND number = ? AND attempt = ?",
                place,
            )

    def _newest(self, match: bytes, slot: Slot) -> _Attempt | None:
        query = (
            "SELECT attempt, body, sig, refusal FROM statements WHERE match = ? AND what = ? AND number = ?"
            " ORDER BY attempt DESC LIMIT 1"
        )
        row: _Attempt | None = self._execute(query, (match, *slot)).fetchone()
        return row

    def _insert(self, match: bytes, slot: Slot, attempt: int, statement: Statement) -> None:
        self._execute(
            "INSERT INTO statements VALUES (?, ?, ?, ?, ?, ?, NULL)", (match, *slot, attempt, *statement)
        )

    def refusals(self, match: bytes) -> tuple[Record, ...]:
        """Return every refusal of a match that the server signed, in the order of what was refused."""
        query = (
            "SELECT refusal FROM statements WHERE match = ? AND refusal IS NOT NULL ORDER BY number, attempt"
        )
        rows = self._execute(query, (match,)).fetchall()
        return tuple(Record(SERVER, kept[:-SIGNATURE_BYTES], kept[-SIGNATURE_BYTES:]) for (kept,) in rows)
