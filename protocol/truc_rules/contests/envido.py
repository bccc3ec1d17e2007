"""Envido: the calls, what they are worth, and their answers (rules.md 8.4); the values are said in saying.py.

A call goes on top of an unanswered ask for the stake, which is answered afterwards (rules.md 8.2). There is one contest
in a hand: an answer, or a flor, closes it.
"""

from functools import cache, lru_cache
from typing import Final

from truc_rules.contests.claims import is_score_open
from truc_rules.contests.saying import AWARD_ENVIDO, new_saying
from truc_rules.positions.actions import Action, Kind, plain_actions, yes_or_no
from truc_rules.positions.events import EnvidoAccepted, EnvidoCalled, EnvidoDeclined, PointsScored
from truc_rules.positions.match import (
    Contests,
    EnvidoAsk,
    HandPhase,
    Match,
    Offer,
    StakeAsk,
    Step,
    players,
    with_offers,
)
from truc_rules.seats import Seat, opponents_from, side_of

# looked up once: a lookup in an Enum is costly in the engine's loops
_PLAYING = HandPhase.PLAY
_ENVIDO, _REAL, _FALTA = Kind.ENVIDO, Kind.REAL_ENVIDO, Kind.FALTA_ENVIDO
# rules.md 8.4, "Calls and answers" and "Falta"
_WORTH: Final = {_ENVIDO: 2, _REAL: 3}
_LEAST: Final = 1
"""The least that falta envido is worth."""


