"""`truc completion`: the script by which a shell completes commands, options and their values.

The script asks `truc` itself, so that it knows every command there is. Nothing is asked of a server, and nothing is written:
a home that does not exist yet stays so.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class
from click.types import StringParamType

from truc_client.errors import ClientError
from truc_client.home import Home, default_root
from truc_client.store import Store
from truc_protocol.rules_page import games, table_rules
from truc_protocol.setup import Opts
from truc_protocol.words import LANGUAGES

_PROGRAM: Final = "truc"
_ASKED_BY: Final = "_TRUC_COMPLETE"
_SHELLS: Final = ("bash", "zsh", "fish")
_FILE: Final = "file"
_KEPT_BESIDE: Final = ("transcript",)  # chosen like a term, but no term of a match


def _options() -> Iterator[str]:
    return (f"{name}=" for name in (*Opts._fields, *_KEPT_BESIDE, *table_rules()))


def _known_servers() -> tuple[str, ...]:
    """Return the servers that this home knows; none where the home cannot be read."""
    state = Home(default_root(os.environ)).state
    if not state.exists():
        return ()
    try:
        store = Store(state)
        try:
            return tuple(store.pins())
        finally:
            store.close()
    except ClientError:
        return ()


_VALUES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "address": _known_servers,
    "game": games,
    "lang": lambda: LANGUAGES,
    "options": _options,
    "server": _known_servers,
    "variant": games,
}
"""By the name of a parameter, in whichever command: what may stand there."""

_OR_FILE: Final = ("game",)
"""Parameters that may also be the name of a file."""


class Known(StringParamType):
    """A text of which the usual values are known; any other is taken, too."""

    def __init__(self, values: Callable[[], Iterable[str]], *, or_file: bool) -> None:
        self._values = values
        self._or_file = or_file

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the values that begin with what was typed; a shell falls back on files where there may be one."""
        del ctx, param
        files = [CompletionItem(incomplete, type=_FILE)] if self._or_file else []
        return files + [CompletionItem(value) for value in self._values() if value.startswith(incomplete)]


def complete_values(command: click.Command) -> None:
    """Let a shell complete the values of every parameter of a command and its subcommands."""
    for param in command.params:
        if param.name in _VALUES:
            param.type = Known(_VALUES[param.name], or_file=param.name in _OR_FILE)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        complete_values(inner)


@click.command(short_help="Print what makes a shell complete `truc`.")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options, games, languages and known servers.

    bash: eval "$(truc completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc, after compinit; fish: truc
    completion fish > ~/.config/fish/completions/truc.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise ValueError(f"click does not know {shell}")
    click.echo(found(ctx.find_root().command, {}, _PROGRAM, _ASKED_BY).source())
