"""`truc-server unrate`: a player is taken off every leaderboard, also while the server runs.

Invariant: matches and their transcripts stay as they are; what was done is in the log of the host's commands.
"""

import os
from pathlib import Path

import click

from truc_server.admin.audit import AdminLogEntry, Caller, note
from truc_server.commands.command_line import (
    STORED,
    CommandError,
    data_option,
    data_root,
    failures,
    load_settings,
    settings_option,
)
from truc_server.commands.members import read_fingerprint, used_store
from truc_server.settings.folder import used_folder


@click.command(short_help="Take a player off every leaderboard.")
@settings_option
@data_option
@click.argument("key")
def unrate(file: Path | None, key: str, **flags: object) -> None:
    """Take KEY off every leaderboard: its fingerprint, as players see it, or the key itself in 64 hexadecimal digits.

    Its matches and their transcripts stay. Whoever plays on with it begins a new rating; to keep them out, ban the key.
    """
    settings, who = load_settings(file, flags, needs=STORED), read_fingerprint(key)
    with failures(), used_store(settings) as store:
        games = store.unrate(who)
        if not games:
            raise CommandError(f"{who} is not rated")
        _note(used_folder(data_root(settings)).admin_log, who, games)
    counted = "1 rating is" if games == 1 else f"{games} ratings are"
    click.echo(f"{who} stands on no leaderboard any more: {counted} gone")


def _note(log: Path, who: str, games: int) -> None:
    caller = Caller(os.getuid(), os.getpid())
    try:
        note(log, AdminLogEntry(caller, "unrate", {"subject": who, "ratings": games}, "ok"))
    except OSError as error:
        click.echo(f"it is done, but cannot be noted in {log}: {error.strerror}", err=True)