def calls(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the calls with which `seat` may open the contest: on its turn, or before it answers the first ask."""
    hand, variant = match.hand, match.variant
    rule = variant.envido
    if rule is None or hand.contests.envido_closed or hand.phase is not _PLAYING:
        return ()
    # rules.md 8.4: before one's own first card
    if len(hand.row.left[seat]) < hand.dealt.each:
        return ()
    # rules.md 8.3: once truco is accepted, no envido; 2: in a hand at the last point no betting
    if hand.bets.stake != variant.base_stake or not hand.bets.right:
        return ()
    # rules.md 8.2: in answer to an ask only for the side that is asked
    if not (_is_asked(match, seat) if hand.offers else hand.row.to_act == seat):
        return ()
    return _raises(seat, (), rule.max_envido, rule.max_real)


def _is_asked(match: Match, seat: Seat) -> bool:
    """Tell whether the side of `seat` is asked for a higher stake."""
    row, offer = match.hand.row, match.hand.offers[-1]
    return isinstance(offer, StakeAsk) and side_of(seat) != offer.side and seat in players(row, match.seats)


@lru_cache(maxsize=1024)
def _raises(seat: Seat, called: tuple[Kind, ...], max_envido: int, max_real: int) -> tuple[Action, ...]:
    """Return the calls that `seat` may add to those made: envido, real envido and falta envido, in this order."""
    # rules.md 8.4: only upwards, envido, real envido, falta envido; falta is answered by a word alone
    if _FALTA in called:
        return ()
    found = [_FALTA]
    if called.count(_REAL) < max_real:
        found.append(_REAL)
    if _REAL not in called and called.count(_ENVIDO) < max_envido:
        found.append(_ENVIDO)
    return plain_actions(seat, *reversed(found))


def call(match: Match, action: Action) -> Step:
    """Open the contest."""
    return _called(match, action, match.hand.offers, ())


def _called(match: Match, action: Action, below: tuple[Offer, ...], called: tuple[Kind, ...]) -> Step:
    ask = EnvidoAsk(action.seat, side_of(action.seat), (*called, action.kind))
    asked = with_offers(match.hand, (*below, ask), match.hand.contests)
    return asked, (EnvidoCalled(action.seat, action.kind),)


def answerers(match: Match, ask: EnvidoAsk) -> tuple[Seat, ...]:
    """Return the seats that may answer `ask`, in order of play after the caller."""
    return opponents_from(ask.seat, match.hand.row.stride, match.seats)


def answers(match: Match, seat: Seat, ask: EnvidoAsk) -> tuple[Action, ...]:
    """Return the answers of `seat` to `ask`: quiero, no quiero, a higher call."""
    rule = match.variant.envido
    if rule is None or seat not in answerers(match, ask):
        return ()
    return (*yes_or_no(seat), *_raises(seat, ask.calls, rule.max_envido, rule.max_real))


def answer(match: Match, action: Action, ask: EnvidoAsk) -> Step:
    """Accept the calls, decline the last of them, or call more."""
    match action.kind:
        case Kind.ACCEPT:
            return _accept(match, action.seat, ask)
        case Kind.DECLINE:
            return _decline(match, action.seat, ask)
        case _:
            return _called(match, action, match.hand.offers[:-1], ask.calls)


def _accept(match: Match, seat: Seat, ask: EnvidoAsk) -> Step:
    hand = match.hand
    # by side, as they differ where falta is worth the game: everybody is told the larger
    points, closed, event = accepted_points(match, ask.calls), _closed(hand.contests), EnvidoAccepted
    # rules.md 18.4: no value is said, the cards dealt are compared when the hand is over
    if match.variant.envido is not None and match.variant.envido.settle == "hand_end":
        owed = with_offers(hand, hand.offers[:-1], closed._replace(owed=points))
        return owed, (event(seat, max(points)),)
    saying = new_saying(_ENVIDO, points, players(hand.row, match.seats))
    return with_offers(hand, (*hand.offers[:-1], saying), closed), (event(seat, max(points)),)


def _closed(contests: Contests) -> Contests:
    return contests._replace(envido_closed=True)


def _decline(match: Match, seat: Seat, ask: EnvidoAsk) -> Step:
    hand = match.hand
    declined = with_offers(hand, hand.offers[:-1], _closed(hand.contests))
    scored = PointsScored(ask.side, declined_points(ask.calls), AWARD_ENVIDO)
    return declined, (EnvidoDeclined(seat), scored)


def accepted_points(match: Match, called: tuple[Kind, ...]) -> tuple[int, int]:
    """Return what accepted calls are worth, by the side that wins: their sum, or the falta instead."""
    points = worth(called)
    return _falta(match) if points is None else (points, points)


@cache
def worth(called: tuple[Kind, ...]) -> int | None:
    """Return what accepted calls are worth whatever the score; None with falta envido, which depends on it."""
    return None if _FALTA in called else sum(_WORTH[kind] for kind in called)


def declined_points(called: tuple[Kind, ...]) -> int:
    """Return what a declined call pays: the calls before it, or 1 if there was none."""
    return worth(called[:-1]) or 1


def _falta(match: Match) -> tuple[int, int]:
    """Return what falta envido is worth now, by the side that wins (rules.md 8.4, "Falta")."""
    if match.hand.earlier_duels and is_score_open(match):
        # decision 3: what a reader holds never runs ahead of the truth. The score it knows may be too low: by
        # a falta measured to it, it could take the game for won and refuse an honest match (C24)
        return _LEAST, _LEAST
    rule, target = match.variant.envido, match.variant.scoring.target
    ours, theirs = match.score[0].points, match.score[1].points
    leader, half = max(ours, theirs), target // 2
    # rules.md 18.5: a score of exactly half the target is in the first half still
    form = "leader" if rule is None or leader > half else rule.falta
    if form == "malas-game":
        return target - ours, target - theirs
    points = max((half if form == "malas-15" else target) - leader, _LEAST)
    return points, points


def fold_bonus(match: Match, seat: Seat) -> int:
    """Return what `seat` pays in addition if it gives the hand up now; 0 once it can no longer call envido."""
    # rules.md 13b.2
    rule = match.variant.envido
    return rule.fold_bonus if rule is not None and calls(match, seat) else 0
