"""The players' command line: `truc`, with a module for each command."""

import sys

import click

from truc_terminal.commands.bot import bot
from truc_terminal.commands.completion import complete_known_values, completion
from truc_terminal.commands.create import create
from truc_terminal.commands.demo import demo
from truc_terminal.commands.forget import forget
from truc_terminal.commands.helping import SpokenGroup
from truc_terminal.commands.history import history
from truc_terminal.commands.join import join
from truc_terminal.commands.keys import keys
from truc_terminal.commands.play import play
from truc_terminal.commands.ratings import leaderboard, profile
from truc_terminal.commands.replay import replay
from truc_terminal.commands.report import report
from truc_terminal.commands.rules import rules
from truc_terminal.commands.show import show
from truc_terminal.commands.tables import tables
from truc_terminal.commands.verify import verify
from truc_terminal.commands.watch import watch
from truc_terminal.screen.spelling import spell_nearest


@click.group(cls=SpokenGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="truc", prog_name="truc")
def main() -> None:
    """Play card games of the Truc family, and prove that the deals were fair.

    Begin with `truc demo`, which needs no server and no network; then `truc play HOST`. The games: `truc rules`. More about a
    command: truc COMMAND --help.

    Your key and your transcripts are kept in $TRUC_HOME, else where this system keeps such things: `truc keys show` tells where.
    """
    spell_nearest(sys.stdout)


for command in (
    demo,
    play,
    create,
    join,
    watch,
    tables,
    leaderboard,
    profile,
    bot,
    verify,
    show,
    replay,
    report,
    history,
    rules,
    keys,
    forget,
    completion,
):
    main.add_command(command)
complete_known_values(main)
