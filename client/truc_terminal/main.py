"""The players' command line: `truc`, with a module for each command, which is imported when the command runs."""

import sys
from typing import Final

import click

from truc_commands.completion import completion_command
from truc_commands.program import lazy_commands
from truc_terminal.commands.helping import SpokenGroup
from truc_terminal.commands.language import lang_option
from truc_terminal.screen.glyphs import spell_nearest

_COMMANDS: Final = lazy_commands(
    ("demo", "truc_terminal.commands.demo:demo", "Play a match against bots on this machine, and verify it."),
    ("play", "truc_terminal.commands.play:play", "Play at a server, in person."),
    ("create", "truc_terminal.commands.create:create", "Open a table, and invite others."),
    ("join", "truc_terminal.commands.create:join", "Sit down at a table, by its link."),
    ("web", "truc_terminal.commands.web:web", "Play in a browser, by the page of this program."),
    ("watch", "truc_terminal.commands.watch:watch", "Watch a table to the end of its match."),
    ("tables", "truc_terminal.commands.tables:tables", "List the public tables of a server."),
    ("leaderboard", "truc_terminal.commands.ratings:leaderboard", "Show who is best in a game at a server."),
    ("profile", "truc_terminal.commands.ratings:profile", "Show how a player stands at a server."),
    ("bot", "truc_terminal.commands.bot:bot", "Play as a bot."),
    ("verify", "truc_terminal.commands.verify:verify", "Check transcripts, every record of them."),
    ("show", "truc_terminal.commands.show:show", "Show a transcript record by record."),
    ("replay", "truc_terminal.commands.replay:replay", "Step through a match."),
    (
        "report",
        "truc_terminal.commands.report:report",
        "Make a page of a match, to look at and step through.",
    ),
    ("history", "truc_terminal.commands.history:history", "List your matches, and fetch their transcripts."),
    ("rules", "truc_terminal.commands.rules:rules", "List the games, or print the rules of one."),
    ("keys", "truc_terminal.commands.keys:keys", "Show, keep safe or bring along the key that is you."),
    ("forget", "truc_terminal.commands.forget:forget", "Ask a server to forget you."),
    ("moderate", "truc_terminal.commands.moderate:moderate", "Keep order at a server, as a moderator."),
)


def _completed(command: click.Command) -> click.Command:
    """Return a command with the values that a shell completes."""
    from truc_terminal.commands.completion import complete_known_values

    complete_known_values(command)
    return command


@click.group(
    cls=SpokenGroup,
    commands=_COMMANDS.changed(_completed),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="truc", prog_name="truc")
@lang_option
def main() -> None:
    """Play card games of the Truc family, and prove that the deals were fair.

    Begin with `truc demo`, which needs no server and no network; then `truc play HOST`. The games: `truc rules`. More about a
    command: truc COMMAND --help.

    Your key and your transcripts are kept in $TRUC_HOME, else where this system keeps such things: `truc keys show` tells where.
    """
    spell_nearest(sys.stdout)


main.add_command(
    completion_command("truc", "commands, options, games, languages, known servers and your matches")
)
