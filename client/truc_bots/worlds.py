"""Worlds: whole deals that agree with what one seat has seen and heard.

A seat knows its cards and those that were played, turned up or shown; it has heard values and flores, which must be
true; and it supposes that a side that asked for more holds better cards than one that did not.
"""

from collections.abc import Iterable
from random import Random
from typing import Final

from truc_bots.strength import strengths
from truc_rules import Card, Kind, Match, Seat, Side, know_all, other_side, side_of, without_unknown_flor
from truc_rules.contests.values import envido_value, is_flor
from truc_rules.positions.match import EnvidoAsk, Saying, StakeAsk

_TRIES: Final = 400
"""Draws for a seat that something was heard of, before it is given cards that may not agree with it."""
_DRAWS: Final = 3
"""Draws for a seat whose side has asked: the best of them is supposed. With two the bot loses to itself with three."""


def as_seen(match: Match, seat: Seat) -> Match:
    """Return the match without the cards that `seat` has not seen."""
    dealt, left = match.hand.dealt, match.hand.row.left
    shown = set(dealt.shown)
    cards = tuple(
        held
        if other == seat and not dealt.blind
        else tuple(
            None
            if (Seat(other), card) not in shown
            and (slot in left[other] or (Seat(other), slot) in dealt.covered)
            else card
            for slot, card in enumerate(held)
        )
        for other, held in enumerate(dealt.cards)
    )
    return match._replace(hand=match.hand._replace(dealt=dealt._replace(cards=cards)))


def world(seen: Match, dice: Random) -> Match:
    """Return `seen` with a card in every slot, drawn from those that can be there."""
    dealt = seen.hand.dealt
    known = {card for held in dealt.cards for card in held if card is not None}
    known.update(dealt.thrown, dealt.up)
    pool = [Card(card) for card in range(len(seen.variant.pack)) if card not in known]
    told = _told_of(seen)
    # seats of which something was heard draw first, while the pool still has cards that agree
    order = sorted(range(len(dealt.cards)), key=lambda seat: seat not in told)
    found: list[tuple[Seat, int, Card]] = []
    for seat in map(Seat, order):
        gaps = [slot for slot, card in enumerate(dealt.cards[seat]) if card is None]
        drawn = _drawn(seen, seat, pool, len(gaps), dice) if gaps else []
        found += [(seat, slot, card) for slot, card in zip(gaps, drawn, strict=True)]
        pool = [card for card in pool if card not in drawn]
    return without_unknown_flor(know_all(seen, found))[0]


def shuffled_deal(match: Match, dice: Random) -> tuple[list[tuple[Card, ...]], list[Card]]:
    """Return cards for every seat, and to turn up, for a match that waits for them."""
    dealt = match.hand.dealt
    pool = [Card(card) for card in range(len(match.variant.pack)) if card not in dealt.thrown]
    up = 0 if dealt.redeals else match.variant.turn_count
    drawn = dice.sample(pool, up + match.seats * dealt.each)
    hands = [tuple(drawn[up + seat * dealt.each :][: dealt.each]) for seat in range(match.seats)]
    return hands, drawn[:up]


def _told_of(match: Match) -> dict[Seat, int]:
    """Return the envido values that are known, by seat."""
    offers = match.hand.offers
    said = (
        offers[-1].said
        if offers and isinstance(offers[-1], Saying) and offers[-1].contest is Kind.ENVIDO
        else ()
    )
    return dict((*match.hand.contests.said, *said))


def _drawn(match: Match, seat: Seat, pool: list[Card], count: int, dice: Random) -> list[Card]:
    """Draw cards for `seat` that agree with what was heard of it; for a side that asked, the best of several draws."""
    held = [card for card in match.hand.dealt.cards[seat] if card is not None]
    draws: list[list[Card]] = []
    wanted = _DRAWS if side_of(seat) == _asking(match) else 1
    drawn: list[Card] = []
    for _ in range(_TRIES):
        drawn = dice.sample(pool, count)
        if _agrees(match, seat, (*held, *drawn)):
            draws.append(drawn)
            if len(draws) == wanted:
                break
    return max(draws or [drawn], key=lambda cards: _worth(match, cards))


def _agrees(match: Match, seat: Seat, cards: tuple[Card, ...]) -> bool:
    told = _told_of(match).get(seat)
    if told is not None and envido_value(match.variant, cards, match.hand.dealt.up) != told:
        return False
    if match.variant.flor is None:
        return True
    has_played = len(match.hand.row.left[seat]) < match.hand.dealt.each
    declared = seat in match.hand.contests.flores
    # a seat that has not played may still declare; one that played without a word is taken to hold none
    # (rules.md 8.6)
    return is_flor(match.variant, cards, match.hand.dealt.up) == declared or not (declared or has_played)


def _asking(match: Match) -> Side | None:
    """Return the side that last asked for a higher stake, or for envido if that is open; None if there is none."""
    hand = match.hand
    if hand.offers and isinstance(hand.offers[-1], StakeAsk | EnvidoAsk):
        return hand.offers[-1].side
    # where the right to ask is one side's, it is that of the side that accepted
    accepted = hand.bets.stake > match.variant.base_stake and len(hand.bets.right) == 1
    return other_side(hand.bets.right[0]) if accepted else None


def _worth(match: Match, cards: Iterable[Card]) -> int:
    """Return what draws are compared by: envido while that is open, else strength."""
    offers = match.hand.offers
    if offers and isinstance(offers[-1], EnvidoAsk):
        return envido_value(match.variant, tuple(cards), match.hand.dealt.up)
    by_card = strengths(match)
    return sum(by_card[card] for card in cards)
