"""A match to step through: where each step leads, the page of a stage, in rows or with the table drawn, and the keys.

Invariant: a page as a seat saw it names no card that the seat did not know then. While somebody steps the terminal shows its
alternate screen, and returns to the old one whatever the end: a key, a signal, a fault.
"""

import asyncio
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import partial
from io import StringIO
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import Output
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from truc_terminal.replay_model.annotating import Annotated
from truc_terminal.replay_model.board import LaidTrick, ShownHand
from truc_terminal.replay_model.faces import Faces, faces_of, short, stake_words, taker
from truc_terminal.replay_model.retelling import RecordTelling
from truc_terminal.replay_model.stages import CardState, MatchStage, ReplayedMatch, seen_by
from truc_terminal.screen.drawing import MatchLook, Part, TableRow, plain_row, said_value_rows, score_line
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


def stage_after(replayed: ReplayedMatch, at: int, step: ReplayStep) -> int:
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
    # Before the first hand there is no table to draw.
    if not stage.hand:
        return page(replay, at)
    board, look = _board(replay, _seen(replay, stage)), _look(replay, stage)
    table = list(picture(board, look, width=width, height=height, title=_title(replay, stage)))
    return _joined(table, [*_told(replay, stage), *_line_of_numbers(replay, stage)])


def _joined(*blocks: list[Text]) -> Text:
    return Text("\n\n").join(Text("\n").join(block) for block in blocks if block)


def _seen(replay: Replay, stage: MatchStage) -> MatchStage:
    return stage if replay.seat is None else seen_by(stage, replay.seat)


