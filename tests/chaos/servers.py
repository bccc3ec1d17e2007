"""Processes that can be killed and started again; above all a server, on one port and one data folder.

Its port is chosen once, below those that the system gives away to whoever connects: a free one from among them could be
taken by somebody's connection while the server is down, even by that of a client that tries to come back. What the system
says of such a process is in measures.py. Invariant: the process ends with the block that serves.
"""

import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import cycle, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import trio

HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 60.0  # for a server to start or to stop, on a busy machine
QUICK: Final = MappingProxyType(
    {
        "TRUC_TABLES_BETWEEN_HANDS_MS": "0",
        "TRUC_TABLES_WINDOW_MS": "0",
        "TRUC_TABLES_DRAIN_S": "0",
        "TRUC_LIMITS_REQUESTS_PER_S": "10000",
        "TRUC_LIMITS_BURST": "10000",
        "TRUC_LIMITS_ACTS_PER_S": "10000",
        "TRUC_LIMITS_TABLE_ACTS_PER_S": "10000",
        "TRUC_LIMITS_CONNECTIONS_PER_ADDRESS": "10000",
        "TRUC_LIMITS_CONNECTS_PER_MIN": "1000000",
        "TRUC_LIMITS_FAILED_LOGINS_PER_MIN": "10000",
        "TRUC_LIMITS_TABLES_PER_MIN": "10000",
        "TRUC_LIMITS_TABLES_PER_ADDRESS": "10000",
    }
)
"""What lets a server play as fast as it can, with everybody at one address, and end as soon as it is told to."""
SERVER: Final = ("truc_server", "run")
# Each worker of the tests has a tenth of its own, and gives none of it twice before all of it was given: a port that
# was free may be taken by a server only seconds later.
_WORKER: Final = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
_PORTS: Final = range(20_000 + int(_WORKER[2:]) % 10, 30_000, 10)
_NEXT_PORTS: Final = cycle(random.SystemRandom().sample(_PORTS, len(_PORTS)))
_ENDING: Final = (signal.SIGTERM, signal.SIGKILL)
_FAULT: Final = re.compile(r"internal|Traceback|Error\b")


class StartError(Exception):
    """A program has ended before it said anything."""


def free_port() -> int:
    """Return a port that nobody listens on, and that the system gives to nobody by itself."""
    for port in islice(_NEXT_PORTS, len(_PORTS)):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((HOST, port))
            except OSError:
                continue
        return port
    raise OSError("expected a free port, found none")


def command_line(data: Path, port: int, level: str, program: Sequence[str] = SERVER) -> list[str]:
    """Return the command that runs a server on loopback; `program` is a module of Python and what it is told first."""
    where = ["--host", HOST, "--port", str(port), "--data", str(data)]
    return [sys.executable, "-m", *program, *where, "--log-format", "json", "--log-level", level]


class Program:
    """A program that can be killed and started again; what it says on standard error is added to a file.

    Attributes:
        log: the file, with what it has said over all its lives.
        process: the present life; None before the first.
    """

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        self.process: trio.Process | None = None
        self._command = command
        self._environment = {**os.environ, **environment}

    async def spawn(self, *words: str) -> None:
        """Start the process, with more words behind those of its command."""
        with self.log.open("ab") as log:
            self.process = await trio.lowlevel.open_process(
                [*self._command, *words], stdout=subprocess.PIPE, stderr=log, env=self._environment
            )

    async def first_line(self, patience_s: float = PATIENCE_S) -> str:
        """Return the first line that it prints.

        Raises:
            StartError: It has ended instead.
        """
        received = b""
        with trio.fail_after(patience_s):
            while b"\n" not in received:
                chunk = await self._running().stdout.receive_some(200)
                if not chunk:
                    raise StartError(f"{self._command[2:4]} has ended before it began; see {self.log}")
                received += chunk
        return received.decode().splitlines()[0]

    @property
    def status(self) -> int | None:
        """The status that the process has ended with; None while it runs."""
        return self._running().poll()

    @property
    def pid(self) -> int:
        """What the system calls the present life."""
        return self._running().pid

    async def wait(self, patience_s: float = PATIENCE_S) -> int:
        """Wait for the end of the process, and return its status."""
        process = self._running()
        with trio.fail_after(patience_s):
            status = await process.wait()
        await process.stdout.aclose()
        return status

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self._running().send_signal(number)

    async def kill(self) -> int:
        """End the process as a power cut would."""
        self.signal(signal.SIGKILL)
        return await self.wait()

    async def freeze(self, seconds: float) -> None:
        """Stop the process for a while, as a machine does that sleeps, and let it go on."""
        self.signal(signal.SIGSTOP)
        await trio.sleep(seconds)
        self.signal(signal.SIGCONT)

    def _running(self) -> trio.Process:
        if self.process is None:
            raise StartError("expected a program that was started")
        return self.process


