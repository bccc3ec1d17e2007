"""The page of a match, from its stages: a template, one style and one small script, all in one file.

The template escapes what others wrote, and the page itself forbids any other style or script.

The score of both sides and the stakes over a match are the lines and bars of a drawing. All else is given to the template as
plain values: each thing with the stages between which it holds. Without script a reader sees everything that has no end; with
it, what holds at the stage viewed.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from truc_client.happenings import Fact
from truc_terminal.replay_model.annotating import Annotated
from truc_terminal.replay_model.board import LaidCard, LaidTrick
from truc_terminal.replay_model.faces import stake_words, taker
from truc_terminal.replay_model.retelling import RecordTelling
from truc_terminal.replay_model.stages import CardState, HandStages, MatchStage, ReplayedMatch, SeatCard
from truc_terminal.report.cards import symbols
from truc_terminal.verdicts import game_name, refutation_line, seat_name, seat_rows, verdict_lines
from truc_words import Speech, printable, score_label, shown_name, side_name

WIDTH: Final = 960
HEIGHT: Final = 190
_STAKES: Final = 40
"""The height of the strip of stakes, under the score."""
_LEFT: Final = 34


class HandBand(NamedTuple):
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


class ScoreCurve(NamedTuple):
    """The drawing: the `lines` of the sides, a `HandBand` for each hand, and where each stage stands, for a cursor."""

    lines: tuple[str, str]
    bands: tuple[HandBand, ...]
    marks: tuple[ChartMark, ...]
    first: int
    step: float
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT


def curve_of(replayed: ReplayedMatch, speech: Speech) -> ScoreCurve | None:
    """Return the curve of a match; None before its first hand."""
    if not replayed.hands or replayed.terms is None:
        return None
    scoring = replayed.terms.variant.scoring
    unit = scoring.points_per_unit or 1
    target = scoring.target * unit
    stages = replayed.stages[replayed.hands[0].first :]
    # Each stage has the same width: time is counted in records, as no record says when it was made.
    first, step = stages[0].number, (WIDTH - _LEFT) / len(stages)
    most = max(target, *(_points(stage, side, unit) for stage in stages for side in (0, 1)))
    lines = (_line(stages, 0, step, unit, most), _line(stages, 1, step, unit, most))
    stakes = [replayed.stages[hand.last].board.stake for hand in replayed.hands]
    worth = [_worth(stake, target, scoring.points_per_unit) for stake in stakes]
    bands = tuple(
        HandBand(
            hand.number,
            _x(hand.first - first, step),
            round((hand.last + 1 - hand.first) * step, 1),
            speech.stake(stake),
            # What the hand is worth is written above its bar.
            round((_STAKES - 16) * value / max(worth), 1),
        )
        for hand, stake, value in zip(replayed.hands, stakes, worth, strict=True)
    )
    # Half the target, as some games call the points below it malas and those above buenas.
    scores = (0, *([target // 2] if target % 2 == 0 else ()), target)
    marks = tuple(ChartMark(_y(points, most), f"{points / unit:g}") for points in scores)
    return ScoreCurve(lines, bands, marks, first, step)


def _worth(stake: int | str, target: int, unit: int) -> int:
    return stake if isinstance(stake, int) else {"trut": unit}.get(stake, target)


def _points(stage: MatchStage, side: int, unit: int) -> int:
    _, upper, points = stage.board.score[side]
    return upper * unit + points


def _x(n: int, step: float) -> float:
    return round(_LEFT + n * step, 1)


def _y(points: int, most: int) -> float:
    # Above the curves stand the numbers of the hands.
    room = HEIGHT - _STAKES - 24
    return round(HEIGHT - _STAKES - room * points / most - 4, 1)


def _line(stages: Iterable[MatchStage], side: int, step: float, unit: int, most: int) -> str:
    """Return a side's score as the path of a step line; each new game begins at the bottom again."""
    # A step line: a score changes with a record, and not between two.
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
    # Not isinstance: Markup is a str as well, and is printed as it is.
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
        before=replayed.stages[: replayed.hands[0].first if replayed.hands else None],
        hands=[*hand_views(replayed, lang)],
        telling=partial(RecordTelling, lang=lang),
        is_quiet=is_quiet,
        style=style,
        script=script,
        # The page forbids all else by these, so that nothing
        # that others wrote could run (Content-Security-Policy).
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


_SCORED: Final = ("points_scored", "unit_scored", "game_won", "match_won")
_QUIET: Final = ("release", "ack", "mask", "lock", "keys", "lend")


class StagedText(NamedTuple):
    """A text that holds from stage `start` until stage `end`; if that is None, for good."""

    text: str
    start: int
    end: int | None


