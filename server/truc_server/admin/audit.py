"""What the host has done to the running server: one JSON object per line, in a file of limited size.

A full file becomes `admin.log.1`, replacing the one before. Invariant: both files are their owner's alone.
"""

import os
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

import msgspec

MAX_BYTES: Final = 1 << 20
_BEFORE: Final = ".1"
# Callers are served in threads: of two that find the file full one would replace the full one by the new.
_TURN: Final = Lock()


class Caller(NamedTuple):
    """Who gives a command, as far as the system tells."""

    uid: int | None
    pid: int | None


class AdminLogEntry(NamedTuple):
    """One command: what was asked, and what came of it."""

    caller: Caller
    command: str
    arguments: dict[str, object]
    outcome: str

    def line(self, at: datetime) -> bytes:
        """Return the line that is written."""
        fields = {
            "time": at.isoformat(timespec="milliseconds"),
            **self.caller._asdict(),
            "command": self.command,
            "arguments": self.arguments,
            "outcome": self.outcome,
        }
        return msgspec.json.encode(fields) + b"\n"


def note(file: Path, entry: AdminLogEntry) -> None:
    """Add a line to a file; blocks.

    Raises:
        OSError: It cannot be written.
    """
    line = entry.line(datetime.now(UTC))
    with _TURN:
        # two files of this size at most, however often commands come: nothing here can fill the disk
        if file.exists() and file.stat().st_size + len(line) > MAX_BYTES:
            file.replace(file.with_name(file.name + _BEFORE))
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as log:
            log.write(line)
