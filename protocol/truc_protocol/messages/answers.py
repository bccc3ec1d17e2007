"""What a server answers, and its last word before it closes a connection.

Every field has a line under it, from which docs/protocol/messages.md is made.
"""

import msgspec

from truc_protocol.bodies import Hash, U
from truc_protocol.errors import REGISTRY, Code
from truc_protocol.messages.fields import (
    Map,
    Message,
    Name,
    PlayerTag,
    RequestId,
    Rolls,
    SeatNumber,
    Signature,
    TableCode,
    Token,
    Word,
)
from truc_protocol.messages.history import PastRecord, PlayedMatch, Standing
from truc_protocol.messages.notices import TableState
from truc_protocol.messages.social import PlayerState
from truc_protocol.records import Record

_LONGEST_TEXT = 400  # characters: an error may quote what came, which can be as long as a frame (limits.md)


class SeatHeld(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A seat that belongs to the player who logged in."""

    table: TableCode
    """The table's code."""
    match: Hash | None = None
    """The match to resume; if absent, say `join`."""
    seat: SeatNumber
    """The seat."""


class ServerHello(Message, frozen=True, kw_only=True, tag="hello"):
    """Prove who the server is, and say what it offers."""

    re: RequestId
    """The request answered."""
    body: bytes
    """The `hello` body (security.md)."""
    sig: Signature
    """The signature of `body` by the server's key."""
    info: bytes
    """A separate msgpack map, hashed in `body`: the fields of Info."""
    rolls: Rolls = ()
    """Rotations of its key: body, signature by the old key, by the new key."""


class Welcome(Message, frozen=True, kw_only=True, tag="welcome"):
    """The client is logged in; from now on everything else may be sent."""

    re: RequestId
    """The request answered."""
    name: Name
    """The name shown for this player."""
    player: PlayerTag | None = None
    """This player's tag, which others see beside the name."""
    token: Token | None = None
    """A guest's token for the next login; whoever has it is this guest."""
    seats: tuple[SeatHeld, ...] = ()
    """Seats that belong to this player."""


class Ok(Message, frozen=True, kw_only=True, tag="ok"):
    """The request is done, and durable where it changed something."""

    re: RequestId
    """The request answered."""
    table: TableCode | None = None
    """create, seek: the table's code."""
    seat: SeatNumber | None = None
    """create, join, seek: the seat taken."""
    k: U | None = None
    """act: the record's position; absent for a `seat` record. resume, watch, history: the next position after everything sent."""
    dup: bool = False
    """act: the very same record, or guest's choice, had been taken before."""
    tables: tuple[TableState, ...] | None = None
    """tables: the tables found."""
    players: tuple[PlayerState, ...] | None = None
    """players: the players found."""
    more: bool = False
    """There are more, as the request's own entry says."""
    doc: bytes | None = None
    """rules: the rule document ([parameters.md](../rules/parameters.md)), without any table option. history from -1: that of the match."""
    setup: tuple[Record, ...] | None = None
    """history from -1: the `table` record, `seat` or `guest` by seat, `match`."""
    past: tuple[PastRecord, ...] | None = None
    """history: the records, in order, from the position asked for."""
    matches: tuple[PlayedMatch, ...] | None = None
    """matches: the matches found, newest first."""
    standings: tuple[Standing, ...] | None = None
    """leaderboard: the places asked for, best first. profile: every game in which the player is rated, by its name."""


class Refusal(Message, frozen=True, kw_only=True, tag="error"):
    """The request, or what was received, is refused."""

    re: RequestId | None = None
    """The request answered; absent if that could not be told."""
    code: Word
    """A code of the registry (errors.md)."""
    msg: str
    """English for people and logs."""
    retryable: bool
    """The same request may succeed later, unchanged."""
    close: bool
    """The connection ends with this error; `bye` follows."""
    retry_after_ms: U | None = None
    """How long to wait before trying again."""
    field: str | None = None
    """Where in the request the mistake is, such as `seats/0/name`."""
    detail: Map | None = None
    """More for programs; what it holds depends on the code."""
    refuse: Record | None = None
    """The signed refusal of a validly signed body ([play](play.md#decisions))."""


class Bye(Message, frozen=True, kw_only=True, tag="bye"):
    """The server closes the connection, and says why."""

    code: Word
    """A code of the registry (errors.md)."""
    msg: str
    """English for people and logs."""
    retryable: bool
    """Connecting again may succeed."""
    reconnect_after_ms: U | None = None
    """How long to wait before connecting again."""
    to: str | None = None
    """Where to connect instead, as `host:port`."""


def refusal(
    code: Code, message: str, *, re: int | None = None, field: str | None = None, detail: Map | None = None
) -> Refusal:
    """Return the error for `code`; the registry says whether it closes the connection and may be retried."""
    row = REGISTRY[code]
    return Refusal(
        re=re,
        code=code.value,
        msg=message[:_LONGEST_TEXT],
        retryable=row.retryable,
        close=row.closes,
        field=field,
        detail=detail,
    )


def bye(code: Code, message: str, *, reconnect_after_ms: int | None = None, to: str | None = None) -> Bye:
    """Return the last message before the connection is closed for `code`."""
    return Bye(
        code=code.value,
        msg=message[:_LONGEST_TEXT],
        retryable=REGISTRY[code].retryable,
        reconnect_after_ms=reconnect_after_ms,
        to=to,
    )
