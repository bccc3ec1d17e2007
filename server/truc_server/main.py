"""The command line of a host: `truc-server run` and what helps around it.

Here a process is set up: settings, data folder, keys, store, signals, limits. What a server does stands in server.py.
The first line `run` prints on standard output is for programs: `listening truc://HOST:PORT#FINGERPRINT`. Invariant:
whatever is wrong is said in one line on standard error; exit status 2 for settings, variants and usage, 1 for the rest.
"""

import gc
import io
import os
import resource
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click
import structlog
import trio

from truc_server.host import key_commands, logs, member_commands, sanction_commands
from truc_server.host.command_line import (
    SettingsFailure,
    data_option,
    data_root,
    failures,
    load_settings,
    settings_option,
)
from truc_server.host.folder import Folder, FolderError, lock_holder, locked, open_folder, used_folder
from truc_server.host.identity import Identity, IdentityError, check_in_force, load_identity, read_identity
from truc_server.host.links import address
from truc_server.host.settings import Settings
from truc_server.host.settings_file import default_file, effective_file
from truc_server.host.variants import Catalogue, VariantsError, read_catalogue

if TYPE_CHECKING:
    from truc_server.store import Store

_SPARE_FILES: Final = 256  # open files beside the connections: database, lock, listeners, worker threads


class Finding(NamedTuple):
    """One thing `check` looked at."""

    is_right: bool
    text: str
    is_note: bool = False

    @property
    def line(self) -> str:
        """The line that tells it."""
        mark = "note" if self.is_note else "ok" if self.is_right else "wrong"
        return f"{mark:5}  {self.text}"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="truc", prog_name="truc-server")
def main() -> None:
    """Run and look after a server for the Truc family of card games."""


@main.command()
@settings_option
@data_option
@click.option("--host", "hosts", multiple=True, help="Address to listen on; may be given several times.")
@click.option("--port", type=int, help="TCP port; 0 takes a free one.")
@click.option("--public-host", help="Name or address that players use.")
@click.option("--name", help="Name of the server.")
@click.option("--log-format", help="human or json.")
@click.option("--log-level", help="debug, info, warning or error.")
@click.option("--grease", is_flag=True, default=None, help="Send what no client knows yet, to try clients.")
def run(file: Path | None, **flags: object) -> None:
    """Run the server until SIGTERM, SIGINT or SIGHUP."""
    _fill_streams()
    settings = load_settings(file, flags)
    logs.configure(settings.log, sys.stderr)
    os.umask(0o077)
    raise_file_limit(settings.limits.connections + _SPARE_FILES)
    with failures():
        folder = open_folder(data_root(settings))
        catalogue = _catalogue(folder)
        with locked(folder):
            identity = load_identity(folder)
            with _store(settings.store.url or f"sqlite:///{folder.database}") as store:
                trio.run(_serve, settings, folder, store, identity, catalogue)


@main.command("settings")
@settings_option
@data_option
@click.option("--effective", is_flag=True, help="Print what is in force, from file, environment and flags.")
def print_settings(file: Path | None, effective: bool, **flags: object) -> None:
    """Print a commented settings file with every default."""
    click.echo(effective_file(load_settings(file, flags)) if effective else default_file(), nl=False)


@main.command()
@settings_option
@data_option
def check(file: Path | None, **flags: object) -> None:
    """Say what is wrong with settings, data folder, variants, keys, database, disk and limits; change nothing."""
    settings = load_settings(file, flags)
    findings = (Finding(is_right=True, text="settings: in range"), *_look(settings))
    for finding in findings:
        click.echo(finding.line)
    if not all(finding.is_right for finding in findings):
        raise click.exceptions.Exit(1)


@main.command("fingerprint")
@settings_option
@data_option
def print_fingerprint(file: Path | None, **flags: object) -> None:
    """Print the fingerprint of the server's key."""
    with failures():
        click.echo(read_identity(used_folder(data_root(load_settings(file, flags)))).fingerprint)


