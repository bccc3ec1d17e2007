"""The hand as a value: the phase it is in, the cards, the row of tricks, the stake and the stack of open offers.

Each machine has its own part of the state and changes it in its own module. Everything is a NamedTuple: immutable,
hashable, cheap to build. The newest offer, the last of `offers`, is answered first.
"""

from enum import Enum, auto
from typing import NamedTuple

from .cards import Card
from .events import Event
from .seats import Seat, Side


class Phase(Enum):
    """What the hand waits for when no offer is open."""

    CUT = auto()
    """The seat before the dealer cuts or taps."""
    COUNT = auto()
    """The dealer says how many cards each seat gets."""
    DEAL = auto()
    """Cards: the first deal or that of a granted redeal."""
    REDEAL = auto()
    """Eldest plays these cards or proposes a redeal."""
    PLAY = auto()
    """The seat to act."""
    OVER = auto()
    """Nothing: the hand is over."""


class Dealt(NamedTuple):
    """The cards of the newest deal."""

    each: int
    """Cards each seat gets."""
    taken: int
    """Cards that have left the pack in this hand."""
    redeals: int
    """Redeals granted in this hand."""
    thrown: tuple[Card, ...]
    """Known cards of earlier deals of this hand."""
    cards: tuple[tuple[Card | None, ...], ...]
    """By seat, then slot; None while the card is unknown here."""
    left: tuple[tuple[int, ...], ...]
    """By seat: the slots that have not been played, ascending."""


class Trick(NamedTuple):
    """A trick that is complete."""

    leader: Seat
    cards: tuple[Card, ...]
    """In order of play, from the leader."""
    side: Side | None
    """Who won it; None if it was tied."""


class Row(NamedTuple):
    """The tricks so far and the one on the table."""

    leader: Seat
    """Who leads, or led, the trick on the table."""
    table: tuple[Card, ...]
    """Its cards, in order of play."""
    tricks: tuple[Trick, ...]
    last: Seat | None
    """Who played the newest card of the hand."""


class Bets(NamedTuple):
    """The main stake."""

    stake: int
    """What the hand is worth by points."""
    locked: bool
    """Whether the stake is the whole game."""
    right: tuple[Side, ...]
    """The sides that may ask."""
    offered: tuple[Seat, ...]
    """The seats that have made the offer of their present turn."""


class StakeAsk(NamedTuple):
    """A higher stake, or the remainder, waits for an answer."""

    seat: Seat
    side: Side
    stake: int | str


class RedealAsk(NamedTuple):
    """A proposed redeal waits for the consent of these seats, in order."""

    seat: Seat
    waiting: tuple[Seat, ...]


class LastPointAsk(NamedTuple):
    """The side at its last point plays or declines."""

    side: Side
    stake: int
    """What the hand is worth if it plays."""
    decline: int
    """What the other side scores if it declines."""


Offer = StakeAsk | RedealAsk | LastPointAsk


class Hand(NamedTuple):
    """One deal being played."""

    phase: Phase
    dealt: Dealt
    row: Row
    bets: Bets
    offers: tuple[Offer, ...]
    winner: Side | None
    """The side that has the hand, once it is over; None if it was drawn."""


Step = tuple[Hand, tuple[Event, ...]]
"""What a machine returns: the next hand, and what happened."""


def seat_to_act(row: Row, seats: int) -> Seat:
    """Return the seat whose card is next."""
    return Seat((row.leader + len(row.table)) % seats)
