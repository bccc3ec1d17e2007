"""Estimates, by plain arithmetic: how strong cards are in the tricks, and a score in the game.

Nothing here looks at a card that its seat does not see.
"""

import math
from functools import lru_cache
from typing import Final

from truc_rules import Card, Match, Seat, Side, other_side, side_of

_STEEP: Final = 1.3
"""How much a lead is worth: 1 would make the chance of winning proportional to what the other side lacks."""
_NO_CARD: Final = 0.0


def strengths(match: Match) -> tuple[int, ...]:
    """Return the strength of every card, given the card that is turned up."""
    up = match.hand.dealt.up
    return match.variant.strengths_by_turn_up[up[0]] if up else match.variant.strengths


@lru_cache(maxsize=256)
def _shares_beaten(by_card: tuple[int, ...]) -> tuple[float, ...]:
    """Return for each card what share of the pack it beats, a tie counted half; last, for a covered card, nothing."""
    pack = by_card[:-1]
    beaten = [sum(other < mine for other in pack) + sum(other == mine for other in pack) / 2 for mine in pack]
    return (*(count / len(pack) for count in beaten), _NO_CARD)


def hand_chance(match: Match, seat: Seat) -> float:
    """Return about how likely the cards of `seat`, as it sees them, are to win the hand: 0 to 1."""
    hand, share = match.hand, _shares_beaten(strengths(match))
    row, held = hand.row, hand.dealt.cards[seat]
    mine = [share[card] for slot in row.left[seat] if (card := held[slot]) is not None]
    place = (seat - row.leader) % match.seats // row.stride
    # a card that lies on the table still wins or loses its trick
    if place < len(row.table):
        mine.append(share[row.table[place]])
    best, second, *_ = (*sorted(mine, reverse=True), _NO_CARD, _NO_CARD)
    won = [trick.side == side_of(seat) for trick in row.tricks if trick.side is not None]
    if not row.tricks:
        return (best + second) / 2
    # rules.md 1.5: the third trick decides, as does any after a tie
    if len(row.tricks) > 1 or not won:
        return best
    # one more trick is enough for the side that won the first, the other needs both
    return 1 - (1 - best) * (1 - second) if won[0] else best * second


def beats_table(match: Match, card: Card) -> bool:
    """Tell whether `card` would be the single best card of the trick on the table."""
    by_card, table = strengths(match), match.hand.row.table
    return all(by_card[card] > by_card[other] for other in table)


def is_ahead(match: Match, seat: Seat) -> bool:
    """Tell whether the side of `seat` has the best card on the table, and no opponent's card equals it."""
    by_card, row = strengths(match), match.hand.row
    best = [_NO_CARD, _NO_CARD]
    for place, card in enumerate(row.table):
        side = (row.leader + place * row.stride) % 2
        best[side] = max(best[side], by_card[card])
    return best[side_of(seat)] > best[other_side(side_of(seat))]


def game_chance(match: Match, side: Side) -> float:
    """Return about how likely `side` is to win the game at this score, from what it and the other side lack."""
    if match.game_winner is not None:
        return float(match.game_winner == side)
    mine, theirs = _lacks(match, side), _lacks(match, other_side(side))
    if mine <= 0 or theirs <= 0:
        return 0.5 if mine == theirs else float(mine < theirs)
    return 1 / (1 + math.pow(mine / theirs, _STEEP))


def points_ahead(match: Match, side: Side) -> int:
    """Return how many points `side` is ahead in the game; points that have become a unit still count."""
    each = max(1, match.variant.scoring.points_per_unit)
    mine, theirs = (
        score.upper * each + score.points for score in (match.score[side], match.score[other_side(side)])
    )
    return mine - theirs


def _lacks(match: Match, side: Side) -> float:
    """Return what `side` still needs, in the units that the game is counted in."""
    scoring, score = match.variant.scoring, match.score[side]
    if scoring.points_per_unit:
        return scoring.target - score.upper - score.points / scoring.points_per_unit
    return scoring.target - score.points
