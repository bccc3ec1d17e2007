"""The data folder: where each file is, who may read it, and that only one process at a time uses it.

The folder is created for its owner alone. Invariant: while one process is in `locked`, no other is; the lock belongs to
the process, so a killed server leaves none behind.
"""

import errno
import fcntl
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from truc_commands.files import path_of


class FolderError(Exception):
    """The data folder cannot be used; the text says why."""


class FolderLockedError(FolderError):
    """Another process uses the data folder; `pid` is its number, or None if it has not said."""

    def __init__(self, root: Path, pid: int | None) -> None:
        self.pid = pid
        who = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{root} is in use by {who}; stop it first, or choose another folder with --data")


class _Entry:
    """The path of something in a data folder, by its name there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, folder: "Folder", _owner: "type[Folder] | None" = None) -> Path:
        return folder.root / self._name


@dataclass(frozen=True, slots=True)
class Folder:
    """The layout of a data folder."""

    root: Path

    settings = _Entry("truc.toml")
    """The settings file, if the host has put one there."""
    variants = _Entry("variants")
    """The folder of the host's own games, if there is one."""
    identity = _Entry("identity.pem")
    """The server's identity key."""
    next_identity = _Entry("identity.next.pem")
    """The key that a rotation leads to, from before the rotation is stored until it is the identity key."""
    earlier = _Entry("earlier")
    """The folder of the identity keys before the present one: matches begun under them need them."""
    next_keys = _Entry("keys.next")
    """The folder of the key files under a new passphrase, from when it is in force until they are all in place."""
    rolls = _Entry("rolls.txt")
    """Every rotation of the identity key, oldest first."""
    revoked = _Entry("revoked")
    """The folder of the revocations that this server heeds."""
    secrets_key = _Entry("secrets.key")
    """The key that match secrets are sealed with."""
    certificate = _Entry("certificate.pem")
    """The certificate made for TLS, with its key."""
    database = _Entry("truc.db")
    """The SQLite database, unless store.url names another."""
    restored = _Entry("restored.json")
    """What a start must be careful with after a backup was restored."""
    restoring = _Entry("restore.unfinished")
    """A file that is there while a backup is being restored."""
    manifest = _Entry("manifest.json")
    """What a backup says about itself; no data folder has one."""
    moved = _Entry("moved")
    """A file that is there if the tables go on elsewhere, from a backup made to move them."""
    admin_socket = _Entry("admin.sock")
    """Where the running server takes the host's commands."""
    admin_log = _Entry("admin.log")
    """Every command that the running server was given, one per line."""
    house_bots = _Entry("house-bots")
    """The folder of the homes of the bots that the server starts."""
    nodes = _Entry("nodes")
    """The folder of the data folders of those nodes that `run --nodes` starts."""
    lock = _Entry("lock")
    """The lock file; it holds the number of the process that has the lock."""


def default_root(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the user's own folder for the server's data."""
    if platform == "darwin":
        return path_of("~/Library") / "Application Support" / "truc-server"
    base = environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base else path_of("~/.local/share")) / "truc-server"


def open_folder(root: Path) -> Folder:
    """Return the data folder at `root`, created with mode 0700 if it is not there.

    Raises:
        FolderError: It cannot be created, or is no folder that can be written to.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"cannot create the data folder {root}: {error.strerror}") from error
    if why := why_closed(root):
        raise FolderError(f"expected to read and write the data folder {root}, got {why}")
    return Folder(root)


def why_closed(root: Path) -> str | None:
    """Return why this user cannot read and write a folder; None if they can."""
    if os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return None
    return "a disk that is read-only" if is_read_only(root) else "no permission"


def is_read_only(path: Path) -> bool:
    """Tell whether a file or folder is on a disk that nobody may write to."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def used_folder(root: Path) -> Folder:
    """Return the data folder at `root`, in which a server has run.

    Raises:
        FolderError: None has, as far as can be seen.
    """
    folder = Folder(root)
    try:
        is_new = not any(
            path.exists() for path in (folder.identity, folder.database, folder.rolls, folder.secrets_key)
        )
    except OSError as error:
        raise FolderError(f"cannot look into the data folder {root}: {error.strerror}") from error
    if is_new:
        raise FolderError(f"no server has run in {root} yet")
    return folder


def write_private(path: Path, content: bytes) -> None:
    """Write a file for the folder's owner alone: the whole of it or nothing, even if the power fails."""
    with _naming(path), _unfinished(path, 0o600) as file:
        _hand_over(file.fileno(), path.parent)
        file.write(content)


