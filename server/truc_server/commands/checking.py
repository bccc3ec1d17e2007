"""`truc-server check`: everything that is looked at before a start, or beside a running server.

Whether settings go together is looked at in contradictions.py, addresses and ports in check_places.py. Invariant: nothing
is changed, and whatever is wrong is one line that says what to do.
"""

import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truc_server.commands.check_keys import look_at_keys
from truc_server.commands.check_places import look_at_clock, look_at_name, look_at_ports, look_at_socket
from truc_server.commands.command_line import data_option, data_root, load_settings, settings_option
from truc_server.commands.contradictions import contradictions
from truc_server.identity.certificate import look_at_certificate
from truc_server.operation import disk
from truc_server.operation.file_limit import allowed_files, needed_files
from truc_server.settings.findings import Finding, note, right, wrong
from truc_server.settings.folder import Folder, FolderError, lock_holder, why_closed
from truc_server.settings.settings import Settings
from truc_server.settings.variants import VariantsError, read_catalogue
from truc_server.storage.restored import check_may_start

if TYPE_CHECKING:
    from truc_server.storage.inspection import Inspection


@click.command(short_help="Say what is wrong, and what to do; change nothing.")
@settings_option
@data_option
def check(file: Path | None, **flags: object) -> None:
    """Say what is wrong with settings, certificate, data folder, variants, keys, ports, database, disk and limits, and what to do; change nothing."""
    settings = load_settings(file, flags)
    findings = (right("settings: in range"), *_look(settings))
    for finding in findings:
        click.echo(finding.line)
    if not all(finding.is_right for finding in findings):
        raise click.exceptions.Exit(1)


def _look(settings: Settings) -> Iterator[Finding]:
    folder, now = Folder(data_root(settings)), time.time()
    yield from contradictions(settings)
    yield from look_at_name(settings)
    yield _look_at_files(settings)
    yield from look_at_socket(folder)
    yield from look_at_certificate(settings, folder)
    if not folder.root.exists():
        yield right(f"data folder: {folder.root} will be made at the first start")
        yield from look_at_ports(settings)
        return
    yield _look_at_folder(folder)
    yield from _look_at_start(settings, folder)
    yield from _look_at_variants(folder)
    yield from look_at_keys(settings, folder, int(now))
    yield from _look_at_lock(settings, folder)
    yield _look_at_database(settings, folder)
    yield _look_at_disk(settings, folder)
    yield look_at_clock(folder, now)


def _look_at_database(settings: Settings, folder: Folder) -> Finding:
    # Slow to import, and needed by `check` alone.
    from truc_server.storage.engine import inspect_server
    from truc_server.storage.files import closed_file
    from truc_server.storage.inspection import inspect

    if settings.store.url.startswith("sqlite"):
        return note("database: store.url names another file, which is not looked at")
    if settings.store.url:
        return _found(inspect_server(settings.store.url))
    if not folder.database.exists():
        return _no_database(folder)
    if closed := closed_file(folder.database):
        return wrong(f"database: {closed} cannot be read and written by this user: give it to the server's")
    found = inspect(folder.database)
    if found.problem is not None:
        return wrong(f"database: {folder.database}: {found.problem}; restore it from a backup")
    return _found(found)


def _found(found: "Inspection") -> Finding:
    if found.problem is not None:
        return wrong(f"database: {found.problem}")
    if found.is_newer:
        return wrong(
            f"database: schema {found.revision} was made by a newer version, which this one does not open"
        )
    if found.revision is None:
        return right("database: empty, it will be made at the next start")
    older = ", which the next start brings up to date" if found.is_older else ""
    return right(f"database: sound, schema {found.revision}{older}")


def _no_database(folder: Folder) -> Finding:
    if folder.identity.exists():
        return note(
            "database: not there: the next start makes an empty one, as it should after truc-server init;"
            " if a server has run here, restore it from a backup"
        )
    return right("database: will be made at the first start")


def _look_at_disk(settings: Settings, folder: Folder) -> Finding:
    free_mb = disk.free_bytes(folder.root) // disk.MB
    spare_mb = settings.store.spare_mb
    text = f"disk: {free_mb} MB free, store.spare_mb keeps {spare_mb} of them from new tables and matches"
    is_nearly_full = not settings.store.url and free_mb < max(spare_mb, 1)
    return wrong(f"{text}: none begins until there is room") if is_nearly_full else right(text)


def _look_at_start(settings: Settings, folder: Folder) -> Iterator[Finding]:
    try:
        check_may_start(folder, moved_to=settings.access.moved_to)
    except FolderError as error:
        yield wrong(f"start: {error}")


def _look_at_lock(settings: Settings, folder: Folder) -> Iterator[Finding]:
    try:
        holder = lock_holder(folder)
    except FolderError as error:
        yield wrong(f"lock: {error}")
        return
    if holder is not None:
        who = "" if holder.pid is None else f", process {holder.pid}"
        yield right(f"lock: a server is running in the data folder{who}")
        return
    yield right("lock: free, no server is running in the data folder")
    yield from look_at_ports(settings)


def _look_at_files(settings: Settings) -> Finding:
    needed, allowed = needed_files(settings), allowed_files()
    limit = "any number" if allowed is None else str(allowed)
    text = f"open files: {needed} needed for limits.connections, {limit} allowed (ulimit -Hn)"
    if allowed is None or needed <= allowed:
        return right(text)
    return wrong(f"{text}: raise the limit or lower limits.connections")


def _look_at_folder(folder: Folder) -> Finding:
    mode = stat.S_IMODE(folder.root.stat().st_mode)
    if why := why_closed(folder.root):
        return wrong(f"data folder: expected to read and write {folder.root}, got {why}")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return wrong(
            f"data folder: {folder.root} is open to other users (mode {mode:04o}): run chmod 700 {folder.root}"
        )
    return right(f"data folder: {folder.root}")


def _look_at_variants(folder: Folder) -> Iterator[Finding]:
    try:
        catalogue = read_catalogue(folder.variants)
    except VariantsError as error:
        yield from map(wrong, error.problems)
        return
    yield right(f"variants: {', '.join(catalogue.own()) or 'none of your own'}")
    yield from map(note, catalogue.notes())
