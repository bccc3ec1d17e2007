"""A thread beside the main one that does one job after another.

Work done many times a second has such a thread of its own: for every job `trio.to_thread` finds, names and counts a
thread anew and wakes a task, which costs the main thread more than the job itself. Invariant: a job once begun is
finished, and the worker does not end before it.
"""

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

import trio
from outcome import Outcome, capture

from truc_server.timing.poller import Poller

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
