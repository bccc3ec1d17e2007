"""Storage: one store on SQL, its journal and its backups; here the values that go in and out, and how it fails.

What can be written is a closed union of small frozen values, committed together. Reads give the same values back, so that
what was saved and what is found again cannot differ in shape. The store itself is in sql.py, as its libraries are slow to
import. Invariants: nothing outside this package speaks SQL; a value holds no object of the rules or of a connection, only
what a row can hold.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from truc_protocol.records import Record

KEPT_CHAT_LINES: Final = 50  # of the chat of one table


class StoreError(Exception):
    """The store cannot be opened, read or written; the text says which and why."""


class StoreBusyError(StoreError):
    """Another program held the database during the whole wait; nothing was written, but it may be later."""


class DamagedRowError(StoreError):
    """A row is not as it was written; the others can be read."""


class StoreLostError(StoreError):
    """This process may write no more: its lease has ended, or another one has claimed what was its own."""


class PlayerKind(StrEnum):
    """How the player of a seat is known: by a public key, or as a guest with a token."""

    KEY = "key"
    GUEST = "guest"


class SaveTable(NamedTuple):
    """Create a table of the lobby, owned by this process, or replace what is stored of it.

    `document` is the rule document of its game; None if an older version has made the table.
    """

    code: str
    variant: str
    options: Mapping[str, int | str]
    seats: int
    private: bool
    creator: bytes
    created_ms: int
    document: bytes | None
    state: str
    match: bytes | None


class DropTable(NamedTuple):
    """Remove a table and its seats; its matches and their records stay."""

    code: str


class SaveSeat(NamedTuple):
    """Seat a player, or replace what is stored of the seat; `player` is a public key or a guest's id."""

    table: str
    seat: int
    kind: PlayerKind
    player: bytes
    name: str
    ready: bool
    x: bytes | None


class ClearSeat(NamedTuple):
    """Leave a seat empty."""

    table: str
    seat: int


class SaveGuest(NamedTuple):
    """Remember a guest, or that they were seen again; of the bearer token only the hash is stored."""

    id: bytes
    name: str
    token_hash: bytes
    seen_ms: int


class SaveSecrets(NamedTuple):
    """Keep the sealed secrets of the match that the terms `th` announce, or replace them after a rekey."""

    th: bytes
    sealed: bytes


class DropSecrets(NamedTuple):
    """Forget the secrets of the terms `th`."""

    th: bytes


class SaveTerms(NamedTuple):
    """Keep a record of a match that is being set up under the terms `th`: the table record, or that of a joining seat."""

    table: str
    th: bytes
    signer: int
    body: bytes
    sig: bytes


class DropTerms(NamedTuple):
    """Forget the terms of a table, and who has signed them."""

    table: str


class SaveMatch(NamedTuple):
    """Start a match: the rule document and the records before position 0, in their order.

    `readers` says who may read its records when it is over: the word of the table's option `transcript`.
    """

    mid: bytes
    table: str
    document: bytes
    setup: tuple[Record, ...]
    th: bytes
    seats: int
    readers: str = "seats"


class AddPlayer(NamedTuple):
    """Note who has a seat in a match, from its beginning or as a substitute; it outlives the seat."""

    mid: bytes
    seat: int
    player: bytes
    kind: PlayerKind
    since_ms: int


# In the order of its table's columns: for the driver of SQLite a write is a row as it stands (statements.py).
class AddRecord(NamedTuple):
    """Append record `k` of a match, with what it means, its time and the clocks after it."""

    mid: bytes
    k: int
    signer: int
    body: bytes
    sig: bytes
    means: bytes
    at_ms: int
    clocks: bytes


class AddWish(NamedTuple):
    """Note that a seat has asked for time before the next call of a match, when record `k` was the next to come."""

    mid: bytes
    k: int
    seat: int


class EndMatch(NamedTuple):
    """Mark a match as over; records may still follow (the seats' acks)."""

    mid: bytes
    reason: str
    ended_ms: int


class RatedPlayer(NamedTuple):
    """A player with a key who began a match, under the name they had then."""

    player: bytes
    tag: str
    name: str


class RateMatch(NamedTuple):
    """Let a match count for all who began it, in the same commit as its last record."""

    mid: bytes
    variant: str
    seats: int
    winners: tuple[RatedPlayer, ...]
    losers: tuple[RatedPlayer, ...]


class SaveChat(NamedTuple):
    """Keep line `n` of a table's chat; lines older than the newest `KEPT_CHAT_LINES` go, and all go with the table."""

    table: str
    n: int
    player: bytes
    tag: str
    name: str
    seat: int | None
    text: str
    at_ms: int


class SaveIgnored(NamedTuple):
    """Note that a player wants to hear no more from whoever has a tag."""

    player: bytes
    tag: str


class DropIgnored(NamedTuple):
    """Note that a player wants to hear them again."""

    player: bytes
    tag: str


class GiveTable(NamedTuple):
    """Let another node have a table; as long as that node lives nobody else takes it."""

    code: str
    to: str


