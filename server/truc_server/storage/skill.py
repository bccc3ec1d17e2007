"""What a match says about the skill of its players: the Plackett-Luce model of openskill.

A skill is a guess: a mean, and how far off it may be. Points are as much of it as the player almost surely has, so that
many matches rank above few with the same success. Deliberately not here: which matches are rated, and where skills are
kept.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from openskill.models import PlackettLuce

SCALE: Final = 100  # points and doubt are told in whole hundredths of the model's unit
_SURE: Final = 3  # deviations below the mean: 99.9 % of all skills guessed like this are above
_MODEL: Final = PlackettLuce()


class Skill(NamedTuple):
    """What is known of a player in one game; by default, of a newcomer."""

    mean: float = _MODEL.mu
    deviation: float = _MODEL.sigma

    @property
    def points(self) -> int:
        """What players are ranked by."""
        return round(SCALE * (self.mean - _SURE * self.deviation))

    @property
    def doubt(self) -> int:
        """How uncertain the guess is."""
        return round(SCALE * self.deviation)


def after_match(
    winners: Sequence[Skill], losers: Sequence[Skill]
) -> tuple[tuple[Skill, ...], tuple[Skill, ...]]:
    """Return the skills of both sides after a match between them."""
    sides = [
        [_MODEL.rating(mu=skill.mean, sigma=skill.deviation) for skill in side] for side in (winners, losers)
    ]
    won, lost = (tuple(Skill(new.mu, new.sigma) for new in side) for side in _MODEL.rate(sides))
    return won, lost
