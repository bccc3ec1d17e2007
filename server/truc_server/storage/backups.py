"""Backups of a data folder: what is in one, how it is taken beside a running server, and what its manifest says.

A backup is a folder that holds what another machine needs to be this server, under the names of the data folder, and a
manifest with the hash of each file. Invariants: a backup is whole or not there, even if taking it was killed; and it has
every key that its database needs, as the database is copied before the keys.
"""

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from truc_commands.files import MAX_OWN, read_bounded
from truc_server.settings.folder import (
    Folder,
    FolderError,
    files_in,
    locked,
    make_private,
    move,
    write_private,
)
from truc_server.storage import PlayUnderWay, StoreError

OpenMatches = Literal["ask", "continue", "close"]
# As long as `cluster.lease_s` may be: a database's clock that was set back makes nobody wait for longer.
_LONGEST_LEASE_S: Final = 60.0


class Restored(NamedTuple):
    """What a start must be careful with after a backup was restored.

    Attributes:
        matches: how many records each match under way had in the backup, by its id.
        terms: the `th` of terms that were out.
        gives_up: whether the host lets none of these matches go on.
    """

    matches: Mapping[bytes, int] = {}
    terms: frozenset[bytes] = frozenset()
    gives_up: bool = False

    def holds(self, match: bytes, k: int) -> bool:
        """Tell whether a match of `k` records has not gone on since."""
        # One that has more records was let go on, by its players or its host, and is not held again.
        return self.matches.get(match) == k


def write_restored(folder: Folder, restored: Restored) -> None:
    """Make the next starts careful."""
    matches = {mid.hex(): k for mid, k in restored.matches.items()}
    terms = sorted(th.hex() for th in restored.terms)
    values = {"gives_up": restored.gives_up, "matches": matches, "terms": terms}
    write_private(folder.restored, (json.dumps(values, indent=1) + "\n").encode())


def read_restored(folder: Folder) -> Restored:
    """Return what a start must be careful with; nothing if no backup was restored.

    Raises:
        FolderError: The file is not as it was written.
    """
    try:
        values = json.loads(read_bounded(folder.restored, MAX_OWN))
        matches = {bytes.fromhex(mid): int(k) for mid, k in values["matches"].items()}
        return Restored(matches, frozenset(map(bytes.fromhex, values["terms"])), bool(values["gives_up"]))
    except FileNotFoundError:
        return Restored()
    # A start that took a damaged file for none could sign a second history of the matches in it.
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FolderError(
            f"{folder.restored}: expected what `truc-server restore` has written, got: {error}; restore the backup again"
        ) from error


def begin_anew(url: str, folder: Folder, chosen: OpenMatches) -> PlayUnderWay:
    """Let a restored database be claimed under epochs that the original never had, and make the next starts careful; blocks.

    Returns what is under way in it.

    Raises:
        StoreError: A node runs on it, or it cannot be made ready.
    """
    # Slow to import.
    from truc_server.storage.sql import open_store

    with closing(open_store(url)) as store:
        # A lease that was dumped with the rest looks like that of a node that runs; only a node that does run
        # renews its own meanwhile.
        left_ms = max((node.left_ms or 0 for node in store.nodes()), default=0)
        time.sleep(min(max(0, left_ms) / 1_000, _LONGEST_LEASE_S))  # a node that runs has renewed by then
        with nullcontext() if chosen == "continue" else _half_done(folder):
            # Above any epoch of the original, which counts claims from 1 or from its own restore (decision 17).
            play = store.raise_epoch(int(time.time()))
    if chosen != "continue":
        write_restored(folder, Restored(play.matches, play.terms, gives_up=chosen == "close"))
    return play


@contextmanager
def _half_done(folder: Folder) -> Iterator[None]:
    """Let no server start on a folder until `write_restored`, even if this is killed; undone if the store refuses."""
    before = folder.restored.read_bytes() if folder.restored.exists() else None
    write_private(folder.restored, b"half done\n")
    try:
        yield
    except StoreError:
        if before is None:
            folder.restored.unlink()
        else:
            write_private(folder.restored, before)
        raise


