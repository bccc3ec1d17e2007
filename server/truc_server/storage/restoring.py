"""Restoring a backup into a new data folder, and what the first start on it must know.

Invariants: nothing is written before the whole backup was checked; no server starts on a folder that is not finished;
and unless the host lets matches continue, or nothing can have been played after the backup, every match that was under
way in it is named in `restored.json`, so that it is held.
"""

import os
import shutil
import time
from pathlib import Path

from truc_server.settings.folder import Folder, locked, make_private, write_private
from truc_server.storage.backups import (
    BackupError,
    Manifest,
    create,
    digest_of,
    manifest_of,
    remove,
    sound_revision,
)
from truc_server.storage.restored import OpenMatches, Restored, write_restored


def checked(source: Path) -> Manifest:
    """Check every file of a backup, and return its manifest; blocks.

    Raises:
        BackupError: A file is missing, damaged, or the backup is of a newer version.
    """
    manifest = manifest_of(source)
    if Folder(source).database.name not in manifest.files:
        raise BackupError(f"{source}: expected a backup with a database, got one without")
    for name, digest in manifest.files.items():
        path = source / name
        if not path.is_file():
            raise BackupError(f"{path} is missing from the backup")
        if (found := digest_of(path)) != digest:
            raise BackupError(f"{path} is damaged: expected SHA-256 {digest}, got {found}")
    sound_revision(Folder(source).database)
    return manifest


def restore(source: Path, folder: Folder, wanted: OpenMatches | None) -> tuple[Manifest, OpenMatches]:
    """Restore a backup into an empty data folder; return its manifest, and what becomes of matches under way; blocks.

    Unless the host says what is `wanted`, they go on if the backup was the last thing done with the old folder and was
    not restored before; otherwise the players are asked.

    Raises:
        BackupError: The backup cannot be restored, or the folder is in use.
        StoreError: The database cannot be made ready.
    """
    manifest = checked(source)
    _check_empty(folder)
    with locked(folder):
        write_private(folder.restoring, f"from {source}\n".encode())
        for name in manifest.files:
            make_private((folder.root / name).parent)
            _copy(source / name, folder.root / name)
        chosen = wanted or ("continue" if manifest.is_final and _is_first(source) else "ask")
        _make_ready(folder, chosen)
        folder.restoring.unlink()
    return manifest, chosen


def _check_empty(folder: Folder) -> None:
    """Check that a folder is empty, or holds what a killed restore has left, which is removed."""
    lost = {"lost+found"}  # of a file system of its own
    found = [path for path in folder.root.iterdir() if path.name not in lost]
    if found and not folder.restoring.exists():
        raise BackupError(
            f"expected an empty data folder to restore into, got {folder.root} with {found[0].name} in it"
        )
    for path in found:
        if path not in (folder.restoring, folder.lock):
            remove(path)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, durably, for its folder's owner alone."""
    create(target)
    with source.open("rb") as old, target.open("r+b") as new:
        shutil.copyfileobj(old, new)
        new.flush()
        os.fsync(new.fileno())


def _is_first(source: Path) -> bool:
    """Note in a backup that it was restored; tell whether this is the first time, as far as can be known."""
    mark = source / "restored"
    if mark.exists():
        return False
    try:
        write_private(mark, f"at {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n".encode())
    except OSError:
        return False
    return True


def _make_ready(folder: Folder, chosen: OpenMatches) -> None:
    # Slow to import.
    from truc_server.storage.copies import leave_behind, open_play

    leave_behind(folder.database, int(time.time()))
    if chosen != "continue":
        play = open_play(folder.database)
        write_restored(folder, Restored(play.matches, play.terms, gives_up=chosen == "close"))
