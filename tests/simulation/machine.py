"""A machine with one process: a run of Trio of its own, which the world steps, stops, resumes and ends.

Each has its own scheduler and its own clock, as processes do. One that is killed is never stepped again: nothing of it
is flushed, closed or told, whatever it was in the middle of. What its threads do happens at one moment each.
"""

import sys
import warnings
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final

import outcome
import trio
from trio._core import _run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.world import World

    _Before = tuple["Machine | None", Any]  # who acted, and the hooks of asynchronous generators

STEP_S: Final = (5e-6, 60e-6)  # what one turn of the scheduler takes, at least and at most
CALL_S: Final = (20e-6, 400e-6)  # what a call in a thread takes before and after its moment
_LEAST_S: Final = 1e-6


class PostponedError(BaseException):
    """A call in a thread waits for something; it is made again, from its beginning, at `moment`."""

    def __init__(self, moment: float) -> None:
        super().__init__()
        self.moment = moment


class PlainClock(trio.abc.Clock):
    """A clock that shows how long a machine is on."""

    def __init__(self, elapsed_s: Callable[[], float]) -> None:
        self._elapsed_s = elapsed_s

    def start_clock(self) -> None:
        """Begin; there is nothing to do."""

    def current_time(self) -> float:
        """Return the time in seconds."""
        return self._elapsed_s()

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Return how long to sleep until a moment."""
        return deadline - self._elapsed_s()


class _Job:
    """A call, and the task that waits for its answer, unless it waits no more; `began` is when it was first tried."""

    def __init__(self, call: Callable[[], Any], task: trio.lowlevel.Task, takes_s: float) -> None:
        self.call = call
        self.task: trio.lowlevel.Task | None = task
        self.takes_s = takes_s
        self.began: float | None = None


class Thread:
    """A thread of a machine: it makes one call after the other, each at one moment."""

    def __init__(self, machine: "Machine") -> None:
        self._machine = machine
        self._jobs: deque[_Job] = deque()

    async def run(self, call: Callable[[], Any], takes_s: float = 0.0, *, abandon: bool = False) -> Any:
        """Return what a call answers, or raise what it raises; a task that is cancelled waits for it unless it may `abandon` it."""
        job = _Job(partial(copy_context().run, call), trio.lowlevel.current_task(), takes_s)
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._begin()

        def give_up(_raise_cancel: object) -> trio.lowlevel.Abort:
            if not abandon:
                return trio.lowlevel.Abort.FAILED
            job.task = None
            return trio.lowlevel.Abort.SUCCEEDED

        return await trio.lowlevel.wait_task_rescheduled(give_up)

    def _begin(self) -> None:
        world = self._machine.world
        world.after(world.dice.uniform(*CALL_S) + self._jobs[0].takes_s, self._make)

    def _make(self) -> None:
        machine, job = self._machine, self._jobs[0]
        world = machine.world
        if machine.is_dead:
            return
        if machine.is_paused:
            machine.hold(self._make)
            return
        job.began = world.now if job.began is None else job.began
        machine.call_began, machine.calls_made, machine.answer_late_s = job.began, 0, 0.0
        with machine.acting():
            answer = outcome.capture(job.call)
        if isinstance(answer, outcome.Error) and isinstance(answer.error, PostponedError):
            world.at(max(answer.error.moment, world.now + _LEAST_S), self._make)
            return
        late_s = world.dice.uniform(*CALL_S) + machine.answer_late_s
        world.after(late_s, lambda: self._finish(answer))

    def _finish(self, answer: outcome.Outcome[Any]) -> None:
        job = self._jobs.popleft()
        if job.task is not None:
            self._machine.reschedule(job.task, answer)
        if self._jobs:
            self._begin()


class Machine:
    """A process that runs `main`; `on_end` is told how it ended, unless it is killed.

    Attributes:
        name: by which the trace tells it from others.
        address: where its connections come from.
        clock_ahead_s: by how much its time of day is ahead of the world's.
        is_dead: whether it has ended or was killed.
        is_paused: whether none of its code is executed now.
        call_began: when the call that a thread makes now was first tried; `calls_made` is how much of it the database has
            answered, `answer_late_s` how much later than else the answer comes.
    """

    def __init__(
        self,
        world: "World",
        name: str,
        address: str,
        *,
        clock: Callable[[Callable[[], float]], trio.abc.Clock] = PlainClock,
    ) -> None:
        self.world = world
        self.name = name
        self.address = address
        self.clock_ahead_s = 0.0
        self.is_dead = self.is_paused = False
        self.call_began = self.answer_late_s = 0.0
        self.calls_made = 0
        self.on_kill: list[Callable[[], object]] = []
        self._clock = clock(self.elapsed_s)
        self._turns: Any = None  # until it is started
        self._held: list[Callable[[], object]] = []
        self._step_number = 0
        self._next_step = inf

    def elapsed_s(self) -> float:
        """Return what the machine's own counter of seconds shows."""
        return 1_000.0 + self.world.now

    def start(
        self, main: Callable[[], Awaitable[object]], on_end: Callable[[outcome.Outcome[object]], object]
    ) -> None:
        """Begin to run."""
        self._on_end = on_end
        self._runner = _run.Runner(
            clock=self._clock,
            instruments=_run.Instruments([]),
            io_manager=_run.TheIOManager(),
            system_context=copy_context(),
            ki_manager=_run.KIManager(),
            strict_exception_groups=True,
        )
        before = sys.get_asyncgen_hooks()
        self._runner.asyncgens.install_hooks(self._runner)
        self._hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(*before)
        self._turns = _run.unrolled_run(self._runner, main, (), host_uses_signal_set_wakeup_fd=True)
        self._said: Any = None  # what the next turn is told; an iterator begins with nothing
        self._step_at(self.world.now)

    @contextmanager
    def acting(self) -> "Iterator[None]":
        """Let what is called be called by this machine, outside its scheduler."""
        before, self.world.acting = self.world.acting, self
        try:
            yield
        finally:
            self.world.acting = before

    def reschedule(self, task: trio.lowlevel.Task, answer: outcome.Outcome[Any] | None = None) -> None:
        """Let a task that waits go on."""
        if not self.is_dead:
            self._runner.reschedule(task, outcome.Value(None) if answer is None else answer)
            self.wake()

    def cancel(self, scope: trio.CancelScope) -> None:
        """Cancel a scope of the machine's, as a signal would."""
        if not self.is_dead:
            before = self._go_in()
            try:
                scope.cancel()
            finally:
                self._go_out(before)
            self.wake()

    def wake(self) -> None:
        """Let the scheduler look at what has become ready."""
        self._step_at(self.world.now + self.world.dice.uniform(*STEP_S))

    def pause(self) -> None:
        """Execute nothing of it any more, threads included, until `resume`."""
        self.is_paused = True

    def resume(self) -> None:
        """Go on."""
        if self.is_paused and not self.is_dead:
            self.is_paused = False
            held, self._held = self._held, []
            for call in held:
                self.world.after(self.world.dice.uniform(*CALL_S), call)
            self._next_step = inf
            self.wake()

    def hold(self, call: Callable[[], object]) -> None:
        """Let something happen when the machine goes on."""
        self._held.append(call)

    def kill(self) -> None:
        """End it at once, in the middle of anything."""
        if not self.is_dead and self._turns is not None:
            self._end()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                self._turns.close()

    def _end(self) -> None:
        self.is_dead = True
        for call in self.on_kill:
            call()

    def _step_at(self, moment: float) -> None:
        if moment >= self._next_step or self.is_dead:
            return
        self._step_number += 1
        number, self._next_step = self._step_number, moment
        self.world.at(moment, lambda: self._step(number))

    def _step(self, number: int) -> None:
        if number != self._step_number or self.is_dead or self.is_paused:
            return
        self._next_step = inf
        before = self._go_in()
        try:
            sleeps_s = self._turns.send(self._said)
        except StopIteration:
            sleeps_s = None
        finally:
            self._go_out(before)
        if sleeps_s is None:
            self._end()
            self._on_end(self._runner.main_task_outcome)
            return
        self._said = self._runner.io_manager.get_events(0)  # nothing but what the run tells itself
        if self._said or sleeps_s <= 0:
            self.wake()
        else:
            self._step_at(self.world.now + max(sleeps_s, _LEAST_S))

    def _go_in(self) -> "_Before":
        """Let this machine's run be the one that Trio knows of; return what was so before."""
        before = self.world.acting, sys.get_asyncgen_hooks()
        self.world.acting = self
        _run.GLOBAL_RUN_CONTEXT.__dict__["runner"] = self._runner
        sys.set_asyncgen_hooks(*self._hooks)
        return before

    def _go_out(self, before: "_Before") -> None:
        """Let things be as they were."""
        self.world.acting, hooks = before
        sys.set_asyncgen_hooks(*hooks)
        _run.GLOBAL_RUN_CONTEXT.__dict__.clear()
