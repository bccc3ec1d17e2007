"""The match as a value, and in it the hand: its phase, the cards, the row of tricks, the stake, the open offers.

Each machine has its own part of the state and changes it in its own module. Everything is a NamedTuple: immutable,
hashable, cheap to build. The newest offer, the last of `offers`, is answered first.
"""

from enum import Enum, auto
from typing import NamedTuple

from truc_rules.cards import Card
from truc_rules.positions.actions import Kind
from truc_rules.positions.events import Event
from truc_rules.seats import Seat, Side, seat_after, seats_from, side_of
from truc_rules.variants.variant import Variant


class HandPhase(Enum):
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


class HandCards(NamedTuple):
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
    up: tuple[Card, ...]
    """The cards turned up."""
    shown: tuple[tuple[Seat, Card], ...]
    """Unplayed cards that their seats have shown by choice."""
    covered: tuple[tuple[Seat, int], ...]
    """The slots that were played face down, each with its seat."""
    blind: bool
    """Whether nobody has seen any of the cards: all are played unseen."""


class Trick(NamedTuple):
    """A trick that is complete."""

    leader: Seat
    cards: tuple[Card, ...]
    """In order of play, from the leader; COVERED for a card played face down."""
    side: Side | None
    """Who won it; None if it was tied."""


class TrickRow(NamedTuple):
    """The tricks so far and the one on the table."""

    eldest: Seat
    """Who leads the first trick: mano."""
    stride: int
    """From one player's seat to the next: 1, or in a duel half the table."""
    leader: Seat
    """Who leads, or led, the trick on the table."""
    to_act: Seat
    """Whose card is next."""
    table: tuple[Card, ...]
    """Its cards, in order of play."""
    tricks: tuple[Trick, ...]
    last: Seat | None
    """Who played the newest card of the hand."""
    left: tuple[tuple[int, ...], ...]
    """By seat: the slots that have not been played, ascending."""


class Bets(NamedTuple):
    """The main stake."""

    stake: int
    """What the hand is worth by points."""
    locked: str | None
    """What is played for instead of points, once accepted: "rest", the whole game, or "trut", a whole unit."""
    right: tuple[Side, ...]
    """The sides that may ask; none once something is locked in."""
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


class EnvidoAsk(NamedTuple):
    """Envido calls wait for an answer."""

    seat: Seat
    """Who made the last call."""
    side: Side
    calls: tuple[Kind, ...]
    """All calls of the contest, in order."""


class FlorRound(NamedTuple):
    """A flor was declared; these seats hold one too, or may as far as is known here, and declare it in this order."""

    waiting: tuple[Seat, ...]


class ContraflorAsk(NamedTuple):
    """A contraflor waits for an answer."""

    seat: Seat
    side: Side
    call: Kind
    """CONTRAFLOR or CONTRAFLOR_REST."""


class Saying(NamedTuple):
    """Envido or flor values are said, for `points`."""

    contest: Kind
    """ENVIDO or FLOR."""
    points: tuple[int, int]
    """By side: what it scores if it wins; for a flor what it scores besides 3 for each flor."""
    waiting: tuple[Seat, ...]
    """Who is still to speak, the next one first; for a flor also who may hold one, as far as known here."""
    spoken: tuple[Seat, ...]
    """Who has had a first turn to speak."""
    silent: tuple[Seat, ...]
    """Who stayed silent then and has not said a value since."""
    said: tuple[tuple[Seat, int], ...]
    """Who has said which value; each value is higher than the one before."""

    @property
    def best(self) -> tuple[Seat, int] | None:
        """Who said the best value so far, and the value."""
        return self.said[-1] if self.said else None


ContestOffer = EnvidoAsk | FlorRound | ContraflorAsk | Saying
Offer = StakeAsk | RedealAsk | LastPointAsk | ContestOffer


class Contests(NamedTuple):
    """What came of the side bets of this row of tricks, and what the cards must prove when it ends."""

    envido_closed: bool
    """Whether envido can no longer be called."""
    flor_closed: bool
    """Whether the flor contest has been decided."""
    flores: tuple[Seat, ...]
    """Who declared a flor, in order."""
    quiet: tuple[Seat, ...]
    """Who had played a card when the first was declared, and so kept quiet the flor that it holds, or may hold."""
    claims: tuple[tuple[Seat, Seat], ...]
    """Each claim that a flor was kept quiet: who made it, and against whom."""
    said: tuple[tuple[Seat, int], ...]
    """Who said the envido value that won, and the value; empty if none was said."""
    owed: tuple[int, ...] = ()
    """By side, what the better cards bring when the hand is over, of an envido whose values are not said; else empty."""


NO_CONTESTS = Contests(envido_closed=False, flor_closed=False, flores=(), quiet=(), claims=(), said=())


class OrderInForce(NamedTuple):
    """An order in force: what a governor told its partner to play next, and how many orders it has given for that card."""

    word: str
    given: int


Orders = tuple[OrderInForce | None, OrderInForce | None]
NO_ORDERS: Orders = (None, None)


class Hand(NamedTuple):
    """One deal being played."""

    phase: HandPhase
    dealt: HandCards
    row: TrickRow
    bets: Bets
    offers: tuple[Offer, ...]
    winner: Side | None
    """The side that won the hand, once it is over; None if it was drawn, or if the game ended first."""
    contests: Contests
    orders: Orders
    """By side, the order that is in force."""
    earlier_duels: tuple[tuple[Seat, Contests], ...]
    """What earlier duels of this deal must prove: a seat of each, and what came of its side bets."""


class Score(NamedTuple):
    """A side's score in the game."""

    upper: int
    """Units, for games that are counted in them; else 0."""
    points: int


class Match(NamedTuple):
    """Games until a side has won the match."""

    variant: Variant
    seats: int
    dealer: Seat
    games: tuple[int, int]
    """Games won by each side, the one just won included."""
    score: tuple[Score, Score]
    """The score of the game; until the next hand, that of the game just won."""
    hand_number: int
    """The number of this hand in its game, from 1."""
    hand: Hand
    game_winner: Side | None
    """Who won the game with this hand."""
    winner: Side | None
    """Who won the match."""


Step = tuple[Hand, tuple[Event, ...]]
"""What a machine returns: the next hand, and what happened."""


def with_offers(hand: Hand, offers: tuple[Offer, ...], contests: Contests) -> Hand:
    """Return `hand` with other open offers and contests, which is all that most moves of a side bet change."""
    rest = (contests, hand.orders, hand.earlier_duels)
    return Hand(hand.phase, hand.dealt, hand.row, hand.bets, offers, None, *rest)


def players(row: TrickRow, seats: int) -> tuple[Seat, ...]:
    """Return the seats that play this row of tricks, eldest first, in order of play."""
    return seats_from(row.eldest, row.stride, seats)


def governor(match: Match, side: Side) -> Seat:
    """Return who decides for `side` where sides are governed: the dealer, or eldest (rules.md 6.1)."""
    return match.dealer if side_of(match.dealer) == side else seat_after(match.dealer, match.seats)
