"""`truc-server run`: the server, and the process that it runs in.

Here the process is set up: settings, data folder, keys, store, signals, limits. What a server does is in server.py.
What `run` prints on standard output is for programs: `listening truc://HOST:PORT#FINGERPRINT`, then `web ORIGIN/` if
browsers are served. Invariant: whatever is wrong is said in one line on standard error; exit status 2 for settings, variants and usage, 1 for the rest.
"""

import io
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import structlog
import trio
from structlog.contextvars import bind_contextvars

from truc_protocol.wire.transport import web_link
from truc_server.commands.command_line import (
    WrongSettingsError,
    address,
    data_root,
    database_url,
    failures,
    load_settings,
    on_server,
    overriding,
    passed_on,
    settings_path,
)
from truc_server.commands.run_nodes import ALL_DRAIN, DRAINED, Nodes, check_nodes
from truc_server.identity.identity import Identity, load_identity
from truc_server.identity.passphrases import passphrase_of
from truc_server.operation import logs
from truc_server.operation.process import collect_when_grown, needed_files, raise_file_limit
from truc_server.settings.folder import Folder, locked, open_folder
from truc_server.settings.settings import Settings, SettingsError
from truc_server.settings.variants import VariantCatalogue, VariantsError, read_catalogue
from truc_server.storage.backups import check_may_start
from truc_server.timing.clock import RunningClock
from truc_server.upkeep.control import Control, Together

if TYPE_CHECKING:
    from truc_server.storage.sql import Store

MOST_NODES: Final = 32  # of one database: `MAX_NODES` of storage/leases.py, which is slow to import


@click.command()
@on_server
@overriding("hosts", "port", "public_host", "name", "tls", "log_format", "log_level", "grease")
@click.option(
    "--nodes",
    type=click.IntRange(1, MOST_NODES),
    help="Run so many nodes on this machine, on one PostgreSQL.",
)
@click.option("--of-nodes", "is_of_nodes", is_flag=True, hidden=True)
def run(file: Path | None, nodes: int | None, *, is_of_nodes: bool, **flags: object) -> None:
    """Run the server. SIGTERM lets hands under way end before it stops; SIGINT and SIGHUP stop it at once."""
    _fill_streams()
    settings = load_settings(file, flags)
    logs.configure(settings.log, sys.stderr)
    os.umask(0o077)
    if nodes is None:
        _run_server(file, flags, settings, is_of_nodes=is_of_nodes)
    else:
        _run_nodes(file, flags, settings, nodes)


def _run_nodes(file: Path | None, flags: Mapping[str, object], settings: Settings, count: int) -> None:
    """Run the nodes of one machine, each in a process of its own."""
    check_nodes(settings)
    where = settings_path(file, flags)
    named = [] if where is None else ["--settings", str(where.absolute())]
    command = [sys.executable, "-P", "-m", "truc_server", "run", "--of-nodes", *named]
    command += passed_on(flags, but={"data", "port"})
    with failures():
        folder = open_folder(data_root(settings))
        _catalogue(folder)
        with locked(folder):
            check_may_start(folder, moved_to=settings.access.moved_to)
            load_identity(folder, passphrase_of(settings, folder))
            trio.run(Nodes(settings, folder, command, count).run)


def _run_server(
    file: Path | None, flags: Mapping[str, object], settings: Settings, *, is_of_nodes: bool
) -> None:
    """Run one server, alone or as a node; one of those of a machine ends when the process that watches it does."""
    # Slow to import, and needed here alone.
    from truc_server.storage.sql import open_store

    if settings.cluster.node:
        bind_contextvars(node=settings.cluster.node)
    raise_file_limit(needed_files(settings))
    with failures():
        folder = open_folder(data_root(settings))
        catalogue = _catalogue(folder)
        with locked(folder):
            check_may_start(folder, moved_to=settings.access.moved_to)
            identity = load_identity(folder, passphrase_of(settings, folder))
            # Half a lease: whoever stands still for longer in a transaction must not keep its tables from the others.
            patience_s = settings.cluster.lease_s / 2 if settings.cluster.node else None
            url, node = database_url(settings, folder), settings.cluster.node
            with closing(open_store(url, patience_s=patience_s, node=node)) as store:
                reread = partial(_reread, file, flags)
                serve = partial(
                    _serve,
                    settings,
                    folder,
                    store,
                    identity,
                    catalogue=catalogue,
                    reread=reread,
                    is_of_nodes=is_of_nodes,
                )
                trio.run(serve, clock=RunningClock())


