"""A match to step through: where each step leads, and the page of a stage, in rows or with the table drawn.

Functions from values to values; `stepping` has the terminal. Invariant: a page as a seat saw it names no card that the
seat did not know then.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from truc_terminal.replay_model.annotating import Annotated
from truc_terminal.replay_model.board import Board, LaidTrick
from truc_terminal.replay_model.faces import Faces, faces_of, short, stake_words, taker
from truc_terminal.replay_model.retelling import Telling
from truc_terminal.replay_model.stages import MatchStage, ReplayedMatch, Where, seen_by
from truc_terminal.screen.drawing import Part, Setting, TableRow, plain_row, said_values, score_line
from truc_terminal.screen.glyphs import ASCII, MANY
from truc_terminal.screen.picture import picture
from truc_terminal.verdicts import game_name, refutation_line, verdict_lines
from truc_words import Speech, printable, shown_name

_GAP: Final = 2
_UNKNOWN: Final = "??"


class ReplayStep(StrEnum):
    """A way from one stage to another."""

    FORWARD = "forward"
    BACK = "back"
    HAND_FORWARD = "hand forward"
    HAND_BACK = "hand back"
    FIRST = "first"
    LAST = "last"


class Replay(NamedTuple):
    """A match as it is viewed: through the eyes of `seat`, or with all cards open if that is None."""

    match: ReplayedMatch
    lang: str
    is_plain: bool
    seat: int | None = None

    @property
    def said(self) -> Mapping[str, str]:
        """The words around the table, in the viewer's language."""
        return self.speech.catalogue.replay

    @property
    def speech(self) -> Speech:
        """The viewer's language, with the words of the game."""
        return Speech(self.lang, self.match.terms.variant.words if self.match.terms else "")


def reached(replayed: ReplayedMatch, at: int, step: ReplayStep) -> int:
    """Return the stage that a step leads to from another; beyond either end it stays there."""
    last = len(replayed.stages) - 1
    match step:
        case ReplayStep.FORWARD:
            return min(at + 1, last)
        case ReplayStep.BACK:
            return max(at - 1, 0)
        case ReplayStep.HAND_FORWARD:
            return next((hand.first for hand in replayed.hands if hand.first > at), last)
        case ReplayStep.HAND_BACK:
            return next((hand.first for hand in reversed(replayed.hands) if hand.first < at), 0)
        case ReplayStep.FIRST:
            return 0
        case ReplayStep.LAST:
            return last


def hand_begins(replayed: ReplayedMatch, number: int) -> int | None:
    """Return the stage at which a hand begins; None if there is no hand with this number."""
    return next((hand.first for hand in replayed.hands if hand.number == number), None)


def first_cards(replayed: ReplayedMatch) -> int:
    """Return the stage at which somebody first holds cards; the first of all if nobody ever does."""
    return next((stage.number for stage in replayed.stages if stage.hand and stage.cards), 0)


def page(replay: Replay, at: int) -> Text:
    """Return everything shown of a stage, in rows that a screen reader or a script can use."""
    stage = replay.match.stages[at]
    return _joined(_head(replay, stage), _table(replay, _seen(replay, stage)), _told(replay, stage))


def drawn_page(replay: Replay, at: int, *, width: int, height: int) -> Text:
    """Return everything shown of a stage, with the table drawn for a terminal of this size."""
    stage = replay.match.stages[at]
    if not stage.hand:
        return page(replay, at)
    board, setting = _board(replay, _seen(replay, stage)), _setting(replay, stage)
    table = list(picture(board, setting, width=width, height=height, title=_title(replay, stage)))
    return _joined(table, [*_told(replay, stage), *_line_of_numbers(replay, stage)])


def _joined(*blocks: list[Text]) -> Text:
    return Text("\n\n").join(Text("\n").join(block) for block in blocks if block)


