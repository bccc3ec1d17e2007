"""What one seat, or a spectator, may know of a match: a type of its own, with no place for other cards.

And what a move would mean: figures beside every option, for a client that does not know the rules.
"""

from typing import NamedTuple

from truc_rules.cards.packs import Card
from truc_rules.cards.seats import Seat, Side
from truc_rules.contests import envido
from truc_rules.match.machines import deciders_in_view
from truc_rules.positions.actions import CONTEST_CALLS, REST, Action, Kind
from truc_rules.positions.hand import (
    Bets,
    Contests,
    EnvidoAsk,
    FlorRound,
    LastPointAsk,
    Offer,
    Orders,
    Phase,
    Row,
    Saying,
    StakeAsk,
)
from truc_rules.positions.match import Match, Score


class View(NamedTuple):
    """A match as `seat` sees it; None for a spectator."""

    seat: Seat | None
    variant: str
    seats: int
    dealer: Seat
    games: tuple[int, int]
    score: tuple[Score, Score]
    phase: Phase
    deciders: tuple[Seat, ...]
    each: int
    """Cards each seat was dealt."""
    redeals: int
    cards: tuple[Card | None, ...]
    """The seat's own cards, by slot, None for a card not seen yet; empty for a spectator."""
    up: tuple[Card, ...]
    """The cards turned up."""
    shown: tuple[tuple[Seat, Card], ...]
    """Unplayed cards that were shown by choice."""
    row: Row
    """The tricks, and by seat the slots that have not been played: public."""
    bets: Bets
    offers: tuple[Offer, ...]
    """Of the seats that are still to speak in a flor contest, only the next is named."""
    contests: Contests
    orders: Orders
    """By side, the order that is in force."""
    hand_winner: Side | None
    game_winner: Side | None
    winner: Side | None


def view(match: Match, seat: Seat | None) -> View:
    """Return what `seat` may know of `match`."""
    hand, dealt = match.hand, match.hand.dealt
    own = seat if dealt.cards else None
    return View(
        seat=seat,
        variant=match.variant.name,
        seats=match.seats,
        dealer=match.dealer,
        games=match.games,
        score=match.score,
        phase=hand.phase,
        deciders=deciders_in_view(match),
        each=dealt.each,
        redeals=dealt.redeals,
        cards=() if own is None else _seen(match, own),
        up=dealt.up,
        shown=dealt.shown,
        row=hand.row,
        bets=hand.bets,
        offers=tuple(_public(offer) for offer in hand.offers),
        contests=hand.contests,
        orders=hand.orders,
        hand_winner=hand.winner,
        game_winner=match.game_winner,
        winner=match.winner,
    )


def _seen(match: Match, seat: Seat) -> tuple[Card | None, ...]:
    dealt, left = match.hand.dealt, match.hand.row.left[seat]
    held = dealt.cards[seat]
    if not dealt.blind:
        return held
    return tuple(None if slot in left else card for slot, card in enumerate(held))


def _public(offer: Offer) -> Offer:
    """Return an offer without what would tell who else holds a flor."""
    match offer:
        case FlorRound():
            return FlorRound(offer.waiting[:1])
        case Saying(contest=Kind.FLOR):
            return offer._replace(waiting=offer.waiting[:1])
        case _:
            return offer


Hints = tuple[tuple[str, int | str], ...]

GAME = "game"
# looked up once: a lookup in an Enum is costly where every option has its hints
_ASKS, _ANSWERS = frozenset({Kind.RAISE, Kind.PLAY}), frozenset({Kind.ACCEPT, Kind.DECLINE})
_ACCEPT, _CONCEDE, _DEAL = Kind.ACCEPT, Kind.CONCEDE, Kind.DEAL
_ENVIDOS = CONTEST_CALLS - {Kind.FLOR}


def hints(match: Match, action: Action) -> Hints:
    """Return the figures that go with a legal `action`; none of them depends on hidden cards.

    stake: what the hand is worth if it is accepted; points: what an envido is worth if it is accepted; declined: what
    the asking side gets if it is not; loses: what this move gives the other side; cards: how many each seat gets.
    """
    kind, offers = action.kind, match.hand.offers
    offer = offers[-1] if offers else None
    if kind in _ASKS:
        return _of_stake(match, action, offer if isinstance(offer, StakeAsk) else None)
    if kind in _ANSWERS:
        return _of_answer(match, offer, accepts=kind is _ACCEPT)
    if kind is _CONCEDE:
        return (("loses", _conceded(match, action)),)
    if kind is _DEAL:
        return (("cards", 1 if action.value == 1 else 3),)
    if kind in _ENVIDOS:
        before = offer.calls if isinstance(offer, EnvidoAsk) else ()
        return _of_envido(match, (*before, kind))
    return ()


def _of_answer(match: Match, offer: Offer | None, *, accepts: bool) -> Hints:
    match offer:
        case StakeAsk():
            return (("stake", _shown(offer.stake)),) if accepts else (("loses", match.hand.bets.stake),)
        case LastPointAsk():
            return (("stake", offer.stake),) if accepts else (("loses", offer.decline),)
        case EnvidoAsk():
            worth, declined = _of_envido(match, offer.calls)
            return (worth,) if accepts else (("loses", declined[1]),)
        case _:
            return ()


def _of_envido(match: Match, calls: tuple[Kind, ...]) -> Hints:
    points = envido.accepted_points(match, calls)
    return ("points", max(points)), ("declined", envido.declined_points(calls))


def _conceded(match: Match, action: Action) -> int | str:
    bets = match.hand.bets
    if bets.locked is not None:
        return _shown(bets.locked)
    return bets.stake + envido.fold_bonus(match, action.seat)


def _of_stake(match: Match, action: Action, answered: StakeAsk | None) -> Hints:
    if answered is not None and (action.value is None or answered.stake == REST):
        return (("stake", _shown(answered.stake)),)
    if action.value is None:
        return ()
    stake = match.hand.bets.stake if answered is None else answered.stake
    return ("stake", _shown(action.value)), ("declined", stake)


def _shown(stake: int | str) -> int | str:
    return GAME if stake == REST else stake
