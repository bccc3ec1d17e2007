"""What is printed while a prompt stands: it appears above the prompt, once and in order, in whole lines.

Whoever prints never waits for the terminal. Invariant: what was written is shown by `release`, or by the next one, also when
the prompt ends in between.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TextIO


class Above(io.TextIOBase):
    """A stream in the place of a terminal's, which calls `wake` when there is a line to be shown.

    Attributes:
        encoding: that of the terminal.
        errors: what becomes of characters that the terminal cannot show.
    """

    encoding: str = ""
    errors: str | None = None

    def __init__(self, terminal: TextIO, wake: Callable[[], None]) -> None:
        self.encoding = terminal.encoding
        self.errors = terminal.errors
        self._terminal = terminal
        self._wake = wake
        self._lock = Lock()
        self._kept = ""

    def isatty(self) -> bool:
        """Tell whether this is a terminal."""
        return self._terminal.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the terminal, which knows its size."""
        return self._terminal.fileno()

    def writable(self) -> bool:
        """Tell that this can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep a text until it can be shown."""
        with self._lock:
            self._kept += text
        if "\n" in text:
            self._wake()
        return len(text)

    def release(self) -> None:
        """Show every whole line that is kept; only while the terminal is nobody else's."""
        with self._lock:
            lines, newline, self._kept = self._kept.rpartition("\n")
        self._show(lines + newline)

    def close(self) -> None:
        """Show what is left, whole line or not."""
        with self._lock:
            rest, self._kept = self._kept, ""
        self._show(rest)

    def _show(self, text: str) -> None:
        if text:
            with suppress(OSError):  # the terminal is gone, and whoever looked at it
                self._terminal.write(text)
                self._terminal.flush()
