"""What a server sends unasked: the state of tables, the records of a match, what only one seat may know.

Every field has a line under it, from which docs/protocol/messages.md is made. A notice carries the full state of its
subject; records are the transcript itself, the same bytes for every viewer.
"""

from typing import Literal

import msgspec

from truc_protocol.bodies import Hash, U
from truc_protocol.messages.fields import (
    ChatText,
    Hints,
    Map,
    MatchNotice,
    Message,
    MoveLine,
    Name,
    OptsArray,
    PlayerTag,
    RoleNumber,
    SeatNumber,
    TableNotice,
    TableOptions,
    Word,
)
from truc_protocol.records import Record


class SeatState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One seat of a table, as everybody may see it."""

    seat: SeatNumber
    """The seat."""
    kind: Literal["empty", "key", "guest"]
    """Who sits there: nobody, a player with a key, a guest."""
    name: Name | None = None
    """The name shown; a label."""
    player: PlayerTag | None = None
    """The player's tag."""
    ready: bool = False
    """Agrees to start."""
    online: bool = False
    """Has a connection that follows the table."""
    vacant: bool = False
    """Anybody with a key may `join` to take the seat over."""


class TableState(TableNotice, frozen=True, kw_only=True, tag="table"):
    """The full state of a table before, between and after matches."""

    variant: Word
    """The game, by its name in the server's info."""
    rules: Hash
    """SHA-256 of its rule document, house rules included."""
    seats: tuple[SeatState, ...]
    """Every seat, in order."""
    n: SeatNumber
    """How many seats there are."""
    state: Literal["open", "terms", "playing", "over"]
    """Its [state](connection.md#a-table); `over` is repeated."""
    match: Hash | None = None
    """The id of the newest match."""
    private: bool
    """Not listed in `tables`."""
    options: TableOptions
    """The table options chosen ([options.md](options.md))."""
    opts: OptsArray
    """The [terms](options.md#terms) of the match by position."""
    policy: Literal["hand", "match"]
    """When the cards are opened."""
    mode: Literal["dealt", "blind"] = "dealt"
    """Who deals ([options](options.md#who-deals)); absent at tables of mode `dealt`."""
    expires_ms: U | None = None
    """How long until the table is dropped if nothing happens."""
    age_ms: U | None = None
    """How long its match has been played; without one, how long the table has waited since it was made or its last match ended."""
    watchers: U = 0
    """How many are watching, as of this notice."""
    transcript: Literal["seats", "watchers", "all"] = "seats"
    """Who may read the records afterwards ([options](options.md#who-may-read-the-records-afterwards))."""
    claim: Literal["server", "opponents"] = "server"
    """Who ends a match when one side is gone."""


class TableClosed(TableNotice, frozen=True, kw_only=True, tag="closed"):
    """The table is gone."""

    reason: Word
    """expired: nobody started it. empty: everybody left. server: the host closed it."""


class Terms(TableNotice, frozen=True, kw_only=True, tag="terms"):
    """The server's signed terms; each seat with a key answers with its `seat` record."""

    record: Record
    """The `table` record: signer, body, sig."""
    doc: bytes
    """The rule document whose hash stands in the record."""


class Setup(TableNotice, frozen=True, kw_only=True, tag="setup"):
    """The match begins: everything that stands before position 0."""

    match: Hash
    """The match id, SHA-256 of the `match` body."""
    doc: bytes
    """The rule document."""
    records: tuple[Record, ...]
    """The `table` record, `seat` or `guest` by seat, and `match`: each signer, body, sig."""


class MatchRecord(MatchNotice, frozen=True, kw_only=True, tag="record"):
    """One record of the transcript, the same bytes for every viewer."""

    k: U
    """The record's position: 0 after the setup, then without gaps."""
    signer: RoleNumber
    """The role that signed: 0 the server, i + 1 seat i."""
    body: bytes
    """The record's body."""
    sig: bytes
    """The signature of `body`, 64 bytes; empty for a guest's act."""
    means: tuple[Map, ...]
    """What happened, derived by the rules, in order; unsigned."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One option of a guest without a box."""

    key: MoveLine
    """The move line: what `act` sends back as `choose`."""
    kind: Word
    """The kind of the act."""
    hints: Hints
    """Stakes and costs by name, for display; they decide nothing."""


class Options(MatchNotice, frozen=True, kw_only=True):
    """What a seat may do now, and by when."""

    at: U
    """The position the act must carry."""
    offer: U
    """The position of the record that opened the decision."""
    must: bool
    """The hand waits for this seat, and everybody can tell. If false, it may act but need not, unless an option has the hint `waits`."""
    deadline_ms: U | None = None
    """How long the seat that must decide still has, including its bank; absent without a clock."""