class CardView(NamedTuple):
    """A card in front of its seat: its name, and the stages that laid it open and at which it was played."""

    card: str | None
    opened: int | None
    left: int | None
    state: CardState


class SeatView(NamedTuple):
    """A seat in a hand: who sits there, what it held, and when it was waited for and acted."""

    seat: int
    name: str
    is_dealer: bool
    cards: tuple[CardView, ...]
    before: tuple[tuple[CardView, ...], int] | None
    turns: tuple[StagedText, ...]
    acts: tuple[StagedText, ...]
    says: tuple[StagedText, ...]


class LaidView(NamedTuple):
    """A card on the table from a stage on; one that lies face down is known once it is opened."""

    seat: int
    name: str
    card: str | None
    start: int
    is_covered: bool = False
    opened: int | None = None


class TrickView(NamedTuple):
    """A trick: its cards in order, who took it, from the stage that ended it, and the seat whose card did."""

    laid: tuple[LaidView, ...]
    taken: StagedText | None
    best: int | None


class RowView(NamedTuple):
    """The tricks of a hand, or of one duel in it; for a duel also who plays whom, and what came of it."""

    tricks: tuple[TrickView, ...]
    duel: StagedText | None = None
    outcome: tuple[StagedText, ...] = ()


class HandView(NamedTuple):
    """A hand of the match; `ticks` are what was committed to, each with the stage that opened it, None if none did."""

    number: int
    first: int
    last: int
    seats: tuple[SeatView, ...]
    rows: tuple[RowView, ...]
    turned_up: str | None
    stakes: tuple[StagedText, ...]
    scores: tuple[tuple[str, tuple[StagedText, ...]], ...]
    outcome: tuple[str, ...]
    ticks: tuple[tuple[str, int | None], ...]
    stages: Sequence[MatchStage]


def hand_views(replayed: ReplayedMatch, lang: str) -> Iterator[HandView]:
    """Yield the hands of a match, in order."""
    for hand in replayed.hands:
        yield _hand_view(replayed, hand, replayed.stages[hand.first : hand.last + 1], lang)


def is_quiet(record: Annotated) -> bool:
    """Tell whether a record changes nothing that is seen on the table: steps skip it."""
    return record.kind in _QUIET and record.refutation is None


def _hand_view(
    replayed: ReplayedMatch, hand: HandStages, stages: Sequence[MatchStage], lang: str
) -> HandView:
    last = stages[-1]
    speech = Speech(lang, last.record.words)
    names = tuple(shown_name(name, seat) for seat, name in enumerate(last.record.names))
    return HandView(
        number=hand.number,
        first=hand.first,
        last=hand.last,
        seats=tuple(_seat_view(seat, name, stages, speech) for seat, name in enumerate(names)),
        rows=tuple(_rows(stages, names, speech)),
        turned_up=last.board.turned_up,
        stakes=_spans((stage.number, stake_words(stage.board, names, speech)) for stage in stages),
        scores=tuple(
            (
                side_name(side, names, speech),
                _spans((at.number, _score(replayed, at, side, speech)) for at in stages),
            )
            for side in (0, 1)
        ),
        outcome=tuple(_outcome(stages, lang)),
        ticks=tuple(_ticks(hand, stages, speech)),
        stages=stages,
    )


def _spans(told_at: Iterable[tuple[int, str]]) -> tuple[StagedText, ...]:
    """Return the texts of the stages as spans, leaving out the empty ones."""
    changes: list[tuple[int, str]] = []
    for at, text in told_at:
        if not changes or changes[-1][1] != text:
            changes.append((at, text))
    spans = [StagedText(text, at, after) for (at, text), (after, _) in pairwise(changes)]
    spans.extend(StagedText(text, at, None) for at, text in changes[-1:])
    return tuple(span for span in spans if span.text)


def _score(replayed: ReplayedMatch, stage: MatchStage, side: int, speech: Speech) -> str:
    target = replayed.terms.variant.scoring.target if replayed.terms else 0
    return score_label(stage.board.score[side], target, speech)


def _outcome(stages: Sequence[MatchStage], lang: str) -> Iterator[str]:
    for stage in stages:
        for fact in stage.record.facts:
            if fact["what"] in _SCORED:
                yield RecordTelling(stage.record, lang).told(fact)