class ForgetPlayer(NamedTuple):
    """Drop what is known of a player: token, chat, ratings, whom they ignore. Only those who played their matches may read them."""

    player: bytes


Write = (
    SaveTable
    | DropTable
    | SaveSeat
    | ClearSeat
    | SaveGuest
    | SaveSecrets
    | DropSecrets
    | SaveTerms
    | DropTerms
    | SaveMatch
    | AddPlayer
    | AddRecord
    | AddWish
    | EndMatch
    | RateMatch
    | SaveChat
    | SaveIgnored
    | DropIgnored
    | GiveTable
    | ForgetPlayer
)


class RunningMatch(NamedTuple):
    """A match that has started, with all that is needed to go on with it; `sealed` is None if its secrets are lost."""

    mid: bytes
    table: str
    document: bytes
    setup: tuple[Record, ...]
    th: bytes
    seats: int
    sealed: bytes | None


class StoredTerms(NamedTuple):
    """Terms that wait for signatures: the table record, then those of seats so far; `sealed` is None if the secrets are lost."""

    th: bytes
    records: tuple[Record, ...]
    sealed: bytes | None


class PastMatch(NamedTuple):
    """A match as seen by those who ask for its records; `players` are the ids of all who have had a seat in it."""

    table: str
    document: bytes
    setup: tuple[Record, ...]
    readers: str
    is_over: bool
    players: frozenset[bytes]


class OwnMatch(NamedTuple):
    """A match as seen by one who has had a seat in it since `since_ms`; without an end it is being played, or was given up."""

    mid: bytes
    seat: int
    since_ms: int
    document: bytes
    setup: tuple[Record, ...]
    reason: str | None
    ended_ms: int | None


class Rating(NamedTuple):
    """A player's rating in one game with so many seats; `points` is what ranks, stored to sort by."""

    variant: str
    seats: int
    player: bytes
    tag: str
    name: str
    mean: float
    deviation: float
    points: int
    matches: int
    won: int


class RankedRating(NamedTuple):
    """A rating, and its place among those of the game, from 1."""

    rating: Rating
    rank: int


class Member(NamedTuple):
    """A key that a closed server admits, by its fingerprint."""

    fingerprint: str
    since_ms: int


class Invite(NamedTuple):
    """An invite to a closed server, good for `uses` more keys until `until_ms`; of its code only the hash is stored."""

    code_hash: bytes
    uses: int
    until_ms: int


class SanctionKind(StrEnum):
    """What a host may impose: to be shut out, or to play without talking."""

    BAN = "ban"
    MUTE = "mute"


class PlayUnderWay(NamedTuple):
    """What is under way in a database: each match with the number of its records, and the `th` of terms that are out."""

    matches: Mapping[bytes, int]
    terms: frozenset[bytes]


class Sanction(NamedTuple):
    """What the host has imposed by command on a subject, written as in the settings; None is for ever."""

    subject: str
    kind: SanctionKind
    since_ms: int
    until_ms: int | None


class StoredSeat(NamedTuple):
    """A player's seat at a table: under which name, and in which match last; None while terms are out, or if they came after it."""

    table: str
    seat: int
    name: str
    match: bytes | None


class StoredTranscript(NamedTuple):
    """Everything a `.truc` file of a match holds."""

    document: bytes
    setup: tuple[Record, ...]
    records: tuple[Record, ...]


class Lease(NamedTuple):
    """What a process writes under: its name, the epoch it came under, and the share of table codes it draws from.

    `number` is None where no other process shares the database.
    """

    owner: str
    epoch: int
    number: int | None = None


class NodeOrder(NamedTuple):
    """What the host wants of a node and has told another: to let the node `to` have a table, or, without a code, to drain."""

    code: str
    to: str


class NodeKeys(NamedTuple):
    """What nodes compare to know that they have the keys of one server: nothing from which a key could be found.

    Attributes:
        at_rest: follows from the key that match secrets are sealed with.
        identity: the public part of the present identity key.
        before: those of the keys before it, oldest first.
    """

    at_rest: bytes
    identity: bytes
    before: tuple[bytes, ...]


class NodePlace(NamedTuple):
    """What a node says about itself: where players reach it, where other nodes do, and its version."""

    public: str
    inner: str
    version: str


class Node(NamedTuple):
    """A process that may write, as the database has it; `left_ms` of its lease are left, None is for ever."""

    name: str
    number: int | None
    claimed: int
    epoch: int
    left_ms: int | None
    place: NodePlace
    draining: bool
    started_ms: int
    tables: int

    @property
    def runs(self) -> bool:
        """Whether it may still write."""
        return self.left_ms is None or self.left_ms > 0


class TableOwner(NamedTuple):
    """Who owns a table, and where that node is reached; all empty if nobody owns it now."""

    node: str
    public: str
    inner: str


class TakenTables(NamedTuple):
    """Tables that were taken, by their codes, and the epoch they were taken under."""

    epoch: int
    codes: tuple[str, ...]
