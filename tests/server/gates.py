"""Threads of a server that are held up: whoever comes to a gate waits there until it is opened."""

import threading
from functools import partial

import trio
from chaos.faulty_store import Fault, FaultyStore, Point


class Gate:
    """What is made to wait, and opened once."""

    def __init__(self) -> None:
        self._entered, self._opened = threading.Event(), threading.Event()

    def hold(self) -> None:
        """Wait, in the thread that has come, until the gate is opened."""
        self._entered.set()
        assert self._opened.wait(20)

    def before(self, call):
        """Return a call that is made when the gate is opened."""

        def held(*arguments, **named):
            self.hold()
            return call(*arguments, **named)

        return held

    def behind(self, call):
        """Return a call that is made at once, and whose result waits for the gate."""

        def held(*arguments, **named):
            result = call(*arguments, **named)
            self.hold()
            return result

        return held

    def before_commit(self, write: str):
        """Return what puts before a store that the first commit with such a write is held up."""
        return partial(FaultyStore, faults=[Fault(Point.BEFORE, write, 1, self.hold)])

    async def reached(self) -> None:
        """Wait until somebody has come."""
        assert await trio.to_thread.run_sync(self._entered.wait, 20)

    def open(self) -> None:
        """Let everybody through from now on."""
        self._opened.set()
