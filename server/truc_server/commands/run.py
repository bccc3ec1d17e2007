"""`truc-server run`: the server, and the process that it runs in.

Here the process is set up: settings, data folder, keys, store, signals, limits. What a server does is in server.py.
With `--nodes N` this process starts N nodes on this machine, watches them, and restarts any that ends.
What `run` prints on standard output is for programs: `listening truc://HOST:PORT#FINGERPRINT`, then `web ORIGIN/` if
browsers are served. Invariant: whatever is wrong is said in one line on standard error; exit status 2 for settings, variants and usage, 1 for the rest.
"""

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import structlog
import trio
from structlog.contextvars import bind_contextvars

from truc_protocol.wire.transport import web_link
from truc_server.admin.requests import MAX_PATH
from truc_server.commands.command_line import (
    CommandError,
    WrongSettingsError,
    address,
    as_arguments,
    data_root,
    database_url,
    load_settings,
    report_failures,
    server_options,
    setting_options,
    settings_path,
)
from truc_server.identity.identity import Identity, load_identity
from truc_server.identity.passphrases import passphrase_of
from truc_server.net.listening import bound_socket
from truc_server.operation import logs, notify
from truc_server.operation.process import collect_when_grown, needed_files, raise_file_limit
from truc_server.settings.folder import Folder, FolderError, locked, make_private, open_folder, write_private
from truc_server.settings.in_force import Control, MachineDrain
from truc_server.settings.settings import Settings, SettingsError
from truc_server.settings.settings_file import KEYS
from truc_server.settings.variants import VariantCatalogue, VariantsError, read_catalogue
from truc_server.storage.backups import check_may_start
from truc_server.timing.clock import RunningClock

if TYPE_CHECKING:
    from truc_server.storage.sql import Store

MOST_NODES: Final = 32  # of one database: `MAX_NODES` of storage/leases.py, which is slow to import
_FIRST_PAUSE_S: Final = 1.0  # before a node that has ended is restarted; doubled each time it soon ends again
_MAX_PAUSE_S: Final = 60.0
_LASTED_S: Final = 60.0  # after which its end was not soon
_KEPT_BACK: Final = ("NOTIFY_", "WATCHDOG_")  # the service manager speaks with this process alone
_DEFAULT_NAME: Final = "node"
DRAIN_TOGETHER: Final = signal.SIGUSR1
"""What tells a node to drain together with all others: it ends when it is told to."""
DRAINED: Final = "drained"
"""What a node says when no hand is under way there."""

log = structlog.get_logger()


@click.command()
@server_options
@setting_options("hosts", "port", "public_host", "name", "tls", "log_format", "log_level", "grease")
@click.option(
    "--nodes",
    type=click.IntRange(1, MOST_NODES),
    help="Run so many nodes on this machine, on one PostgreSQL.",
)
@click.option("--of-nodes", "is_of_nodes", is_flag=True, hidden=True)
def run(file: Path | None, nodes: int | None, *, is_of_nodes: bool, **flags: object) -> None:
    """Run the server. SIGTERM lets hands under way end before it stops; SIGINT and SIGHUP stop it at once."""
    _fill_streams()  # before any other file is opened
    settings = load_settings(file, flags)
    logs.configure(settings.log, sys.stderr)
    os.umask(0o077)  # what libraries make, such as the database, is for this user alone, too
    if nodes is None:
        _run_server(file, flags, settings, is_of_nodes=is_of_nodes)
    else:
        _run_nodes(file, flags, settings, nodes)


def _run_nodes(file: Path | None, flags: Mapping[str, object], settings: Settings, count: int) -> None:
    """Run the nodes of one machine, each in a process of its own."""
    _check_nodes(settings)
    where = settings_path(file, flags)
    named = [] if where is None else ["--settings", str(where.absolute())]
    # -P: no module is taken from the folder that the host happens to be in.
    command = [sys.executable, "-P", "-m", "truc_server", "run", "--of-nodes", *named]
    command += as_arguments(flags, but={"data", "port"})
    with report_failures():
        folder = open_folder(data_root(settings))
        _catalogue(folder)
        with locked(folder):
            check_may_start(folder, moved_to=settings.access.moved_to)
            # So that the keys are there, and can be opened, before each node gets its copies.
            load_identity(folder, passphrase_of(settings, folder))
            trio.run(NodeSupervisor(settings, folder, command, count).run)