class ServerProcess(Program):
    """`truc-server run` on loopback.

    Attributes:
        data: its data folder.
        listens: set while it can be connected to, as far as is known.
    """

    def __init__(
        self,
        data: Path,
        settings: Mapping[str, str] = QUICK,
        *,
        level: str = "warning",
        program: Sequence[str] = SERVER,
        port: int | None = None,
    ) -> None:
        self.data = data
        self.port = port or free_port()
        self.listens = trio.Event()
        command = command_line(data, self.port, level, program)
        super().__init__(command, data.parent / f"{data.name}.log", settings)

    async def wait_listening(self, patience_s: float = PATIENCE_S) -> None:
        """Wait until the process has said that it listens.

        Raises:
            StartError: It has ended instead.
        """
        await self.first_line(patience_s)
        self.listens.set()

    async def start(self) -> None:
        """Start it, and wait until it listens."""
        await self.spawn()
        await self.wait_listening()

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal; if it ends by that, nobody need try to connect from now on."""
        if self.listens.is_set() and number in _ENDING:
            self.listens = trio.Event()
        super().signal(number)

    async def stop(self) -> list[str]:
        """Ask the process to end, and return what has gone wrong: the faults in its log, and a bad end."""
        self.signal(signal.SIGTERM)
        try:
            status = await self.wait()
        except trio.TooSlowError:
            status = await self.kill()
        return [*self.faults(), *([f"the server ended with status {status}"] if status else [])]

    async def connect(self) -> trio.SocketStream:
        """Connect to it."""
        return await trio.open_tcp_stream(HOST, self.port)

    def warnings(self) -> list[str]:
        """Return what it has logged over all its lives, at its level or above."""
        return self.log.read_text().splitlines()

    def faults(self) -> list[str]:
        """Return the lines of its log that tell of a fault of its own."""
        with self.log.open(errors="replace") as lines:
            return [line.rstrip()[:200] for line in lines if _FAULT.search(line)]

    @property
    def url(self) -> str:
        """Its address for clients."""
        return f"{HOST}:{self.port}"


@asynccontextmanager
async def serving(
    data: Path, settings: Mapping[str, str] = QUICK, **how: Any
) -> AsyncIterator[ServerProcess]:
    """Run a server as a process, which may be killed and started again, to the end of the block."""
    server = ServerProcess(data, settings, **how)
    await server.spawn()
    try:
        await server.wait_listening()
        yield server
    finally:
        with trio.CancelScope(shield=True):
            await server.kill()


@asynccontextmanager
async def listening(command: Sequence[str], port: int, log: Path, **environment: str) -> AsyncIterator[None]:
    """Run a program of others, from when it listens on a port to the end of the block; `log` has what it says.

    Raises:
        StartError: It has ended instead.
    """
    with log.open("wb") as out:
        how = {"env": environment} if environment else {}
        process = await trio.lowlevel.open_process(command, stdout=out, stderr=out, **how)
    try:
        with trio.fail_after(PATIENCE_S):
            while not await _is_listened_on(port):
                if process.poll() is not None:
                    raise StartError(f"{command[0]} has ended before it listened; see {log}")
                await trio.sleep(0.05)
        yield
    finally:
        process.terminate()
        with trio.CancelScope(shield=True):
            await process.wait()


async def _is_listened_on(port: int) -> bool:
    try:
        await trio.aclose_forcefully(await trio.open_tcp_stream(HOST, port))
    except OSError:
        return False
    return True
