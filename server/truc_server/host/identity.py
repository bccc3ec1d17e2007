"""Who the server is: its identity key with those before it, and the key that match secrets are sealed with at rest.

Both are made on the first start. Invariants: neither is ever replaced silently: where one is missing although the other
or the database shows that the server has run, that is an error, because players know the server by the first and
running matches need the second. The present key is the one that the last rotation leads to, whatever a killed rotation
has left undone: there is never a second truth.
"""

import stat
from pathlib import Path
from secrets import token_bytes
from typing import Final, NamedTuple

from truc_protocol.handshake import MAX_ROLLS, Roll
from truc_protocol.key_files import Rotation, read_rolls
from truc_protocol.keys import KeyFileError, SigningKey, fingerprint, from_pem, generate_signing_key, to_pem
from truc_server.host.folder import Folder, move, write_private
from truc_server.host.revocations import revoked_keys

_AT_REST_BYTES: Final = 32


class IdentityError(Exception):
    """The server's keys are missing, damaged, given up or open to others; the text says which and what to do."""


class Identity(NamedTuple):
    """The server's keys.

    Attributes:
        key: the present identity key; new matches are signed with it.
        at_rest: seals match secrets in the store.
        rotations: how the identity key came to be the present one, oldest first.
        earlier: the keys before it that are still there.
        revoked: keys that were given up, of servers and of players.
    """

    key: SigningKey
    at_rest: bytes
    rotations: tuple[Rotation, ...] = ()
    earlier: tuple[SigningKey, ...] = ()
    revoked: frozenset[bytes] = frozenset()

    @property
    def fingerprint(self) -> str:
        """The short form of the identity that invites carry."""
        return fingerprint(self.key.public)

    @property
    def serial(self) -> int:
        """The number of the last rotation; 0 if there was none."""
        return len(self.rotations)

    @property
    def rolls(self) -> tuple[Roll, ...]:
        """The newest rotations, as the server's hello carries them."""
        return tuple(rotation.roll for rotation in self.rotations[-MAX_ROLLS:])

    def key_of(self, public: bytes) -> SigningKey:
        """Return the identity key that a match was begun under.

        Raises:
            IdentityError: It is not among the present and earlier keys, or was given up.
        """
        if public in self.revoked:
            raise IdentityError(f"the key {fingerprint(public)} was revoked: nothing more is signed with it")
        for key in (self.key, *self.earlier):
            if key.public == public:
                return key
        raise IdentityError(f"the key {fingerprint(public)} is not among the keys of this server")

    def __repr__(self) -> str:
        return f"Identity({self.fingerprint}, serial {self.serial})"


def load_identity(folder: Folder) -> Identity:
    """Return the keys in a data folder, made now if it is new; the folder must be locked.

    Raises:
        IdentityError: A key is missing from a used folder, damaged, given up, or may be read by others.
        FolderError: The revocations in the folder cannot be read.
    """
    if not folder.identity.exists():
        _create(folder)
    return settled_identity(folder)


def settled_identity(folder: Folder) -> Identity:
    """Return the keys in a used data folder, and finish a rotation that was killed; the folder must be locked.

    Raises:
        IdentityError: A key is missing, damaged, given up, or may be read by others.
        FolderError: The revocations in the folder cannot be read.
    """
    identity = read_identity(folder)
    check_in_force(identity)
    if folder.next_identity.exists():
        if _key(folder.next_identity).public == identity.key.public:
            move(folder.next_identity, folder.identity)
        else:
            folder.next_identity.unlink()  # of a rotation that was killed before it was stored: nobody knows it
    return identity


def read_identity(folder: Folder) -> Identity:
    """Return the keys in a data folder; nothing is changed.

    Raises:
        IdentityError: A key is missing, damaged, or may be read by others.
        FolderError: The revocations in the folder cannot be read.
    """
    rotations = _rotations(folder)
    key = _present(folder, rotations)
    at_rest = _read(folder.secrets_key)
    if len(at_rest) != _AT_REST_BYTES:
        raise IdentityError(f"{folder.secrets_key}: expected {_AT_REST_BYTES} bytes, got {len(at_rest)}")
    earlier = _earlier(folder, {key.public, *(rotation.change.old for rotation in rotations)})
    return Identity(key, at_rest, rotations, earlier, revoked_keys(folder))


def check_in_force(identity: Identity) -> None:
    """Check that the present key was not given up.

    Raises:
        IdentityError: It was.
    """
    if identity.key.public in identity.revoked:
        raise IdentityError(
            f"the key {identity.fingerprint} of this server was revoked; no client that knows of it comes to it or "
            "follows it to another: start anew with an empty data folder, and give players the new address"
        )


def _create(folder: Folder) -> None:
    for trace in (folder.database, folder.rolls):
        if trace.exists():
            raise IdentityError(
                f"{folder.identity} is missing, but {trace} is there: restore the key from a backup; "
                "with a new one every player would be warned of a false server"
            )
    # The identity comes last: a start killed in between is simply repeated.
    if not folder.secrets_key.exists():
        write_private(folder.secrets_key, token_bytes(_AT_REST_BYTES))
    write_private(folder.identity, to_pem(generate_signing_key()))


def _rotations(folder: Folder) -> tuple[Rotation, ...]:
    try:
        return read_rolls(folder.rolls.read_text("ascii"))
    except FileNotFoundError:
        return ()
    except (KeyFileError, UnicodeDecodeError) as error:
        raise IdentityError(f"{folder.rolls}: {error}; restore it from a backup") from error
    except OSError as error:
        raise IdentityError(f"cannot read {folder.rolls}: {error.strerror}") from error


def _present(folder: Folder, rotations: tuple[Rotation, ...]) -> SigningKey:
    """Return the key that the last rotation leads to."""
    key = _key(folder.identity)
    if not rotations or rotations[-1].change.new == key.public:
        return key
    expected = rotations[-1].change.new
    if folder.next_identity.exists():
        following = _key(folder.next_identity)
        if following.public == expected:
            return following
    raise IdentityError(
        f"{folder.identity}: expected the key {fingerprint(expected)}, which {folder.rolls} leads to, "
        f"got {fingerprint(key.public)}: restore both from the same backup"
    )


def _earlier(folder: Folder, known: set[bytes]) -> tuple[SigningKey, ...]:
    paths = sorted(folder.earlier.glob("*.pem"))
    keys = tuple(map(_key, paths))
    for path, key in zip(paths, keys, strict=True):
        if key.public not in known:
            raise IdentityError(
                f"{path}: no rotation in {folder.rolls} leads from this key: restore it from a backup"
            )
    return keys


def _key(path: Path) -> SigningKey:
    try:
        return from_pem(_read(path))
    except KeyFileError as error:
        raise IdentityError(f"{path}: {error}") from error


def _read(path: Path) -> bytes:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise IdentityError(f"{path} is open to other users (mode {mode:04o}): run chmod 600 {path}")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise IdentityError(f"{path} is missing: restore it from a backup") from error
    except OSError as error:
        raise IdentityError(f"cannot read {path}: {error.strerror}") from error
