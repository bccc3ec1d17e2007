"""What a long run says at its end: its figures in one line, and the exit status.

Invariant: the status is 1 if anything was not as promised, whatever it was.
"""

import shutil
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

SHOWN: Final = 20


def report(line: str, violations: Sequence[str]) -> int:
    """Write the figures and the first violations; return the exit status."""
    sys.stdout.write(line + "\n")
    sys.stderr.writelines(f"{violation}\n" for violation in violations[:SHOWN])
    return 1 if violations else 0


def counted(figures: Mapping[str, int]) -> str:
    """Write figures by their names."""
    return ", ".join(f"{name} {n}" for name, n in sorted(figures.items()))


def run_in_folder(plan: object, run: Callable[[Path], Awaitable[str]]) -> int:
    """Run something that returns its figures in a new folder, which stays if it fails; return the exit status."""
    folder = Path(tempfile.mkdtemp(prefix="truc-"))
    try:
        line = trio.run(run, folder)
    except Exception as error:  # whatever it is, it is not what was promised
        traceback.print_exception(error)
        sys.stdout.write(f"{plan}: failed; everything is left in {folder}\n")
        return 1
    shutil.rmtree(folder)
    return report(f"{plan}: {line}", [])