def _seen(replay: Replay, stage: MatchStage) -> MatchStage:
    return stage if replay.seat is None else seen_by(stage, replay.seat)


def _board(replay: Replay, stage: MatchStage) -> Board:
    """Return the board with the cards known to the viewer: their own as held, those of the others as shown."""
    held = tuple(
        tuple(each.card for each in cards if each.where in (Where.HELD, Where.SHOWN)) for cards in stage.cards
    )
    memory = stage.board.memory._replace(
        digests=stage.board.memory.digests if stage.cards else (),
        proven=tuple(_proven(replay.match, stage.number)),
        is_dealt=False,
    )
    return stage.board._replace(seat=replay.seat, held=held, acting=stage.waiting, memory=memory)


def _proven(replayed: ReplayedMatch, at: int) -> Iterator[bool]:
    """Yield, for each hand closed by a stage, whether its deal is open by then."""
    for hand in replayed.hands:
        if any(
            stage.record.kind == "close" for stage in replayed.stages[hand.first : min(hand.last, at) + 1]
        ):
            yield hand.recomputed is not None and hand.recomputed <= at


def _head(replay: Replay, stage: MatchStage) -> list[Text]:
    return [Text(printable(_title(replay, stage)), style="bold")]


def _title(replay: Replay, stage: MatchStage) -> str:
    """Return the hand, the record, whose eyes see it, and the game."""
    verdict, record, said, speech = replay.match.verdict, stage.record, replay.said, replay.speech
    game = (
        game_name(verdict.variant, is_preset=verdict.is_preset, speech=speech)
        if verdict.variant
        else said["no_game"]
    )
    hand = said["hand"].format(n=stage.hand, of=len(replay.match.hands)) if stage.hand else said["before"]
    place = speech.catalogue.records["setup" if record.is_setup else "record"].format(n=record.place)
    return "  |  ".join((hand, f"{place}: {record.kind}", _eyes(replay, record), game))


def _eyes(replay: Replay, record: Annotated) -> str:
    if replay.seat is None:
        return replay.said["open"]
    return replay.said["eyes"].format(who=Telling(record, replay.lang).role(replay.seat + 1))


def _told(replay: Replay, stage: MatchStage) -> list[Text]:
    """Return what a record says, and what fails in it; for the last one also the verdict on the match."""
    lines = [Text(printable(f"> {line}"), style="bold cyan") for line in stage.said]
    speech = replay.speech
    if stage.record.refutation is not None:
        failed = refutation_line(stage.record.refutation, stage.record.names, speech)
        told = speech.say("records.fails", failed=failed)
        lines.append(Text(printable(f"> {told}"), style="bold red"))
    if stage.number == len(replay.match.stages) - 1:
        lines.append(Text(printable(next(verdict_lines(replay.match.verdict, speech))), style="bold"))
    return lines


def _table(replay: Replay, stage: MatchStage) -> list[Text]:
    if not stage.hand:
        return []
    setting = _setting(replay, stage)
    rows = [*_rows(replay, stage, setting)]
    width = max(cell_len(row.label) for row in rows) + _GAP
    return [_line(row, width) for row in rows]


def _setting(replay: Replay, stage: MatchStage) -> Setting:
    names = tuple(shown_name(name, seat) for seat, name in enumerate(stage.record.names))
    speech, terms = Speech(replay.lang, stage.record.words), replay.match.terms
    if terms is None:
        return Setting(names, Faces(is_spanish=False, is_plain=True), speech, 0)
    faces = faces_of(terms.variant.pack, speech, is_plain=replay.is_plain)
    return Setting(names, faces, speech, terms.variant.scoring.target)


def _line(row: TableRow, width: int) -> Text:
    text = Text(row.label + " " * (width - cell_len(row.label)))
    for part, style in row.parts:
        text.append(printable(part), style)
    return text