def check_may_start(folder: Folder, *, moved_to: str) -> None:
    """Check that the tables in a folder may be taken up.

    Raises:
        FolderError: The folder is a backup; or one is only half restored in it; or the tables go on elsewhere, and
            `moved_to` does not say where.
    """
    check_is_whole(folder)
    if folder.moved.exists() and not moved_to:
        raise FolderError(
            f"the tables in {folder.root} have moved: truc-server backup --final was run here. Set access.moved_to; or,"
            f" if that backup was restored nowhere and never will be, delete {folder.moved}"
        )


def check_is_whole(folder: Folder) -> None:
    """Check that a folder is that of a server.

    Raises:
        FolderError: It is a backup; or one is only half restored in it.
    """
    if folder.manifest.exists():
        raise FolderError(
            f"{folder.root} is a backup: run truc-server restore {folder.root} --data FOLDER, and a server on that folder"
        )
    if folder.restoring.exists():
        raise FolderError(
            f"a backup was not restored to the end in {folder.root}: run the same truc-server restore again"
        )


FORMAT: Final = 1
_TRIES: Final = 5  # to read the same keys twice in a row
_DIGEST_CHARS: Final = 64
_OF_OLDER: Final = "unasked.json"  # left by a server of an older version that had drained; nobody reads it


class BackupError(FolderError):
    """A backup cannot be made, or is not one that can be restored; the text says why."""


class ManifestForm(msgspec.Struct, frozen=True):
    """The format of a manifest: the one thing in it that every version can read."""

    format: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a backup says about itself.

    Attributes:
        made: when, in UTC.
        version: of the program that made it.
        schema: the revision of the database's schema.
        is_final: whether the server was stopped and its folder marked as moved, for the first time.
        matches: how many were under way.
        files: the SHA-256 of each file, by its name.
    """

    format: int = FORMAT
    made: str
    version: str
    schema: str
    is_final: bool
    matches: int
    files: dict[str, str]

    def text(self) -> bytes:
        """Return it as it is written."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


