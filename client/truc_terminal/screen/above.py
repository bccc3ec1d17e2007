"""What is printed while a prompt is shown: it appears above the prompt, once and in order, in whole lines.

Printing never waits for the terminal. Invariant: what was written is shown by `release`, or by the next one, even if
the prompt ends in between.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TextIO


class Above(io.TextIOBase):
    """A stream that replaces the terminal's and calls `wake` when there is a line to show.

    Attributes:
        encoding: the encoding of the terminal.
        errors: how characters that the terminal cannot show are handled.
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
        """Return the descriptor of the terminal, from which its size is read."""
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
        """Show every whole line kept; call it only while nobody else uses the terminal."""
        with self._lock:
            lines, newline, self._kept = self._kept.rpartition("\n")
        self._show(lines + newline)

    def close(self) -> None:
        """Show what is left, even if it is not a whole line."""
        with self._lock:
            rest, self._kept = self._kept, ""
        self._show(rest)

    def _show(self, text: str) -> None:
        if text:
            with suppress(OSError):  # the terminal is gone, and its reader too
                self._terminal.write(text)
                self._terminal.flush()
