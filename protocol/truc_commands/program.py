"""A program as a table of commands, each of which is imported when it runs.

What names no command, such as `--version`, `--help` and the list that a shell completes, costs the start of Python and
of click alone: a command's libraries take half a second and more. A command has its line in a list from the table.

A command to which the system refuses something, most often its output (a full disk, a reader gone), ends in one line.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from copy import copy
from errno import EILSEQ
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, TypeVar

import click

# a hyphen at which no line is broken
_UNBROKEN: Final = "\u2011"
C = TypeVar("C", bound=click.Command)
Change = Callable[[click.Command], click.Command]


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
        # what came in another encoding than the locale's is kept as it is, and can be sent nowhere
        except UnicodeEncodeError as error:
            got = error.object[error.start : error.end]
            raise self.refused(OSError(EILSEQ, f"expected UTF-8, got {got!r}")) from error


class OneLineGroup(OneLineCommand, click.Group):
    """The main command of a program, so that this holds for all commands under it."""


def _drop_output() -> None:
    """Drop what could not be written to standard output."""
    # at its end Python flushes standard output again, and would report a second failure
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by their names; reading one imports it."""

    def __init__(
        self, loads: Mapping[str, Callable[[], click.Command]], lines: Mapping[str, click.Command]
    ) -> None:
        self._loads: dict[str, Callable[[], click.Command]] = {
            name: cache(load) for name, load in loads.items()
        }
        self._lines = dict(lines)

    def __getitem__(self, name: str) -> click.Command:
        return self._loads[name]()

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loads[name], self._lines[name] = lambda: command, command

    def __delitem__(self, name: str) -> None:
        del self._loads[name], self._lines[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loads)

    def __len__(self) -> int:
        return len(self._loads)

    def line(self, name: str) -> click.Command | None:
        """Return what stands for a command in a list: its name and its line, and nothing that runs."""
        return self._lines.get(name)

    def changed(self, change: Change, lines: Change = lambda line: line) -> "LazyCommands":
        """Return the same commands with a change, made to each when it is read; the second is made to their lines."""

        def load(before: Callable[[], click.Command]) -> click.Command:
            return change(before())

        return LazyCommands(
            {name: partial(load, before) for name, before in self._loads.items()},
            {name: lines(line) for name, line in self._lines.items()},
        )


class Program(OneLineGroup):
    """The main command of a program, whose commands are imported when they run."""

    commands: MutableMapping[str, click.Command]

    def main(self, *args: Any, **named: Any) -> Any:
        """Run the command that is named; help is shown without the marks of Markdown."""
        # not super(): the copy is what runs, and its own `main` would reword it again
        return click.Group.main(reworded(self, without_markdown), *args, **named)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return what a list says of a command."""
        # click asks this for each command it lists, where a line will do; `resolve_command` imports what runs
        if isinstance(self.commands, LazyCommands):
            return self.commands.line(cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is to run, and what is left of the command line."""
        name, found, left = super().resolve_command(ctx, args)
        return name, found if name is None else self.commands.get(name), left


def lazy_commands(*named: tuple[str, str, str]) -> LazyCommands:
    """Return the commands of a table, by name: where each is, as `module:attribute`, and its line in a list."""
    return LazyCommands(
        {name: partial(_imported, place, line) for name, place, line in named},
        {name: click.Command(name, short_help=line) for name, _, line in named},
    )


def _imported(place: str, line: str) -> click.Command:
    module, _, attribute = place.partition(":")
    try:
        command: click.Command = getattr(import_module(module), attribute)
    # an installation without extras has all the programs nevertheless
    except ModuleNotFoundError as error:
        lacking = (
            f"{error.name} is not installed; where Truc was installed from, install all that the server needs"
        )
        raise click.ClickException(f"{lacking}: pip install '.[server]'") from error
    command.short_help = line
    return command


class _Help(click.HelpFormatter):
    """Writes help in which nothing to be typed is broken at its hyphens."""

    def write(self, string: str) -> None:
        """Write a piece of the help, whose lines are broken already."""
        super().write(string.replace(_UNBROKEN, "-"))


class _HelpContext(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        return _Help(width=self.terminal_width, max_width=self.max_content_width)


def without_markdown(text: str) -> str:
    """Return a text for help, without the marks of Markdown that pages for `man` and the docs have."""
    # every second part stood between backticks: something to be typed
    parts = text.split("`")
    return "".join(part.replace("-", _UNBROKEN) if n % 2 else part for n, part in enumerate(parts))


def reworded(command: C, say: Callable[[str], str]) -> C:
    """Return a command, with its subcommands, whose help is what `say` makes of its paragraphs and lines."""
    own = copy(command)
    own.context_class = _HelpContext
    own.help = "\n\n".join(map(say, paragraphs(command.help)))
    own.short_help, own.epilog = (
        say(text) if text else None for text in (command.short_help, command.epilog)
    )
    # click keeps this option in the language in which it was made first
    vars(own)["_help_option"] = None
    own.params = [_reworded_param(param, say) for param in command.params]
    if isinstance(own, click.Group):
        own.commands = _reworded_commands(own.commands, say)
    return own


def _reworded_commands(
    commands: MutableMapping[str, click.Command], say: Callable[[str], str]
) -> MutableMapping[str, click.Command]:
    if isinstance(commands, LazyCommands):
        reword = partial(reworded, say=say)
        return commands.changed(reword, reword)
    return {name: reworded(inner, say) for name, inner in commands.items()}


def _reworded_param(param: click.Parameter, say: Callable[[str], str]) -> click.Parameter:
    own = copy(param)
    if isinstance(own, click.Option) and own.help:
        own.help = say(" ".join(own.help.split()))
    return own


def paragraphs(text: str | None) -> Iterator[str]:
    """Yield the paragraphs of a text, each as one line."""
    return (" ".join(paragraph.split()) for paragraph in (text or "").strip().split("\n\n"))
