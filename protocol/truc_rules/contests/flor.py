"""Flor: who declares one and when, how the others answer, and what every end of the contest pays (rules.md 8.6).

The values are said in saying.py; claims.py deals with a flor that was kept quiet. As far as the cards are known here,
nobody without a flor is waited for (values.py).
"""

from typing import Final

from truc_rules.contests import saying
from truc_rules.contests.claims import is_score_open
from truc_rules.contests.saying import AWARD_FLOR, FLOR_POINTS
from truc_rules.contests.values import has_turn, holds, is_sure, may_hold, unheard
from truc_rules.positions.actions import Action, Kind, plain_actions, yes_or_no
from truc_rules.positions.events import (
    ContraflorAccepted,
    ContraflorCalled,
    Event,
    FlorDeclared,
    FlorFolded,
    PointsScored,
)
from truc_rules.positions.match import (
    ContraflorAsk,
    EnvidoAsk,
    FlorRound,
    Hand,
    Match,
    Saying,
    StakeAsk,
    Step,
    players,
)
from truc_rules.seats import SIDES, Seat, Side, opponents_from, other_side, seats_from, side_of

# looked up once: a lookup in an Enum is costly in the engine's loops
_FLOR, _FOLD = Kind.FLOR, Kind.FLOR_FOLD
_CONTRAFLOR, _REST = Kind.CONTRAFLOR, Kind.CONTRAFLOR_REST
_ACHICO: Final = 1
"""What giving in pays besides the other side's flores."""


