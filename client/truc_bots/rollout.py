"""Rollouts: the rest of a hand, with a quick player in every seat that sees only its own cards.

It is quick, not good: it takes tricks cheaply, folds with weak cards and asks with strong ones, sometimes with weak
ones, so that asking, accepting and bluffing are worth about what they are worth against people.
"""

from random import Random
from typing import Final

from truc_bots.strength import beats, is_ahead, power, strengths
from truc_bots.worlds import shuffled_deal
from truc_rules import (
    Action,
    Card,
    Kind,
    Match,
    Seat,
    apply,
    awaits_deal,
    deal,
    deciders,
    is_hand_over,
    legal,
    settled,
)
from truc_rules.contests.values import envido_value
from truc_rules.positions.match import EnvidoAsk, StakeAsk

_LONGEST: Final = 120
_ACCEPTS: Final = 0.38
_RAISES: Final = 0.72
_NOISE: Final = 0.2
_EAGER: Final = 0.4
_BLUFFS: Final = 0.05
_LEADS_HIGH: Final = 0.5
_ENVIDO: Final = 25

_ASKS: Final = frozenset({Kind.RAISE, Kind.ENVIDO, Kind.REAL_ENVIDO, Kind.FALTA_ENVIDO})
_GIVES_UP: Final = frozenset(
    {Kind.CONCEDE, Kind.DECLINE, Kind.FLOR_FOLD, Kind.GOOD, Kind.CLAIM, Kind.SILENT, Kind.REDEAL}
)
_PLAY, _ACCEPT, _DECLINE, _RAISE = Kind.PLAY, Kind.ACCEPT, Kind.DECLINE, Kind.RAISE


def played_out(match: Match, dice: Random) -> Match:
    """Return the match at the end of its hand."""
    for _ in range(_LONGEST):
        if match.variant.flor is not None:
            match, _ = settled(match)  # seats without a flor in this world are not waited for
        if is_hand_over(match):
            break
        if awaits_deal(match):
            match, _ = deal(match, *shuffled_deal(match, dice))
            continue
        seat = deciders(match)[0]
        match, _ = apply(match, quick_move(match, seat, legal(match, seat), dice))
    return match


def quick_move(match: Match, seat: Seat, options: tuple[Action, ...], dice: Random) -> Action:
    """Return a move of `seat`, for which the hand waits."""
    offer = match.hand.offers[-1] if match.hand.offers else None
    if isinstance(offer, StakeAsk):
        return _answer(options, power(match, seat), dice)
    if isinstance(offer, EnvidoAsk):
        return _answer(options, _envido_power(match, seat), dice)
    asked = _ask(match, seat, options, dice)
    if asked is not None:
        return asked
    cards = [option for option in options if option.kind is _PLAY and option.value is None]
    if cards:
        return _card(match, seat, cards, dice)
    willing = [option for option in options if option.kind not in _ASKS and option.kind not in _GIVES_UP]
    return dice.choice(willing or options)


def _envido_power(match: Match, seat: Seat) -> float:
    cards = [card for card in match.hand.dealt.cards[seat] if card is not None]
    return 0.4 + (envido_value(match.variant, cards, match.hand.dealt.up) - _ENVIDO) / 16 if cards else 0.0


def _answer(options: tuple[Action, ...], strong: float, dice: Random) -> Action:
    """Accept, decline or raise, by how strong the hand seems, with some noise so that no threshold is certain."""
    seems = strong + dice.uniform(-_NOISE, _NOISE)
    wanted = _RAISE if seems > _RAISES + _NOISE else _ACCEPT if seems > _ACCEPTS else _DECLINE
    found = [option for option in options if option.kind is wanted]
    if found:
        return found[0]
    answers = [option for option in options if option.kind is (_DECLINE if wanted is _DECLINE else _ACCEPT)]
    return answers[0] if answers else options[0]


def _ask(match: Match, seat: Seat, options: tuple[Action, ...], dice: Random) -> Action | None:
    """Ask for more where the cards are good, and now and then where they are not."""
    asks = [option for option in options if option.kind in _ASKS]
    if not asks:
        return None
    ask = asks[0] if len(asks) == 1 else dice.choice(asks[:2])
    strong = power(match, seat) if ask.kind is _RAISE else _envido_power(match, seat) + 0.15
    likely = _EAGER if strong > _RAISES else _BLUFFS
    return ask if dice.random() < likely else None


def _card(match: Match, seat: Seat, options: list[Action], dice: Random) -> Action:
    """Take the trick as cheaply as possible; if it cannot, or is ahead, throw the lowest; lead high or at random."""
    by_card = strengths(match)
    ranked = sorted(options, key=lambda option: by_card[_the_card(option)])
    if not match.hand.row.table:
        return ranked[-1] if dice.random() < _LEADS_HIGH else dice.choice(ranked)
    if is_ahead(match, seat):
        return ranked[0]
    return next((option for option in ranked if beats(match, _the_card(option))), ranked[0])


def _the_card(option: Action) -> Card:
    return option.cards[0]
