"""What one seat, or a spectator, may know of a match: a type of its own, with no place for other cards.

`as_seen_by_all` instead returns a match, for the rules to go on with.
"""

from typing import NamedTuple

from truc_rules.cards import Card
from truc_rules.machines import deciders_in_view
from truc_rules.positions.actions import Kind
from truc_rules.positions.match import (
    Bets,
    Contests,
    FlorRound,
    HandPhase,
    Match,
    Offer,
    Orders,
    Saying,
    Score,
    TrickRow,
)
from truc_rules.seats import Seat, Side


class View(NamedTuple):
    """A match as `seat` sees it; None for a spectator."""

    seat: Seat | None
    variant: str
    seats: int
    dealer: Seat
    games: tuple[int, int]
    score: tuple[Score, Score]
    phase: HandPhase
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
    row: TrickRow
    """The tricks, and by seat the slots that have not been played: public."""
    bets: Bets
    offers: tuple[Offer, ...]
    """Of the seats that are still to speak in a flor contest, only the next is named."""
    contests: Contests
    """Without those who have kept a flor quiet."""
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
        # a seat that kept a flor quiet holds one, or may: naming it would reveal that
        contests=hand.contests._replace(quiet=()),
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


def as_seen_by_all(match: Match) -> Match:
    """Return the match as everybody sees it: without the cards that have not been played or shown."""
    dealt, left = match.hand.dealt, match.hand.row.left
    cards = tuple(
        tuple(
            None if slot in left[seat] and (seat, card) not in dealt.shown else card
            for slot, card in enumerate(held)
        )
        for seat, held in enumerate(dealt.cards)
    )
    return match._replace(hand=match.hand._replace(dealt=dealt._replace(cards=cards)))
