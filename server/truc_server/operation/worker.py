"""A thread of its own for one kind of work that would keep the loop from everybody else.

`trio.to_thread` finds a thread for each call and passes its answer through two layers of the loop. A thread that stays and
wakes the waiting task itself takes a sixth off the main thread's share of a call that waits alone (195 to 223 and 161 to
183 µs), a third with four that wait (128 to 155 and 85 to 98); a signed act gets 3 to 9 % cheaper. Invariants: calls are
made one at a time, in the order in which they were asked for; each is made and waited for, even by a task that is
cancelled: it is told so at its next checkpoint.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar, TypeVarTuple

import outcome
import trio

Args = TypeVarTuple("Args")
Answer = TypeVar("Answer")

_Job = tuple[Callable[[], object], trio.lowlevel.Task]


class Worker:
    """A thread that begins with the first call and ends when it is closed, or with the program."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._token = trio.lowlevel.current_trio_token()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: Thread | None = None

    async def run(self, call: Callable[[*Args], Answer], *args: *Args) -> Answer:
        """Return what `call(*args)` answers in the thread, or raise what it raises."""
        if self._thread is None:
            # As a daemon: a commit that hangs must not keep the program from ending.
            self._thread = Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._jobs.put((partial(call, *args), trio.lowlevel.current_task()))
        answer: Answer = await trio.lowlevel.wait_task_rescheduled(_is_finished_first)
        return answer

    def close(self) -> None:
        """Let the thread end after the calls that were asked for; no more are taken."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            call, task = job
            answer = outcome.capture(call)
            with suppress(trio.RunFinishedError):  # nobody is left to be told
                self._token.run_sync_soon(trio.lowlevel.reschedule, task, answer)
            del job, call, task, answer  # nothing is kept while the next call is waited for


def _is_finished_first(_raise_cancel: object) -> trio.lowlevel.Abort:
    # A call that has begun cannot be taken back, and what it has done must be known to whoever asked for it.
    return trio.lowlevel.Abort.FAILED