def manifest_of(source: Path) -> Manifest:
    """Read the manifest of a backup.

    Raises:
        BackupError: There is none, or this version cannot read it.
    """
    path = Folder(source).manifest
    try:
        text = read_bounded(path, MAX_OWN)
        # The format before the rest: fields of a newer one would else be called damage.
        found = msgspec.json.decode(text, type=ManifestForm).format
        if found != FORMAT:
            raise BackupError(
                f"{path}: expected a backup of format {FORMAT}, got {found}: a newer version made it"
            )
        manifest = msgspec.json.decode(text, type=Manifest)
    except FileNotFoundError as error:
        raise BackupError(f"{source} is no backup: it has no {path.name}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BackupError(f"{path}: expected the manifest of a backup, got: {error}") from error
    if not all(_is_entry(name, digest) for name, digest in manifest.files.items()):
        raise BackupError(f"{path}: expected names and hashes of files of a data folder, got others")
    return manifest


def _is_entry(name: str, digest: str) -> bool:
    """Tell whether a line of the manifest names a file that a backup may hold, and its hash."""
    # A manifest comes from outside, and its names become paths to write to: `../` must lead nowhere.
    if len(digest) != _DIGEST_CHARS:
        return False
    folder, _, file = name.rpartition("/")
    names, folders = _layout(Folder(Path()))
    if not folder:
        return name in (*names, _OF_OLDER)
    return folder in folders and not file.startswith(".") and "\0" not in file and bool(file)


def _layout(folder: Folder) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the files, and of the folders of files, that a backup takes."""
    files = (
        folder.database,
        folder.settings,
        folder.identity,
        folder.next_identity,
        folder.rolls,
        folder.secrets_key,
        folder.certificate,
        folder.restored,
    )
    folders = (
        folder.earlier,
        folder.next_keys,
        # A change of the passphrase that was killed: the keys in it count, and not those in their places.
        Folder(folder.next_keys).earlier,
        folder.revoked,
        folder.variants,
    )
    return _names(folder, files), _names(folder, folders)


def _names(folder: Folder, paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(str(path.relative_to(folder.root)) for path in paths)


def back_up(folder: Folder, target: Path, *, settings_file: Path | None, is_final: bool) -> Manifest:
    """Copy what is in a data folder to the new folder `target`; blocks.

    With `is_final` the folder must be locked: it is marked, so that no server starts on it again by accident.

    Raises:
        BackupError: `target` exists, or the folder's files keep changing.
        FolderError: The folder is a backup itself, or half of one.
        StoreError: The database cannot be copied.
    """
    # A restore lets matches go on, or not, by what was done with the folder last: here nothing was yet.
    check_is_whole(folder)
    # The tables may go on elsewhere already, from an earlier final backup.
    is_first = not folder.moved.exists()
    with _unfinished_folder(target) as aside:
        made = datetime.now(UTC)
        copy = Folder(aside)
        # The database before the keys: whatever key it needs is there by then.
        revision, matches = _copy_database(folder.database, copy.database)
        files = _copy_small_files(folder, aside, settings_file)
        files[copy.database.name] = digest_of(copy.database)
        stamp = f"{made:%Y-%m-%dT%H:%M:%SZ}"
        manifest = Manifest(
            made=stamp,
            version=version("truc"),
            schema=revision,
            is_final=is_final and is_first,
            matches=matches,
            files=dict(sorted(files.items())),
        )
        write_private(copy.manifest, manifest.text())
        # Marked before the backup is there, as from then on it may be restored.
        if is_final:
            write_private(folder.moved, f"the tables moved with the backup of {stamp}\n".encode())
        move(aside, target)
    return manifest


def _copy_database(source: Path, target: Path) -> tuple[str, int]:
    """Copy a database; return the revision of its schema, and how many matches are under way in it."""
    # Slow to import.
    from truc_server.storage.sqlite_file import copy_database, count_under_way

    if not source.exists():
        raise BackupError(f"{source} is not there: nothing to back up but the keys, which you can copy")
    write_private(target, b"")
    copy_database(source, target)
    return sound_revision(target), count_under_way(target)


def sound_revision(database: Path) -> str:
    """Return the revision of a database's schema, after checking every page of the database.

    Raises:
        BackupError: It is damaged, or a newer version has made it.
    """
    # Slow to import.
    from truc_server.storage.sqlite_file import inspect

    found = inspect(database)
    if found.problem is not None or found.revision is None:
        raise BackupError(f"{database}: expected a sound database, got: {found.problem or 'an empty one'}")
    if found.is_newer:
        raise BackupError(
            f"{database}: schema {found.revision} was made by a newer version, which this one does not open: update first"
        )
    return found.revision


def _copy_small_files(folder: Folder, target: Path, settings_file: Path | None) -> dict[str, str]:
    """Copy everything but the database as it is at one moment; return the hashes.

    Raises:
        BackupError: It keeps changing.
    """
    # A new key or passphrase changes several files in turn: what is read twice alike is of one moment.
    for _ in range(_TRIES):
        contents = _read_small_files(folder, settings_file)
        if contents == _read_small_files(folder, settings_file):
            break
    else:
        raise BackupError(f"the keys in {folder.root} are being changed: try again")
    for name, content in contents.items():
        _make_folders(target, name)
        write_private(target / name, content)
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def _make_folders(root: Path, name: str) -> None:
    """Make the folders that a file of this name is in."""
    for parent in reversed(Path(name).parents):
        make_private(root / parent)


def _read_small_files(folder: Folder, settings_file: Path | None) -> dict[str, bytes]:
    names, folders = _layout(folder)
    paths = {name: folder.root / name for name in names if name != folder.database.name}
    paths[folder.settings.name] = settings_file or folder.settings
    for name in folders:
        paths |= {f"{name}/{path.name}": path for path in files_in(folder.root / name)}
    contents: dict[str, bytes] = {}
    for name, path in paths.items():
        try:
            contents[name] = read_bounded(path, MAX_OWN)
        except (FileNotFoundError, IsADirectoryError):
            continue
    return contents


@contextmanager
def _unfinished_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside a place that is free; it is removed unless it was moved there.

    Raises:
        BackupError: The place is taken or cannot be had, or somebody else is making the same backup.
    """
    if os.path.lexists(target):
        raise BackupError(f"{target} is there already: a backup is made anew, in a place of its own")
    # Beside the target, so on the same disk: there a folder moves to its name in one step.
    aside = target.with_name(f".{target.name}.unfinished")
    try:
        aside.mkdir(mode=0o700, exist_ok=True)  # one left by a killed backup is used again
    except OSError as error:
        raise BackupError(f"cannot make {target}: {error.strerror}") from error
    descriptor = os.open(aside, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _claim(descriptor, target)  # the lock goes with the process, so a killed backup hinders nobody
        try:
            for left in aside.iterdir():
                remove(left)
            yield aside
        finally:
            shutil.rmtree(aside, ignore_errors=True)  # not there any more, if it was moved
    finally:
        os.close(descriptor)


def _claim(descriptor: int, target: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BackupError(f"another backup to {target} is under way") from error
    except OSError as error:
        raise BackupError(f"cannot lock {target.parent}: {error.strerror}: choose another disk") from error


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_backup(source: Path) -> Manifest:
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
    not restored before, but for those that were held in that folder; otherwise the players are asked.

    Raises:
        BackupError: The backup cannot be restored, or the folder is in use.
        StoreError: The database cannot be made ready.
    """
    manifest = check_backup(source)  # all of it, before anything is written
    _check_empty(folder)  # before even a lock is made in it
    with locked(folder):
        # Again, as another restore may have ended meanwhile; and one that is under way loses nothing.
        for left in _check_empty(folder):
            remove(left)
        # The first file and the last to go: in between no server starts on what may not be whole.
        write_private(folder.restoring, f"from {source}\n".encode())
        for name in manifest.files:
            _make_folders(folder.root, name)
            _copy(source / name, folder.root / name)
        # `_is_first` marks the backup before all is done: after a restore that was killed the next one asks.
        chosen = wanted or ("continue" if manifest.is_final and _is_first(source) else "ask")
        if wanted is not None:
            folder.restored.unlink(missing_ok=True)  # what was held in the backup, the host lets go on
        begin_anew(f"sqlite:///{folder.database}", folder, chosen)
        folder.restoring.unlink()
    return manifest, chosen


def _check_empty(folder: Folder) -> list[Path]:
    """Check that a folder is empty, or holds what a killed restore has left; return what is to be removed.

    Raises:
        BackupError: There is something else in it.
    """
    # The first is of a file system of its own, the last of a restore that was killed before it began.
    mark = folder.restoring.name
    kept = {"lost+found", folder.lock.name, mark, f".{mark}.new"}
    found = [path for path in folder.root.iterdir() if path.name not in kept]
    if found and not folder.restoring.exists():
        raise BackupError(
            f"expected an empty data folder to restore into, got {folder.root} with {found[0].name} in it"
        )
    return found


def _copy(source: Path, target: Path) -> None:
    """Copy a file, durably, for its folder's owner alone."""
    write_private(target, b"")
    with source.open("rb") as old, target.open("r+b") as new:
        shutil.copyfileobj(old, new)
        new.flush()
        os.fsync(new.fileno())


def _is_first(source: Path) -> bool:
    """Note in a backup that it was restored; tell whether this is the first time, as far as can be known."""
    mark = source / "restored"
    try:
        mark.touch(0o600, exist_ok=False)  # of two that restore it at the same time one alone makes it
        write_private(mark, f"at {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n".encode())
    except OSError:  # it is there; or what cannot be marked may be restored any number of times
        return False
    return True