def _rows(replay: Replay, stage: MatchStage, setting: Setting) -> Iterator[TableRow]:
    board, names, speech, said = stage.board, setting.names, setting.speech, setting.speech.catalogue.screen
    yield plain_row(said["score"], score_line(board, setting))
    yield plain_row(said["stake"], stake_words(board, names, speech))
    if board.dealer is not None:
        yield plain_row(speech.term("dealer"), names[board.dealer])
    if board.turned_up is not None:
        yield TableRow(speech.term("turn-up"), (_face(board.turned_up, setting),))
    for seat, name in enumerate(names):
        yield TableRow(f"{_mark(seat, stage)} {name}", tuple(_of_seat(replay, stage, setting, seat)))
    yield from _tricks(replay, stage, setting)
    yield from said_values(board, setting)
    if told := _numbers(replay, stage):
        yield TableRow(replay.said["deal"], ((told, "green"),))


def _mark(seat: int, stage: MatchStage) -> str:
    return ">" if seat in stage.waiting else " "


def _of_seat(replay: Replay, stage: MatchStage, setting: Setting, seat: int) -> Iterator[Part]:
    """Yield the digest that binds the server to a seat's cards, ticked once all are open, then the cards by place."""
    cards = stage.cards[seat] if stage.cards else ()
    digests = stage.board.memory.digests
    if cards and seat < len(digests):
        digest = short(digests[seat])
        is_open = all(each.is_open(stage.number) for each in cards)
        yield digest, "green" if is_open else "dim"
        yield f" {(_tick(replay) if is_open else '').ljust(_GAP)}", "green"
    for where in Where:
        there = [each for each in cards if each.where is where]
        if there:
            yield f"  {replay.said[where]}", "dim"
            for each in there:
                yield " ", ""
                yield _face(each.card, setting)


def _face(card: str | None, setting: Setting) -> Part:
    if card is None:
        return _UNKNOWN, "dim"
    return setting.faces.card(card), setting.faces.colour(card)


def _tick(replay: Replay) -> str:
    return (ASCII if replay.is_plain else MANY).opened


def _tricks(replay: Replay, stage: MatchStage, setting: Setting) -> Iterator[TableRow]:
    """Yield the tricks; in front of those of a duel, who plays whom."""
    for seats, tricks in groupby(stage.tricks, key=attrgetter("duel")):
        if seats is not None:
            yield plain_row(setting.speech.term("duel"), " - ".join(setting.names[seat] for seat in seats))
        for number, trick in enumerate(tricks, start=1):
            yield TableRow(replay.said["trick"].format(n=number), tuple(_trick(trick, replay, setting)))


def _trick(trick: LaidTrick, replay: Replay, setting: Setting) -> Iterator[Part]:
    face_down = setting.speech.say("screen.face_down")
    for number, (seat, card) in enumerate(trick.laid):
        yield f"{'  ' if number else ''}{setting.speech.of(setting.names[seat], '')}", ""
        yield (face_down, "dim") if card is None else _face(card, setting)
    if trick.is_over:
        taken = taker(trick.side, setting.names, setting.speech)
        yield f"  {taken if trick.side is None else replay.said['taken'].format(side=taken)}", "bold"


def _line_of_numbers(replay: Replay, stage: MatchStage) -> list[Text]:
    told = _numbers(replay, stage)
    return [Text(printable(told), style="green")] if told else []


def _numbers(replay: Replay, stage: MatchStage) -> str:
    """Return whose secret numbers of the deal are open by now, and whether it was dealt again from them."""
    hand = next(hand for hand in replay.match.hands if hand.number == stage.hand)
    opened = (role for role, at in hand.links if at <= stage.number)
    roles = dict.fromkeys(map(Telling(stage.record, replay.lang).role, opened))
    told = [replay.said["numbers"].format(who=", ".join(roles))] if roles else []
    if hand.recomputed is not None and hand.recomputed <= stage.number:
        told.append(replay.said["again"].format(tick=_tick(replay)))
    return replay.speech.separated(told)
