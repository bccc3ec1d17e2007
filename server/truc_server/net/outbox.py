"""What waits to be sent: an outbox for each connection, and the flusher that empties them all.

A frame leaves only when every write made before it was queued is durable, and in the order in which frames were queued.
Frames that may leave are joined and written without waiting; only when the kernel takes no more does a task of its own
finish the rest. Behind TLS or in a WebSocket frames are sealed when they leave, and the sealed bytes leave in the same way.
Some frames may be dropped, if their receiver can go on without them. Invariant: an outbox holds no more than its limit;
a client that does not read is cut.
"""

import os
import socket
from collections import defaultdict
from collections.abc import Callable
from itertools import takewhile
from typing import Final, Protocol

import trio

from truc_protocol.errors import Code

# For the kernel to take what a full buffer has kept waiting (session.md, "Slow clients").
WRITE_S: Final = 10.0
LOW_BYTES: Final = 16_384  # a replay goes on when less than this waits


QueuedFrame = tuple[int, bytes, bool]
"""The batch that a frame waits for, the frame, and whether it may be dropped."""


class FrameSealer(Protocol):
    """What turns frames into the bytes on the socket and back: TLS, a WebSocket, or one inside the other."""

    @property
    def certificate(self) -> bytes:
        """What the signed hello binds the connection to (docs/protocol/security.md, C37)."""
        ...

    @property
    def speaks_truc(self) -> bool:
        """Whether the peer has named the protocol."""
        ...

    @property
    def can_move(self) -> bool:
        """Whether the peer can connect to another address, as one in a page cannot."""
        ...

    @property
    def owes_words(self) -> bool:
        """Whether it has something of its own to say, which leaves with what is sealed next."""
        ...

    def feed(self, received: bytes) -> None:
        """Take what the peer has sent."""
        ...

    def read(self) -> bytes | None:
        """Return the next bytes of frames; None until more is fed, empty at the end.

        Raises:
            RemoteError: It is nothing that may come; raised once, and then nothing is opened any more.
        """
        ...

    def seal(self, frames: bytes) -> bytes:
        """Return the bytes to write for some whole frames."""
        ...

    def part(self, code: Code | None) -> bytes:
        """Return the last words, by the code of the last bye."""
        ...


