"""Actions: everything a seat can do, and the one table of their kinds.

The table holds the acts of the whole family, so that records, options and notation need no change when a variant
brings in another machine. `pause`, `resume` and `resign` are acts too, but the rules of a hand never offer them.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from truc_rules.cards import LARGEST_PACK, Card
from truc_rules.seats import SEAT_COUNTS, Seat

REST = "rest"
TRUT = "trut"


class Kind(StrEnum):
    """The first word of a move line."""

    PLAY = "play"
    COVER = "cover"
    BLIND = "blind"
    SHOW = "show"
    RAISE = "raise"
    ACCEPT = "accept"
    DECLINE = "decline"
    CONCEDE = "concede"
    CUT = "cut"
    TAP = "tap"
    DEAL = "deal"
    REDEAL = "redeal"
    STAND = "stand"
    ENVIDO = "envido"
    REAL_ENVIDO = "real-envido"
    FALTA_ENVIDO = "falta-envido"
    POINTS = "points"
    GOOD = "good"
    SILENT = "silent"
    FLOR = "flor"
    FLOR_FOLD = "flor-fold"
    CONTRAFLOR = "contraflor"
    CONTRAFLOR_REST = "contraflor-rest"
    CLAIM = "claim"
    ORDER = "order"
    PAUSE = "pause"
    RESUME = "resume"
    RESIGN = "resign"

    # Enum's own is written in Python, and seven times as slow with every look-up
    __hash__ = str.__hash__


CONTEST_CALLS = frozenset({Kind.ENVIDO, Kind.REAL_ENVIDO, Kind.FALTA_ENVIDO, Kind.FLOR})
"""The calls that open a side bet."""


class ArgShape(Enum):
    """What goes with a kind in an action, and follows it in a line."""

    NONE = auto()
    """Nothing."""
    CUT = auto()
    """Nothing in the rules; the record adds the place of the cut."""
    PLAY = auto()
    """One card; value: None or the stake asked with it."""
    COVER = auto()
    """For its owner one card; for everybody else no card, and value: its slot."""
    SLOT = auto()
    """Value: a slot."""
    SHOW = auto()
    """One or more cards."""
    STAKE = auto()
    """Value: a stake, "rest" or "trut"."""
    COUNT = auto()
    """Value: cards a seat, 3 or 1."""
    NUMBER = auto()
    """Value: a number of points."""
    SEAT = auto()
    """Value: a seat."""
    ORDER = auto()
    """Value: a rank, "low", "high" or "leave"."""


_WITH_ARGS = {
    Kind.PLAY: ArgShape.PLAY,
    Kind.COVER: ArgShape.COVER,
    Kind.BLIND: ArgShape.SLOT,
    Kind.SHOW: ArgShape.SHOW,
    Kind.RAISE: ArgShape.STAKE,
    Kind.CUT: ArgShape.CUT,
    Kind.DEAL: ArgShape.COUNT,
    Kind.POINTS: ArgShape.NUMBER,
    Kind.CLAIM: ArgShape.SEAT,
    Kind.ORDER: ArgShape.ORDER,
}
KINDS: Mapping[Kind, ArgShape] = MappingProxyType(
    {kind: _WITH_ARGS.get(kind, ArgShape.NONE) for kind in Kind}
)


class Action(NamedTuple):
    """One thing one seat does; see ArgShape for what `cards` and `value` hold."""

    seat: Seat
    kind: Kind
    cards: tuple[Card, ...] = ()
    value: int | str | None = None


PLAIN_PLAYS = tuple(
    tuple(Action(Seat(seat), Kind.PLAY, (Card(card),)) for card in range(LARGEST_PACK))
    for seat in range(max(SEAT_COUNTS))
)
"""The play of a card without an ask, by seat and card; built once, since hands offer them over and over."""


@cache
def plain_actions(seat: Seat, *kinds: Kind) -> tuple[Action, ...]:
    """Return the actions of these kinds, which have neither cards nor a value; built once."""
    return tuple(Action(seat, kind) for kind in kinds)


@cache
def valued_action(seat: Seat, kind: Kind, value: int | str) -> Action:
    """Return the action of a kind that has a value; built once."""
    return Action(seat, kind, (), value)


@cache
def card_action(seat: Seat, kind: Kind, card: Card, ask: int | str | None = None) -> Action:
    """Return the play of a card, and perhaps an ask with it; built once."""
    return Action(seat, kind, (card,), ask)


def yes_or_no(seat: Seat) -> tuple[Action, ...]:
    """Return both plain answers to an offer."""
    return plain_actions(seat, Kind.ACCEPT, Kind.DECLINE)
