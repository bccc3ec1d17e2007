"""The data folder: where each file is, who may read it, and that only one process at a time uses it.

The folder is created for its owner alone. Invariant: while one process is in `locked`, no other is; the lock belongs to
the process, so a killed server leaves none behind.
"""

import fcntl
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class FolderError(Exception):
    """The data folder cannot be used; the text says why."""


class FolderLockedError(FolderError):
    """Another process uses the data folder; `pid` is its number, or None if it has not said."""

    def __init__(self, root: Path, pid: int | None) -> None:
        self.pid = pid
        who = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{root} is in use by {who}; stop it first, or choose another folder with --data")


class Folder(NamedTuple):
    """The layout of a data folder."""

    root: Path

    @property
    def settings(self) -> Path:
        """The settings file, if the host has put one there."""
        return self.root / "truc.toml"

    @property
    def variants(self) -> Path:
        """The folder of the host's own games, if there is one."""
        return self.root / "variants"

    @property
    def identity(self) -> Path:
        """The server's identity key."""
        return self.root / "identity.pem"

    @property
    def next_identity(self) -> Path:
        """The key that a rotation leads to, from before the rotation is stored until it is the identity key."""
        return self.root / "identity.next.pem"

    @property
    def earlier(self) -> Path:
        """The folder of the identity keys before the present one: matches begun under them need them."""
        return self.root / "earlier"

    @property
    def next_keys(self) -> Path:
        """The folder of the key files under a new passphrase, from when it is in force until they are all in place."""
        return self.root / "keys.next"

    @property
    def rolls(self) -> Path:
        """Every rotation of the identity key, oldest first."""
        return self.root / "rolls.txt"

    @property
    def revoked(self) -> Path:
        """The folder of the revocations that this server heeds."""
        return self.root / "revoked"

    @property
    def secrets_key(self) -> Path:
        """The key that match secrets are sealed with."""
        return self.root / "secrets.key"

    @property
    def certificate(self) -> Path:
        """The certificate made for TLS, with its key."""
        return self.root / "certificate.pem"

    @property
    def database(self) -> Path:
        """The SQLite database, unless store.url names another."""
        return self.root / "truc.db"

    @property
    def restored(self) -> Path:
        """What a start must be careful with after a backup was restored."""
        return self.root / "restored.json"

    @property
    def restoring(self) -> Path:
        """A file that is there while a backup is being restored."""
        return self.root / "restore.unfinished"

    @property
    def manifest(self) -> Path:
        """What a backup says about itself; no data folder has one."""
        return self.root / "manifest.json"

    @property
    def moved(self) -> Path:
        """A file that is there if the tables go on elsewhere, from a backup made to move them."""
        return self.root / "moved"

    @property
    def admin_socket(self) -> Path:
        """Where the running server takes the host's commands."""
        return self.root / "admin.sock"

    @property
    def admin_log(self) -> Path:
        """Every command that the running server was given, one per line."""
        return self.root / "admin.log"

    @property
    def unasked(self) -> Path:
        """The matches that go on with a call at the next start, each with its position."""
        return self.root / "unasked.json"

    @property
    def lock(self) -> Path:
        """The lock file; it holds the number of the process that has the lock."""
        return self.root / "lock"


def default_root(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the user's own folder for the server's data."""
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "truc-server"
    base = environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "share") / "truc-server"


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
    return "a disk that is read-only" if os.statvfs(root).f_flag & os.ST_RDONLY else "no permission"


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
    unfinished = path.with_name(f".{path.name}.new")
    with _naming(path):
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            _hand_over(descriptor, path.parent)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        move(unfinished, path)


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


def _hand_over(descriptor: int, folder: Path) -> None:
    """Give what an administrator makes to the folder's owner, the user whom the server runs as."""
    owner = folder.stat()
    if owner.st_uid != os.geteuid():
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def move(source: Path, target: Path) -> None:
    """Give a file or folder another name, durably; a file of that name is replaced."""
    source.rename(target)
    parent = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Keep every other process out of the folder.

    Raises:
        FolderLockedError: Another process is in it.
    """
    try:
        descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except PermissionError as error:
        raise FolderError(f"{folder.lock} is not this user's: {error.strerror}") from error
    try:
        _take(folder, descriptor)
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
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError as error:
        raise FolderError(f"{folder.lock} is not this user's: {error.strerror}") from error
    try:
        _take(folder, descriptor)
    except FolderLockedError as error:
        return error
    finally:
        os.close(descriptor)
    return None


def _take(folder: Folder, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        text = os.pread(descriptor, 32, 0).strip()
        raise FolderLockedError(folder.root, int(text) if text.isdigit() else None) from error
