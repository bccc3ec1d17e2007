"""What can be written to the store: a closed union of small frozen values, committed together.

Reads give the same values back, so that what was saved and what is found again cannot differ in shape. Nothing here
knows SQL. Invariant: a value holds no object of the rules or of a connection, only what a row can hold.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from truc_protocol.records import Record


class PlayerKind(StrEnum):
    """How the player of a seat is known: by a public key, or as a guest with a token."""

    KEY = "key"
    GUEST = "guest"


class SaveTable(NamedTuple):
    """Create a table of the lobby, owned by this process, or replace what is stored of it.

    `document` is the rule document of its game; None where an older version has made the table.
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
    """Remember a guest; of the bearer token only the hash is stored."""

    id: bytes
    name: str
    token_hash: bytes


class SaveSecrets(NamedTuple):
    """Keep the sealed secrets of the match that the terms `th` announce, or replace them after a rekey."""

    th: bytes
    sealed: bytes


class DropSecrets(NamedTuple):
    """Forget the secrets of the terms `th`."""

    th: bytes


class SaveMatch(NamedTuple):
    """Start a match: the rule document and the records before position 0, in their order."""

    mid: bytes
    table: str
    document: bytes
    setup: tuple[Record, ...]
    th: bytes
    seats: int


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


class EndMatch(NamedTuple):
    """Mark a match as over; records may still follow (the seats' acks)."""

    mid: bytes
    reason: str
    ended_ms: int


LobbyChange = SaveTable | DropTable | SaveSeat | ClearSeat | SaveGuest
MatchChange = SaveSecrets | DropSecrets | SaveMatch | EndMatch
Write = LobbyChange | MatchChange | AddRecord


class RunningMatch(NamedTuple):
    """A match that has started and not ended; `sealed` is None where its secrets are lost."""

    mid: bytes
    table: str
    document: bytes
    setup: tuple[Record, ...]
    th: bytes
    seats: int
    sealed: bytes | None


class StoredTranscript(NamedTuple):
    """Everything a `.truc` file of a match holds."""

    document: bytes
    setup: tuple[Record, ...]
    records: tuple[Record, ...]


class Lease(NamedTuple):
    """The ownership a process writes under: its name and the epoch of its claim."""

    owner: str
    epoch: int
