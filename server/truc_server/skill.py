"""What a match says of the skill of those who played it: the Plackett-Luce model of openskill.

A skill is a guess: a mean, and how far off it may be. Points are what the player almost surely has of it, so that many
matches rank above few with the same success. Deliberately not here: which matches are rated, and where skills are kept.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from openskill.models import PlackettLuce

SCALE: Final = 100  # points and doubt are told in whole numbers of this much of a skill
_SURE: Final = 3  # deviations below the mean: 99.9 % of all skills that look so are above
_MODEL: Final = PlackettLuce()


class Skill(NamedTuple):
    """What is known of a player in one game; as it stands, of a newcomer."""

    mean: float = _MODEL.mu
    deviation: float = _MODEL.sigma

    @property
    def points(self) -> int:
        """What ranks."""
        return round(SCALE * (self.mean - _SURE * self.deviation))

    @property
    def doubt(self) -> int:
        """How little is known."""
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
