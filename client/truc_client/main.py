"""The players' command line: `truc`, with a module for each command."""

import sys

import click

from truc_client.cli.bot import bot
from truc_client.cli.completion import complete_known_values, completion
from truc_client.cli.create import create
from truc_client.cli.demo import demo
from truc_client.cli.forget import forget
from truc_client.cli.helping import SpokenGroup
from truc_client.cli.history import history
from truc_client.cli.join import join
from truc_client.cli.keys import keys
from truc_client.cli.play import play
from truc_client.cli.ratings import leaderboard, profile
from truc_client.cli.replay import replay
from truc_client.cli.report import report
from truc_client.cli.rules import rules
from truc_client.cli.show import show
from truc_client.cli.tables import tables
from truc_client.cli.verify import verify
from truc_client.cli.watch import watch
from truc_client.terminal.spelling import spell_nearest


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
