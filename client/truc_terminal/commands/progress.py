"""How far a long command is: a bar on standard error, if that is a terminal and the command takes more than a moment."""

import sys
from time import monotonic
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

_AFTER_S: Final = 2.0


class Bar:
    """A bar of bytes, which goes away when the work is done."""

    def __init__(self) -> None:
        self._from = monotonic() + _AFTER_S
        self._shown: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def show(self, done: int, whole: int) -> None:
        """Show how many bytes are done, and how many there are."""
        if self._shown is None:
            if monotonic() < self._from or not sys.stderr.isatty():
                return
            columns = BarColumn(), DownloadColumn(), TimeRemainingColumn()
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._shown.add_task("", total=whole)
            self._shown.start()
        self._shown.update(self._shown.task_ids[0], completed=done)
