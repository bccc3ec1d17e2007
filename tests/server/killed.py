"""Work on files that is killed in between, as when the power goes."""

from collections.abc import Callable
from pathlib import Path

import pytest


class KilledError(BaseException):
    """Stands for the power going."""


def killed(work: Callable[[], object], steps: int, *changes: tuple[object, str]) -> bool:
    """Do something, killed after so many of these changes of the file system; tell whether it came to its end before."""
    left = steps

    def counted(change):
        def step(*arguments, **named):
            nonlocal left
            if left == 0:
                raise KilledError
            left -= 1
            return change(*arguments, **named)

        return step

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((Path, "rename"), (Path, "mkdir"), (Path, "unlink"), *changes):
            patch.setattr(owner, name, counted(getattr(owner, name)))
        try:
            work()
        except KilledError:
            return False
    return True
