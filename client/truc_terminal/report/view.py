"""What the page of a match shows, as plain values: each thing with the stages between which it holds.

Without script a reader sees everything that has no end; with it, what holds at the stage viewed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from truc_client.happenings import Fact
from truc_terminal.replay_model.board import Laid, LaidTrick
from truc_terminal.replay_model.faces import stake_words, taker
from truc_terminal.replay_model.retelling import Telling
from truc_terminal.replay_model.stages import MatchStage, PlayedHand, ReplayedMatch, SeatCard, Where
from truc_words import Speech, score_label, shown_name, side_name

_SCORED: Final = ("points_scored", "unit_scored", "game_won", "match_won")
_QUIET: Final = ("release", "ack", "mask", "lock", "keys", "lend")
"""Records that change nothing that is seen on the table: steps skip them."""


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
    where: Where


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


class Tick(NamedTuple):
    """Something committed to, and the stage that opened it; None if none did."""

    label: str
    opened: int | None


class ReportEntry(NamedTuple):
    """A record in the list beside the table."""

    stage: int
    place: int
    kind: str
    signer: str
    is_signed: bool
    is_quiet: bool
    fails: bool
    said: tuple[str, ...]
    opens: tuple[str, ...]


class HandView(NamedTuple):
    """A hand of the match."""

    number: int
    first: int
    last: int
    seats: tuple[SeatView, ...]
    rows: tuple[RowView, ...]
    turned_up: str | None
    stakes: tuple[StagedText, ...]
    scores: tuple[tuple[str, tuple[StagedText, ...]], ...]
    outcome: tuple[str, ...]
    ticks: tuple[Tick, ...]
    entries: tuple[ReportEntry, ...]


def hand_views(replayed: ReplayedMatch, lang: str) -> Iterator[HandView]:
    """Yield the hands of a match, in order."""
    for hand in replayed.hands:
        yield _hand_view(replayed, hand, replayed.stages[hand.first : hand.last + 1], lang)


def entries_before(replayed: ReplayedMatch, lang: str) -> tuple[ReportEntry, ...]:
    """Return the records before the first hand."""
    first = replayed.hands[0].first if replayed.hands else len(replayed.stages)
    return tuple(_entry(stage, lang) for stage in replayed.stages[:first])


def _hand_view(
    replayed: ReplayedMatch, hand: PlayedHand, stages: Sequence[MatchStage], lang: str
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
        entries=tuple(_entry(stage, lang) for stage in stages),
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
                yield Telling(stage.record, lang).told(fact)


def _seat_view(seat: int, name: str, stages: Sequence[MatchStage], speech: Speech) -> SeatView:
    rows = [(stage.number, stage.cards[seat]) for stage in stages if stage.cards]
    deals = [stage.number for stage in stages if stage.record.kind == "deal"]
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
        if each.where in (Where.PLAYED, Where.COVERED)
    }
    last = rows[-1] if rows else ()
    return tuple(CardView(each.card, each.opened, left.get(each.slot), each.where) for each in last)


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
            StagedText(Telling(stage.record, speech.lang).told(fact), stage.number, None)
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


def _laid(it: Laid, name: str, stages: Sequence[MatchStage], start: int) -> LaidView:
    if it.card is not None:
        return LaidView(it.seat, name, it.card, start)
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


def _ticks(hand: PlayedHand, stages: Sequence[MatchStage], speech: Speech) -> Iterator[Tick]:
    """Yield the secret numbers of a deal, with who opened them and when, and finally the deal as a whole."""
    telling, said = Telling(stages[-1].record, speech.lang), speech.catalogue.report
    for role, opened in hand.links:
        yield Tick(said["number"].format(who=telling.role(role)), opened)
    yield Tick(said["deal"], hand.recomputed)


def _entry(stage: MatchStage, lang: str) -> ReportEntry:
    record, telling = stage.record, Telling(stage.record, lang)
    return ReportEntry(
        stage=stage.number,
        place=record.place,
        kind=record.kind,
        signer=telling.role(record.signer),
        is_signed=record.is_signed,
        is_quiet=record.kind in _QUIET and record.refutation is None,
        fails=record.refutation is not None,
        said=stage.said,
        opens=tuple(line for it in record.commitments for line in telling.commitment(it)),
    )
