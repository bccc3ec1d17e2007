"""Commands of `truc-server` that let a server outlive its machine: taking a backup, also while it runs, and restoring one."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import click

from truc_server.commands.command_line import (
    STORE_SETTINGS,
    WrongSettingsError,
    data_root,
    load_settings,
    report_failures,
    server_folder,
    server_options,
    settings_path,
)
from truc_server.settings.folder import locked, open_folder
from truc_server.settings.settings_file import value_of
from truc_server.storage.backups import (
    Manifest,
    OpenMatches,
    back_up,
    begin_anew,
    check_backup,
    read_restored,
)
from truc_server.storage.backups import restore as restore_into

# Files that are the host's own and in no backup: whoever makes one is told which.
_OWN_FILES: Final = (
    "listen.certificate",
    "listen.certificate_key",
    "web.certificate",
    "web.certificate_key",
    "store.passphrase_file",
)
_MEANS: Final[dict[OpenMatches, str]] = {
    "ask": "each goes on when all of its players are back and none has seen more of it than the backup has",
    "continue": "they go on at once",
    "close": "their tables are closed at the start",
}


@click.command()
@server_options
@click.option(
    "--final", "is_final", is_flag=True, help="The server is stopped, and its tables move with this backup."
)
@click.argument("target", metavar="FOLDER", type=click.Path(path_type=Path))
def backup(file: Path | None, target: Path, is_final: bool, **flags: object) -> None:
    """Copy all that makes this server what it is to the new FOLDER, even while it runs.

    The backup holds the server's keys and all secrets of running matches.
    """
    with server_folder(file, flags, *_OWN_FILES) as (settings, folder):
        if settings.store.url:
            raise WrongSettingsError(
                "expected the database in the data folder, got store.url: back that one up with its own tools,"
                " and after it copy the keys"
            )
        # A final one is the last that is done with the folder, so no server may be running on it.
        with locked(folder) if is_final else nullcontext():
            manifest = back_up(folder, target, settings_file=settings_path(file, flags), is_final=is_final)
    click.echo(f"{target}: {_described(manifest)}")
    for key in _OWN_FILES:
        if path := value_of(settings, key):
            click.echo(f"not in it, as {key} names it: {path}", err=True)
    if is_final:
        if not manifest.is_final:
            click.echo(
                f"not the first final backup of {folder.root}: restored, it is taken for an older one",
                err=True,
            )
        click.echo(f"no server starts on {folder.root} any more, unless access.moved_to is set", err=True)


@click.command()
@server_options
@click.option(
    "--open-matches",
    "wanted",
    type=click.Choice(tuple(_MEANS)),
    help="What becomes of matches under way: ask the players what they have seen, continue at once, or close the tables.",
)
@click.option("--check", "is_check", is_flag=True, help="Check the backup, and write nothing.")
@click.option(
    "--dump",
    "is_dump",
    is_flag=True,
    help="The database of store.url was restored from a dump: note that it is old.",
)
@click.argument("source", metavar="FOLDER", type=click.Path(path_type=Path), required=False)
def restore(
    file: Path | None,
    source: Path | None,
    wanted: OpenMatches | None,
    *,
    is_check: bool,
    is_dump: bool,
    **flags: object,
) -> None:
    """Restore the backup in FOLDER into the data folder, which must be empty or absent."""
    if is_dump:
        if source is not None or is_check:
            raise click.UsageError("expected --dump without FOLDER and without --check")
        _note_dump(file, flags, wanted or "ask")
        return
    if source is None:
        raise click.UsageError("expected FOLDER, a backup, or --dump")
    if is_check:
        with report_failures():
            click.echo(f"{source}: sound, {_described(check_backup(source))}")
        return
    settings = load_settings(file, flags, needs=STORE_SETTINGS)
    if settings.store.url:
        raise WrongSettingsError("expected a server with its database in the data folder, got store.url")
    with report_failures():
        folder = open_folder(data_root(settings))
        manifest, chosen = restore_into(source, folder, wanted)
    click.echo(f"{folder.root}: restored, {_described(manifest)}")
    if manifest.matches:
        is_any_held = chosen == "continue" and read_restored(folder).matches
        but = ", but for those that were held" if is_any_held else ""
        click.echo(f"matches under way: {_MEANS[chosen]}{but}")
    click.echo("the old server must not run any more", err=True)


def _note_dump(file: Path | None, flags: Mapping[str, object], chosen: OpenMatches) -> None:
    """Make the next starts on a restored database careful."""
    with server_folder(file, flags) as (settings, folder):
        if not settings.store.url:
            raise WrongSettingsError("expected store.url to name the database that was restored from a dump")
        with locked(folder):
            play = begin_anew(settings.store.url, folder, chosen)
    click.echo(f"matches under way: {len(play.matches)}, {_MEANS[chosen]}")
    if chosen != "continue":
        click.echo(f"copy {folder.restored} into the data folder of every other node", err=True)
    click.echo("the old server must not run any more", err=True)


def _described(manifest: Manifest) -> str:
    kind = "final backup" if manifest.is_final else "backup"
    what = f"{len(manifest.files)} files, schema {manifest.schema}, matches under way: {manifest.matches}"
    return f"{kind} of {manifest.made}, {what}"
