"""Terminals for tests: a pseudo-terminal that is typed into, and a screen that shows what a person would see."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte

DEADLINE_S = 40


class Terminal:
    """A process of the client on a terminal, whose screen can be looked at."""

    def __init__(self, home: Path, *arguments: str, columns: int = 100, rows: int = 30, **more: str) -> None:
        self.master, slave = pty.openpty()
        self.screen = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self.screen)
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.master)
        environment = {**os.environ, "TRUC_HOME": str(home), "TERM": "xterm-256color", **more}
        self.process = subprocess.Popen(
            ["setsid", "--ctty", sys.executable, "-m", "truc_client", *arguments],  # Ctrl-C is its signal
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.seen = b""
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

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    @property
    def is_restored(self) -> bool:
        """Whether the terminal takes what is typed as it did in the beginning."""
        return termios.tcgetattr(self.master) == self.modes

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def end(self) -> int:
        while self.read():
            pass
        status = self.process.wait(10)
        self.was_restored = self.is_restored
        os.close(self.master)
        return status
