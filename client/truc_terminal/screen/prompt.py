"""A line editor at the foot of a terminal: it completes moves, shows the options as keys, and rings at one's turn.

It runs in its own thread, from which lines come one by one. Invariant: it ends only by `stop`, at the end of the
input or with the loss of the terminal, and then the terminal is as it was before; so whoever started it waits for its
end.

What is printed while a prompt is shown appears above it, once and in order, in whole lines. Printing never waits for the
terminal. Invariant: what was written is shown by `release`, or by the next one, even if the prompt ends in between.
"""

import io
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final, NamedTuple, TextIO, cast

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggest, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, fragment_list_to_text, to_formatted_text
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.utils import get_cwidth

from truc_terminal.screen.blocks import coded
from truc_terminal.screen.picture import lines_of_keys
from truc_terminal.screen.questions import BETWEEN_KEYS, OptionKey, Question, cut_to, folded
from truc_words import printable

_LONGEST: Final = 1000  # characters of a line; more must be an accidental paste
# The clock in the question counts seconds.
_TICK_S: Final = 1.0

Deliver = Callable[[str | None], None]


class Prompt:
    """A prompt on a terminal, by default that of this process; `deliver` is called with each line, None at the end."""

    def __init__(
        self,
        deliver: Deliver,
        *,
        is_coloured: bool = True,
        terminal: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._deliver = deliver
        self._question = Question()
        self._at: int | None = None
        self._until: float | None = None
        self._posed: Question | None = None  # until the prompt's thread takes it
        self._is_due = False
        self._drawn = DrawnLines(0, ())
        self._table_of: tuple[Question, Size] | None = None
        self._table_lines: list[StyleAndTextTuples] = []
        self._writer = TerminalWriter(sys.stdout)
        self.above = LinesAbove(sys.stdout if output else self._writer, self._show_above)
        self._session = self._make_session(is_coloured, terminal, output or output_to(self._writer))
        self._app = self._session.app
        self._app.refresh_interval = _TICK_S
        self._app.before_render += self._clear_broken
        self._app.after_render += self._note_drawn

    def _make_session(
        self, is_coloured: bool, terminal: Input | None, output: Output
    ) -> "PromptSession[str]":
        session: PromptSession[str] = PromptSession(
            self._message,
            auto_suggest=_Suggest(self._words),
            color_depth=None if is_coloured else ColorDepth.DEPTH_1_BIT,
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
            completer=WordCompleter(self._words, ignore_case=True, sentence=True),
            # What was typed is printed above instead, with the table again below it.
            erase_when_done=True,
            input=terminal,
            key_bindings=_signalling(),
            output=output,
            # Completions are listed above, as by readline; lines
            # kept for a menu would be taken from the table.
            reserve_space_for_menu=0,
        )
        session.default_buffer.accept_handler = self._accept
        return session

    def run(self, started: Callable[[], None]) -> None:
        """Take lines until the prompt is stopped; `started` is called when it is first shown."""

        def stands(_app: Application[str]) -> None:
            self._app.after_render -= stands
            started()

        self._app.after_render += stands
        with suppress(EOFError, OSError):  # the end of the input, or the loss of the terminal
            # Signals are for the main thread, which this is not,
            # and errors for whoever has started the prompt.
            self._app.run(handle_sigint=False, set_exception_handler=False)
        self._deliver(None)

    def stop(self) -> None:
        """End the prompt, from any thread; the terminal is restored when `run` has returned."""
        self._soon(self._exit)

    def _exit(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    def pose(self, question: Question) -> None:
        """Change the question, from any thread; what is printed after it never stands above the question before."""
        self._posed = question
        self._soon(self._take_posed)

    def _take_posed(self) -> None:
        question, self._posed = self._posed, None
        if question is not None:  # else it was taken already
            self._pose(question)

    def _pose(self, question: Question) -> None:
        self._drop_stale_key(question)
        self._question = question
        if question.at is not None and question.at != self._at:
            self._begin_turn(question.at, question.deadline_ms)
        self._app.invalidate()

    def _drop_stale_key(self, question: Question) -> None:
        """Remove a key that is typed but not sent if the question has changed: it would mean another option."""
        typed, before = self._session.default_buffer, self._question.keys
        if before != question.keys and typed.text in {key.typed for key in before}:
            typed.reset()

    def _begin_turn(self, at: int, deadline_ms: int | None) -> None:
        self._at = at
        self._until = time.monotonic() + deadline_ms / 1000 if deadline_ms else None
        self._app.output.bell()
        self._app.output.flush()

    def _soon(self, do: Callable[[], object]) -> None:
        """Have something done in the prompt's thread; do nothing if it has ended."""
        loop, context = self._app.loop, self._app.context
        if loop is not None and context is not None:
            with suppress(RuntimeError):  # the loop was closed just now
                # In the context of the application, by which prompt_toolkit finds the one that is meant.
                loop.call_soon_threadsafe(do, context=context.copy())

    def _show_above(self) -> None:
        # However many lines are printed meanwhile, one call shows them all.
        if not self._is_due:
            self._is_due = True
            self._soon(self._release)

    def _release(self) -> None:
        """Show what was printed in the prompt's place, then the prompt below; what is typed meanwhile is not echoed."""
        self._is_due = False
        if self._app.is_running and not self._app.is_done:
            # All of it is one write: between two the table would
            # go away for as long as bots think in this process.
            with self._writer.whole():
                self._take_posed()
                self._app.renderer.erase()
                self._clear_broken(self._app)
                self.above.release()
                self._app.render_counter += 1  # else the question before would be drawn again
                self._app.renderer.render(self._app, self._app.layout)
            self._note_drawn(self._app)

    def _accept(self, buffer: Buffer) -> bool:
        """Take a line, where a key stands for its move line; a paste with line breaks becomes one line."""
        text = printable(" ".join(buffer.text.split()))[:_LONGEST]
        # Here, where the options are those that were shown: until somebody reads the line others may have come.
        meant = next((key.line for key in self._question.keys if key.typed == text), text)
        if text:
            echoed = cut_to(OptionKey(">", text, ""), self._app.output.get_size().columns).label
            self.above.write(f"> {echoed}\n")
            # Without keys until there is news: typed again they would be answers to the same question.
            self._question = Question(words=self._question.words, draw=self._question.draw)
        self._deliver(meant)
        return False

    def _words(self) -> list[str]:
        return list(self._question.words)

    def _message(self) -> StyleAndTextTuples:
        """Return the table, the options as keys, line by line, and the question with its clock."""
        size = self._app.output.get_size()
        table = self._table(size)
        height = max(1, size.rows - len(table) - 1 if table else size.rows // 2)
        lines = folded(self._question.keys, size.columns, height)
        parts: StyleAndTextTuples = []
        # On the smallest terminals the options come first.
        for drawn in table[: max(0, size.rows - len(lines) - 1)]:
            parts += [*drawn, ("", "\n")]
        for line in lines:
            for n, key in enumerate(line):
                between = " " * (BETWEEN_KEYS - 1) if n else ""
                parts += [("", between), ("bold", f" {key.typed} "), ("", key.label)]
            parts.append(("", "\n"))
        if table:  # the question stays in its place when there are no options
            parts.append(("", "\n" * (lines_of_keys(size.rows) - len(lines))))
        asked = " ".join(filter(None, (self._clock(), self._question.text)))
        parts.append(("bold", f"{asked} " if asked else "> "))
        return parts

    def _table(self, size: Size) -> list[StyleAndTextTuples]:
        """Return the table that stands above the question; it is drawn anew for every question and size."""
        if (drawn := (self._question, size)) != self._table_of:
            draw = self._question.draw
            lines = [] if draw is None else [*draw(size.columns, size.rows)]
            self._table_of = drawn
            self._table_lines = [to_formatted_text(ANSI(coded([line]).rstrip("\n"))) for line in lines]
        return self._table_lines

    def _note_drawn(self, _app: Application[str]) -> None:
        """Note what is on the terminal, up to the cursor."""
        shown = "".join(text for _, text, *_ in self._message())
        lines = (shown + self._session.default_buffer.document.text_before_cursor).split("\n")
        self._drawn = DrawnLines(self._app.output.get_size().columns, tuple(map(get_cwidth, lines)))

    def _clear_broken(self, _app: Application[str]) -> None:
        """Clear what was drawn before the terminal got its present size."""
        size = self._app.output.get_size()
        columns = size.columns
        if self._question.draw is not None and self._table_of is not None and self._table_of[1] != size:
            self._draw_anew(size)
        elif more := self._drawn.rows_more(columns) if _breaks_lines() else 0:
            self._app.output.cursor_up(more)
            self._app.output.erase_down()
        self._drawn = DrawnLines(columns, ())

    def _draw_anew(self, size: Size) -> None:
        """Draw all that is on a terminal of another size: what terminals make of the old lines differs from one to the next."""
        output, foot = self._app.output, 1 + sum(text.count("\n") for _, text, *_ in self._message())
        self._app.renderer.erase()
        output.cursor_goto(1, 1)
        output.erase_down()
        output.flush()
        self.above.show_again(size.columns, size.rows - foot)

    def _clock(self) -> str:
        if self._until is None or self._question.at is None:
            return ""
        left = max(0, round(self._until - time.monotonic()))
        return f"{left // 60}:{left % 60:02}"


class DrawnLines(NamedTuple):
    """What was drawn on a terminal: how many columns the terminal had, and how wide each line was."""

    columns: int
    widths: tuple[int, ...]

    def rows_more(self, columns: int) -> int:
        """Return how many more rows the lines take now that the terminal has so many columns."""
        return sum(max(0, rows_of(width, columns) - rows_of(width, self.columns)) for width in self.widths)


def _breaks_lines() -> bool:
    """Tell whether the terminal breaks its lines when it becomes narrower, as nearly all do; a few cut them off."""
    cuts = os.environ.get("TERM") == "linux" or "XTERM_VERSION" in os.environ
    return "TMUX" in os.environ or not cuts


class _Suggest(AutoSuggest):
    """Suggests the first word that begins with what was typed."""

    def __init__(self, words: Callable[[], list[str]]) -> None:
        self._words = words

    def get_suggestion(self, buffer: Buffer, document: Document) -> Suggestion | None:
        typed = document.text
        matching = (word for word in self._words() if typed and word.startswith(typed) and word != typed)
        found = next(matching, None)
        return None if found is None else Suggestion(found[len(typed) :])


def _signalling() -> KeyBindings:
    """Return what Ctrl-C and Ctrl-Z do: the same as without a prompt, so that there is one way to end and to stop."""
    keys = KeyBindings()

    @keys.add("c-c")
    def interrupt(_event: KeyPressEvent) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    @keys.add("c-z")
    def stop(_event: KeyPressEvent) -> None:
        run_in_terminal(_stop_job)

    return keys


def _stop_job() -> None:
    """Stop every process of this job; return when it continues.

    The signal to all of them may reach another thread of this process, and this thread may draw again before that. So
    it gets its own signal, which it takes as soon as it is unblocked; whatever continues the job discards the other
    one.
    """
    own = {signal.SIGTSTP}
    signal.pthread_sigmask(signal.SIG_BLOCK, own)
    signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
    os.kill(0, signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, own)


_SHOWN_AGAIN: Final = 200  # lines; no terminal is higher


class _OnTerminal(io.TextIOBase):
    """What is written to in place of a terminal, and like it.

    Attributes:
        encoding: the encoding of the terminal.
        errors: how characters that the terminal cannot show are handled.
    """

    encoding: str = ""
    errors: str | None = None

    def __init__(self, terminal: "TextIO | TerminalWriter") -> None:
        self.encoding = terminal.encoding
        self.errors = terminal.errors
        self._terminal = terminal

    def isatty(self) -> bool:
        """Tell whether this is a terminal."""
        return self._terminal.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the terminal, from which its size is read."""
        return self._terminal.fileno()


class LinesAbove(_OnTerminal):
    """A stream that replaces the terminal's and calls `wake` when there is a line to show."""

    def __init__(self, terminal: "TextIO | TerminalWriter", wake: Callable[[], None]) -> None:
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
        # Only whole lines are shown, or the prompt would stand in the middle of one.
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
            # A line counts with the rows that it takes now, not with those that it took.
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


class TerminalWriter(_OnTerminal):
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


def output_to(terminal: TerminalWriter) -> Output:
    """Return the terminal of this process; it is not asked for its cursor's position, as some never answer."""
    output = create_output(cast("TextIO", terminal))
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
