"""What a client sends: requests, each answered once.

Every field has a line under it, from which docs/protocol/messages.md is made. A message that comes in several forms
has a class for each.
"""

import msgspec

from truc_protocol.bodies import Hash, U
from truc_protocol.messages.fields import (
    CapabilityNames,
    InviteText,
    MatchRequest,
    MoveLine,
    Name,
    ProtocolNumbers,
    RecordPosition,
    Request,
    SeatNumber,
    Signature,
    TableCode,
    TableOptions,
    TableRequest,
    Token,
    Word,
)


class Software(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which program is speaking; for logs."""

    name: Word
    """The program's name."""
    version: Word | None = None
    """Its version."""
    lang: Word | None = None
    """The language it is written in."""


class ClientHello(Request, frozen=True, kw_only=True, tag="hello"):
    """Open the connection: what the client speaks, and a nonce that the server must sign."""

    proto: ProtocolNumbers
    """The protocol numbers the client speaks; the server chooses one."""
    cn: Hash
    """32 fresh random bytes."""
    want: CapabilityNames = ()
    """Capabilities the client would like to use."""
    require: CapabilityNames = ()
    """Capabilities the client cannot do without; if one is missing, the answer is `unsupported`."""
    client: Software | None = None
    """Which program is speaking."""


class KeyLogin(Request, frozen=True, kw_only=True, tag="login"):
    """Log in with a key."""

    body: bytes
    """The `auth` body (security.md)."""
    sig: Signature
    """The signature of `body` by the player's key."""
    name: Name | None = None
    """The name to show, at most 64 bytes of UTF-8; a label, never an identity."""
    invite: InviteText | None = None
    """An invite, by which a key becomes a member of a closed server."""


class GuestLogin(Request, frozen=True, kw_only=True, tag="login"):
    """Log in as a guest, without a key."""

    name: Name
    """The name to show, at most 64 bytes of UTF-8."""


class GuestReturn(Request, frozen=True, kw_only=True, tag="login"):
    """Log in again as the guest one was before."""

    token: Token
    """The token that `welcome` gave."""


class ListTables(Request, frozen=True, kw_only=True, tag="tables"):
    """Ask for the public tables, in ascending order of code."""

    variant: Word | None = None
    """Only tables of this game."""
    after: TableCode | None = None
    """Only tables with a code after this one: the next page."""


class ReadRules(Request, frozen=True, kw_only=True, tag="rules"):
    """Ask for the rule document of a game that the server plays."""

    variant: Word
    """The game, by its name in the server's info."""


class Create(Request, frozen=True, kw_only=True, tag="create"):
    """Open a table and sit down at it."""

    variant: Word
    """The game, by its name in the server's info."""
    seats: SeatNumber | None = None
    """How many seats; if absent, the fewest that the game allows."""
    options: TableOptions = msgspec.field(default_factory=dict)
    """[Table options](options.md) by name."""
    seat: SeatNumber | None = None
    """The seat to take; if absent, the first."""
    private: bool = False
    """Keep the table out of `tables`."""


class Join(TableRequest, frozen=True, kw_only=True, tag="join"):
    """Take a seat at a table, return to one's own on this connection, or stand by for a seat that is vacant in a match."""

    seat: SeatNumber | None = None
    """The seat to take; if absent, one's own, or else the first empty one."""


class Leave(TableRequest, frozen=True, kw_only=True, tag="leave"):
    """Give up the seat, before a match has started or after it is over."""


class Ready(TableRequest, frozen=True, kw_only=True, tag="ready"):
    """Agree to start; the last seat to say so starts the match."""

    x: Hash | None = None
    """A guest's X25519 key; with it, cards and options come boxed."""


class Unready(TableRequest, frozen=True, kw_only=True, tag="unready"):
    """Take `ready` back, before the match has started."""


class SignedAct(TableRequest, frozen=True, kw_only=True, tag="act"):
    """Submit a record that this seat has signed: act, release, ack, rekey, sub, resign, or seat; in mode blind also mask, lock, keys, lend or garbled."""

    match: Hash | None = None
    """The match id; absent or nil with a `seat` record."""
    body: bytes
    """The record's body."""
    sig: Signature
    """The signature of `body` by the seat's key."""


class GuestAct(MatchRequest, frozen=True, kw_only=True, tag="act"):
    """Choose one of the options as a guest."""

    at: U
    """The `at` of the options chosen from."""
    choose: MoveLine
    """The key of the option, or `pause`, `resume`, `resign`."""
    p: U | None = None
    """Where to cut; only with `cut`."""


class BoxedSign(MatchRequest, frozen=True, kw_only=True, tag="sign"):
    """Make a sign to those who may see it, sealed: for a seat with a key, or a guest who gave `x`."""

    at: U
    """The position that comes next."""
    to: SeatNumber
    """A seat that sees this one's signs; any others that do see the sign too."""
    box: bytes
    """The sealed word ([specification, section 7](../fairness/specification.md#7-boxes))."""


class OpenSign(MatchRequest, frozen=True, kw_only=True, tag="sign"):
    """Make a sign to those who may see it, in clear, as a guest without a box."""

    at: U
    """The position that comes next."""
    word: Word
    """The word, one of `signals.vocabulary` of the game's rules."""


class Say(TableRequest, frozen=True, kw_only=True, tag="say"):
    """Say one of the game's phrases to everybody at the table."""

    phrase: Word
    """The phrase, one of `phrases` of the game's rules."""


class ClaimMatch(MatchRequest, frozen=True, kw_only=True, tag="claim_match"):
    """Ask for the end of a match whose other side is away; the notice `away` says from when this is granted."""


class WantRekey(MatchRequest, frozen=True, kw_only=True, tag="rekey"):
    """Ask for time to start a new chain before the next call: for a seat that has lost its secrets of the match."""


class Resume(MatchRequest, frozen=True, kw_only=True, tag="resume"):
    """Take one's seat on this connection, and be sent every record that one has missed."""

    next: RecordPosition
    """The first position wanted; -1 asks for the setup too."""


class Watch(TableRequest, frozen=True, kw_only=True, tag="watch"):
    """Follow a table without a seat, from the beginning of its match or from where one left off."""

    match: Hash | None = None
    """The match that `next` belongs to; another one is sent from its beginning."""
    next: U | None = None
    """The first position wanted, without the setup; only with `match`."""


class Unwatch(TableRequest, frozen=True, kw_only=True, tag="unwatch"):
    """Stop following a table."""