def _run_server(
    file: Path | None, flags: Mapping[str, object], settings: Settings, *, is_of_nodes: bool
) -> None:
    """Run one server, alone or as a node; one of those of a machine ends when the process that watches it does."""
    # Slow to import, and needed here alone.
    from truc_server.storage.sql import open_store

    if settings.cluster.node:
        bind_contextvars(node=settings.cluster.node)
    raise_file_limit(needed_files(settings))
    with report_failures():
        folder = open_folder(data_root(settings))
        catalogue = _catalogue(folder)
        with locked(folder):
            check_may_start(folder, moved_to=settings.access.moved_to)
            identity = load_identity(folder, passphrase_of(settings, folder))
            # Half a lease: whoever stands still for longer in a transaction must not keep its tables from
            # others.
            patience_s = settings.cluster.lease_s / 2 if settings.cluster.node else None
            url, node = database_url(settings, folder), settings.cluster.node
            with closing(open_store(url, patience_s=patience_s, node=node)) as store:
                # The file that was there at the start: while an editor replaces it, it may be missing for a
                # moment, and a server that took all defaults then would be open to everybody.
                reread = partial(_reread, settings_path(file, flags), flags)
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
        at_signal = drain if settings.tables.drain_s else None  # 0: SIGTERM stops at once
        hearing: trio.CancelScope = await nursery.start(_stop_on_signal, nursery.cancel_scope, at_signal)
        machine_drain = MachineDrain() if is_of_nodes else None
        # From the end on signals are as usual: one more SIGTERM ends a server whose last commit hangs.
        control = Control(drain, reread, on_end=hearing.cancel, machine_drain=machine_drain)
        if machine_drain is not None:
            nursery.start_soon(_drain_with_all, control, machine_drain)
            nursery.start_soon(_stop_when_left_alone, nursery.cancel_scope)
        await serve(settings, folder, store, identity, announce, catalogue=catalogue, control=control)
        nursery.cancel_scope.cancel()


def _print(line: str) -> None:
    """Print a line; if nobody takes it, print no more."""
    try:
        click.echo(line)
    except OSError as error:
        log.warning("output_not_taken", reason=error.strerror)
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
    with trio.CancelScope() as hearing, trio.open_signal_receiver(*_signals_to_end()) as signals:
        task_status.started(hearing)
        async for number in signals:
            if number == signal.SIGTERM and drain is not None:
                drain.set()
                drain = None  # whoever asks a second time does not want to wait
                continue
            server.cancel()
            return


def _signals_to_end() -> list[signal.Signals]:
    """Return the signals that ask for the end."""
    asks = [signal.SIGTERM, signal.SIGINT]
    # as it is under nohup
    return asks if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [*asks, signal.SIGHUP]


async def _drain_with_all(control: Control, machine_drain: MachineDrain) -> None:
    """Drain with all other nodes when the process that watches them says so; tell it when no hand is under way here."""
    with trio.open_signal_receiver(DRAIN_TOGETHER) as signals:
        async for _ in signals:
            machine_drain.is_on = True
            control.drain.set()
            await machine_drain.drained.wait()
            _print(DRAINED)


async def _stop_when_left_alone(server: trio.CancelScope) -> None:
    """Stop the server when standard input ends, as it does with the process that watches the nodes."""
    await trio.lowlevel.wait_readable(0)
    server.cancel()


def _reread(file: Path | None, flags: Mapping[str, object]) -> Settings:
    try:
        return load_settings(file, flags)
    except WrongSettingsError as error:  # at a reload it ends no command, but is the answer to one
        raise SettingsError(error.message) from error


def _catalogue(folder: Folder) -> VariantCatalogue:
    try:
        return read_catalogue(folder.variants)
    except VariantsError as error:
        raise WrongSettingsError(str(error)) from error


def _check_nodes(settings: Settings) -> None:
    """Check that the settings let several nodes run.

    Raises:
        WrongSettingsError: They do not.
    """
    if not settings.store.url.startswith("postgresql"):
        got = settings.store.url or "nothing, which is a file for one server alone"
        raise WrongSettingsError(
            f"run --nodes: expected store.url to name a PostgreSQL that the nodes share, got {got}"
        )
    if settings.access.moved_to:
        raise WrongSettingsError("run --nodes: access.moved_to is set, so there is nothing for nodes to do")


