"""The one task that waits for sockets and threads: each round it calls for what there is to read, then does what was put off.

Waking a Trio task for each of them would cost more than most of what they do, above all on a machine that rests in
between. Instead each socket is registered once, a thread that has done its job rings, and what many ask for in one round
is done once, at its end: a commit is begun, connections are written to. Invariants: what was put off is done in the order
in which it was asked for; nothing here waits except for the next round.
"""

import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from selectors import EVENT_READ, DefaultSelector
from threading import Thread
from typing import Any, Final

import trio
from outcome import Outcome, capture

_RINGS: Final = 4_096  # read at once; they all say the same

Call = Callable[[], object]


class Poller:
    """The rounds of a server; other threads may call `ring_in`, and no other method."""

    def __init__(self) -> None:
        self._selector = DefaultSelector()
        self._calls: deque[Call] = deque()
        self._is_under_way = False
        self._bell: socket.socket | None = None  # while it runs

    def add(self, wire: socket.socket, call: Call) -> None:
        """From now on make a call in each round in which a socket has something to read; the call raises nothing."""
        self._selector.register(wire, EVENT_READ, call)

    def remove(self, wire: socket.socket) -> None:
        """Make no more calls for a socket."""
        self._selector.unregister(wire)

    def put_off(self, call: Call) -> None:
        """Make a call at the end of this round; outside a round, at the end of the next, which then begins soon."""
        self._calls.append(call)
        if not self._is_under_way:
            self._ring()

    def ring_in(self, call: Call) -> None:
        """Make a call in the main thread, soon."""
        self._calls.append(call)
        self._ring()

    def _ring(self) -> None:
        bell = self._bell
        if bell is not None:
            with suppress(OSError):  # it rings already, or nobody hears it any more
                bell.send(b"\0")

    async def run(self) -> None:
        """Go round after round."""
        ear, bell = socket.socketpair()
        with ear, bell:
            ear.setblocking(False)
            bell.setblocking(False)
            self.add(ear, partial(_hear, ear))
            self._bell = bell
            self._end_round()  # what was put off before
            try:
                while True:
                    await trio.lowlevel.wait_readable(self._selector.fileno())
                    self._go_round()
            finally:
                self._bell = None
                self.remove(ear)

    def _go_round(self) -> None:
        self._is_under_way = True
        for key, _ in self._selector.select(0):
            key.data()
        self._end_round()

    def _end_round(self) -> None:
        self._is_under_way = True
        while self._calls:
            self._calls.popleft()()
        self._is_under_way = False


def _hear(ear: socket.socket) -> None:
    with suppress(BlockingIOError):
        ear.recv(_RINGS)


Then = Callable[[Outcome[Any]], object]
"""Called in the main thread with the outcome of a job: its result, or what it raised."""


class Worker:
    """One thread, for as long as `run` lasts; jobs given before that are done then."""

    def __init__(self, name: str, poller: Poller) -> None:
        self._name = name
        self._poller = poller
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Then] | None] = SimpleQueue()

    def give(self, job: Callable[[], object], then: Then) -> None:
        """Let the thread do a job, after those given before."""
        self._jobs.put((job, then))

    async def run(self) -> None:
        """Do jobs, until cancelled."""
        thread = Thread(target=self._work, name=self._name, daemon=True)
        thread.start()
        try:
            await trio.sleep_forever()
        finally:
            self._jobs.put(None)
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(thread.join)

    def _work(self) -> None:
        while (given := self._jobs.get()) is not None:
            job, then = given
            self._poller.ring_in(partial(then, capture(job)))
            del given, job, then  # the wait holds on to nothing
