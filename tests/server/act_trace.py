"""The way of one act through the project's code: which modules it passes, in which order, and how many calls that takes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_SERVER = str(ROOT / "server")
_PROJECT = (_SERVER, str(ROOT / "protocol"))


class Way(NamedTuple):
    """What was counted; a change is a call whose code stands in another folder than that of the call before."""

    modules: int
    changes: int
    calls: int


class Trace:
    """The calls of the server's code, and of what it calls, in the order in which they were made."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def note(self, frame, event, _argument) -> None:
        code = frame.f_code
        if event == "call" and _is_counted(code.co_filename) and _is_new(frame) and _is_of_server(frame):
            self.calls.append((code.co_filename, code.co_qualname))

    @property
    def way(self) -> Way:
        """Return what was counted."""
        folders = [Path(file).parent for file, _ in self.calls]
        changes = sum(before != after for before, after in pairwise(folders))
        return Way(len({file for file, _ in self.calls}), changes, len(self.calls))

    def __str__(self) -> str:
        """The way, and every call of it, one a line."""
        lines = (f"{Path(file).relative_to(ROOT)}  {name}" for file, name in self.calls)
        return "\n".join((str(self.way), *lines))


def _is_new(frame) -> bool:
    """Tell whether a frame is called, and is not a coroutine that goes on after a wait, or a generator after a yield."""
    # the instruction at which calls are told of is RESUME: its argument says whether anything has run before
    return frame.f_code.co_code[frame.f_lasti + 1] == 0


def _is_counted(file: str) -> bool:
    return file.startswith(_PROJECT)


def _is_of_server(frame) -> bool:
    """Tell whether the server's code stands behind a call: in the same thread the test's client runs too."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_SERVER):
            return True
        frame = frame.f_back
    return False


@contextmanager
def traced() -> Iterator[Trace]:
    """Note what the server does in this thread within the block."""
    trace = Trace()
    sys.setprofile(trace.note)
    try:
        yield trace
    finally:
        sys.setprofile(None)