class Outbox:
    """The frames that wait for one connection; `on_broken` is called when it is given up, perhaps while others are written to.

    Attributes:
        limit: how many bytes may wait.
        size: how many do.
        wire: the socket they leave by.
        sealer: what seals the frames; None if they travel as they are.
        farewell: the code of the last bye, once nothing follows.
        newest: the frames that wait behind all others and may not be dropped, joined; they wait for the batch `newest_gate`.
        on_low: called once, when little is left to send; None while nobody wants to know.
    """

    __slots__ = (
        "_descriptor",
        "_drained",
        "_flusher",
        "_frames",
        "_on_broken",
        "farewell",
        "is_broken",
        "is_draining",
        "is_finishing",
        "limit",
        "newest",
        "newest_gate",
        "on_low",
        "sealer",
        "size",
        "wire",
    )

    def __init__(
        self,
        wire: trio.socket.SocketType,
        limit: int,
        flusher: "Flusher",
        sealer: FrameSealer | None = None,
        *,
        on_broken: Callable[[], None],
    ) -> None:
        self.wire = wire
        # nothing is flushed once the connection is left, which is before it is closed
        self._descriptor = wire.fileno()
        self.sealer = sealer
        self.size = 0
        self.is_finishing = False
        self.farewell: Code | None = None
        self.is_draining = False
        self.is_broken = False
        self.on_low: Callable[[], None] | None = None
        self._on_broken = on_broken
        self.limit = limit
        self._flusher = flusher
        self._frames: list[QueuedFrame] = []
        self.newest, self.newest_gate = b"", 0
        self._drained: trio.Event | None = None  # while somebody waits for room

    @property
    def gate(self) -> int:
        """The batch that the oldest frame waits for; 0, which waits for nothing, if there is none."""
        if self._frames:
            return self._frames[0][0]
        return self.newest_gate if self.newest else 0

    def push(self, frame: bytes, gate: int, *, is_loose: bool = False) -> bool:
        """Queue a frame, which may be dropped if it is loose; False if the outbox is full and did not take it."""
        if self.is_finishing or self.is_broken:
            return True  # no room has to be made: nobody will read it
        before = self.size
        after = before + len(frame)
        if after > self.limit:
            return False
        self.size = after
        # It may not overtake the frame before it, so it may as well wait for that one's batch. Joined as they
        # come, the frames of a batch leave in one write.
        if gate <= self.newest_gate and frame and not is_loose:
            self.newest += frame
        elif frame and not (is_loose or self.newest):
            self.newest, self.newest_gate = frame, gate
        else:
            self._queue(gate, frame, is_loose=is_loose)
        if not before:  # one that holds something is known to the flusher
            self._flusher.note(self, gate)
        return True

    def _queue(self, gate: int, frame: bytes, *, is_loose: bool) -> None:
        """Queue a frame that does not wait together with the one before it; an empty one lets out what a sealer owes."""
        if self.newest:
            self._frames.append((self.newest_gate, self.newest, False))
            self.newest = b""
        if is_loose or not frame:
            self._frames.append((gate, frame, is_loose))
        else:
            self.newest, self.newest_gate = frame, gate

    def put(self, frame: bytes) -> None:
        """Put a frame that waits for nothing into an empty outbox, which is flushed next."""
        if frame:
            self.newest, self.newest_gate = frame, 0
        else:
            self._frames.append((0, frame, False))
        self.size = len(frame)

    def forget(self) -> None:
        """Drop what waits; a write that has begun goes on."""
        self._frames.clear()
        self.newest, self.newest_gate = b"", 0
        self.size = 0

    def room(self) -> int:
        """Return how many more bytes the outbox takes."""
        return self.limit - self.size

    def drop_loose(self) -> int:
        """Drop what waits and may be dropped; return how many frames that was."""
        before = len(self._frames)
        self._frames = [waiting for waiting in self._frames if not waiting[2]]
        self.size = sum(len(frame) for _, frame, _ in self._frames) + len(self.newest)
        return before - len(self._frames)

    def keep_all(self) -> None:
        """Let nothing that waits be dropped any more: its receiver could not get it again."""
        self._frames = [(gate, frame, False) for gate, frame, _ in self._frames]

    def flush(self, durable: int) -> bytes:
        """Write, joined, every frame that may leave now; return what the kernel does not take, sealed if need be.

        If it takes all, whoever waits for room is told.
        """
        before = self.size
        if self._frames:
            joined = self._leaving(durable)
        elif self.newest and self.newest_gate <= durable:
            joined, self.newest, self.size = self.newest, b"", 0
        else:
            joined = None
        if joined is not None:
            self._flusher.sent += before - self.size
            try:
                sealed = joined if self.sealer is None else self.sealer.seal(joined)
                try:
                    rest = sealed[os.write(self._descriptor, sealed) :]
                except BlockingIOError:
                    rest = sealed
            except OSError:  # `ssl.SSLError` is one
                self.give_up()
                return b""
            if rest:
                return rest
        # Asked here, without a call: with nearly every write nobody waits for anything.
        if self.is_finishing or self._drained is not None or self.on_low is not None:
            self.settle()
        return b""

    def _leaving(self, durable: int) -> bytes | None:
        """Take out what may leave of frames that were queued apart, and what waits behind them; None if nothing may."""
        frames = [frame for _, frame, _ in takewhile(lambda waiting: waiting[0] <= durable, self._frames)]
        if not frames:
            return None
        del self._frames[: len(frames)]
        if not self._frames and self.newest_gate <= durable:
            frames.append(self.newest)
            self.newest = b""
        joined = b"".join(frames)
        self.size -= len(joined)
        return joined

    def settle(self) -> None:
        """Wake whoever waits for room; end the stream if this was the last."""
        if self.size <= LOW_BYTES:
            if self._drained is not None:
                self._wake()
            # Taken away before it is called: it may want to be told again.
            on_low, self.on_low = self.on_low, None
            if on_low is not None:
                on_low()
        if self.is_finishing and not (self._frames or self.newest or self.is_draining):
            self._end()

    def _end(self) -> None:
        try:
            if self.sealer is not None:
                _write(self.wire, self.sealer.part(self.farewell))
            # This direction alone: what the client still sends goes on being read, as a close with bytes
            # unread would be a reset, which can take the last words back.
            self.wire.shutdown(socket.SHUT_WR)
        except OSError:
            self.give_up()

    def give_up(self) -> None:
        """Give up the connection."""
        self.shut()
        self._on_broken()

    def shut(self) -> None:
        """Take nothing more: nobody is left to send it to."""
        self.is_broken = True
        self.forget()
        self._wake()

    def _wake(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to send."""
        return self.is_broken or not (self.size or self.is_draining)

    async def wait_low(self) -> None:
        """Wait until little is left to send."""
        while self.size > LOW_BYTES and not self.is_broken:
            await self._wait()

    async def wait_empty(self) -> None:
        """Wait until nothing is left to send."""
        while not self.is_empty:
            await self._wait()

    async def _wait(self) -> None:
        if self._drained is None:
            self._drained = trio.Event()
        await self._drained.wait()


class Flusher:
    """What writes for every outbox that has something to send.

    Attributes:
        sent: bytes taken out of outboxes, to be written.
        stuck: connections that were given up because they took nothing for long.
    """

    _tasks: trio.Nursery  # for what the kernel does not take at once

    def __init__(self) -> None:
        self.sent = self.stuck = 0
        self._durable = 0
        self._is_over = False
        # in the order in which they were noted; a set takes a call to put something in
        self._ready: dict[Outbox, None] = {}
        self._wake = trio.Event()
        # by the batch that they wait for
        self._held: defaultdict[int, dict[Outbox, None]] = defaultdict(dict)

    def touch(self, outbox: Outbox) -> None:
        """Look at an outbox that has changed, even if it is empty."""
        self.note(outbox, outbox.gate)

    def note(self, outbox: Outbox, gate: int) -> None:
        """Look at an outbox, the oldest frame of which waits for a batch, as soon as that is durable."""
        if gate > self._durable:
            self._held[gate][outbox] = None
        else:
            self._ready[outbox] = None
            self._wake.set()

    def write_alone(self, outbox: Outbox, frame: bytes, gate: int) -> bool:
        """Write a frame at once, if neither it nor anything else has to wait; False if it must be queued."""
        if gate > self._durable or outbox.size or outbox.is_finishing or len(frame) > outbox.limit:
            return False
        outbox.put(frame)
        self._ready[outbox] = None
        self._flush_all()
        return True

    def release(self, durable: int) -> None:
        """Write what has waited for batches up to `durable`."""
        self._durable = durable
        for gate in tuple(self._held):
            if gate <= durable:
                self._ready |= self._held.pop(gate)
        # Now, by whoever says that the batch is durable: to wake the flusher would cost a turn of the loop.
        self._flush_all()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Write what may leave, until cancelled."""
        async with trio.open_nursery() as self._tasks:
            task_status.started()
            try:
                while True:
                    await self._wake.wait()
                    self._wake = trio.Event()
                    self._flush_all()
            finally:
                # From now on nothing is written: no task would finish what the kernel did not take.
                self._is_over = True

    def _flush_all(self) -> None:
        ready, self._ready = self._ready, {}
        for outbox in ready:
            if self._is_over or outbox.is_draining or outbox.is_broken:
                continue  # what drains is looked at again when it is done
            rest = outbox.flush(self._durable)
            if rest:  # the kernel has not taken it
                outbox.is_draining = True
                self._tasks.start_soon(self._drain, outbox, rest)
            elif outbox.size:
                self.touch(outbox)

    async def _drain(self, outbox: Outbox, rest: bytes) -> None:
        if outbox.is_broken:
            # Given up before this task began, and closed by now: to wait for a closed socket raises what is
            # no error of the system.
            return
        with trio.move_on_after(WRITE_S) as patience:
            try:
                await _finish(outbox.wire, memoryview(rest))
            except (OSError, trio.ClosedResourceError):
                outbox.give_up()
        outbox.is_draining = False
        if patience.cancelled_caught:
            self.stuck += 1
            outbox.give_up()
        if not outbox.is_broken:
            outbox.settle()
            self.touch(outbox)


def _write(wire: trio.socket.SocketType, sealed: bytes | memoryview) -> int:
    """Write what the kernel takes at once; return how many bytes that was.

    Raises:
        OSError: The connection is lost.
    """
    try:
        return os.write(wire.fileno(), sealed)
    except BlockingIOError:
        return 0


async def _finish(wire: trio.socket.SocketType, rest: memoryview) -> None:
    """Write all of it, as the kernel takes it."""
    while rest:
        await trio.lowlevel.wait_writable(wire)
        rest = rest[_write(wire, rest) :]