main.add_command(member_commands.invite)
main.add_command(member_commands.invites)
main.add_command(member_commands.members)
main.add_command(sanction_commands.ban)
main.add_command(sanction_commands.unban)
main.add_command(sanction_commands.mute)
main.add_command(sanction_commands.unmute)
main.add_command(sanction_commands.sanctions)
main.add_command(key_commands.roll)
main.add_command(key_commands.revocation)
main.add_command(key_commands.revoke)


def _fill_streams() -> None:
    """Open what was closed of the three standard streams, so that no other file gets its number and what is meant for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def raise_file_limit(needed: int) -> None:
    """Raise the process's limit of open files to `needed`, or as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_least(needed, hard), hard))


async def _serve(
    settings: Settings, folder: Folder, store: "Store", identity: Identity, catalogue: Catalogue
) -> None:
    # Slow to import, and needed by this command alone.
    from truc_server.server import serve

    def announce(port: int) -> None:
        gc.freeze()  # what is there by now stays: to walk it again and again would halt every table for 0.1 s
        _print(f"listening {address(settings, port, identity)}")

    async with trio.open_nursery() as nursery:
        await nursery.start(_stop_on_signal, nursery.cancel_scope)
        await serve(settings, folder, store, identity, announce, catalogue=catalogue)
        nursery.cancel_scope.cancel()


def _print(line: str) -> None:
    """Print a line; where nobody takes it, nobody is sent any more."""
    try:
        click.echo(line)
    except OSError as error:
        structlog.get_logger().warning("output_not_taken", reason=error.strerror)
        sys.stdout = io.StringIO()  # what is left in the other would fail once more at the end