def declarations(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the declaration that opens the contest, if `seat`, which has played no card yet, may make it now."""
    may_declare = may_hold(match, match.hand, seat) and _has_say(match, seat)
    return plain_actions(seat, _FLOR) if may_declare else ()


def _has_say(match: Match, seat: Seat) -> bool:
    """Tell whether `seat` is to act, or its side is asked for a higher stake, or envido waits for an answer."""
    row, offers = match.hand.row, match.hand.offers
    if not offers:
        return row.to_act == seat
    match offers[-1]:
        case StakeAsk(side=side):
            return side_of(seat) != side and seat in players(row, match.seats)
        # rules.md 8.6: of either side
        case EnvidoAsk():
            return seat in players(row, match.seats)
        case _:
            return False


def declare(match: Match, action: Action) -> Step:
    """Declare the first flor: envido is void, and the others who may hold one speak next."""
    hand, seat = match.hand, action.seat
    below = hand.offers
    # rules.md 8.6: envido calls are void; an ask for the stake below them still waits for its answer (8.2)
    if below and isinstance(below[-1], EnvidoAsk):
        below = below[:-1]
    others = seats_from(seat, hand.row.stride, match.seats)[1:]
    # rules.md 8.6: a seat that has played can no longer declare: if it holds a flor, it kept it quiet
    played = [other for other in others if len(hand.row.left[other]) < hand.dealt.each]
    quiet = tuple(other for other in played if may_hold(match, hand, other))
    contests = hand.contests._replace(envido_closed=True, flores=(seat,), quiet=quiet)
    declared = hand._replace(offers=below, contests=contests)
    still = unheard(match, declared)
    waiting = tuple(other for other in others if other in still)
    return _with_round(match, declared, waiting, (FlorDeclared(seat),))


def _with_round(match: Match, hand: Hand, waiting: tuple[Seat, ...], told: tuple[Event, ...]) -> Step:
    """Wait for the others; if nobody is left, compare the declared flores or pay for them."""
    if waiting:
        return hand._replace(offers=(*hand.offers, FlorRound(waiting))), told
    sides = {side_of(seat) for seat in hand.contests.flores}
    if len(sides) == len(SIDES):
        return _compared(match, hand, hand.contests.flores, extra=0, told=told)
    # rules.md 13b.1: there is nothing to compare
    return _paid(hand, sides.pop(), bonus=0, told=told)


def round_answers(match: Match, seat: Seat, asked: FlorRound) -> tuple[Action, ...]:
    """Return how `seat` may declare its flor: plainly, or against an opponent's."""
    hand = match.hand
    if not has_turn(match, asked.waiting, seat) or not may_hold(match, hand, seat):
        return ()
    rule = match.variant.flor
    is_open = rule is not None and rule.challenge
    # rules.md 8.6: one cannot challenge one's own side
    if is_open and any(side_of(other) != side_of(seat) for other in hand.contests.flores):
        return plain_actions(seat, _FLOR, _FOLD, _CONTRAFLOR, _REST)
    return plain_actions(seat, _FLOR)


def round_answer(match: Match, action: Action, asked: FlorRound) -> Step:
    """Declare a flor, and perhaps give in at once, or challenge."""
    hand, seat = match.hand, action.seat
    contests = hand.contests
    declared = hand._replace(
        offers=hand.offers[:-1], contests=contests._replace(flores=(*contests.flores, seat))
    )
    match action.kind:
        case Kind.FLOR:
            # a seat that was passed over holds none, or would have had to speak first
            later = asked.waiting[asked.waiting.index(seat) + 1 :]
            return _with_round(match, declared, later, (FlorDeclared(seat),))
        case Kind.FLOR_FOLD:
            return _given_up(match, declared, seat)
        case _:
            return _challenged(declared, action)


def answerers(match: Match, ask: ContraflorAsk) -> tuple[Seat, ...]:
    """Return the flor holders of the asked side, who may answer `ask`; those who declared, as all can tell, come first.

    Both groups are in order of play after the asker.
    """
    hand, asked = match.hand, _asked(match, ask)
    declared = tuple(seat for seat in asked if seat in hand.contests.flores)
    # a ruling is made for the first: it must be a seat that everybody can name (specification.md, "Rulings")
    return (*declared, *(seat for seat in asked if seat in unheard(match, hand) and is_sure(match, seat)))


def _asked(match: Match, ask: ContraflorAsk) -> tuple[Seat, ...]:
    return opponents_from(ask.seat, match.hand.row.stride, match.seats)


def answers(match: Match, seat: Seat, ask: ContraflorAsk) -> tuple[Action, ...]:
    """Return the answers of `seat` to `ask`: con flor quiero, con flor me achico, al resto."""
    hand = match.hand
    if seat not in _asked(match, ask) or seat not in (*hand.contests.flores, *unheard(match, hand)):
        return ()
    return (*yes_or_no(seat), *plain_actions(seat, _REST)) if ask.call is _CONTRAFLOR else yes_or_no(seat)


def answer(match: Match, action: Action, ask: ContraflorAsk) -> Step:
    """Have the flores compared, give in, or raise to all that is left of the game; to answer is to declare a flor."""
    hand, seat = match.hand, action.seat
    below, contests = hand._replace(offers=hand.offers[:-1]), hand.contests
    if seat in contests.flores:
        return _answered(match, below, action, ask)
    declared = below._replace(contests=contests._replace(flores=(*contests.flores, seat)))
    answered, told = _answered(match, declared, action, ask)
    return answered, (FlorDeclared(seat), *told)


def _answered(match: Match, hand: Hand, action: Action, ask: ContraflorAsk) -> Step:
    match action.kind:
        case Kind.ACCEPT:
            return _accepted(match, hand, action.seat, ask)
        case Kind.DECLINE:
            return _given_up(match, hand, action.seat)
        case _:
            return _challenged(hand, action)


def _challenged(hand: Hand, action: Action) -> Step:
    ask = ContraflorAsk(action.seat, side_of(action.seat), action.kind)
    return hand._replace(offers=(*hand.offers, ask)), (ContraflorCalled(action.seat, action.kind),)


def _accepted(match: Match, hand: Hand, seat: Seat, ask: ContraflorAsk) -> Step:
    extra = _rest(match) if ask.call is _REST else 0
    hand, counted = _all_counted(match, hand)
    # where cards are unknown, a seat that nothing was heard of so far may hold a flor
    speakers = (*hand.contests.flores, *unheard(match, hand))
    return _compared(match, hand, speakers, extra=extra, told=(ContraflorAccepted(seat), *counted))


def _rest(match: Match) -> int:
    """Return what the leading side lacks, at least 0; also 0 where claims leave the score open."""
    # decision 3: as with a falta, a reader that does not know the score assumes the least
    leader = max(score.points for score in match.score)
    return 0 if is_score_open(match) else max(match.variant.scoring.target - leader, 0)


def _given_up(match: Match, hand: Hand, seat: Seat) -> Step:
    """Pay the other side for the surrender of `seat`."""
    hand, counted = _all_counted(match, hand)
    return _paid(hand, other_side(side_of(seat)), bonus=_ACHICO, told=(FlorFolded(seat), *counted))


def _all_counted(match: Match, hand: Hand) -> Step:
    """Count every flor not heard of yet as declared: its holder had to declare it (rules.md 13b.3)."""
    found = tuple(seat for seat in unheard(match, hand) if holds(match, hand, seat))
    contests = hand.contests._replace(flores=(*hand.contests.flores, *found))
    return hand._replace(contests=contests), tuple(map(FlorDeclared, found))


def _compared(
    match: Match, hand: Hand, speakers: tuple[Seat, ...], *, extra: int, told: tuple[Event, ...]
) -> Step:
    """Have the values said, for `extra` points besides those for each flor."""
    order = tuple(seat for seat in players(hand.row, match.seats) if seat in speakers)
    compared = saying.new_saying(_FLOR, (extra, extra), order)
    return hand._replace(offers=(*hand.offers, compared)), told


def _paid(hand: Hand, side: Side, *, bonus: int, told: tuple[Event, ...]) -> Step:
    """Pay `side` for its own flores."""
    contests = hand.contests._replace(flor_closed=True)
    flores = sum(side_of(seat) == side for seat in contests.flores)
    scored = PointsScored(side, FLOR_POINTS * flores + bonus, AWARD_FLOR)
    return hand._replace(contests=contests), (*told, scored)


def waits_for_unknown(match: Match) -> bool:
    """Tell whether the hand waits for seats that may have nothing to say, as far as their cards are known."""
    return bool(match.hand.offers) and presume_no_flor(match) is not None


def presume_no_flor(match: Match) -> Step | None:
    """Return the step in which nobody else holds a flor; None if no flor is waited for, or one is surely held."""
    hand = match.hand
    offer = hand.offers[-1] if hand.offers else None
    match offer:
        case FlorRound(waiting=waiting) if not any(is_sure(match, seat) for seat in waiting):
            return _with_round(match, hand._replace(offers=hand.offers[:-1]), (), ())
        case Saying():
            return saying.presume_no_flor(match, offer)
        case _:
            return None


def without_unheard(match: Match) -> Match:
    """Return the match in which, of those who are to say what their flores are worth, only those remain who surely will."""
    hand = match.hand
    if not hand.offers or not isinstance(hand.offers[-1], Saying) or hand.offers[-1].contest is not _FLOR:
        return match
    sure = tuple(seat for seat in hand.offers[-1].waiting if is_sure(match, seat))
    offers = (*hand.offers[:-1], hand.offers[-1]._replace(waiting=sure))
    return match._replace(hand=hand._replace(offers=offers))
