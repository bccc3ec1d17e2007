"""What is written to a terminal while a prompt stands at its foot: lines above it, and the prompt as it is drawn.

What is printed appears above the prompt, once and in order, in whole lines. Printing never waits for the terminal. Invariant:
what was written is shown by `release`, or by the next one, even if the prompt ends in between.
"""

import io
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final, TextIO, cast

from prompt_toolkit.formatted_text import ANSI, fragment_list_to_text, to_formatted_text
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth

_SHOWN_AGAIN: Final = 200  # lines; no terminal is higher


class _OnTerminal(io.TextIOBase):
    """What is written to in place of a terminal, and like it.

    Attributes:
        encoding: the encoding of the terminal.
        errors: how characters that the terminal cannot show are handled.
    """

    encoding: str = ""
    errors: str | None = None

    def __init__(self, terminal: "TextIO | Screenful") -> None:
        self.encoding = terminal.encoding
        self.errors = terminal.errors
        self._terminal = terminal

    def isatty(self) -> bool:
        """Tell whether this is a terminal."""
        return self._terminal.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the terminal, from which its size is read."""
        return self._terminal.fileno()


class Above(_OnTerminal):
    """A stream that replaces the terminal's and calls `wake` when there is a line to show."""

    def __init__(self, terminal: "TextIO | Screenful", wake: Callable[[], None]) -> None:
        super().__init__(terminal)
        self._wake = wake
        self._lock = Lock()
        self._kept = ""
        self._newest: deque[str] = deque(maxlen=_SHOWN_AGAIN)

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

    def show_again(self, columns: int, rows: int) -> None:
        """Show as many of the newest lines as there are rows for; call it like `release`."""
        lines: list[str] = []
        for line in reversed(self._newest):
            rows -= rows_of(get_cwidth(fragment_list_to_text(to_formatted_text(ANSI(line)))), columns)
            if rows < 0:
                break
            lines.insert(0, f"{line}\n")
        self._write("".join(lines))

    def _show(self, text: str) -> None:
        self._newest.extend(text.splitlines())
        self._write(text)

    def _write(self, text: str) -> None:
        if text:
            with suppress(OSError):  # the terminal is gone, and its reader too
                self._terminal.write(text)
                self._terminal.flush()


def rows_of(width: int, columns: int) -> int:
    """Return how many rows of a terminal a line takes."""
    return max(1, -(-width // columns))


class Screenful(_OnTerminal):
    """A terminal to which text is written: prompt_toolkit would encode it itself, with `?` for what the terminal lacks."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__(terminal)
        self._held: list[str] | None = None

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let the terminal have what is written in the block at its end only."""
        held: list[str] = []
        self._held = held
        try:
            yield
        finally:
            self._held = None
            self.write("".join(held))
            self.flush()

    def write(self, text: str) -> int:
        """Write text, spelled as the terminal can show it."""
        if self._held is None:
            return self._terminal.write(text)
        self._held.append(text)
        return len(text)

    def flush(self) -> None:
        """Let the terminal have what was written."""
        if self._held is None:
            self._terminal.flush()


def output_to(terminal: Screenful) -> Output:
    """Return the terminal of this process; it is not asked for its cursor's position, as some never answer."""
    output = create_output(cast("TextIO", terminal))
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
