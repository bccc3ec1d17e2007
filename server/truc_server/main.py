"""The command line of a host: `truc-server run` and what helps around it, each imported when it runs.

Invariant: whatever is wrong is said in one line on standard error; exit status 2 for settings, variants and usage, 1
for the rest.
"""

from typing import Final

import click

from truc_commands.completion import completion_command
from truc_commands.program import Program, lazy_commands

_COMMANDS: Final = lazy_commands(
    ("run", "truc_server.commands.run:run", "Run the server."),
    ("init", "truc_server.commands.setting_up:init", "Set a new server up: data folder, settings, keys."),
    (
        "settings",
        "truc_server.commands.setting_up:print_settings",
        "Print what is in force as a settings file.",
    ),
    ("check", "truc_server.commands.checking:check", "Say what is wrong, and what to do; change nothing."),
    ("invite", "truc_server.commands.members:invite", "Print the address to give to players."),
    ("invites", "truc_server.commands.members:invites", "List and withdraw invites."),
    (
        "members",
        "truc_server.commands.members:members",
        "List, add and remove the members of a closed server.",
    ),
    ("ban", "truc_server.commands.sanctions:ban", "Shut a player or an address out."),
    ("unban", "truc_server.commands.sanctions:unban", "Let SUBJECT, whom `ban` has shut out, in again."),
    ("mute", "truc_server.commands.sanctions:mute", "Let a player play but not talk."),
    ("unmute", "truc_server.commands.sanctions:unmute", "Let SUBJECT, whom `mute` has muted, talk again."),
    (
        "sanctions",
        "truc_server.commands.sanctions:sanctions",
        "List who is shut out or muted, by command and by the settings.",
    ),
    ("unrate", "truc_server.commands.sanctions:unrate", "Take a player off every leaderboard."),
    ("admin", "truc_server.commands.admin:admin", "Look into the running server, and change it."),
    ("key", "truc_server.commands.key:key", "Show, change, protect and give up the server's key."),
    ("backup", "truc_server.commands.backup:backup", "Copy all that makes this server what it is."),
    ("restore", "truc_server.commands.backup:restore", "Restore a backup into an empty data folder."),
    ("export", "truc_server.commands.export:export", "Write the matches that are over as transcripts."),
    ("prune", "truc_server.commands.retention:prune", "Delete the matches that are older than so many days."),
    ("compact", "truc_server.commands.retention:compact", "Make the database of a stopped server smaller."),
)


class Host(Program):
    """A host's commands; what the system refuses any of them, such as room on a disk, becomes one line too."""

    def refused(self, error: OSError) -> click.ClickException:
        """Return the error that ends the command then."""
        from truc_server.commands.command_line import system_error

        return system_error(error)


@click.group(cls=Host, commands=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="truc", prog_name="truc-server")
def main() -> None:
    """Run and look after a server for the Truc family of card games."""


main.add_command(
    completion_command("truc-server", "commands, options, files and the words that settings take")
)
