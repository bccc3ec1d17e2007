"""The client's home: the folder that holds the player's key, the state of matches, transcripts and evidence.

Only its owner can read it. The master seed in it is the player: the keys for every server come from it, and whoever
loses it loses seats and rating.
"""

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EEXIST
from pathlib import Path
from typing import Final, NamedTuple

from truc_client.errors import HomeError, system_reason
from truc_commands.files import MAX_TEXT, is_homeless, path_of, read_beginning
from truc_protocol.crypto.keys import (
    KEY_BYTES,
    KeyFileError,
    SigningKey,
    fingerprint,
    player_seed,
    signing_key_from_seed,
)
from truc_protocol.key_files import UnsignedRevocationError, read_revocation
from truc_words import Sentence

VARIABLE: Final = "TRUC_HOME"
_EXPORT_HEAD: Final = "truc player key 1"
_BOTS: Final = "bots"


class Home(NamedTuple):
    """A folder that exists; see `open_home`."""

    root: Path

    @property
    def state(self) -> Path:
        """The database of pinned servers and matches."""
        return self.root / "state.sqlite"

    @property
    def seed(self) -> Path:
        """The master seed, 32 bytes."""
        return self.root / "master.seed"

    @property
    def name(self) -> Path:
        """The file with the name that the player has chosen."""
        return self.root / "name"

    @property
    def transcripts(self) -> Path:
        """The folder of transcripts."""
        return self.root / "transcripts"

    @property
    def evidence(self) -> Path:
        """The folder of evidence of failed checks."""
        return self.root / "evidence"

    @property
    def revoked(self) -> Path:
        """The folder of the revocations that this player heeds."""
        return self.root / "revoked"

    @property
    def owner(self) -> "Home":
        """The home of the person whose bot this home belongs to; else this home."""
        return Home(self.root.parent.parent) if self.root.parent.name == _BOTS else self

    @property
    def with_bots(self) -> "tuple[Home, ...]":
        """This home and those of its player's bots."""
        return (self, *map(Home, sorted((self.root / _BOTS).glob("*"))))