class NodeSupervisor:
    """The nodes of one machine, and the process that watches them."""

    def __init__(self, settings: Settings, folder: Folder, command: Sequence[str], count: int) -> None:
        self._settings = settings
        self._root = folder
        self._command = command
        name = settings.cluster.node or _DEFAULT_NAME
        self._names = tuple(f"{name}-{number}" for number in range(1, count + 1))
        self._running: dict[str, trio.Process] = {}
        self._listening: set[str] = set()
        self._more = trio.lowlevel.ParkingLot()  # of who waits for nodes to listen
        self._have_listened: set[str] = set()
        self._drained: set[trio.Process] = set()
        self._announcement: list[str] = []
        self._ending = trio.Event()
        self._failed: str | None = None
        self._port = 0

    async def run(self) -> None:
        """Run every node until this process is told to end.

        Raises:
            CommandError: A node has ended before it has listened for the first time.
        """
        held = self._hold_port()
        try:
            async with trio.open_nursery() as tasks:
                hearing: trio.CancelScope = await tasks.start(self._handle_signals)
                tasks.start_soon(self._announce)
                tasks.start_soon(notify.give_signs_of_life)
                async with trio.open_nursery() as nodes:
                    for number, name in enumerate(self._names):
                        nodes.start_soon(self._keep_running, name, self._environment(name, number))
                hearing.cancel()
                tasks.cancel_scope.cancel()
        finally:
            held.close()
        if self._failed is not None:
            raise CommandError(self._failed)

    def _hold_port(self) -> socket.socket:
        """Keep the port for the nodes, also while none of them runs; if the settings leave it open, choose one."""
        listen = self._settings.listen
        family, *_, address = socket.getaddrinfo(listen.hosts[0], listen.port, type=socket.SOCK_STREAM)[0]
        try:
            held = bound_socket(family, address, is_shared=True)
        except OSError as error:
            raise CommandError(
                f"cannot listen on {listen.hosts[0]} port {listen.port}: {error.strerror}"
            ) from error
        self._port = int(held.getsockname()[1])
        return held

    def _environment(self, name: str, number: int) -> dict[str, str]:
        """Return what a node is told beyond the settings that all share; only the first starts the host's own bots."""
        settings = self._settings
        own: dict[str, object] = {
            "cluster.node": name,
            "cluster.inner": self._folder(name).root / "inner.sock",
            # With one port for all nobody can be sent to a certain node.
            "cluster.route": "proxy",
            "cluster.shares_ports": "true",
            "listen.port": self._port,
        }
        if number:  # else there would be N times as many
            own["tables.bots"] = 0
        if settings.metrics.port:
            own["metrics.port"] = settings.metrics.port + number
        passed = {key: value for key, value in os.environ.items() if not key.startswith(_KEPT_BACK)}
        return passed | {KEYS[key].variable: str(value) for key, value in own.items()}

    def _folder(self, name: str) -> Folder:
        return Folder(self._root.nodes.absolute() / name)

    async def _keep_running(self, name: str, environment: Mapping[str, str]) -> None:
        """Restart a node whenever it ends; the sooner it ended, the longer the wait."""
        pause = _FIRST_PAUSE_S
        while not self._ending.is_set():
            began = trio.current_time()
            status: int | str
            try:
                status = await self._run_once(name, environment)
            # such as a full disk: the other nodes go on, and it is tried again
            except (OSError, FolderError) as error:
                if name not in self._have_listened:
                    raise
                status = f"not started: {error}"
            if self._ending.is_set():
                break
            # What keeps a node from its first start, such as wrong settings, would keep it from every later one.
            if name not in self._have_listened:
                self._failed = f"node {name} has ended before it listened, with exit status {status}"
                self._end(drains=False)
                break
            if status == 0:  # it was told to drain, and is wanted again
                log.info("node_drained", node=name)
                continue
            if trio.current_time() - began > _LASTED_S:
                pause = _FIRST_PAUSE_S
            log.warning("node_ended", node=name, status=status, again_s=pause)
            with trio.move_on_after(pause):
                await self._ending.wait()
            pause = min(2 * pause, _MAX_PAUSE_S)

    async def _run_once(self, name: str, environment: Mapping[str, str]) -> int:
        """Run a node to its end; return its exit status."""
        folder = await trio.to_thread.run_sync(self._prepare, name)
        process = await trio.lowlevel.open_process(
            [*self._command, "--data", str(folder.root)],
            stdin=subprocess.PIPE,  # ends with this process, however that ends: no node outlives it
            stdout=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,  # Ctrl-C is for this process, which tells the nodes
        )
        self._running[name] = process
        log.info("node_started", node=name, pid=process.pid)
        try:
            if self._ending.is_set():  # `_end` came while the process was being started, and did not find it
                process.send_signal(signal.SIGINT)
            await self._read_output(name, process)
            return await process.wait()
        finally:
            del self._running[name]
            self._listening.discard(name)
            self._end_if_all_drained()  # this one may have been the last that the others waited for
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    await trio.aclose_forcefully(stream)

    async def _read_output(self, name: str, process: trio.Process) -> None:
        """Take what a node says on its standard output: that it listens, and where browsers are served."""
        if process.stdout is None:  # it was asked for, but that is more than the type says
            return
        lines, rest, is_listening = list[str](), b"", False
        # The line that comes last: then the node has said all that is to be passed on.
        last = "web " if self._settings.web.listen else "listening "
        async for chunk in process.stdout:
            *ended, rest = (rest + chunk).split(b"\n")
            lines += [line.decode("utf-8", "replace") for line in ended]
            if DRAINED in lines:
                self._drained.add(process)
                self._end_if_all_drained()
            if not is_listening and any(line.startswith(last) for line in lines):
                is_listening = True
                self._announcement = self._announcement or lines
                self._have_listened.add(name)
                self._listening.add(name)
                self._more.unpark_all()

    def _prepare(self, name: str) -> Folder:
        """Return the data folder of a node, with the host's present keys, revocations, variants and word of a restore."""
        make_private(self._root.nodes)
        folder = open_folder(self._folder(name).root)
        if len(os.fsencode(folder.root / "inner.sock")) > MAX_PATH:  # the system would not say so in words
            raise OSError(f"{folder.root} is too long for a socket: move the data folder to a shorter path")
        # At each start of the node: a revocation or a variant may have come since the last one. And without
        # `restored` a node would let a match go on that is older than what its players have seen.
        for of_all in (self._root.identity, self._root.secrets_key, self._root.rolls, self._root.restored):
            _copy(of_all, folder.root / of_all.name)
        for whole in (self._root.earlier, self._root.revoked, self._root.variants):
            shutil.rmtree(folder.root / whole.name, ignore_errors=True)
            if whole.is_dir():
                # Not what is being edited: the lock of an editor is a link to nothing, which cannot be copied.
                shutil.copytree(whole, folder.root / whole.name, ignore=shutil.ignore_patterns(".*"))
        return folder

    async def _announce(self) -> None:
        """Print that the server listens once every node does."""
        await self._wait_listening(*self._names)
        for line in self._announcement:
            click.echo(line)
        notify.tell(notify.READY, status=f"{len(self._names)} nodes on port {self._port}")
        log.info("nodes_listening", port=self._port, nodes=len(self._names))

    async def _handle_signals(self, *, task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        """Pass on to every node what this process is told; at SIGUSR1 let one after the other drain and start again."""
        asks = [*_signals_to_end(), signal.SIGUSR1]
        with trio.CancelScope() as hearing, trio.open_signal_receiver(*asks) as signals:
            async with trio.open_nursery() as tasks:
                task_status.started(hearing)
                async for number in signals:
                    if number == signal.SIGUSR1:
                        tasks.start_soon(self._restart_one_by_one)
                    else:
                        # As with one server: a second SIGTERM does not wait for hands.
                        drains = bool(self._settings.tables.drain_s)
                        self._end(drains=drains and number == signal.SIGTERM and not self._ending.is_set())

    def _end(self, *, drains: bool) -> None:
        """Start no more nodes, and tell those that run to end: at once, or when all of them have drained."""
        self._ending.set()
        notify.tell(notify.STOPPING, status="the nodes end")
        for process in self._running.values():
            process.send_signal(DRAIN_TOGETHER if drains else signal.SIGINT)

    def _end_if_all_drained(self) -> None:
        """Let the nodes that have drained end, if all are to end and no hand is under way at any."""
        if self._ending.is_set() and self._drained.issuperset(self._running.values()):
            for process in self._running.values():
                process.send_signal(signal.SIGINT)

    async def _restart_one_by_one(self) -> None:
        """Let one node after the other give its tables away, end, and come again, as after an update."""
        for name in self._names:
            process = self._running.get(name)
            if self._ending.is_set() or process is None:
                continue
            self._listening.discard(name)
            process.terminate()
            # One at a time: the tables of each need another to go to.
            await self._wait_listening(name)
        log.info("nodes_renewed", nodes=len(self._names))

    async def _wait_listening(self, *names: str) -> None:
        """Wait until all of these nodes listen, in this life or in one of their next."""
        while not self._listening.issuperset(names):
            await self._more.park()


def _copy(source: Path, target: Path) -> None:
    """Copy a file for the folder's owner alone, or remove the copy of one that is gone."""
    if source.exists():
        write_private(target, source.read_bytes())
    else:
        target.unlink(missing_ok=True)
