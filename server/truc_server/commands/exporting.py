"""Transcript files in a folder of the host: written whole or not at all, for their owner alone.

Invariant: a file is never replaced, except by one that begins with it, as when a match's last signatures have come since.
"""

import os
from enum import StrEnum
from pathlib import Path

from truc_server.settings.folder import FolderError, move


class State(StrEnum):
    """What has become of a file: it is new, was there already, has got more records, or has something else in it."""

    WRITTEN = "written"
    KEPT = "kept"
    LONGER = "longer"
    DIFFERS = "differs"


def open_target(folder: Path) -> Path:
    """Return the folder that files go to, made with mode 0700 if it is not there.

    Raises:
        FolderError: It cannot be made, or is no folder.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        raise FolderError(f"expected a folder to write to, {folder} is a file") from error
    except OSError as error:
        raise FolderError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


def export_file(path: Path, content: bytes) -> State:
    """Write a file, unless it is there already; one that lacks its end gets it."""
    try:
        there = path.read_bytes()
    except FileNotFoundError:
        return _write(path, content)
    if there == content:
        return State.KEPT
    if not content.startswith(there):
        return State.DIFFERS
    move(_beside(path, content), path)
    return State.LONGER


def _write(path: Path, content: bytes) -> State:
    unfinished = _beside(path, content)
    try:
        os.link(unfinished, path)  # unlike a rename it replaces nothing
    finally:
        unfinished.unlink()
    return State.WRITTEN


def _beside(path: Path, content: bytes) -> Path:
    """Write the content to a file of another name, and return its path."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except OSError:
        unfinished.unlink()
        raise
    return unfinished
