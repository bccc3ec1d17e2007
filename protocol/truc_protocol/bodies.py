"""The bodies of a transcript's records: one class per kind, its fields in the order in which they are signed.

A body is a canonical array that starts with the tag of its kind; the classes say, once, which fields follow and of
which type. Nothing here judges what a body means: that is for the ledger.
"""

from typing import Annotated, Any

import msgspec

from truc_protocol.codec import MAX_INT

# u, h, bin16 and name of specification.md, section 1
U = Annotated[int, msgspec.Meta(ge=0, le=MAX_INT)]
Hash = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]
Salt = Annotated[bytes, msgspec.Meta(min_length=16, max_length=16)]
# UTF-8 as bytes, because a str of a body is printable ASCII (specification.md 1)
Name = Annotated[bytes, msgspec.Meta(max_length=64)]
SideScore = tuple[U, U, U]  # games, upper, points
Args = tuple[Any, ...]


# array_like: the order of the fields is the layout of the signed bytes, which vectors pin (decision 2)
class Body(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """A decoded body; subclasses list the fields after the tag, in order."""


class TableTerms(Body, frozen=True, tag="truc/1/table"):
    """The server's terms for one match, with its own commitments."""

    spk: Hash
    tn: Hash
    rules: Hash
    deck: U
    seats: U
    links: U
    policy: str
    mode: str
    anchor: Hash
    x: Hash
    opts: tuple[U, ...]
    name: Name
    time: U


class SeatTaken(Body, frozen=True, tag="truc/1/seat"):
    """A keyed player joins these terms."""

    th: Hash
    seat: U
    pk: Hash
    anchor: Hash
    x: Hash
    name: Name


class Guest(Body, frozen=True, tag="truc/1/guest"):
    """The server seats a player without a key; `x` is nil if the cards travel unboxed."""

    th: Hash
    seat: U
    x: Hash | None
    name: Name


class MatchStart(Body, frozen=True, tag="truc/1/match"):
    """The closed set of seats."""

    th: Hash
    seats: tuple[Hash, ...]


class Placed(Body, frozen=True):
    """A body with a place in a match: its id, a position, and the head before that position."""

    mid: Hash
    k: U
    head: Hash


class Call(Placed, frozen=True, tag="truc/1/call"):
    """Everything that may influence deal `j`, fixed before any link of `j` is opened."""

    j: U
    dealer: U
    ncards: U
    cut: U
    roles: tuple[U, ...]


class Release(Placed, frozen=True, tag="truc/1/release"):
    """A contributor opens its link of deal `j`."""

    j: U
    seat: U
    link: Hash


class Draw(Placed, frozen=True, tag="truc/1/draw"):
    """The first dealer, drawn from everybody's links."""

    j: U
    link: Hash
    first: U


class Deal(Placed, frozen=True, tag="truc/1/deal"):
    """Commitments to every card dealt, and each seat's cards sealed to it."""

    j: U
    d: U
    dealer: U
    ncards: U
    cut: U
    up: tuple[U, ...]
    leaves: tuple[tuple[Hash, ...], ...]
    boxes: tuple[bytes, ...]


class Act(Placed, frozen=True, tag="truc/1/act"):
    """A keyed seat's decision."""

    j: U
    seat: U
    kind: str
    args: Args


class Proxy(Placed, frozen=True, tag="truc/1/proxy"):
    """A guest's decision, written down by the server, unsigned."""

    j: U
    seat: U
    kind: str
    args: Args


class Open(Placed, frozen=True, tag="truc/1/open"):
    """Cards the rules force a seat to show."""

    j: U
    d: U
    seat: U
    openings: tuple[tuple[U, U, Salt], ...]


class Share(Placed, frozen=True, tag="truc/1/share"):
    """A partner's cards, where the rules show them."""

    j: U
    d: U
    giver: U
    receiver: U
    box: bytes


class Rule(Placed, frozen=True, tag="truc/1/rule"):
    """The server's claim that time ran out; the rules fix what follows."""

    j: U
    ruling: str
    seat: U | None
    kind: str | None
    args: Args


class Close(Placed, frozen=True, tag="truc/1/close"):
    """The end of a hand; under reveal = hand it opens the whole deal."""

    j: U
    link: Hash | None
    score: tuple[SideScore, SideScore]
    reason: str


class Void(Placed, frozen=True, tag="truc/1/void"):
    """A deal that did not happen, because of the seats named."""

    j: U
    reason: str
    seats: tuple[U, ...]
    link: Hash | None


class Rekey(Placed, frozen=True, tag="truc/1/rekey"):
    """A contributor starts a new chain."""

    role: U
    first: U
    anchor: Hash
    x: Hash | None


class Sub(Placed, frozen=True, tag="truc/1/sub"):
    """A newcomer takes over the seat of somebody who is gone."""

    first: U
    seat: U
    pk: Hash
    anchor: Hash
    x: Hash
    name: Name


class Resign(Placed, frozen=True, tag="truc/1/resign"):
    """A seat gives the match up."""

    seat: U


class End(Placed, frozen=True, tag="truc/1/end"):
    """The result, and everything that was still sealed."""

    next_index: U
    links: tuple[tuple[U, Hash], ...]
    xsec: Hash
    score: tuple[SideScore, SideScore]
    winner: U | None
    reason: str


class Ack(Placed, frozen=True, tag="truc/1/ack"):
    """A seat has seen the end."""

    seat: U


class Mask(Placed, frozen=True, tag="truc/1/mask"):
    """In mode blind: a seat masks the pack, P and Q of each pair."""

    j: U
    seat: U
    points: tuple[Hash, ...]


class Lock(Placed, frozen=True, tag="truc/1/lock"):
    """In mode blind: a seat locks its trays, Q of each place, and shows a digest of each key."""

    j: U
    d: U
    seat: U
    nonce: Hash | None
    points: tuple[Hash, ...]
    commitments: tuple[Hash, ...]


class Keys(Placed, frozen=True, tag="truc/1/keys"):
    """In mode blind: a seat gives its keys, in clear to all or sealed to the owners of the places."""

    j: U
    d: U
    seat: U
    box: Hash | None
    opened: tuple[Hash, ...]
    boxes: tuple[bytes, ...]


class Lend(Placed, frozen=True, tag="truc/1/lend"):
    """In mode blind: a seat shows its cards to its partner, where the rules say so."""

    j: U
    d: U
    seat: U
    receiver: U
    box: bytes


class Garbled(Placed, frozen=True, tag="truc/1/garbled"):
    """In mode blind: a seat says that its keys open no hand of cards."""

    j: U
    d: U
    seat: U


class Refuse(Body, frozen=True, tag="truc/1/refuse"):
    """The server did not take a validly signed body; found in error replies, never in a transcript."""

    mid: Hash
    body: Hash
    code: str


# without Refuse, which is no record: in a transcript it is an unknown kind (C2)
AnyBody = (
    TableTerms
    | SeatTaken
    | Guest
    | MatchStart
    | Call
    | Release
    | Draw
    | Deal
    | Act
    | Proxy
    | Open
    | Share
    | Rule
    | Close
    | Void
    | Rekey
    | Sub
    | Resign
    | End
    | Ack
    | Mask
    | Lock
    | Keys
    | Lend
    | Garbled
)
