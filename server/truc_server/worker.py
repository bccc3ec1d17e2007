"""A thread beside the main one that does one job after another.

What is done many times a second has such a thread of its own: `trio.to_thread` looks for a thread, names it and counts
it anew for every job, which costs the main thread more than the job. Invariant: a job that has been handed over is done
to its end, and whoever waits for it waits until then, cancelled or not.
"""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar, cast

import outcome
import trio

_Result = TypeVar("_Result")


class Worker:
    """One thread, from now until it is closed."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], Any], trio.lowlevel.Task] | None] = SimpleQueue()
        self._main = trio.lowlevel.current_trio_token()
        Thread(target=self._work, name=name, daemon=True).start()

    async def do(self, job: Callable[[], _Result]) -> _Result:
        """Let the thread do a job after those before it; return what it returns, or raise what it raises."""
        await trio.lowlevel.checkpoint_if_cancelled()
        self._jobs.put((job, trio.lowlevel.current_task()))
        return cast("_Result", await trio.lowlevel.wait_task_rescheduled(_wait_on))

    def close(self) -> None:
        """Let the thread end, after what it has been given."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (given := self._jobs.get()) is not None:
            job, task = given
            self._main.run_sync_soon(trio.lowlevel.reschedule, task, outcome.capture(job))
            del given, job, task  # nothing is held while it waits


def _wait_on(_raise_cancel: Callable[[], None]) -> trio.lowlevel.Abort:
    return trio.lowlevel.Abort.FAILED
