"""Completion in a shell: the command that prints the script for it, and the usual values of parameters.

The script asks the program itself, so it knows every command there is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import click
from click.shell_completion import CompletionItem, ZshComplete, add_completion_class, get_completion_class
from click.types import StringParamType

SHELLS: Final = ("bash", "zsh", "fish")
_FILE: Final = "file"
_NOTHING: Final = "_"

Values = Callable[[], Iterable[str | CompletionItem]]


class KnownValues(StringParamType):
    """A text whose usual values are known; any other is accepted too."""

    def __init__(self, values: Values, *, or_file: bool) -> None:
        self._values = values
        self._or_file = or_file

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the values that begin with what was typed; where a file may be named, a shell falls back on files."""
        del ctx, param
        files = [CompletionItem(incomplete, type=_FILE)] if self._or_file else []
        items = (
            each if isinstance(each, CompletionItem) else CompletionItem(each) for each in self._values()
        )
        return files + [item for item in items if item.value.startswith(incomplete)]


@add_completion_class
class _Zsh(ZshComplete):
    """Gives zsh a placeholder for an empty value, which its script would skip, and then lose count."""

    def format_completion(self, item: CompletionItem) -> str:
        return super().format_completion(
            CompletionItem(item.value or _NOTHING, type=item.type, help=item.help)
        )


def complete_values(
    command: click.Command, values: Mapping[str, Values], *, or_file: Collection[str] = ()
) -> None:
    """Let a shell complete the values of a command and its subcommands, by the names of their parameters.

    Those named in `or_file` may also be the name of a file.
    """
    for param in command.params:
        if param.name in values:
            param.type = KnownValues(values[param.name], or_file=param.name in or_file)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        complete_values(inner, values, or_file=or_file)


def completion_command(program: str, what: str) -> click.Command:
    """Return the command `completion` of a program; `what` is what it completes, in words."""

    @click.pass_context
    def completion(ctx: click.Context, shell: str) -> None:
        found = get_completion_class(shell)
        if found is None:
            raise ValueError(f"click does not know {shell}")
        # the variable in which the script asks the program for values, as click names it
        asked_by = f"_{program.replace('-', '_').upper()}_COMPLETE"
        click.echo(found(ctx.find_root().command, {}, program, asked_by).source())

    return click.Command(
        "completion",
        callback=completion,
        params=[click.Argument(["shell"], type=click.Choice(SHELLS))],
        short_help=f"Print what makes a shell complete `{program}`.",
        help=f"""Print the script that makes SHELL complete {what}.

        bash: eval "$({program} completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc, after compinit; fish: {program}
        completion fish > ~/.config/fish/completions/{program}.fish
        """,
    )
