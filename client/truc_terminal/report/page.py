"""The page of a match, from its stages: a template, one style and one small script, all in one file.

The template escapes what others wrote, and the page itself forbids any other style or script.

The score of both sides and the stakes over a match, as the lines and bars of a drawing.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from typing import Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from truc_terminal.replay_model.stages import MatchStage, ReplayedMatch
from truc_terminal.report.cards import symbols
from truc_terminal.report.view import entries_before, hand_views
from truc_terminal.verdicts import game_name, refutation_line, seat_name, seat_rows, verdict_lines
from truc_words import Speech, printable, shown_name, side_name

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


class ChartMark(NamedTuple):
    """A line across the drawing at a score."""

    y: float
    label: str


class Curve(NamedTuple):
    """The drawing: the `lines` of the sides, a `Band` for each hand, and where each stage stands, for a cursor."""

    lines: tuple[str, str]
    bands: tuple[Band, ...]
    marks: tuple[ChartMark, ...]
    first: int
    step: float
    width: int = WIDTH
    height: int = HEIGHT
    floor: int = HEIGHT - _STAKES
    left: int = _LEFT


def curve_of(replayed: ReplayedMatch, speech: Speech) -> Curve | None:
    """Return the curve of a match; None before its first hand."""
    if not replayed.hands or replayed.terms is None:
        return None
    scoring = replayed.terms.variant.scoring
    unit = scoring.points_per_unit or 1
    target = scoring.target * unit
    stages = replayed.stages[replayed.hands[0].first :]
    first, step = stages[0].number, (WIDTH - _LEFT) / len(stages)
    most = max(target, *(_points(stage, side, unit) for stage in stages for side in (0, 1)))
    lines = (_line(stages, 0, step, unit, most), _line(stages, 1, step, unit, most))
    stakes = [replayed.stages[hand.last].board.stake for hand in replayed.hands]
    worth = [_worth(stake, target, scoring.points_per_unit) for stake in stakes]
    bands = tuple(
        Band(
            hand.number,
            _x(hand.first - first, step),
            round((hand.last + 1 - hand.first) * step, 1),
            speech.stake(stake),
            round((_STAKES - 16) * value / max(worth), 1),
        )
        for hand, stake, value in zip(replayed.hands, stakes, worth, strict=True)
    )
    scores = (0, *([target // 2] if target % 2 == 0 else ()), target)
    marks = tuple(ChartMark(_y(points, most), f"{points / unit:g}") for points in scores)
    return Curve(lines, bands, marks, first, step)


def _worth(stake: int | str, target: int, unit: int) -> int:
    return stake if isinstance(stake, int) else {"trut": unit}.get(stake, target)


def _points(stage: MatchStage, side: int, unit: int) -> int:
    _, upper, points = stage.board.score[side]
    return upper * unit + points


def _x(n: int, step: float) -> float:
    return round(_LEFT + n * step, 1)


def _y(points: int, most: int) -> float:
    room = HEIGHT - _STAKES - 24
    return round(HEIGHT - _STAKES - room * points / most - 4, 1)


def _line(stages: Iterable[MatchStage], side: int, step: float, unit: int, most: int) -> str:
    """Return a side's score as the path of a step line; each new game begins at the bottom again."""
    path, last = f"M{_LEFT} {_y(0, most)}", 0
    n = 0
    for n, stage in enumerate(stages, 1):
        points = _points(stage, side, unit)
        if points != last:
            path += f"H{_x(n - 1, step)}V{_y(points, most)}"
            last = points
    return f"{path}H{_x(n, step)}"


_TEMPLATES: Final = Environment(
    loader=PackageLoader("truc_terminal.report", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: printable(value) if type(value) is str else value,
)


def page(replayed: ReplayedMatch, *, lang: str) -> str:
    """Return a match as a page of HTML, in a language."""
    verdict, terms = replayed.verdict, replayed.terms
    words = terms.variant.words if terms else ""
    speech = Speech(lang, words)
    names = tuple(shown_name(name, seat) for seat, name in enumerate(verdict.players))
    failed = replayed.stages[-1].record.refutation if replayed.stages else None
    style, script = (_TEMPLATES.get_template(name).render() for name in ("style.css", "steps.js"))
    return _TEMPLATES.get_template("page.html").render(
        lang=lang,
        said=speech.catalogue.report,
        table=speech.catalogue.screen,
        records=speech.catalogue.records,
        term=speech.term,
        written=speech.card,
        counted=speech.counted,
        title=_title(replayed, names, speech),
        result=str(verdict.result),
        result_said=speech.say(f"results.{verdict.result}"),
        lines=[*verdict_lines(verdict, speech)],
        failed=failed and refutation_line(failed, verdict.players, speech),
        seats=[(seat_name(row.seat, speech), *row[1:]) for row in seat_rows(verdict, speech)],
        sides=[side_name(side, names, speech) for side in (0, 1)],
        curve=curve_of(replayed, speech),
        symbols=symbols(terms.variant.pack, speech) if terms else "",
        before=entries_before(replayed, lang),
        hands=[*hand_views(replayed, lang)],
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
    )


def _title(replayed: ReplayedMatch, names: tuple[str, ...], speech: Speech) -> str:
    if replayed.terms is None:
        return speech.say("report.nothing")
    game = game_name(replayed.terms.variant.name, is_preset=replayed.verdict.is_preset, speech=speech)
    return f"{game}: {' - '.join(names)}" if names else game


def _digest(source: str) -> str:
    """Return the digest by which the page permits a style or script."""
    return b64encode(hashlib.sha256(source.encode()).digest()).decode()
