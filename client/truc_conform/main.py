"""The command line of the kit, `truc-conform`, whose commands are imported when they run."""

from typing import Final

import click

from truc_commands.completion import completion_command
from truc_commands.program import Program, lazy_commands

_COMMANDS: Final = lazy_commands(
    ("client", "truc_conform.commands:client", "Judge a client with scripted servers."),
    ("server", "truc_conform.commands:server", "Judge a server with scripted clients."),
    ("cases", "truc_conform.commands:list_cases", "List the cases, what each expects, and its clause."),
)


class Kit(Program):
    """The commands of the kit, which use status 1 for a verdict."""

    def refused(self, error: OSError) -> click.ClickException:
        """Return an error whose status is not that of a verdict."""
        return click.UsageError(error.strerror or str(error))


@click.group(cls=Kit, commands=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="truc", prog_name="truc-conform")
def main() -> None:
    """Judge whether somebody's client or server keeps the Truc protocol.

    The exit code is 0 if it does, 1 if not, 2 if the command cannot be carried out.
    """


main.add_command(completion_command("truc-conform", "commands, options, levels and the names of cases"))
