"""What every command says, in the language spoken: lines for people, failures, and findings in files.

Invariant: what cannot be read or written is never taken for a finding. Such a failure has status 2 and one line on
standard error; no line if the reader of the output has gone.
"""

import sys
from shutil import get_terminal_size
from typing import IO, Any, Final

import click
from rich.console import Console

from truc_client.errors import HomeError
from truc_client.verifying import why_unreadable
from truc_commands.program import OneLineCommand
from truc_terminal.commands.language import spoken
from truc_terminal.screen.wrapping import wrapped
from truc_words import Sentence, in_language, printable

_USUAL_WIDTH: Final = 80


class FailedError(click.ClickException):
    """An error that ends the command: one line on standard error, in the language spoken, and exit status 1."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(in_language(message, spoken())))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line; always on standard error."""
        tell(f"truc: {self.message}", err=True)


def tell(text: str, *, err: bool = False) -> None:
    """Print a line in the language spoken, wrapped between words on a terminal, which nothing in it can control."""
    line, stream = printable(in_language(text, spoken())), sys.stderr if err else sys.stdout
    # A script gets one line for one thing, however long it is.
    parts = wrapped(line, get_terminal_size().columns) if stream.isatty() else [line]
    click.echo("\n".join(parts), err=err)


def usage_error(sentence: Sentence) -> click.UsageError:
    """Return the error for a command that was called wrongly, in the language spoken."""
    return click.UsageError(in_language(sentence, spoken()))


class UnusableError(FailedError):
    """A file that cannot be read, or findings that cannot be written."""

    exit_code = 2


def unusable(what: str, file: object, error: HomeError | OSError) -> UnusableError:
    """Return the error for a file with the reason; `what` is `cannot_read` or `cannot_write`."""
    return UnusableError(Sentence(f"failures.{what}", path=file, reason=why_unreadable(error)))


class FindingCommand(OneLineCommand):
    """A command whose status says what it found, so that trouble with its output needs a different one."""

    def refused(self, error: OSError) -> click.ClickException:
        """Return an error that is not a finding."""
        return UnusableError(Sentence("commands.found_unwritten", reason=why_unreadable(error)))


class Output(Console):
    """Standard output; the command itself handles a reader that has gone."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        if not self.width:  # by a variable that a program has set: rich would print nothing
            self.width = _USUAL_WIDTH

    def on_broken_pipe(self) -> None:
        """Raise the pending error again."""
        # Rich would exit with status 1 here, which is a finding: refuted.
        error = sys.exception()
        if error is not None:
            raise error
