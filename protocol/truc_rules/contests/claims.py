"""What the cards settle when a hand is over: claims of a flor kept quiet, *pido flor*, and an envido whose values are unsaid.

Who declared a flor in time is decided in flor.py, what an envido is worth in envido.py
(rules.md 8.6, 13b.4 and 18.4).
"""

from functools import cache
from typing import Final

from truc_rules.contests.saying import AWARD_ENVIDO
from truc_rules.contests.values import envido_value, holds, may_hold
from truc_rules.positions.actions import Action, Kind, valued_action
from truc_rules.positions.events import Event, FlorClaimed, FlorClaimSettled, PointsScored
from truc_rules.positions.match import Hand, HandPhase, Match, Step, players
from truc_rules.seats import Seat, other_side, seats_from, side_of

AWARD_CLAIM = "claim"
# rules.md 8.6, "Pido flor"
_POINTS_IF_HELD: Final = 3
_POINTS_IF_NOT_HELD: Final = 1

# looked up once: a lookup in an Enum is costly in the engine's loops
_PLAYING = HandPhase.PLAY


def actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return the claims open to `seat`: one against each opponent that has played, not declared and not been claimed."""
    hand, rule = match.hand, match.variant.flor
    row = hand.row
    if rule is None or not rule.claims or row.last is None or hand.phase is not _PLAYING:
        return ()
    flores, claims = hand.contests.flores, hand.contests.claims
    # rules.md 8.6: a target is claimed once a hand, by whichever opponent
    closed = (*flores, *[claimed for _, claimed in claims]) if claims else flores
    found = [
        valued_action(seat, Kind.CLAIM, target)
        for target in _opponents(seat, row.eldest, row.stride, match.seats)
        if len(row.left[target]) < hand.dealt.each and target not in closed
    ]
    return tuple(found)


@cache
def _opponents(seat: Seat, eldest: Seat, stride: int, seats: int) -> tuple[Seat, ...]:
    """Return the opponents of `seat` in a row of tricks, eldest first; none if it does not play."""
    order = seats_from(eldest, stride, seats)
    return tuple(other for other in order if side_of(other) != side_of(seat)) if seat in order else ()


def claim(match: Match, action: Action) -> Step:
    """Claim that an opponent kept a flor quiet."""
    hand, target = match.hand, Seat(action.value if isinstance(action.value, int) else 0)
    contests = hand.contests
    claimed = contests._replace(claims=(*contests.claims, (action.seat, target)))
    return hand._replace(contests=claimed), (FlorClaimed(action.seat, target),)


def settlements(match: Match, hand: Hand) -> tuple[Event, ...]:
    """Return what comes, when a row of tricks is over, of an envido by the cards, then of claims and flores kept quiet."""
    envido = _envido_by_cards(match, hand) if hand.contests.owed else ()
    rule = match.variant.flor
    # most hands end with nothing claimed, and before anybody has played three cards
    if rule is None or not rule.claims or (not hand.contests.claims and all(hand.row.left)):
        return envido
    claimed = [target for _, target in hand.contests.claims]
    # rules.md 8.6: a flor whose three cards were all played costs as much without a claim
    played = [seat for seat in players(hand.row, match.seats) if _played_quietly(match, hand, seat)]
    targets = [*claimed, *(seat for seat in played if seat not in claimed)]
    # what unknown cards leave open scores nothing yet: the close plays the hand again with more of them known
    decided = [target for target in targets if not _is_open(match, hand, target)]
    settled = (event for target in decided for event in _settled(target, held=holds(match, hand, target)))
    return (*envido, *settled)


def _envido_by_cards(match: Match, hand: Hand) -> tuple[Event, ...]:
    """Return what the best cards bring, among equals those of the seat nearest to eldest; nothing while some are unknown."""
    order, dealt = players(hand.row, match.seats), hand.dealt
    if _is_envido_open(match, hand):
        return ()
    known = ([card for card in dealt.cards[seat] if card is not None] for seat in order)
    values = [envido_value(match.variant, cards, dealt.up) for cards in known]
    # rules.md 18.4: index() finds the seat nearest to eldest among equals
    winner = side_of(order[values.index(max(values))])
    return (PointsScored(winner, hand.contests.owed[winner], AWARD_ENVIDO),)


def _is_envido_open(match: Match, hand: Hand) -> bool:
    if not hand.contests.owed:
        return False
    return any(None in hand.dealt.cards[seat] for seat in players(hand.row, match.seats))


def is_score_open(match: Match) -> bool:
    """Tell whether unknown cards leave a claim of an earlier duel open, and with it the score."""
    hand = match.hand
    # claims of the present duel change no score before it is over
    claimed = [target for _, duel in hand.earlier_duels for _, target in duel.claims]
    return any(_is_open(match, hand, target) for target in claimed)


def leaves_open(match: Match, hand: Hand) -> bool:
    """Tell whether unknown cards leave an envido or a claim of the deal open when `hand` ends, and so who wins the game."""
    rows = (hand.contests, *[duel for _, duel in hand.earlier_duels])
    return _is_envido_open(match, hand) or any(
        _is_open(match, hand, target) for row in rows for _, target in row.claims
    )


def _is_open(match: Match, hand: Hand, target: Seat) -> bool:
    return may_hold(match, hand, target) and not holds(match, hand, target)


def _played_quietly(match: Match, hand: Hand, seat: Seat) -> bool:
    """Tell whether `seat` has played all cards of a flor that it did not declare.

    Once one was declared, whoever could still declare one has, or counts as if it had (rules.md 13b.3).
    """
    contests = hand.contests
    # `quiet` is noted with the first declaration; without one, all who played kept theirs quiet
    is_quiet = seat in contests.quiet if contests.flores else True
    return is_quiet and not hand.row.left[seat] and holds(match, hand, seat)


def _settled(target: Seat, *, held: bool) -> tuple[Event, ...]:
    side = side_of(target)
    scored = (other_side(side), _POINTS_IF_HELD) if held else (side, _POINTS_IF_NOT_HELD)
    return FlorClaimSettled(target, held), PointsScored(*scored, AWARD_CLAIM)
