"""Events: what happened, as public facts.

Folding the events of a match gives its score: only PointsScored and UnitScored change it. Every card that an event names
has been seen by everybody.
"""

from functools import cache
from typing import NamedTuple

from truc_rules.cards import Card
from truc_rules.seats import Seat, Side


class CutMade(NamedTuple):
    """The pack was cut: three cards each."""

    seat: Seat


class Tapped(NamedTuple):
    """The pack was tapped."""

    seat: Seat


class CardCountChosen(NamedTuple):
    """After a tap the dealer chose how many cards each seat gets."""

    seat: Seat
    each: int


class Dealt(NamedTuple):
    """Every seat has `each` new cards."""

    each: int


class RedealProposed(NamedTuple):
    """Eldest asked for new cards."""

    seat: Seat


class RedealAgreed(NamedTuple):
    """One of several players who must all agree did; the next is asked."""

    seat: Seat


class RedealGranted(NamedTuple):
    """The last consent came: new cards are dealt from the rest of the pack."""

    seat: Seat


class RedealRefused(NamedTuple):
    """The cards stay."""

    seat: Seat


class Stood(NamedTuple):
    """Eldest plays the cards as they are."""

    seat: Seat


class LastPointAsked(NamedTuple):
    """A side at its last point must play for the raised stake or decline."""

    side: Side


class LastPointTaken(NamedTuple):
    """The side plays, for `stake`."""

    seat: Seat
    stake: int


class LastPointDeclined(NamedTuple):
    """The side does not play."""

    seat: Seat


class GameStaked(NamedTuple):
    """Both sides are at their last point: the hand decides the game."""


class CardPlayed(NamedTuple):
    """A card was played face up."""

    seat: Seat
    card: Card


class TurnedUp(NamedTuple):
    """This card was turned up after the deal: it raises a rank."""

    card: Card


class PlayedBlind(NamedTuple):
    """Both sides are at their last point: nobody sees a card of this hand before it is played."""


class CardCovered(NamedTuple):
    """A card was played face down."""

    seat: Seat


class CardsShown(NamedTuple):
    """A seat showed unplayed cards, by its own choice."""

    seat: Seat
    cards: tuple[Card, ...]


class OrderGiven(NamedTuple):
    """A governor told its partner what to play next: a rank, "low", "high" or "leave"."""

    seat: Seat
    order: str


class EnvidoCalled(NamedTuple):
    """Envido, real envido or falta envido was called; `call` is the kind of the move."""

    seat: Seat
    call: str


class EnvidoAccepted(NamedTuple):
    """The calls were accepted: the values are said, for `points`."""

    seat: Seat
    points: int


class EnvidoDeclined(NamedTuple):
    """The last envido call was refused."""

    seat: Seat


class ValueSaid(NamedTuple):
    """A seat said its envido or flor value."""

    seat: Seat
    value: int


class ValueYielded(NamedTuple):
    """A seat gave in for its side without saying a value (*son buenas*)."""

    seat: Seat


class KeptSilent(NamedTuple):
    """A seat left it to a partner to say a value."""

    seat: Seat


class FlorDeclared(NamedTuple):
    """A seat declared three cards of one kind."""

    seat: Seat


class FlorFolded(NamedTuple):
    """A seat that declared a flor, now or before, gave in for its side."""

    seat: Seat


class ContraflorCalled(NamedTuple):
    """A seat with a flor challenged an opponent's; `call` is the kind of the move."""

    seat: Seat
    call: str


class ContraflorAccepted(NamedTuple):
    """The flores are compared."""

    seat: Seat


class FlorClaimed(NamedTuple):
    """A seat claimed that `target` kept a flor quiet; it is settled when the hand ends."""

    seat: Seat
    target: Seat


class FlorClaimSettled(NamedTuple):
    """It was settled whether `target` had kept a flor quiet."""

    target: Seat
    held: bool


class DuelBegun(NamedTuple):
    """Two seats play each other; `seat` leads."""

    seat: Seat
    opponent: Seat


class UnitScored(NamedTuple):
    """A side scored a unit; it keeps `kept` points, and the other side loses its points."""

    side: Side
    kept: int
    reason: str


class StakeAsked(NamedTuple):
    """A higher stake, or the remainder, was asked for."""

    seat: Seat
    stake: int | str


class StakeAccepted(NamedTuple):
    """The stake asked for was accepted."""

    seat: Seat
    stake: int | str


class StakeDeclined(NamedTuple):
    """The stake asked for was refused."""

    seat: Seat


class Conceded(NamedTuple):
    """A seat gave the hand up for its side."""

    seat: Seat


class TrickWon(NamedTuple):
    """A side won the trick; `leader` leads the next, if one is played."""

    side: Side
    leader: Seat


class TrickTied(NamedTuple):
    """Nobody won the trick; `leader` leads the next, if one is played."""

    leader: Seat


class HandWon(NamedTuple):
    """The hand is over and a side has won it."""

    side: Side


class HandDrawn(NamedTuple):
    """The hand is over and nobody has won it."""


class PointsScored(NamedTuple):
    """Points for a side; `reason` is "hand", "declined", "conceded", "game", "envido", "flor" or "claim"."""

    side: Side
    points: int
    reason: str


class GameWon(NamedTuple):
    """A side has won the game."""

    side: Side


class MatchWon(NamedTuple):
    """A side has won the match."""

    side: Side


Event = (
    CutMade
    | Tapped
    | CardCountChosen
    | Dealt
    | RedealProposed
    | RedealAgreed
    | RedealGranted
    | RedealRefused
    | Stood
    | LastPointAsked
    | LastPointTaken
    | LastPointDeclined
    | GameStaked
    | TurnedUp
    | PlayedBlind
    | CardPlayed
    | CardCovered
    | CardsShown
    | OrderGiven
    | EnvidoCalled
    | EnvidoAccepted
    | EnvidoDeclined
    | ValueSaid
    | ValueYielded
    | KeptSilent
    | FlorDeclared
    | FlorFolded
    | ContraflorCalled
    | ContraflorAccepted
    | FlorClaimed
    | FlorClaimSettled
    | DuelBegun
    | StakeAsked
    | StakeAccepted
    | StakeDeclined
    | Conceded
    | TrickWon
    | TrickTied
    | HandWon
    | HandDrawn
    | PointsScored
    | UnitScored
    | GameWon
    | MatchWon
)


@cache
def card_played(seat: Seat, card: Card) -> CardPlayed:
    """Return the event that `card` was played; built once."""
    return CardPlayed(seat, card)


@cache
def trick_told(side: Side | None, leader: Seat) -> TrickWon | TrickTied:
    """Return the event of a trick won by `side`, or by nobody; built once."""
    return TrickTied(leader) if side is None else TrickWon(side, leader)
