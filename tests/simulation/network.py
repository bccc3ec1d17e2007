"""The network: connections between machines, as their kernels see them.

Bytes arrive in order, later than they were sent, and wait in the receiver's kernel until they are read; a sender whose
receiver does not read must wait. A machine that is killed leaves its connections ended, or, if its kernel dies with it, silent.
"""

import errno
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import outcome
import trio

if TYPE_CHECKING:
    from simulation.machine import Machine
    from simulation.world import World

LATENCY_S: Final = (200e-6, 4e-3)
AGAIN_S: Final = 1.0  # until a kernel sends again what nobody has confirmed
KERNEL_BYTES: Final = 131_072  # that may be under way or unread in one direction


class Socket:
    """One end of a connection; it is its own descriptor.

    Attributes:
        number: tells the connections of a run apart.
        taps: are shown everything that arrives here.
        held_until: nothing arrives here before this moment.
    """

    def __init__(self, network: "Network", machine: "Machine", number: int) -> None:
        self.network = network
        self.machine = machine
        self.number = number
        self.far: Socket
        self.taps: list[Callable[[bytes], object]] = []
        self.held_until = 0.0
        self._arrived = bytearray()
        self._unread = 0  # bytes, those under way included
        self._newest_arrival = 0.0
        self._is_ended = self._is_broken = self._is_closed = self._has_ended = False
        self._readers: list[trio.lowlevel.Task] = []
        self._writers: list[trio.lowlevel.Task] = []

    def fileno(self) -> "Socket":
        """Return what stands for the connection where a descriptor would."""
        return self

    def getpeername(self) -> tuple[str, int]:
        """Return where the other end is."""
        if self._is_broken:
            raise OSError(errno.ENOTCONN, "not connected")
        return self.far.machine.address, 1024 + self.number

    def setsockopt(self, *_option: object) -> None:
        """Take an option, all of which are about real kernels."""

    def read(self, most: int) -> bytes:
        """Return what has arrived, as `os.read` does."""
        self._check_open()
        if self._arrived:
            found = bytes(self._arrived[:most])
            del self._arrived[:most]
            self._unread -= len(found)
            self.far._wake(self.far._writers)
            return found
        if self._is_broken:
            raise ConnectionResetError(errno.ECONNRESET, "connection reset")
        if self._is_ended:
            return b""
        raise BlockingIOError(errno.EAGAIN, "nothing has arrived")

    def write(self, data: bytes | memoryview) -> int:
        """Send what fits, as `os.write` does."""
        self._check_open()
        if self._is_broken or self._has_ended:
            raise BrokenPipeError(errno.EPIPE, "the connection is gone")
        taken = bytes(data[: max(0, KERNEL_BYTES - self.far._unread)])
        if data and not taken:
            raise BlockingIOError(errno.EAGAIN, "the other end does not read")
        self.far._unread += len(taken)
        self.network.world.note(self.machine.name, f"sends {self.number}", taken)
        self._deliver(lambda: self.far._arrive(taken))
        return len(taken)

    async def send(self, data: bytes) -> int:
        """Send what fits, as the socket of a stream does."""
        while True:
            try:
                return self.write(data)
            except BlockingIOError:
                await self.wait_writable()

    def shutdown(self, _how: int) -> None:
        """End what is sent."""
        self._check_open()
        if self._is_broken:
            raise OSError(errno.ENOTCONN, "not connected")
        self._end()

    def close(self) -> None:
        """Close this end, as its machine does."""
        if not self._is_closed:
            self._is_closed = True
            if self._arrived:
                self._deliver(self.far._break)
            else:
                self._end()
            for tasks in (self._readers, self._writers):
                self._wake(tasks, outcome.Error(trio.ClosedResourceError("closed here")))

    def cut(self) -> None:
        """Break the connection at both ends, as whatever is between them may."""
        for end in (self, self.far):
            self.network.world.after(self.network.latency_s(), end._break)

    def forsake(self) -> None:
        """Let nothing be heard of this end any more: its machine is gone, kernel and all."""
        self._is_closed = self._has_ended = True
        self._readers.clear()
        self._writers.clear()

    async def wait_readable(self) -> None:
        """Wait until something can be read, or the end is seen."""
        self._check_usable()
        if self._arrived or self._is_ended or self._is_broken:
            await trio.lowlevel.checkpoint()
            return
        await _park(self._readers)

    async def wait_writable(self) -> None:
        """Wait until something can be sent, or sending fails."""
        self._check_usable()
        if self.far._unread < KERNEL_BYTES or self._is_broken:
            await trio.lowlevel.checkpoint()
            return
        await _park(self._writers)

    def _wake(self, tasks: list[trio.lowlevel.Task], answer: outcome.Outcome[object] | None = None) -> None:
        _wake(self.machine, tasks, answer)

    def _deliver(self, call: Callable[[], object]) -> None:
        """Let something come to the other end, behind all that was sent before."""
        world = self.network.world
        moment = max(world.now, self.far.held_until) + self.network.latency_s()
        self._newest_arrival = max(moment, self._newest_arrival)
        world.at(self._newest_arrival, call)

    def _arrive(self, data: bytes) -> None:
        if self._is_closed:
            self._refuse()
            return
        if not self._is_broken:
            self._arrived += data
            for tap in self.taps:
                tap(data)
            self._wake(self._readers)

    def _refuse(self) -> None:
        """Say that there is no such connection here, as soon as the machine, or the one in its place, runs."""
        if self.network.answers(self.machine):
            self._deliver(self.far._break)
        elif not self.far._is_broken:
            self.network.world.after(AGAIN_S, self._refuse)

    def _end(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._deliver(self.far._see_end)

    def _see_end(self) -> None:
        self._is_ended = True
        self._wake(self._readers)

    def _break(self) -> None:
        self._is_broken = True
        for tasks in (self._readers, self._writers):
            self._wake(tasks)

    def _check_open(self) -> None:
        if self._is_closed:
            raise OSError(errno.EBADF, "closed here")

    def _check_usable(self) -> None:
        if self._is_closed:
            raise trio.ClosedResourceError("closed here")


async def _park(tasks: list[trio.lowlevel.Task]) -> None:
    """Wait among these until somebody wakes them."""
    task = trio.lowlevel.current_task()
    tasks.append(task)

    def give_up(_raise_cancel: object) -> trio.lowlevel.Abort:
        tasks.remove(task)
        return trio.lowlevel.Abort.SUCCEEDED

    await trio.lowlevel.wait_task_rescheduled(give_up)


def _wake(
    machine: "Machine", tasks: list[trio.lowlevel.Task], answer: outcome.Outcome[object] | None = None
) -> None:
    """Let all of these go on."""
    waiting = tasks[:]
    tasks.clear()
    for task in waiting:
        machine.reschedule(task, answer)


class Stream(trio.abc.HalfCloseableStream):
    """One end of a connection, as Trio's streams are."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send everything."""
        rest = memoryview(bytes(data))
        await trio.lowlevel.checkpoint()
        while rest:
            try:
                rest = rest[self.socket.write(rest) :]
            except BlockingIOError:
                await self.socket.wait_writable()
            except OSError as error:
                raise _failure(error) from error

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until something may be sent."""
        await self.socket.wait_writable()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what comes next; nothing at the end."""
        while True:
            await self.socket.wait_readable()
            try:
                return self.socket.read(max_bytes or 65_536)
            except BlockingIOError:
                continue
            except OSError as error:
                raise _failure(error) from error

    async def send_eof(self) -> None:
        """End what is sent."""
        try:
            self.socket.shutdown(1)
        except OSError as error:
            raise _failure(error) from error
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        """Close this end."""
        self.socket.close()
        await trio.lowlevel.checkpoint()


def _failure(error: OSError) -> trio.ClosedResourceError | trio.BrokenResourceError:
    if error.errno == errno.EBADF:
        return trio.ClosedResourceError(str(error))
    return trio.BrokenResourceError(str(error))


class _Name:
    """The socket of a listener: its name is all that is asked of it."""

    def __init__(self, host: str, port: int) -> None:
        self._name = host, port

    def getsockname(self) -> tuple[str, int]:
        """Return address and port."""
        return self._name

    def setsockopt(self, *_option: object) -> None:
        """Take an option, all of which are about real kernels."""


class Listener(trio.abc.Listener[Stream]):
    """What a machine listens with."""

    def __init__(self, network: "Network", machine: "Machine", port: int) -> None:
        self.machine = machine
        self.socket = _Name(machine.address, port)
        self.place = machine.address, port
        self._network = network
        self._newcomers: list[Socket] = []
        self._waiting: list[trio.lowlevel.Task] = []

    async def accept(self) -> Stream:
        """Return the next connection."""
        while not self._newcomers:
            await _park(self._waiting)
        await trio.lowlevel.checkpoint()
        return Stream(self._newcomers.pop(0))

    def take(self, newcomer: Socket) -> None:
        """Take a connection, which its machine accepts when it can."""
        self._newcomers.append(newcomer)
        _wake(self.machine, self._waiting)

    async def aclose(self) -> None:
        """Listen no more."""
        self._network.shut(self)
        await trio.lowlevel.checkpoint()


class Network:
    """Everything that connects the machines of a run.

    Attributes:
        on_connect: is told the client's end of each new connection.
    """

    def __init__(self, world: "World") -> None:
        self.world = world
        self.on_connect: Callable[[Socket], object] = lambda _socket: None
        self._listeners: dict[tuple[str, int], Listener] = {}
        self._connections = 0
        self._ends: dict[Machine, list[Socket]] = {}

    def latency_s(self) -> float:
        """Return how long something is under way."""
        return self.world.dice.uniform(*LATENCY_S)

    def listen(self, machine: "Machine", port: int) -> Listener:
        """Let a machine listen."""
        listener = Listener(self, machine, port)
        if listener.place in self._listeners:
            raise OSError(errno.EADDRINUSE, "somebody listens there")
        self._listeners[listener.place] = listener
        return listener

    def shut(self, listener: Listener) -> None:
        """Let nobody else come in there."""
        if self._listeners.get(listener.place) is listener:
            del self._listeners[listener.place]

    def answers(self, machine: "Machine") -> bool:
        """Tell whether the kernel of a machine runs, or of the one that has its address now."""
        return not machine.is_dead or any(host == machine.address for host, _ in self._listeners)

    def ends_of(self, machine: "Machine") -> list[Socket]:
        """Return the ends that a machine has of connections that are open."""
        open_ones = [end for end in self._ends.get(machine, ()) if not (end._is_closed or end._is_broken)]
        self._ends[machine] = open_ones
        return open_ones

    async def connect(self, machine: "Machine", address: str, port: int) -> Stream:
        """Connect a machine to another.

        Raises:
            OSError: Nobody listens there.
        """
        await trio.sleep(self.latency_s())
        listener = self._listeners.get((address, port))
        if listener is None or listener.machine.is_dead:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "connection refused")
        self._connections += 1
        near = Socket(self, machine, self._connections)
        far = Socket(self, listener.machine, self._connections)
        near.far, far.far = far, near
        for end in (near, far):
            self._ends.setdefault(end.machine, []).append(end)
        self.world.note(machine.name, f"connects {near.number} to {listener.machine.name}")
        self.on_connect(near)
        listener.take(far)
        return Stream(near)

    def lose(self, machine: "Machine", *, silently: bool) -> None:
        """Let a machine be gone, which its peers see at once, or not at all."""
        for place, listener in list(self._listeners.items()):
            if listener.machine is machine:
                del self._listeners[place]
        for end in self.ends_of(machine):
            if not silently:
                end._end() if not end._arrived else end._deliver(end.far._break)
            end.forsake()
