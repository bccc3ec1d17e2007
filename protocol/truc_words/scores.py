"""How a game says its score: in points, in units and points, or in points of a lower and an upper half."""

from collections.abc import Iterator
from typing import Literal

from truc_words.names import joined
from truc_words.speech import Speech

SideScore = tuple[int, int, int]


def score_label(score: SideScore, target: int, speech: Speech) -> str:
    """Return the score of a side, [games, upper, points], in a game to `target` points."""
    games, upper, points = score
    notes = [*_halves(points, target, speech)]
    if games:
        notes.append(speech.counted("game", games))
    said = _points(upper, points, speech)
    return speech.noted(said, notes)


def _points(upper: int, points: int, speech: Speech) -> str:
    if not upper and "unit" not in speech.local.counts:
        return str(points)
    return joined([speech.counted("unit", upper), speech.counted("point", points)], speech)


def _halves(points: int, target: int, speech: Speech) -> Iterator[str]:
    if points and speech.local.halves and target:
        yield half_label(points, target, speech)


def half_label(points: int, target: int, speech: Speech) -> str:
    """Return points as a game that is counted in halves says them: of 30, 8 as `8 malas` and 21 as `6 buenas`."""
    # rules.md 8.1
    middle = target // 2
    which: Literal["low", "high"] = "low" if points <= middle else "high"
    n = points if which == "low" else points - middle
    one, several = speech.local.halves[which]
    return (one if n == 1 else several).format(n=n)