def write_new(path: Path, content: bytes, mode: int, *, replaces: bool = False) -> None:
    """Write a file where the host wants it, of a mode less the umask: the whole of it or nothing, as `write_private`.

    Raises:
        FileExistsError: There is a file of that name; it stays, unless this one `replaces` it.
    """
    with _naming(path):
        if not replaces and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with _unfinished(path, mode) as file:
            file.write(content)


@contextmanager
def _unfinished(path: Path, mode: int) -> Iterator[BinaryIO]:
    """Give a file to write that gets its name when it is whole; otherwise it is removed."""
    unfinished = path.with_name(f".{path.name}.new")
    # Removed first and made anew: nobody has it open, and it is no link to a file elsewhere.
    unfinished.unlink(missing_ok=True)
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        move(unfinished, path)
    except OSError:
        unfinished.unlink(missing_ok=True)  # on a full disk it takes room from what others have to say
        raise


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name a file in what the system refuses: where a write fails it names none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def make_private(path: Path) -> None:
    """Make a folder within the data folder, for its owner alone, unless it is there."""
    if path.exists():
        return
    path.mkdir(mode=0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _hand_over(descriptor, path.parent)
    finally:
        os.close(descriptor)


def files_in(folder: Path) -> list[Path]:
    """Return what a folder holds, by name, without what is still being written; nothing if there is no such folder.

    Raises:
        FolderError: It cannot be listed.
    """
    # Not by a pattern: `glob` takes a folder that is closed to this user, or a link to a disk that is not
    # there, for an empty one.
    if not os.path.lexists(folder):
        return []
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise FolderError(f"cannot read {folder}: {error.strerror}") from error


def _hand_over(descriptor: int, folder: Path) -> None:
    """Give what an administrator makes to the folder's owner, the user whom the server runs as."""
    owner = folder.stat()
    if owner.st_uid != os.geteuid():
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def move(source: Path, target: Path) -> None:
    """Give a file or folder another name, durably; a file of that name is replaced."""
    source.rename(target)
    # The new name is in the folder, which has to reach the disk as well.
    parent = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(parent)
    except OSError as error:
        why = f"it is there, but a power cut may undo that: {error.strerror}"
        raise OSError(error.errno, why, str(target)) from error
    finally:
        os.close(parent)


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Keep every other process out of the folder.

    Raises:
        FolderLockedError: Another process is in it.
    """
    descriptor = _open_lock(folder, os.O_RDWR | os.O_CREAT)
    try:
        _take(folder, descriptor)
        # The process's number is only for the words in which others are refused.
        with _naming(folder.lock):
            _hand_over(descriptor, folder.root)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def lock_holder(folder: Folder) -> FolderLockedError | None:
    """Return why the folder cannot be locked now, or None if it can.

    Raises:
        FolderError: This user may not look.
    """
    if not folder.lock.exists():
        return None
    descriptor = _open_lock(folder, os.O_RDONLY)
    try:
        _take(folder, descriptor)
    except FolderLockedError as error:
        return error
    finally:
        os.close(descriptor)
    return None


def _open_lock(folder: Folder, flags: int) -> int:
    try:
        # Not for the processes that this one starts: a bot that outlives it would hold the lock on.
        return os.open(folder.lock, flags | os.O_CLOEXEC, 0o600)
    except PermissionError as error:
        raise FolderError(f"{folder.lock} is not this user's: {error.strerror}") from error


def _take(folder: Folder, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        text = os.pread(descriptor, 32, 0).strip()
        raise FolderLockedError(folder.root, int(text) if text.isdigit() else None) from error
    except OSError as error:
        raise FolderError(
            f"cannot lock {folder.lock}: {error.strerror}: expected a disk on which files can be locked"
        ) from error