def default_root(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the default folder of the home: TRUC_HOME, or where the platform keeps such things.

    Raises:
        HomeError: In a home folder that is not known.
    """
    root = path_of(environ.get(VARIABLE) or f"{_kept_by(environ, platform)}/truc")
    if is_homeless(root):
        raise HomeError(
            Sentence("failures.folder_unusable", path=root, reason=Sentence("failures.no_such_file"))
        )
    return root


def _kept_by(environ: Mapping[str, str], platform: str) -> str:
    match platform:
        case "win32":
            return environ.get("APPDATA") or "~/AppData/Roaming"
        case "darwin":
            return "~/Library/Application Support"
        case _:
            return environ.get("XDG_DATA_HOME") or "~/.local/share"


def open_home(root: Path | str) -> Home:
    """Make the folder if it is missing, for its owner alone, and return the home.

    Raises:
        HomeError: It cannot be made.
    """
    home = Home(Path(root))
    with as_home_error("failures.folder_unusable", home.root):
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (home.transcripts, home.evidence):
            folder.mkdir(mode=0o700, exist_ok=True)
    return home


@contextmanager
def as_home_error(key: str, path: Path) -> Iterator[None]:
    """Let what the system refuses in the block be a HomeError: a sentence with the file and the reason."""
    try:
        yield
    except OSError as error:
        raise HomeError(Sentence(key, path=path, reason=system_reason(error))) from error


def write_through(file: int | Path, content: bytes) -> None:
    """Write a file, by its name or its descriptor, through to the disk."""
    with open(file, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file through to the disk; what was there before stays until all of it is written."""
    unfinished = path.with_name(f".{path.name}.new")
    try:
        write_through(unfinished, content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_new(path: Path, content: bytes) -> None:
    """Write a file through to the disk, whole or not at all, and for its owner alone from the first byte on.

    Raises:
        FileExistsError: There is a file of that name; it stays.
    """
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        write_through(descriptor, content)
        try:
            os.link(unfinished, path)  # unlike a rename, a link replaces nothing
        except OSError:
            # some file systems have no links: there two processes must not begin at one moment
            if os.path.lexists(path):
                raise FileExistsError(EEXIST, os.strerror(EEXIST)) from None
            os.replace(unfinished, path)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def has_seed(home: Home) -> bool:
    """Tell whether this home has a player already."""
    return home.seed.exists()


def master_seed(home: Home) -> bytes:
    """Return the master seed, made at first use.

    Raises:
        HomeError: The file cannot be read, or holds something else.
    """
    if not has_seed(home):
        # another process may have been quicker, and its player is this one
        with as_home_error("failures.key_unwritten", home.seed), suppress(FileExistsError):
            write_new(home.seed, secrets.token_bytes(KEY_BYTES))
    with as_home_error("failures.key_unread", home.seed):
        # bounded: the path may lead to a device that never ends
        seed = read_beginning(home.seed, MAX_TEXT)
    if len(seed) != KEY_BYTES:
        raise HomeError(Sentence("failures.key_length", path=home.seed, n=KEY_BYTES, got=len(seed)))
    return seed


def write_seed(home: Home, seed: bytes) -> None:
    """Write the master seed, if there is none yet.

    Raises:
        HomeError: There is one already, or it cannot be written.
    """
    with as_home_error("failures.key_unwritten", home.seed):
        try:
            write_new(home.seed, seed)
        except FileExistsError:  # never over another seed, which would be a lost player
            raise HomeError(Sentence("failures.key_there", path=home.seed)) from None


def kept_name(home: Home) -> str | None:
    """Return the name that the player has chosen; None if they have chosen none."""
    try:
        return read_beginning(home.name, MAX_TEXT).decode().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def keep_name(home: Home, name: str) -> None:
    """Remember the name that the player has chosen.

    Raises:
        HomeError: It cannot be written.
    """
    with as_home_error("failures.cannot_write", home.name):
        write_whole(home.name, f"{name}\n".encode())


def player_key(seed: bytes, first_spk: bytes) -> SigningKey:
    """Return the player's key for one server, derived from the first key pinned for that server."""
    return signing_key_from_seed(player_seed(seed, first_spk))


def export_seed(seed: bytes) -> str:
    """Return the master seed as text, to be kept safe or carried to another machine."""
    return f"{_EXPORT_HEAD}\n{seed.hex()}\n"


def import_seed(text: str) -> bytes:
    """Read what `export_seed` wrote.

    Raises:
        HomeError: It is something else.
    """
    head, _, digits = text.strip().partition("\n")
    try:
        seed = bytes.fromhex(digits)
    except ValueError:
        seed = b""
    if head.strip() != _EXPORT_HEAD or len(seed) != KEY_BYTES:
        raise HomeError(Sentence("failures.export_expected", head=repr(_EXPORT_HEAD), n=2 * KEY_BYTES))
    return seed


def revoked_keys(home: Home) -> frozenset[bytes]:
    """Return every key that this player treats as revoked; a bot heeds its owner's revocations too.

    Raises:
        HomeError: A file in a folder of revocations is not one, or cannot be read.
    """
    return frozenset().union(*map(_keys_revoked_in, {home.revoked, home.owner.revoked}))


def _keys_revoked_in(folder: Path) -> frozenset[bytes]:
    with as_home_error("failures.cannot_read", folder):
        # a link to a disk that is not there is no home without revocations: keys that were given up would be let in
        paths = [*folder.iterdir()] if folder.exists() or folder.is_symlink() else []
    # what begins with a dot is a revocation that a crash left unfinished
    return frozenset(_read_revocation(path) for path in paths if not path.name.startswith("."))


def accept_revocation(home: Home, text: str) -> bytes:
    """Heed a revocation from now on; return the key that it revokes.

    Raises:
        HomeError: The text is no revocation, or cannot be kept.
    """
    try:
        public = read_revocation(text)
    except KeyFileError as error:
        is_unsigned = isinstance(error, UnsignedRevocationError)
        why = Sentence("failures.revocation_damaged") if is_unsigned else str(error)
        raise HomeError(Sentence("failures.revocation_expected", error=why)) from error
    with as_home_error("failures.revocation_unkept", home.revoked):
        home.revoked.mkdir(mode=0o700, exist_ok=True)
        path = home.revoked / f"{fingerprint(public)}.txt"
        # a half-written revocation would keep every connection
        # from being opened, as what cannot be read is an error
        write_whole(path, text.encode("ascii"))
    return public


def _read_revocation(path: Path) -> bytes:
    with as_home_error("failures.cannot_read", path):
        text = read_beginning(path, MAX_TEXT).decode("ascii", "replace")
    try:
        return read_revocation(text)
    except KeyFileError as error:
        raise HomeError(Sentence("failures.revocation_in_file", path=path, error=error)) from error


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; tell whether it was free. On a platform without locks every file is."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def sole_use(root: Path) -> Iterator[bool]:
    """Hold a folder as its only user; yield whether it was free. It is freed at the latest when the process ends."""
    descriptor = os.open(root / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)
