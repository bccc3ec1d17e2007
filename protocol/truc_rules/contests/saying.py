"""Saying the values of envido and flor: from eldest on, each higher than the one before (rules.md 13b.1).

A seat says its true value if that is higher than the best so far, gives in for its whole side, or stays silent for a
partner. Nothing is said automatically. envido.py and flor.py deal with what was bet, and by whom.
"""

from truc_rules.contests.values import envido_value, flor_value, has_turn, is_sure
from truc_rules.positions.actions import Action, Kind, plain_actions, valued_action
from truc_rules.positions.events import Event, KeptSilent, PointsScored, ValueSaid, ValueYielded
from truc_rules.positions.match import Contests, Match, Saying, Step, players, with_offers
from truc_rules.seats import Seat, Side, other_side, side_of

AWARD_ENVIDO = "envido"
AWARD_FLOR = "flor"
FLOR_POINTS = 3
"""What every flor is worth (rules.md 8.6)."""


def new_saying(contest: Kind, points: tuple[int, int], speakers: tuple[Seat, ...]) -> Saying:
    """Return the saying in which nobody has spoken yet."""
    return Saying(contest, points, waiting=speakers, spoken=(), silent=(), said=())


def deciders(saying: Saying) -> tuple[Seat, ...]:
    """Return who speaks next."""
    return saying.waiting[:1]


def answers(match: Match, seat: Seat, saying: Saying) -> tuple[Action, ...]:
    """Return what `seat` may do: say its value, or any it may have if a card of it is unknown; give in; stay silent."""
    if not _has_turn(match, saying, seat):
        return ()
    # one below 0, the value of three court cards
    best = -1 if saying.best is None else saying.best[1]
    found = [
        valued_action(seat, Kind.POINTS, value)
        for value in _values(match, seat, saying.contest)
        if value > best
    ]
    silent = plain_actions(seat, Kind.SILENT) if _may_keep_silent(saying, seat) else ()
    return (*found, *plain_actions(seat, Kind.GOOD), *silent)


def _has_turn(match: Match, saying: Saying, seat: Seat) -> bool:
    if saying.contest is Kind.FLOR:
        return has_turn(match, saying.waiting, seat)
    return saying.waiting[:1] == (seat,)


def _values(match: Match, seat: Seat, contest: Kind) -> tuple[int, ...]:
    variant, dealt = match.variant, match.hand.dealt
    cards = [card for card in dealt.cards[seat] if card is not None]
    if len(cards) < dealt.each:
        return variant.flor_values if contest is Kind.FLOR else variant.envido_values
    value = flor_value if contest is Kind.FLOR else envido_value
    return (value(variant, cards, dealt.up),)


def _may_keep_silent(saying: Saying, seat: Seat) -> bool:
    """Tell whether `seat` has its first turn, and a partner of it is best or has yet to speak."""
    # rules.md 13b.1: a second turn is for a higher value or for giving in, so that the saying ends
    if seat in saying.spoken:
        return False
    if saying.best is not None and side_of(saying.best[0]) == side_of(seat):
        return True
    later = saying.waiting[saying.waiting.index(seat) + 1 :]
    return any(side_of(other) == side_of(seat) for other in later)


def answer(match: Match, action: Action, saying: Saying) -> Step:
    """Say a value, give in, or stay silent; the last to speak settles the contest."""
    seat, value = action.seat, action.value
    contests = _heard(match, saying, seat)
    contest, points, waiting, spoken, silent, said = saying
    if seat not in spoken:
        spoken = (*spoken, seat)
    if isinstance(value, int):
        told: Event = ValueSaid(seat, value)
        silent, said = tuple([other for other in silent if other != seat]), (*said, (seat, value))
    elif action.kind is Kind.SILENT:
        told, silent = KeptSilent(seat), (*silent, seat)
    else:
        given_in = Saying(contest, points, waiting, spoken, silent, said)
        return _settled(match, contests, given_in, other_side(side_of(seat)), (ValueYielded(seat),))
    # after a second turn its side is ahead: its other seats need not speak, the other side's silent ones may
    later = waiting[waiting.index(seat) + 1 :]
    waiting = tuple([other for other in later if other not in saying.spoken])
    return _next_turn(match, contests, Saying(contest, points, waiting, spoken, silent, said), (told,))


def _heard(match: Match, saying: Saying, seat: Seat) -> Contests:
    """Return the contests in which `seat` has declared a flor, as it does by speaking about its value."""
    contests = match.hand.contests
    if saying.contest is not Kind.FLOR or seat in contests.flores:
        return contests
    return contests._replace(flores=(*contests.flores, seat))


def presume_no_flor(match: Match, saying: Saying) -> Step | None:
    """Return the step in which no awaited seat holds a flor; None if one surely does, or in an envido."""
    if saying.contest is not Kind.FLOR or any(is_sure(match, seat) for seat in saying.waiting):
        return None
    return _next_turn(match, match.hand.contests, saying._replace(waiting=()), ())


def _next_turn(match: Match, contests: Contests, saying: Saying, told: tuple[Event, ...]) -> Step:
    """Let the next seat speak, or settle the contest after the last."""
    hand, best = match.hand, saying.best
    waiting = saying.waiting or _second_turns(match, saying)
    if best is not None and not waiting:
        return _settled(match, contests, saying, side_of(best[0]), told)
    still = saying if saying.waiting else saying._replace(waiting=waiting)
    return with_offers(hand, (*hand.offers[:-1], still), contests), told


def _second_turns(match: Match, saying: Saying) -> tuple[Seat, ...]:
    """Return, from eldest, the silent seats of the side that is behind so far."""
    ahead = None if saying.best is None else side_of(saying.best[0])
    order = players(match.hand.row, match.seats)
    return tuple(seat for seat in order if seat in saying.silent and side_of(seat) != ahead)


def _settled(match: Match, contests: Contests, saying: Saying, winner: Side, told: tuple[Event, ...]) -> Step:
    """Give the points to `winner`."""
    hand, points = match.hand, saying.points[winner]
    if saying.contest is Kind.FLOR:
        rule, flores = match.variant.flor, contests.flores
        # rules.md 19.5
        if rule is not None and rule.pays == "own":
            flores = tuple(seat for seat in flores if side_of(seat) == winner)
        points += FLOR_POINTS * len(flores)
        contests, reason = contests._replace(flor_closed=True), AWARD_FLOR
    else:
        mine = [said for said in saying.said if side_of(said[0]) == winner]
        # rules.md 8.4, "Shown": only the value that won has to be proven; it is the last of its side
        contests, reason = contests._replace(said=tuple(mine[-1:])), AWARD_ENVIDO
    settled = with_offers(hand, hand.offers[:-1], contests)
    return settled, (*told, PointsScored(winner, points, reason))