async def _stop_on_signal(
    server: trio.CancelScope, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    asks = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # which is how nohup has it
        asks.append(signal.SIGHUP)
    with trio.open_signal_receiver(*asks) as signals:
        task_status.started()
        async for _ in signals:
            server.cancel()
            return  # from here on a second signal has its usual, immediate effect


def _catalogue(folder: Folder) -> Catalogue:
    try:
        return read_catalogue(folder.variants)
    except VariantsError as error:
        raise SettingsFailure(str(error)) from error


@contextmanager
def _store(url: str) -> "Iterator[Store]":
    # Slow to import, and needed by `run` alone.
    from truc_server.store import open_store

    store = open_store(url)
    try:
        yield store
    finally:
        store.close()


def _look(settings: Settings) -> Iterator[Finding]:
    folder = Folder(data_root(settings))
    yield from _look_at_access(settings)
    yield _look_at_files(settings)
    if not folder.root.exists():
        yield Finding(is_right=True, text=f"data folder: {folder.root} will be made at the first start")
        return
    yield _look_at_folder(folder)
    yield from _look_at_variants(folder)
    yield _look_at_keys(folder)
    yield _look_at_lock(folder)
    yield _look_at_database(settings, folder)
    yield _look_at_disk(settings, folder)


def _look_at_database(settings: Settings, folder: Folder) -> Finding:
    # Slow to import, and needed by `check` alone.
    from truc_server.store.inspection import inspect

    if settings.store.url:
        return Finding(
            is_right=True, text="database: store.url names another, which is not looked at", is_note=True
        )
    if not folder.database.exists():
        return _no_database(folder)
    found = inspect(folder.database)
    if found.problem is not None:
        text = f"database: {folder.database}: {found.problem}; restore it from a backup"
        return Finding(is_right=False, text=text)
    if found.is_newer:
        text = f"database: schema {found.revision} was made by a newer version, which this one does not open"
        return Finding(is_right=False, text=text)
    if found.revision is None:
        return Finding(is_right=True, text="database: empty, it will be made at the next start")
    older = ", which the next start brings up to date" if found.is_older else ""
    return Finding(is_right=True, text=f"database: sound, schema {found.revision}{older}")


def _no_database(folder: Folder) -> Finding:
    if folder.identity.exists():
        text = "database: not there, although a key is: the next start makes an empty one"
        return Finding(is_right=True, text=text, is_note=True)
    return Finding(is_right=True, text="database: will be made at the first start")


def _look_at_disk(settings: Settings, folder: Folder) -> Finding:
    # Slow to import, and needed by `check` alone.
    from truc_server.host.disk import MB, free_bytes

    free_mb = free_bytes(folder.root) // MB
    spare_mb = settings.store.spare_mb
    text = f"disk: {free_mb} MB free, store.spare_mb keeps {spare_mb} of them from new tables and matches"
    is_nearly_full = not settings.store.url and free_mb < spare_mb
    return Finding(not is_nearly_full, f"{text}: none begins until there is room" if is_nearly_full else text)


def _look_at_lock(folder: Folder) -> Finding:
    try:
        holder = lock_holder(folder)
    except FolderError as error:
        return Finding(is_right=False, text=f"lock: {error}")
    if holder is None:
        return Finding(is_right=True, text="lock: free, no server is running in the data folder")
    who = "" if holder.pid is None else f", process {holder.pid}"
    return Finding(is_right=True, text=f"lock: a server is running in the data folder{who}")


def _look_at_access(settings: Settings) -> Iterator[Finding]:
    access = settings.access
    if access.moved_to:
        text = f"access.moved_to: everybody is sent to {access.moved_to}, and no table is taken up"
        yield Finding(is_right=True, text=text, is_note=True)
    if settings.guests and access.members != "anyone":
        text = f'access.members: no guest may log in where it is "{access.members}", although guests = true'
        yield Finding(is_right=True, text=text, is_note=True)


def _look_at_files(settings: Settings) -> Finding:
    needed = settings.limits.connections + _SPARE_FILES
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = _least(needed, hard) == needed
    text = f"open files: {needed} needed for limits.connections, {_limit(hard)} allowed (ulimit -Hn)"
    return Finding(enough, text if enough else f"{text}: raise the limit or lower limits.connections")


def _look_at_folder(folder: Folder) -> Finding:
    mode = stat.S_IMODE(folder.root.stat().st_mode)
    if not os.access(folder.root, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            is_right=False, text=f"data folder: {folder.root} cannot be read and written by this user"
        )
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        text = f"data folder: {folder.root} is open to other users (mode {mode:04o}): run chmod 700 {folder.root}"
        return Finding(is_right=False, text=text)
    return Finding(is_right=True, text=f"data folder: {folder.root}")


def _look_at_variants(folder: Folder) -> Iterator[Finding]:
    try:
        catalogue = read_catalogue(folder.variants)
    except VariantsError as error:
        for problem in error.problems:
            yield Finding(is_right=False, text=problem)
        return
    yield Finding(is_right=True, text=f"variants: {', '.join(catalogue.own()) or 'none of your own'}")
    for note in catalogue.notes():
        yield Finding(is_right=True, text=note, is_note=True)


def _look_at_keys(folder: Folder) -> Finding:
    if not folder.identity.exists() and not folder.database.exists():
        return Finding(is_right=True, text="keys: will be made at the first start")
    try:
        identity = read_identity(folder)
        check_in_force(identity)
        text = f"keys: fingerprint {identity.fingerprint}, serial {identity.serial}"
        return Finding(is_right=True, text=text)
    except (FolderError, IdentityError) as error:
        return Finding(is_right=False, text=f"keys: {error}")
    except OSError as error:
        return Finding(is_right=False, text=f"keys: cannot read {error.filename}: {error.strerror}")


def _least(needed: int, limit: int) -> int:
    return needed if limit == resource.RLIM_INFINITY else min(needed, limit)


def _limit(limit: int) -> str:
    return "any number" if limit == resource.RLIM_INFINITY else str(limit)
