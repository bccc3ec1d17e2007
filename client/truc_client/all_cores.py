"""Work spread over all cores: processes that are given one task after another, so that a long one holds up no other.

Processes, as threads can share no more than the checks of signatures: six hundred short matches took two processes 0.55 of
the time of one, and two threads 1.1, on two cores. Whatever ends the wait for them ends the processes too, Ctrl-C included.
Should this process be killed, each of them ends after the task in hand.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing import Pipe, Process, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, Final, NamedTuple, TypeVar

_Task = TypeVar("_Task")
_Outcome = TypeVar("_Outcome")
OnProgress = Callable[[int], None]
"""Is told how much of a task is done."""
Work = Callable[[_Task, OnProgress], _Outcome]


class WorkerLostError(Exception):
    """A process ended in the middle of a task."""


class _Done(NamedTuple):
    outcome: Any


_INTERRUPT_CHECK_S: Final = 1.0
"""How often the wait is left: an interrupt that the system gives to another thread, a progress bar's, does not end it."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    work: Work[_Task, _Outcome],
    tasks: Sequence[_Task],
    processes: int,
    on_progress: Callable[[int, int], None],
) -> Iterator[tuple[int, _Outcome]]:
    """Yield the number and the outcome of each task as it is done; `on_progress` is told how much of one, by number, is done.

    One process is this one. Work that fails with OSError fails here.

    Raises:
        WorkerLostError: A process died.
    """
    waiting = enumerate(tasks)
    if processes == 1:
        yield from ((n, work(task, partial(on_progress, n))) for n, task in waiting)
        return
    with _started(work, processes) as lines:
        busy: dict[Connection, int] = {}
        for line in lines:
            _give(line, waiting, busy)
        while busy:
            ready = wait(list(busy), _INTERRUPT_CHECK_S)
            for line in [line for line in busy if line in ready]:
                match _received(line):
                    case int(done):
                        on_progress(busy[line], done)
                    case _Done(outcome):
                        yield busy.pop(line), outcome
                        _give(line, waiting, busy)
                    case error:
                        raise error


def _give(line: Connection, waiting: Iterator[tuple[int, _Task]], busy: dict[Connection, int]) -> None:
    for n, task in waiting:
        line.send(task)
        busy[line] = n
        return


def _received(line: Connection) -> Any:
    try:
        return line.recv()
    except EOFError as error:
        raise WorkerLostError from error


@contextmanager
def _started(work: Work[_Task, _Outcome], processes: int) -> Iterator[list[Connection]]:
    started: list[tuple[Process, Connection]] = []
    try:
        for _ in range(processes):
            here, there = Pipe()
            process = Process(target=_serve, args=(there, work), daemon=True)
            process.start()
            # with this copy open the end of the other process would not end the pipe
            there.close()
            started.append((process, here))
        yield [line for _, line in started]
    finally:
        for process, line in started:
            line.close()
            process.terminate()
        for process, _ in started:
            process.join()


def _serve(line: Connection, work: Work[_Task, _Outcome]) -> None:
    """Do what comes, until whoever asks is gone."""
    # the terminal sends an interrupt to all processes; whoever started this one ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    while parent is not None and line in wait([line, parent.sentinel]):
        try:
            line.send(_outcome(work, line.recv(), line.send))
        except (EOFError, BrokenPipeError):
            return


def _outcome(work: Work[_Task, _Outcome], task: _Task, on_progress: OnProgress) -> _Done | OSError:
    try:
        return _Done(work(task, on_progress))
    except BrokenPipeError:
        raise  # nobody listens
    except OSError as error:
        return error
