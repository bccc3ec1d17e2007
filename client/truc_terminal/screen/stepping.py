"""Stepping through a match at a terminal, by keys, in both directions.

Meanwhile the terminal shows its alternate screen, and returns to the old one whatever the end: a key, a signal, a
fault.
"""

import asyncio
import signal
from contextlib import suppress
from functools import partial
from io import StringIO
from typing import Final

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import Output
from rich.console import Console
from rich.text import Text

from truc_terminal.screen.replaying import Replay, ReplayStep, drawn_page, hand_begins, reached

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
_TERMINATED: Final = 128
_SIGNALS: Final = ("SIGTERM", "SIGHUP")


class Walk:
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
        self.at = reached(self.replay.match, self.at, step)
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
) -> tuple[Walk, int]:
    """Show a match from a stage on until the viewer leaves; return where they were, and the exit status."""
    walk = Walk(replay, at)
    page_of = Window(FormattedTextControl(lambda: _drawn(walk)))
    note = Window(FormattedTextControl(lambda: _noted(walk)), height=1, style="reverse")
    application: Application[int] = Application(
        Layout(HSplit([page_of, note])),
        key_bindings=_bindings(walk),
        full_screen=True,
        input=keys,
        output=screen,
    )
    return walk, application.run(pre_run=partial(_leave_on_signals, application))


def _drawn(walk: Walk) -> ANSI:
    """Return the part of the page that there is room for, with lines wrapped between words."""
    size, drawn = get_app().output.get_size(), StringIO()
    console = Console(file=drawn, force_terminal=True, color_system="standard", width=size.columns)
    if walk.explains:
        console.print(Text(walk.replay.said["explain"].replace("|", "\n")))
    else:
        console.print(drawn_page(walk.replay, walk.at, width=size.columns, height=size.rows))
    lines, room = drawn.getvalue().splitlines(), size.rows - 1
    walk.fit(len(lines), room)
    return ANSI("\n".join(lines[walk.top : walk.top + room]))


def _noted(walk: Walk) -> str:
    more = [walk.replay.said["more"]] if walk.top < walk.most else []
    return "  ".join([*more, walk.note])


def _bindings(walk: Walk) -> KeyBindings:
    bindings = KeyBindings()
    for step, keys in _KEYS.items():
        for key in keys:
            bindings.add(key)(partial(_step, walk, step))
    for digit in "0123456789":
        bindings.add(digit)(partial(_type, walk, digit))
    bindings.add("down")(lambda _: walk.scroll(1))
    bindings.add("up")(lambda _: walk.scroll(-1))
    bindings.add("enter")(lambda _: walk.jump())
    bindings.add("?")(lambda _: walk.explain())
    bindings.add("s")(lambda _: walk.change_eyes())
    for key in _LEAVE:
        bindings.add(key)(_leave)
    return bindings


def _step(walk: Walk, step: ReplayStep, _: KeyPressEvent) -> None:
    walk.step(step)


def _type(walk: Walk, digit: str, _: KeyPressEvent) -> None:
    walk.type(digit)


def _leave(event: KeyPressEvent) -> None:
    event.app.exit(result=0)


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
