"""A thread beside the main one that does one job after another.

What is done many times a second has such a thread of its own: `trio.to_thread` looks for a thread, names it and counts
it anew for every job, and wakes a task for each, which costs the main thread more than the job. Invariant: a job that the
thread has begun is done to its end, and the worker does not end before it.
"""

from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

import trio
from outcome import Outcome, capture

from truc_server.poller import Poller

Then = Callable[[Outcome[Any]], object]
"""What is told in the main thread what has come of a job: its result, or what it has raised."""


class Worker:
    """One thread, for as long as it runs; what it was given before is done then."""

    def __init__(self, name: str, poller: Poller) -> None:
        self._name = name
        self._poller = poller
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Then] | None] = SimpleQueue()

    def give(self, job: Callable[[], object], then: Then) -> None:
        """Let the thread do a job after those before it."""
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
            del given, job, then  # nothing is held while it waits
