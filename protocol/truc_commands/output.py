"""What becomes of standard output when it takes nothing more: its disk is full, or its reader has gone."""

import os
import sys
from contextlib import suppress


def drop_output() -> None:
    """Let what could not be written to standard output go, so that the end of the process does not try again."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
