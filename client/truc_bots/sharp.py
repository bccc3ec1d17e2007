"""Sharp: samples hidden hands, plays each of its options out in them, and mixes those that are about as good.

The options are halved from round to round, so that most of the effort goes to those that are close. Of what is left one is
drawn, the likelier the better it did (softmax): the same hand is not always played the same, and an ask may be a bluff.
"""

import time
from collections.abc import Sequence
from math import exp
from random import Random
from typing import Final, NamedTuple

from truc_bots.rollout import played_out
from truc_bots.strength import chance
from truc_bots.worlds import as_seen, world
from truc_rules import Action, Match, MoveError, Seat, apply, legal, parse_move, side_of

_MIXING: Final = 0.1
"""What is about the same to it, as a chance of winning the game, times its target; smaller plays better, and is read easier."""
_COMPARED: Final = 2
"""Options that are compared to the end."""


class Effort(NamedTuple):
    """How long it thinks about a choice: until either is spent."""

    rollouts: int
    seconds: float


LIVE: Final = Effort(600, 0.6)


class Sharp:
    """A player that chooses by rollouts; the same seed, with the same effort, chooses the same."""

    def __init__(self, seed: int, effort: Effort = LIVE) -> None:
        self._dice = Random(seed)
        self._effort = effort

    def choose(self, match: Match, seat: int, lines: Sequence[str]) -> int | None:
        """Return the place of a choice among the move lines offered to `seat`; None if it can judge none of them.

        Other seats' cards that were not shown are not looked at, should they be known in `match`.
        """
        own = Seat(seat)
        seen = as_seen(match, own)
        places = {action: place for place, line in enumerate(lines) if (action := _read(seen, own, line))}
        if len(places) < _COMPARED:
            return next(iter(places.values()), None)
        values = weigh(seen, own, [*places], self._effort, self._dice)
        best = max(values.values())
        mixing = _MIXING / match.variant.scoring.target
        shares = [exp((value - best) / mixing) for value in values.values()]
        return places[self._dice.choices([*values], shares)[0]]


def _read(seen: Match, seat: Seat, line: str) -> Action | None:
    """Return the action that a line stands for, if the rules allow it now."""
    try:
        action = parse_move(seen.variant, seat, line)
    except MoveError:
        return None
    return action if action in legal(seen, seat) else None


def weigh(
    seen: Match, seat: Seat, options: Sequence[Action], effort: Effort, dice: Random
) -> dict[Action, float]:
    """Return the options that are worth comparing to the end, with the chance of winning the game after each."""
    until = time.monotonic() + effort.seconds
    sums, alive, rounds = dict.fromkeys(options, 0.0), [*options], 0
    stages = max(1, (len(alive) - 1).bit_length())
    side = side_of(seat)
    for _ in range(stages):
        for _ in range(max(1, effort.rollouts // stages // len(alive))):
            whole, rounds = world(seen, dice), rounds + 1
            for option in alive:
                sums[option] += chance(played_out(apply(whole, option)[0], dice), side)
            if time.monotonic() > until:
                break
        alive.sort(key=lambda option: -sums[option])
        alive = alive[: max(_COMPARED, (len(alive) + 1) // 2)]
    return {option: sums[option] / rounds for option in alive}
