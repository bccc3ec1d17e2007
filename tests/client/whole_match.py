"""A whole match for four at a terminal, from `truc play` to the question after it, by somebody who looks before they type.

    PYTHONPATH=tests:protocol:server:client python -m client.whole_match

writes what the screen shows at some moments to tests/client/pictures anew; read the difference.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import trio
from client.bots_table import GAME, seat_bots, serving
from client.pictured import FOLDER
from client.terminals import Terminal
from client.viewed import screen_of
from vectors.retold import Decision, happenings

from truc_rules import Seat
from truc_terminal.commands.terminal import tell_commands

SEED = "8"
COLUMNS, ROWS = 80, 24
SEAT = Seat(0)
_OVER = "Another match at this table? [Y/n]"
_TOLD = "See it again: "  # above that question, where it may come later
_BEGUN = "A match of"
_OPTIONS = ("decision_ms=0", "target=8")


class Seen(NamedTuple):
    """What came of a match at a terminal.

    Attributes:
        lines: every line that was printed, from the beginning of the match to the question after it.
        typed: what was typed in it, in order.
        moments: the screen as it was at some moments, by what they are called.
        transcript: the one that was kept.
        status: how the command ended.
        is_restored: whether the terminal was then as it had been before.
    """

    lines: list[str]
    typed: list[str]
    moments: Mapping[str, str]
    transcript: Path
    status: int
    is_restored: bool


class Visit:
    """Somebody who plays at a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.typed: list[str] = []
        self.moments: dict[str, str] = {}

    def play(self, seated: Callable[[str], object]) -> None:
        """Play to the end; `seated` is called with the code of the table."""
        terminal = self.terminal
        terminal.wait_for(b"#")
        seated(re.search(rb"/(\w+)#", terminal.seen)[1].decode())
        while True:
            terminal.wait_until(lambda: terminal.is_asked or self._is_over)
            self._look()
            if self._is_over:
                break
            self.typed.append(self._answer())
            terminal.answer(self.typed[-1])
        terminal.type(b"n\r")

    @property
    def _is_over(self) -> bool:
        return self.terminal.foot == _OVER and _TOLD in self.terminal.shown

    @property
    def _hands(self) -> int:
        return sum("is dealt" in line for line in self.terminal.lines)

    def _look(self) -> None:
        """Keep the screen at the moments that are pictured, each when it comes first."""
        if self._is_over:
            self._keep("over", since="  the match is over")
        elif self._hands == 2 and " play " in self.terminal.keys:
            self._keep("hand", since="── your turn")
        elif re.search(r"open +west calls", self.terminal.shown):
            self._keep("asked", since="── your turn")

    def _keep(self, moment: str, since: str) -> None:
        """Keep what stands on the screen from a line on: how much of what was told before is there hangs on the pace."""
        shown = self.terminal.shown
        self.moments.setdefault(moment, steady(shown[shown.index(since) :]))

    def _answer(self) -> str:
        """Accept what is asked, bet once, else play the first card: by name or by number."""
        keys = self.terminal.keys
        if " envido (" in keys and "envido" not in self.typed:
            return "envido"
        if "no quiero" in keys:
            return "quiero"
        return (re.search(r" (\d+) play ", keys) or re.search(r" (\d+) ", keys))[1]


def steady(text: str) -> str:
    """Return a text without what differs each time: the port, and how many acks had come when the match was over."""
    return re.sub(r"\d+ records", "N records", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text))


def seen(folder: Path) -> Seen:
    """Play the match at a terminal, and return what was seen."""
    (folder / "server").mkdir(mode=0o700)
    return trio.run(_seen, folder)


async def _seen(folder: Path) -> Seen:
    async with serving(folder / "server", SEED) as address, trio.open_nursery() as nursery:

        def seated(code: str) -> None:
            trio.from_thread.run_sync(nursery.start_soon, seat_bots, address, code, folder, SEED, nursery)

        terminal = _sat_down(folder, address)
        modes = frozenset(terminal.screen.mode)
        visit = Visit(terminal)
        await trio.to_thread.run_sync(visit.play, seated)
        lines = terminal.lines
        status = await trio.to_thread.run_sync(terminal.end)
        nursery.cancel_scope.cancel()
    (transcript,) = (folder / "north" / "transcripts").iterdir()
    begin = next(n for n, line in enumerate(lines) if line.startswith(_BEGUN))
    is_restored = terminal.was_restored and (frozenset(terminal.screen.mode), terminal.screen.margins) == (
        modes,
        None,
    )
    told = [steady(line) for line in lines[begin : lines.index(_OVER)]]
    return Seen(told, visit.typed, visit.moments, transcript, status, is_restored)


def _sat_down(folder: Path, address: str) -> Terminal:
    wished = ("--variant", GAME, "--seats", "4", *(word for each in _OPTIONS for word in ("--option", each)))
    return Terminal(
        Path("north"),
        *("play", address, "--private", "--name", "north", *wished),
        columns=COLUMNS,
        rows=ROWS,
        cwd=folder,
        program=(sys.executable, "-m", "client.chance", f"north {SEED}"),
        PYTHONPATH=os.pathsep.join(sys.path),
    )


def retold(seen: Seen) -> list[str]:
    """Return what the transcript makes the screen print, with what was typed at each decision."""
    screen, out = screen_of(terminal=True, width=COLUMNS, height=ROWS)
    typed = iter(seen.typed)
    screen.pose = lambda question: None
    for happening in happenings(seen.transcript, SEAT):
        if isinstance(happening, Decision):
            screen.show(happening.turn)
            screen.say(f"> {next(typed)}")
        else:
            screen.show(happening)
    screen.say(f"Transcript: {seen.transcript.relative_to(seen.transcript.parents[2])}")
    tell_commands(screen, seen.transcript)
    return [steady(line.rstrip()) for line in out.getvalue().splitlines()]


def picture(moment: str) -> Path:
    """Return where the picture of a moment is kept."""
    return FOLDER / f"match-{moment}-{COLUMNS}x{ROWS}.txt"


def _write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for moment, shown in seen(Path(folder)).moments.items():
            picture(moment).write_text(shown)


if __name__ == "__main__":
    _write()
