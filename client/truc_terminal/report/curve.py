"""The score of both sides and the stakes over a match, as the lines and bars of a drawing."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from truc_terminal.replay_model.stages import Course, Stage
from truc_words import Speech

WIDTH: Final = 960
HEIGHT: Final = 190
_STAKES: Final = 40
"""The height of the strip of stakes, under the score."""
_LEFT: Final = 34


class Band(NamedTuple):
    """A hand in the drawing: its number, its horizontal place, and what it was worth at the end."""

    hand: int
    x: float
    width: float
    stake: str
    height: float


class Mark(NamedTuple):
    """A line across the drawing at a score."""

    y: float
    label: str


class Curve(NamedTuple):
    """The drawing: the `lines` of the sides, a `Band` for each hand, and where each stage stands, for a cursor."""

    lines: tuple[str, str]
    bands: tuple[Band, ...]
    marks: tuple[Mark, ...]
    first: int
    step: float
    width: int = WIDTH
    height: int = HEIGHT
    floor: int = HEIGHT - _STAKES
    left: int = _LEFT


def curve_of(course: Course, speech: Speech) -> Curve | None:
    """Return the curve of a match; None before its first hand."""
    if not course.hands or course.terms is None:
        return None
    scoring = course.terms.variant.scoring
    unit = scoring.points_per_unit or 1
    target = scoring.target * unit
    stages = course.stages[course.hands[0].first :]
    first, step = stages[0].number, (WIDTH - _LEFT) / len(stages)
    most = max(target, *(_points(stage, side, unit) for stage in stages for side in (0, 1)))
    lines = (_line(stages, 0, step, unit, most), _line(stages, 1, step, unit, most))
    stakes = [course.stages[hand.last].board.stake for hand in course.hands]
    worth = [_worth(stake, target, scoring.points_per_unit) for stake in stakes]
    bands = tuple(
        Band(
            hand.number,
            _x(hand.first - first, step),
            round((hand.last + 1 - hand.first) * step, 1),
            speech.stake(stake),
            round((_STAKES - 16) * value / max(worth), 1),
        )
        for hand, stake, value in zip(course.hands, stakes, worth, strict=True)
    )
    scores = (0, *([target // 2] if target % 2 == 0 else ()), target)
    marks = tuple(Mark(_y(points, most), f"{points / unit:g}") for points in scores)
    return Curve(lines, bands, marks, first, step)


def _worth(stake: int | str, target: int, unit: int) -> int:
    return stake if isinstance(stake, int) else {"trut": unit}.get(stake, target)


def _points(stage: Stage, side: int, unit: int) -> int:
    _, upper, points = stage.board.score[side]
    return upper * unit + points


def _x(n: int, step: float) -> float:
    return round(_LEFT + n * step, 1)


def _y(points: int, most: int) -> float:
    room = HEIGHT - _STAKES - 24
    return round(HEIGHT - _STAKES - room * points / most - 4, 1)


def _line(stages: Iterable[Stage], side: int, step: float, unit: int, most: int) -> str:
    """Return a side's score as the path of a step line; each new game begins at the bottom again."""
    path, last = f"M{_LEFT} {_y(0, most)}", 0
    n = 0
    for n, stage in enumerate(stages, 1):
        points = _points(stage, side, unit)
        if points != last:
            path += f"H{_x(n - 1, step)}V{_y(points, most)}"
            last = points
    return f"{path}H{_x(n, step)}"
