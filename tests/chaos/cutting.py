"""Lines from nodes to their database that can be cut, in a process of its own, so that nothing else slows them down.

A line that is cut loses nothing and tells nobody: what is sent waits, as in a network that has failed, and arrives when the
line is whole again, however late. Invariant: bytes arrive in their order, or not at all.
"""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple

import trio
from chaos.servers import HOST, free_port

_CHUNK: Final = 65_536
_LOSSES: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)
_SERVE: Final = "import sys; from chaos.cutting import serve; serve(sys.argv[1:])"


class State(NamedTuple):
    """How a line is: whether it passes anything on, to the database and from it, and how late."""

    to: bool = True
    back: bool = True
    late_ms: int = 0


WHOLE: Final = State()


class Lines:
    """The lines, by the names of those who use them, and how to cut them.

    Attributes:
        ports: where each connects.
    """

    def __init__(self, process: trio.Process, ports: Mapping[str, int]) -> None:
        self.ports = ports
        self._process = process
        self._turn = trio.Lock()

    async def turn(self, name: str, state: State) -> None:
        """Let a line be like this from now on."""
        async with self._turn:
            order = f"{name} {state.to:d} {state.back:d} {state.late_ms}\n"
            await self._process.stdin.send_all(order.encode())


@asynccontextmanager
async def lines(names: Sequence[str], port: int) -> AsyncIterator[Lines]:
    """Keep a line for each name to a port, to the end of the block."""
    ports = {name: free_port() for name in names}
    told = [f"{name}:{its}" for name, its in ports.items()]
    process = await trio.lowlevel.open_process(
        [sys.executable, "-c", _SERVE, str(port), *told],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        await process.stdout.receive_some(1)
        yield Lines(process, ports)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def serve(arguments: Sequence[str]) -> None:
    """Be the process of the lines: to a port, from the ports of names; how they are to be comes on standard input."""
    port, *told = arguments
    trio.run(_serve, int(port), dict(each.split(":") for each in told))


async def _serve(port: int, ports: Mapping[str, str]) -> None:
    kept = {name: _Line(port) for name in ports}
    async with trio.open_nursery() as nursery:
        for name, its in ports.items():
            listeners = await trio.open_tcp_listeners(int(its), host=HOST)
            nursery.start_soon(trio.serve_listeners, kept[name].carry, listeners)
        sys.stdout.write("\n")
        sys.stdout.flush()
        asked = b""
        async with trio.lowlevel.FdStream(sys.stdin.fileno()) as orders:
            while received := await orders.receive_some(_CHUNK):
                *whole, asked = (asked + received).split(b"\n")
                for order in whole:
                    name, *state = order.decode().split()
                    to, back, late_ms = map(int, state)
                    kept[name].turn(State(bool(to), bool(back), late_ms))
        nursery.cancel_scope.cancel()


class _Line:
    """One line, with every connection that takes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._state = WHOLE
        self._turned = trio.Event()

    def turn(self, state: State) -> None:
        self._state = state
        self._turned.set()
        self._turned = trio.Event()

    async def carry(self, node: trio.SocketStream) -> None:
        """Carry one connection to its end."""
        with suppress(*_LOSSES):
            await self._pass(lambda state: state.to)
            database = await trio.open_tcp_stream(HOST, self._port)
            async with node, database, trio.open_nursery() as nursery:
                nursery.start_soon(self._carry, node, database, lambda state: state.to)
                nursery.start_soon(self._carry, database, node, lambda state: state.back)

    async def _carry(self, from_: trio.SocketStream, to: trio.SocketStream, is_open) -> None:
        with suppress(*_LOSSES):
            while received := await from_.receive_some(_CHUNK):
                await self._pass(is_open)
                await to.send_all(received)
        with suppress(*_LOSSES):
            # The end of a connection is told as late as what was sent before it.
            await self._pass(is_open)
            await to.send_eof()

    async def _pass(self, is_open) -> None:
        """Wait until something may pass."""
        while not is_open(self._state):
            await self._turned.wait()
        await trio.sleep(self._state.late_ms / 1000)
