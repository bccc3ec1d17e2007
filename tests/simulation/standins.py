"""What stands in for chance, time, threads and sockets while a world runs: everything that a program could tell two runs by.

It is put in place of the lowest names through which programs reach these, so that no module of theirs is changed.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import trio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from simulation.machine import Machine, Thread
from simulation.network import Listener, Network, Socket, Stream
from simulation.world import EPOCH_S
from trio._core import _run

from truc_protocol.crypto import keys
from truc_server.operation.worker import Worker

if TYPE_CHECKING:
    from simulation.world import World

KEY_BYTES: Final = 32


@contextmanager
def simulated(world: "World", network: Network) -> Iterator[None]:
    """Let every program in this process live in a world."""
    urandom, clocks, threads = world.chance.randbytes, _Clocks(world), _Threads(world)
    sockets = _Sockets(world, network)
    with ExitStack() as stack:
        for owner, name, instead in (
            (random, "_urandom", urandom),  # of which `secrets` makes all that it gives
            (os, "urandom", urandom),
            (keys, "Ed25519PrivateKey", _Generating(Ed25519PrivateKey, urandom)),
            (keys, "X25519PrivateKey", _Generating(X25519PrivateKey, urandom)),
            (keys, "verify", cache(keys.verify)),  # many check and compute what one has made
            (keys, "_exchange", cache(keys._exchange)),
            (_run, "_ALLOW_DETERMINISTIC_SCHEDULING", True),
            (_run, "_r", random.Random(f"scheduler {world.dice.random()}")),
            (time, "time", clocks.unix_s),
            (time, "time_ns", clocks.unix_ns),
            (time, "monotonic", clocks.elapsed_s),
            (time, "perf_counter", clocks.elapsed_s),
            (trio.to_thread, "run_sync", threads.run_sync),
            (Worker, "run", threads.in_worker),
            (Worker, "close", lambda _worker: None),
            (trio, "open_tcp_listeners", sockets.open_tcp_listeners),
            (trio, "open_tcp_stream", sockets.open_tcp_stream),
            (os, "read", sockets.read),
            (os, "write", sockets.write),
            (trio.lowlevel, "wait_readable", sockets.wait_readable),
            (trio.lowlevel, "wait_writable", sockets.wait_writable),
        ):
            stack.enter_context(patch.object(owner, name, instead))
        yield


class _Generating:
    """A class of private keys whose new keys are drawn by the world's chance."""

    def __init__(self, kind: Any, urandom: Callable[[int], bytes]) -> None:
        self._kind = kind
        self._urandom = urandom
        self.from_private_bytes = cache(kind.from_private_bytes)

    def generate(self) -> Any:
        return self.from_private_bytes(self._urandom(KEY_BYTES))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kind, name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._kind)


class _Clocks:
    """What the machine that acts has for clocks."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def unix_s(self) -> float:
        machine = self._world.acting
        return EPOCH_S + self._world.now + (0.0 if machine is None else machine.clock_ahead_s)

    def unix_ns(self) -> int:
        return int(self.unix_s() * 1_000) * 1_000_000

    def elapsed_s(self) -> float:
        machine = self._world.acting
        return self._world.now if machine is None else machine.elapsed_s()


class _Threads:
    """The threads of the machine that acts."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._of_workers: dict[Worker, Thread] = {}

    async def run_sync(
        self, call: Callable[..., Any], *values: Any, abandon_on_cancel: bool = False, **_options: Any
    ) -> Any:
        await trio.lowlevel.checkpoint_if_cancelled()
        thread = Thread(acting(self._world))
        return await thread.run(
            partial(call, *values), getattr(call, "takes_s", 0.0), abandon=abandon_on_cancel
        )

    @property
    def in_worker(self) -> Callable[..., Any]:
        """What a worker does instead, as its method."""

        async def run(worker: Worker, call: Callable[..., Any], *values: Any) -> Any:
            thread = self._of_workers.setdefault(worker, Thread(acting(self._world)))
            return await thread.run(partial(call, *values))

        return run


class _Sockets:
    """The simulated network, where programs look for that of the system; what else has a descriptor stays what it is."""

    def __init__(self, world: "World", network: Network) -> None:
        self._world = world
        self._network = network
        self._read, self._write = os.read, os.write
        self._readable, self._writable = trio.lowlevel.wait_readable, trio.lowlevel.wait_writable

    async def open_tcp_listeners(self, port: int, **_: Any) -> list[Listener]:
        await trio.lowlevel.checkpoint()
        return [self._network.listen(acting(self._world), port)]

    async def open_tcp_stream(self, host: str, port: int) -> Stream:
        return await self._network.connect(acting(self._world), host, port)

    def read(self, descriptor: Any, most: int) -> bytes:
        return descriptor.read(most) if isinstance(descriptor, Socket) else self._read(descriptor, most)

    def write(self, descriptor: Any, data: Any) -> int:
        return descriptor.write(data) if isinstance(descriptor, Socket) else self._write(descriptor, data)

    async def wait_readable(self, descriptor: Any) -> None:
        is_ours = isinstance(descriptor, Socket)
        await (descriptor.wait_readable() if is_ours else self._readable(descriptor))

    async def wait_writable(self, descriptor: Any) -> None:
        is_ours = isinstance(descriptor, Socket)
        await (descriptor.wait_writable() if is_ours else self._writable(descriptor))


def acting(world: "World") -> Machine:
    """Return the machine that acts."""
    if world.acting is None:
        raise RuntimeError("expected to be called by a machine")
    return world.acting