def _fill_streams() -> None:
    """Open those standard streams that are closed, so that no other file gets their numbers and what is meant for them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


async def _serve(
    settings: Settings,
    folder: Folder,
    store: "Store",
    identity: Identity,
    *,
    catalogue: VariantCatalogue,
    reread: Callable[[], Settings],
    is_of_nodes: bool,
) -> None:
    # Slow to import, and needed by this command alone.
    from truc_server.server import serve

    def announce(port: int, origin: str | None) -> None:
        nursery.start_soon(collect_when_grown)
        _print(f"listening {address(settings, port, identity.fingerprint)}")
        if origin is not None:
            _print(f"web {web_link(origin)}")

    drain = trio.Event()
    async with trio.open_nursery() as nursery:
        at_signal = drain if settings.tables.drain_s else None
        hearing: trio.CancelScope = await nursery.start(_stop_on_signal, nursery.cancel_scope, at_signal)
        together = Together() if is_of_nodes else None
        control = Control(drain, reread, on_end=hearing.cancel, together=together)
        if together is not None:
            nursery.start_soon(_drain_with_all, control, together)
            nursery.start_soon(_stop_when_left_alone, nursery.cancel_scope)
        await serve(settings, folder, store, identity, announce, catalogue=catalogue, control=control)
        nursery.cancel_scope.cancel()


def _print(line: str) -> None:
    """Print a line; if nobody takes it, print no more."""
    try:
        click.echo(line)
    except OSError as error:
        structlog.get_logger().warning("output_not_taken", reason=error.strerror)
        sys.stdout = io.StringIO()  # what is left in the old one would fail again at the end


async def _stop_on_signal(
    server: trio.CancelScope,
    drain: trio.Event | None,
    *,
    task_status: trio.TaskStatus[trio.CancelScope],
) -> None:
    """Drain the server at the first SIGTERM, if it is to be drained; at any other signal stop it at once.

    When this ends, or its scope is cancelled, signals have their usual, immediate effect.
    """
    asks = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
        asks.append(signal.SIGHUP)
    with trio.CancelScope() as hearing, trio.open_signal_receiver(*asks) as signals:
        task_status.started(hearing)
        async for number in signals:
            if number == signal.SIGTERM and drain is not None:
                drain.set()
                drain = None
                continue
            server.cancel()
            return


async def _drain_with_all(control: Control, together: Together) -> None:
    """Drain with all other nodes when the process that watches them says so; tell it when no hand is under way here."""
    with trio.open_signal_receiver(ALL_DRAIN) as signals:
        async for _ in signals:
            together.is_on = True
            control.drain.set()
            await together.drained.wait()
            _print(DRAINED)


async def _stop_when_left_alone(server: trio.CancelScope) -> None:
    """Stop the server when standard input ends, as it does with the process that watches the nodes."""
    await trio.lowlevel.wait_readable(0)
    server.cancel()


def _reread(file: Path | None, flags: Mapping[str, object]) -> Settings:
    try:
        return load_settings(file, flags)
    except WrongSettingsError as error:
        raise SettingsError(error.message) from error


def _catalogue(folder: Folder) -> VariantCatalogue:
    try:
        return read_catalogue(folder.variants)
    except VariantsError as error:
        raise WrongSettingsError(str(error)) from error