def _board(replay: Replay, stage: MatchStage) -> ShownHand:
    """Return the board with the cards known to the viewer: their own as held, those of the others as shown."""
    held = tuple(
        tuple(each.card for each in cards if each.state in (CardState.HELD, CardState.SHOWN))
        for cards in stage.cards
    )
    memory = stage.board.memory._replace(
        # Between a call and its deal those of the hand before would stand beside nothing.
        digests=stage.board.memory.digests if stage.cards else (),
        # A record opens what the whole transcript knows: at this stage only what was open by then counts.
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
    return replay.said["eyes"].format(who=RecordTelling(record, replay.lang).role(replay.seat + 1))


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
    look = _look(replay, stage)
    rows = [*_rows(replay, stage, look)]
    width = max(cell_len(row.label) for row in rows) + _GAP
    return [_line(row, width) for row in rows]


def _look(replay: Replay, stage: MatchStage) -> MatchLook:
    names = tuple(shown_name(name, seat) for seat, name in enumerate(stage.record.names))
    speech, terms = Speech(replay.lang, stage.record.words), replay.match.terms
    if terms is None:
        return MatchLook(names, Faces(is_spanish=False, is_plain=True), speech, 0)
    faces = faces_of(terms.variant.pack, speech, is_plain=replay.is_plain)
    return MatchLook(names, faces, speech, terms.variant.scoring.target)


def _line(row: TableRow, width: int) -> Text:
    text = Text(row.label + " " * (width - cell_len(row.label)))
    for part, style in row.parts:
        text.append(printable(part), style)
    return text


def _rows(replay: Replay, stage: MatchStage, look: MatchLook) -> Iterator[TableRow]:
    board, names, speech, said = stage.board, look.names, look.speech, look.speech.catalogue.screen
    yield plain_row(said["score"], score_line(board, look))
    yield plain_row(said["stake"], stake_words(board, names, speech))
    if board.dealer is not None:
        yield plain_row(speech.term("dealer"), names[board.dealer])
    if board.turned_up is not None:
        yield TableRow(speech.term("turn-up"), (_face(board.turned_up, look),))
    for seat, name in enumerate(names):
        yield TableRow(f"{_mark(seat, stage)} {name}", tuple(_of_seat(replay, stage, look, seat)))
    yield from _tricks(replay, stage, look)
    yield from said_value_rows(board, look)
    if told := _numbers(replay, stage):
        yield TableRow(replay.said["deal"], ((told, "green"),))


def _mark(seat: int, stage: MatchStage) -> str:
    return ">" if seat in stage.waiting else " "


def _of_seat(replay: Replay, stage: MatchStage, look: MatchLook, seat: int) -> Iterator[Part]:
    """Yield the digest that binds the server to a seat's cards, ticked once all are open, then the cards by place."""
    cards = stage.cards[seat] if stage.cards else ()
    digests = stage.board.memory.digests
    if cards and seat < len(digests):
        digest = short(digests[seat])
        is_open = all(each.is_open(stage.number) for each in cards)
        yield digest, "green" if is_open else "dim"
        yield f" {(_tick(replay) if is_open else '').ljust(_GAP)}", "green"
    for state in CardState:
        there = [each for each in cards if each.state is state]
        if there:
            yield f"  {replay.said[state]}", "dim"
            for each in there:
                yield " ", ""
                yield _face(each.card, look)


def _face(card: str | None, look: MatchLook) -> Part:
    if card is None:
        return _UNKNOWN, "dim"
    return look.faces.card(card), look.faces.colour(card)


def _tick(replay: Replay) -> str:
    return (ASCII if replay.is_plain else MANY).opened


def _tricks(replay: Replay, stage: MatchStage, look: MatchLook) -> Iterator[TableRow]:
    """Yield the tricks; in front of those of a duel, who plays whom."""
    for seats, tricks in groupby(stage.tricks, key=attrgetter("duel")):
        if seats is not None:
            yield plain_row(look.speech.term("duel"), " - ".join(look.names[seat] for seat in seats))
        for number, trick in enumerate(tricks, start=1):
            yield TableRow(replay.said["trick"].format(n=number), tuple(_trick(trick, replay, look)))


def _trick(trick: LaidTrick, replay: Replay, look: MatchLook) -> Iterator[Part]:
    face_down = look.speech.say("screen.face_down")
    for number, (seat, card) in enumerate(trick.laid):
        yield f"{'  ' if number else ''}{look.speech.labelled(look.names[seat], '')}", ""
        yield (face_down, "dim") if card is None else _face(card, look)
    if trick.is_over:
        taken = taker(trick.side, look.names, look.speech)
        yield f"  {taken if trick.side is None else replay.said['taken'].format(side=taken)}", "bold"


def _line_of_numbers(replay: Replay, stage: MatchStage) -> list[Text]:
    told = _numbers(replay, stage)
    return [Text(printable(told), style="green")] if told else []


def _numbers(replay: Replay, stage: MatchStage) -> str:
    """Return whose secret numbers of the deal are open by now, and whether it was dealt again from them."""
    hand = next(hand for hand in replay.match.hands if hand.number == stage.hand)
    opened = (role for role, at in hand.links if at <= stage.number)
    roles = dict.fromkeys(map(RecordTelling(stage.record, replay.lang).role, opened))
    told = [replay.said["numbers"].format(who=", ".join(roles))] if roles else []
    if hand.recomputed is not None and hand.recomputed <= stage.number:
        told.append(replay.said["again"].format(tick=_tick(replay)))
    return replay.speech.separated(told)


_KEYS: Final = {
    ReplayStep.FORWARD: ("space", "n", "right"),
    ReplayStep.BACK: ("p", "b", "left"),
    ReplayStep.HAND_FORWARD: ("]", "N", "pagedown"),
    ReplayStep.HAND_BACK: ("[", "P", "pageup"),
    ReplayStep.FIRST: ("home", "<"),
    ReplayStep.LAST: ("end", ">"),
}
_LEAVE: Final = ("q", "escape", "c-c", "c-d")
_MOST_DIGITS: Final = 3
# The status of a process that a signal has ended is this and its number, as a shell reports it.
_TERMINATED: Final = 128
_SIGNALS: Final = ("SIGTERM", "SIGHUP")


class ReplayPosition:
    """Where the viewer is in a match; `top` is the first line shown of a page that is too long."""

    def __init__(self, replay: Replay, at: int) -> None:
        self.replay = replay
        self.at = at
        self.note = replay.said["help"]
        self.top = 0
        self.most = 0
        self.explains = False
        self._typed = ""

    def fit(self, lines: int, room: int) -> None:
        """Note how many lines the page has, and how many there is room for."""
        self.most = max(0, lines - room)
        self.top = min(self.top, self.most)

    def scroll(self, lines: int) -> None:
        """Move the page; how far it can move is known when it is drawn."""
        self.top = max(0, self.top + lines)

    def step(self, step: ReplayStep) -> None:
        """Go one step."""
        self.at = stage_after(self.replay.match, self.at, step)
        self._settle()

    def type(self, digit: str) -> None:
        """Take a digit of the number of the hand to go to."""
        self._typed = (self._typed + digit)[:_MOST_DIGITS]
        self.note = self.replay.said["typed"].format(n=self._typed)

    def jump(self) -> None:
        """Go to the hand whose number was typed."""
        typed = self._typed
        self._settle()
        there = hand_begins(self.replay.match, int(typed)) if typed else None
        if there is not None:
            self.at = there
        elif typed:
            self.note = self.replay.said["no_hand"].format(n=len(self.replay.match.hands), got=typed)

    def explain(self) -> None:
        """Show what the keys do and what a page means, or the page again."""
        explains = not self.explains
        self._settle()
        self.explains = explains

    def change_eyes(self) -> None:
        """Look through the eyes of the next seat; after the last, with all cards open."""
        terms, seat = self.replay.match.terms, self.replay.seat
        seats = terms.table.seats if terms else 0
        following = 0 if seat is None else seat + 1
        self.replay = self.replay._replace(seat=following if following < seats else None)
        self._settle()

    def _settle(self) -> None:
        self._typed, self.note, self.top = "", self.replay.said["help"], 0
        self.explains = False


def step_through(
    replay: Replay, at: int, *, keys: Input | None = None, screen: Output | None = None
) -> tuple[ReplayPosition, int]:
    """Show a match from a stage on until the viewer leaves; return where they were, and the exit status."""
    position = ReplayPosition(replay, at)
    page_of = Window(FormattedTextControl(lambda: _drawn(position)))
    note = Window(FormattedTextControl(lambda: _noted(position)), height=1, style="reverse")
    application: Application[int] = Application(
        Layout(HSplit([page_of, note])),
        key_bindings=_bindings(position),
        full_screen=True,
        input=keys,
        output=screen,
    )
    return position, application.run(pre_run=partial(_leave_on_signals, application))


def _drawn(position: ReplayPosition) -> ANSI:
    """Return the part of the page that there is room for, with lines wrapped between words."""
    size, drawn = get_app().output.get_size(), StringIO()
    console = Console(file=drawn, force_terminal=True, color_system="standard", width=size.columns)
    if position.explains:
        console.print(Text(position.replay.said["explain"].replace("|", "\n")))
    else:
        console.print(drawn_page(position.replay, position.at, width=size.columns, height=size.rows))
    lines, room = drawn.getvalue().splitlines(), size.rows - 1
    # Only now is it known how far it can be scrolled: a page is as long as the terminal is narrow.
    position.fit(len(lines), room)
    return ANSI("\n".join(lines[position.top : position.top + room]))


def _noted(position: ReplayPosition) -> str:
    more = [position.replay.said["more"]] if position.top < position.most else []
    return "  ".join([*more, position.note])


def _bindings(position: ReplayPosition) -> KeyBindings:
    bindings = KeyBindings()
    for step, keys in _KEYS.items():
        for key in keys:
            bindings.add(key)(lambda _, step=step: position.step(step))
    for digit in "0123456789":
        bindings.add(digit)(lambda event: position.type(event.data))
    bindings.add("down")(lambda _: position.scroll(1))
    bindings.add("up")(lambda _: position.scroll(-1))
    bindings.add("enter")(lambda _: position.jump())
    bindings.add("?")(lambda _: position.explain())
    bindings.add("s")(lambda _: position.change_eyes())
    for key in _LEAVE:
        bindings.add(key)(lambda event: event.app.exit(result=0))
    return bindings


def _leave_on_signals(application: Application[int]) -> None:
    """Leave in good order when a signal tells the process to end; without such signals there is nothing to do."""
    loop = asyncio.get_running_loop()
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None:
            with suppress(NotImplementedError):  # loops on Windows have no signal handlers
                loop.add_signal_handler(number, partial(_end, application, _TERMINATED + number))


def _end(application: Application[int], status: int) -> None:
    if application.future is not None and not application.future.done():
        application.exit(result=status)
