"""Terminals for tests: a pseudo-terminal that is typed into, and a screen that shows what a person would see."""

import fcntl
import getpass
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyte

DEADLINE_S = 40
ASKED = "or ? for help:"
_KEY = re.compile(r" \d+ \S")
KILL, TERM, HUP = signal.SIGKILL, signal.SIGTERM, signal.SIGHUP
CTRL_C, CTRL_D, QUIT = b"\x03", b"\x04", b"quit\r"
_STATUS = {CTRL_C: 130, TERM: 130, HUP: 130, KILL: -9, CTRL_D: 0, QUIT: 0}
_SIZE = ("COLUMNS", "LINES")
"""What pytest-xdist says of its own terminal, and is not true of this one."""


class Terminal:
    """A process on a terminal, by default the client, whose screen can be looked at.

    `program` is what is run; `within` a command that runs it; `is_known` that its home has a name, which is asked otherwise.
    """

    def __init__(
        self,
        home: Path,
        *arguments: str,
        program: Sequence[str] = (sys.executable, "-m", "truc_terminal"),
        columns: int = 100,
        rows: int = 30,
        within: Sequence[str] = (),
        cwd: Path | None = None,
        is_known: bool = True,
        **more: str,
    ) -> None:
        kept = (cwd or Path.cwd()) / home
        if is_known and not (kept / "name").exists():
            kept.mkdir(parents=True, exist_ok=True, mode=0o700)
            (kept / "name").write_text(f"{getpass.getuser()}\n", "utf-8")
        self.master, slave = pty.openpty()
        self.screen = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self.screen)
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.master)
        inherited = {name: value for name, value in os.environ.items() if name not in _SIZE}
        environment = {**inherited, "TRUC_HOME": str(home), "TERM": "xterm-256color", **more}
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *within, *program, *arguments],  # Ctrl-C is its signal
            cwd=cwd,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.seen = b""
        self.answered = 0
        self.until = time.monotonic() + DEADLINE_S

    def read(self) -> bool:
        """Take what the process prints next; False at its end."""
        ready, _, _ = select.select([self.master], [], [], max(0, self.until - time.monotonic()))
        assert ready, self.seen[-2000:]
        try:
            received = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += received
        self._stream.feed(received)
        return bool(received)

    def wait_for(self, text: bytes, *, after: int = 0) -> None:
        while text not in self.seen[after:]:
            assert self.read(), self.seen[-2000:]

    def wait_shown(self, text: str) -> None:
        """Wait until a text stands on the screen."""
        while text not in "\n".join(self.screen.display):
            assert self.read(), "\n".join(self.screen.display)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of the screen."""
        while not holds():
            assert self.read(), "\n".join(self.screen.display)

    @property
    def lines(self) -> list[str]:
        """Every line that was printed and is not gone, those that have left the screen at its top too."""
        gone = (self._text(row) for row in self.screen.history.top)
        return [line.rstrip() for line in (*gone, *self.screen.display)]

    def _text(self, row: Mapping[int, Any]) -> str:
        return "".join(row[column].data for column in range(self.screen.columns))

    @property
    def foot(self) -> str:
        """The line with the cursor, if there is nothing below."""
        below = self.screen.display[self.screen.cursor.y :]
        return "" if any(line.strip() for line in below[1:]) else below[0].rstrip()

    @property
    def keys(self) -> str:
        """The options, as they stand above the question at the foot; nothing where there are none."""
        above = self.shown.rstrip("\n").split("\n")[:-1]
        listed = [
            *takewhile(lambda line: not line or _KEY.match(line) or line.startswith("   "), reversed(above))
        ]
        while listed and not _KEY.match(listed[-1]):
            listed.pop()
        return " ".join(reversed(listed)).rstrip()

    @property
    def shown(self) -> str:
        """The screen as it is, in the form of a file."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n") + "\n"

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        cut = max(0, self.screen.lines - rows)
        self.screen.resize(rows, columns)
        self.screen.cursor.y = max(0, self.screen.cursor.y - cut)  # what stands on it moves up with its lines

    @property
    def is_restored(self) -> bool:
        """Whether the terminal takes what is typed as it did in the beginning."""
        return termios.tcgetattr(self.master) == self.modes

    @property
    def is_cooked(self) -> bool:
        """Whether the terminal echoes what is typed, and takes it line by line, as it did in the beginning."""
        return termios.tcgetattr(self.master)[1:4] == self.modes[1:4]

    def type(self, text: bytes) -> None:
        """Type, and be patient for as long again."""
        self.until = time.monotonic() + DEADLINE_S
        os.write(self.master, text)

    def answer(self, line: str) -> None:
        """Type a line at a prompt."""
        self.answered += 1
        self.type(line.encode() + b"\r")

    @property
    def is_asked(self) -> bool:
        """Whether there is a question at the foot that was not answered yet: what was answered stands above."""
        if not self.foot.endswith(ASKED):
            return False
        return sum(line.startswith("> ") for line in self.lines) == self.answered

    def end(self) -> int:
        while self.read():
            pass
        status = self.process.wait(10)
        self.was_restored = self.is_restored
        os.close(self.master)
        return status


def leave(terminal: Terminal, how: bytes | signal.Signals) -> None:
    """Let the client end, by a key, a line or a signal, as it should."""
    if isinstance(how, bytes):
        terminal.type(how)
    else:
        os.kill(terminal.process.pid, how)
    assert terminal.end() == _STATUS[how]
    assert how == KILL or terminal.was_restored