def _seat_view(seat: int, name: str, stages: Sequence[MatchStage], speech: Speech) -> SeatView:
    rows = [(stage.number, stage.cards[seat]) for stage in stages if stage.cards]
    deals = [stage.number for stage in stages if stage.record.kind == "deal"]
    # A redeal gives other cards: those of the deal before are shown until it.
    newest = [row for number, row in rows if not deals or number >= deals[-1]]
    older = [row for number, row in rows if deals and number < deals[-1]]
    return SeatView(
        seat=seat,
        name=name,
        is_dealer=stages[-1].board.dealer == seat,
        cards=_cards(newest, deals[-1] if deals else 0),
        before=(_cards(older, deals[-2]), deals[-1]) if len(deals) > 1 else None,
        turns=_spans((stage.number, _turn(stage, seat, speech)) for stage in stages),
        acts=tuple(StagedText("", at.number, at.number + 1) for at in stages if at.record.seat == seat),
        says=_spans((stage.number, _says(stage, seat)) for stage in stages),
    )


def _turn(stage: MatchStage, seat: int, speech: Speech) -> str:
    return speech.say("report.to_act") if seat in stage.waiting and stage.cards else ""


def _says(stage: MatchStage, seat: int) -> str:
    return ", ".join(str(value) for at, value in stage.board.memory.values if at == seat)


def _cards(rows: Sequence[tuple[SeatCard, ...]], first: int) -> tuple[CardView, ...]:
    """Return a seat's cards of a deal, from where they were at each stage since `first`."""
    left = {
        each.slot: first + n
        for n, row in reversed([*enumerate(rows)])
        for each in row
        if each.state in (CardState.PLAYED, CardState.COVERED)
    }
    last = rows[-1] if rows else ()
    return tuple(CardView(each.card, each.opened, left.get(each.slot), each.state) for each in last)


def _rows(stages: Sequence[MatchStage], names: Sequence[str], speech: Speech) -> Iterator[RowView]:
    """Yield a row for each duel of a hand; without duels, one for the whole hand."""
    tricks = [*_tricks(stages, names, speech)]
    duels = [*_duels(stages)]
    if not duels:
        yield RowView(tuple(view for _, view in tricks))
    for number, facts in duels:
        seats = (facts[0][1]["seat"], facts[0][1]["opponent"])
        met = StagedText(" - ".join(names[seat] for seat in seats), number, None)
        scored = tuple(
            StagedText(RecordTelling(stage.record, speech.lang).told(fact), stage.number, None)
            for stage, fact in facts
            if fact["what"] in _SCORED
        )
        yield RowView(tuple(view for trick, view in tricks if trick.duel == seats), met, scored)


def _duels(stages: Sequence[MatchStage]) -> Iterator[tuple[int, list[tuple[MatchStage, Fact]]]]:
    """Yield each duel: the stage at which it begins, and its facts, beginning with `duel_begun`."""
    facts = [(stage, fact) for stage in stages for fact in stage.record.facts]
    begun = [at for at, (_, fact) in enumerate(facts) if fact["what"] == "duel_begun"]
    for at, following in pairwise([*begun, len(facts)]):
        yield facts[at][0].number, facts[at:following]


def _tricks(
    stages: Sequence[MatchStage], names: Sequence[str], speech: Speech
) -> Iterator[tuple[LaidTrick, TrickView]]:
    for n, trick in enumerate(stages[-1].tricks):
        starts = [
            next(at.number for at in stages if len(at.tricks) > n and len(at.tricks[n].laid) > place)
            for place in range(len(trick.laid))
        ]
        laid = tuple(
            _laid(it, names[it.seat], stages, start) for it, start in zip(trick.laid, starts, strict=True)
        )
        yield trick, TrickView(laid, _taken(n, stages, names, speech), trick.best)


def _laid(it: LaidCard, name: str, stages: Sequence[MatchStage], start: int) -> LaidView:
    if it.card is not None:
        return LaidView(it.seat, name, it.card, start)
    # Only the stage at which it was laid tells from which slot.
    then = stages[start - stages[0].number]
    covered = then.record.covered
    held = None if covered is None else then.cards[covered.seat][covered.slot]
    known, opened = (None, None) if held is None else (held.card, held.opened)
    return LaidView(it.seat, name, known, start, is_covered=True, opened=opened)


def _taken(n: int, stages: Sequence[MatchStage], names: Sequence[str], speech: Speech) -> StagedText | None:
    trick = stages[-1].tricks[n]
    if not trick.is_over:
        return None
    over = next(at.number for at in stages if len(at.tricks) > n and at.tricks[n].is_over)
    return StagedText(taker(trick.side, names, speech), over, None)


def _ticks(
    hand: HandStages, stages: Sequence[MatchStage], speech: Speech
) -> Iterator[tuple[str, int | None]]:
    """Yield the secret numbers of a deal, with who opened them and when, and finally the deal as a whole."""
    telling, said = RecordTelling(stages[-1].record, speech.lang), speech.catalogue.report
    for role, opened in hand.links:
        yield said["number"].format(who=telling.role(role)), opened
    yield said["deal"], hand.recomputed