class BoxedOptions(Options, frozen=True, kw_only=True, tag="options"):
    """What this seat may do now, sealed for it."""

    box: bytes
    """The sealed options ([specification, section 7](../fairness/specification.md#7-boxes))."""


class OpenOptions(Options, frozen=True, kw_only=True, tag="options"):
    """What this seat may do now, in clear, for a guest without a box."""

    choices: tuple[Choice, ...] = msgspec.field(name="list")
    """The options."""


class OwnCards(MatchNotice, frozen=True, kw_only=True, tag="cards"):
    """The cards dealt to this seat, or to a partner whose cards it is shown; in clear, for a guest without a box."""

    k: U
    """The position of the deal."""
    j: U
    """The deal's index."""
    d: U
    """The sub-deal: 0, and one more with every redeal."""
    cards: tuple[Word, ...]
    """The cards by slot, such as `7e`."""
    of: U | None = None
    """The partner whose cards they are; absent if they are one's own."""


class Waiting(MatchNotice, frozen=True, kw_only=True, tag="waiting"):
    """Whom the match waits for."""

    at: U
    """The position that comes next."""
    seats: tuple[SeatNumber, ...]
    """The seats that hold the decision, or whose record is awaited."""
    what: Literal["decision", "rekey", "sub", "mask", "lock", "keys", "opening"] = "decision"
    """What is awaited: a decision if absent; `rekey`, a new chain; `sub`, somebody to take these seats over; in mode blind a step, or `opening`, the links that open a hand."""
    deadline_ms: U | None = None
    """How long the first of them still has, including what is left of its bank; absent without a clock."""


class Away(MatchNotice, frozen=True, kw_only=True, tag="away"):
    """A seat of a running match has lost its connection, has missed a decision, or is back; the full state each time."""

    seat: SeatNumber
    """The seat."""
    online: bool = False
    """Has a connection that follows the table."""
    missed: U = 0
    """How many decisions in a row the server has ruled for it."""
    claim_in_ms: U | None = None
    """How long, at least, until the seat counts as gone ([play](play.md#a-seat-whose-player-is-gone))."""


class BoxedSignSeen(MatchNotice, frozen=True, kw_only=True, tag="sign"):
    """A partner makes a sign, sealed for this seat."""

    at: U
    """The position that comes next."""
    sender: SeatNumber = msgspec.field(name="from")
    """The seat that makes the sign."""
    box: bytes
    """The sealed word ([specification, section 7](../fairness/specification.md#7-boxes))."""


class OpenSignSeen(MatchNotice, frozen=True, kw_only=True, tag="sign"):
    """A seat makes a sign, in clear: to a guest without a box, or where the whole table sees signs."""

    at: U
    """The position that comes next."""
    sender: SeatNumber = msgspec.field(name="from")
    """The seat that makes the sign."""
    word: Word
    """The word."""


class Said(TableNotice, frozen=True, kw_only=True, tag="said"):
    """A seat says a phrase; everybody at the table is told, the speaker included."""

    seat: SeatNumber
    """The seat that speaks."""
    phrase: Word
    """The phrase."""


class SeatTakenOver(TableNotice, frozen=True, kw_only=True, tag="seat_taken_over"):
    """A newer connection of the same player, or a substitute, has the seat now; this connection stays open and may watch."""

    seat: SeatNumber
    """The seat."""


class Capabilities(Message, frozen=True, kw_only=True, tag="caps"):
    """The server's capabilities have changed."""

    add: Map = msgspec.field(default_factory=dict)
    """Those that are new or have a new value, with their values."""
    gone: tuple[Word, ...] = msgspec.field(default=(), name="del")
    """Those that are gone."""


class Draining(Message, frozen=True, kw_only=True, tag="draining"):
    """The server is about to be stopped: hands under way are played to their end, and nothing new begins."""

    left_ms: U
    """How long, at most, until it says `bye`."""


class HostSays(Message, frozen=True, kw_only=True, tag="host_says"):
    """The host says something to everybody who is logged in."""

    text: ChatText
    """The text."""


class Ping(Message, frozen=True, kw_only=True, tag="ping"):
    """Ask for a sign of life."""

    n: U
    """Any number."""


class Pong(Message, frozen=True, kw_only=True, tag="pong"):
    """Give the sign of life, at once."""

    n: U
    """The number of the ping."""
    now_ms: U | None = None
    """The sender's clock, Unix time in milliseconds."""
