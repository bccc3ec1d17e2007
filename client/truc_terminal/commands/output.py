"""Commands that print what they find in files: what cannot be read or written is never taken for a finding.

A failure to read or write has status 2 and one line on standard error; no line if the reader of the output has gone.
"""

import sys

import click
from rich.console import Console
from rich.text import Text

from truc_client.errors import HomeError
from truc_client.verifying import trouble
from truc_commands.output import OneLineCommand
from truc_terminal.commands.common import FailedError
from truc_terminal.screen.wrapping import wrapped
from truc_words import Sentence, printable


class UnusableError(FailedError):
    """A file that cannot be read, or findings that cannot be written."""

    exit_code = 2


def unusable(what: str, file: object, error: HomeError | OSError) -> UnusableError:
    """Return the error for a file with the reason; `what` is `cannot_read` or `cannot_write`."""
    return UnusableError(Sentence(f"failures.{what}", path=file, reason=trouble(error)))


class FindingCommand(OneLineCommand):
    """A command whose status says what it found, so that trouble with its output needs a different one."""

    def refused(self, error: OSError) -> click.ClickException:
        """Return an error that is not a finding."""
        return UnusableError(Sentence("commands.found_unwritten", reason=trouble(error)))


class Output(Console):
    """Standard output; the command itself handles a reader that has gone."""

    def on_broken_pipe(self) -> None:
        """Raise the pending error again."""
        error = sys.exception()
        if error is not None:
            raise error


def say(console: Console, line: str, style: str = "") -> None:
    """Print a line, wrapped between words on a terminal, which nothing in it can control."""
    told = printable(line)
    for part in wrapped(told, console.width) if console.is_terminal else [told]:
        console.print(Text(part, style=style), soft_wrap=True)
