"""What happens to a command when the system refuses it something, most often its output: a full disk, a reader gone."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click


class OneLineCommand(click.Command):
    """A command that, help included, ends in one line if the system refuses it something, and in silence if the reader has gone."""

    def refused(self, error: OSError) -> click.ClickException:
        """Return the error that ends the command then; its exit status holds even if nothing is said."""
        return click.ClickException(error.strerror or str(error))

    def make_context(self, *args: Any, **named: Any) -> click.Context:
        """Read the command line, which may print something instead of running the command, such as its help."""
        with self._in_one_line():
            return super().make_context(*args, **named)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with self._in_one_line():
            return super().invoke(ctx)

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            _drop_output()
            refused = self.refused(error)
            if isinstance(error, BrokenPipeError):
                raise click.exceptions.Exit(refused.exit_code) from None
            raise refused from error


class OneLineGroup(OneLineCommand, click.Group):
    """The main command of a program, so that this holds for all commands under it."""


def _drop_output() -> None:
    """Drop what could not be written to standard output, so that the end of the process does not try again."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
