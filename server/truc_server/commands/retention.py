"""Commands of `truc-server` about how much is kept: deleting old matches, and making the database smaller.

`prune` works beside a running server; `compact` needs a stopped one. Invariant: a match is deleted as a whole, and a
killed `compact` leaves the database as it was.
"""

import time
from pathlib import Path
from typing import Final

import click

from truc_server.commands.command_line import (
    CommandError,
    WrongSettingsError,
    format_minute,
    server_folder,
    server_options,
    server_store,
)
from truc_server.operation import disk
from truc_server.settings.folder import locked

_MOST_DAYS: Final = 36_500


@click.command()
@server_options
@click.option("--older-than", "days", type=click.IntRange(1, _MOST_DAYS), required=True, metavar="DAYS")
@click.option("--dry-run", is_flag=True, help="Say how many there are, and delete nothing.")
def prune(file: Path | None, days: int, *, dry_run: bool, **flags: object) -> None:
    """Delete the matches that were over more than DAYS days ago, for good; also while the server runs."""
    # Slow to import.
    from truc_server.upkeep.retention import PAUSE_S, days_ago, deletions

    before_ms = days_ago(days)
    what = f"from before {format_minute(before_ms)}"
    with server_store(file, flags) as (_, store):
        if dry_run:
            click.echo(f"{_matches(store.count_old_matches(before_ms))} {what} would be deleted")
            return
        deleted = 0
        for is_gone in deletions(store, before_ms=before_ms):
            deleted += is_gone
            time.sleep(PAUSE_S)  # so that games in play go first
    click.echo(f"{_matches(deleted)} {what}: deleted")


@click.command()
@server_options
def compact(file: Path | None, **flags: object) -> None:
    """Write the database anew without what was deleted, while the server is stopped."""
    # Slow to import.
    from truc_server.storage.sqlite_file import vacuum

    with server_folder(file, flags) as (settings, folder):
        if settings.store.url:
            raise WrongSettingsError("store.url names another database than truc.db: use what belongs to it")
        if not folder.database.exists():
            raise CommandError(f"expected a database, there is none at {folder.database}")
        with locked(folder):
            before, after = vacuum(folder.database)
    click.echo(f"{folder.database}: {before / disk.MB:.1f} MB before, {after / disk.MB:.1f} MB now")


def _matches(n: int) -> str:
    return f"{n} {'match' if n == 1 else 'matches'}"
