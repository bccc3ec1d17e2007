"""Who the server is: its identity key, and the key that match secrets are sealed with at rest.

Both are made on the first start and never again. Invariant: neither is ever replaced silently: where one is missing
although the other or the database shows that the server has run, that is an error, because players know the server by
the first and running matches need the second.
"""

import os
import stat
from pathlib import Path
from secrets import token_bytes
from typing import Final, NamedTuple

from truc_protocol.keys import KeyFileError, SigningKey, fingerprint, from_pem, generate_signing_key, to_pem
from truc_server.folder import Folder

_AT_REST_BYTES: Final = 32


class IdentityError(Exception):
    """The server's keys are missing, damaged or open to others; the text says which and what to do."""


class Identity(NamedTuple):
    """The server's keys; `at_rest` seals match secrets in the store."""

    key: SigningKey
    at_rest: bytes

    @property
    def fingerprint(self) -> str:
        """The short form of the identity that invites carry."""
        return fingerprint(self.key.public)

    def __repr__(self) -> str:
        return f"Identity({self.fingerprint})"


def load_identity(folder: Folder) -> Identity:
    """Return the keys in a data folder, made now if it is new.

    Raises:
        IdentityError: A key is missing from a used folder, damaged, or may be read by others.
    """
    if not folder.identity.exists():
        _create(folder)
    return read_identity(folder)


def read_identity(folder: Folder) -> Identity:
    """Return the keys in a data folder.

    Raises:
        IdentityError: A key is missing, damaged, or may be read by others.
    """
    pem = _read(folder.identity)
    at_rest = _read(folder.secrets_key)
    if len(at_rest) != _AT_REST_BYTES:
        raise IdentityError(f"{folder.secrets_key}: expected {_AT_REST_BYTES} bytes, got {len(at_rest)}")
    try:
        return Identity(from_pem(pem), at_rest)
    except KeyFileError as error:
        raise IdentityError(f"{folder.identity}: {error}") from error


def _create(folder: Folder) -> None:
    if folder.database.exists():
        raise IdentityError(
            f"{folder.identity} is missing, but {folder.database} is there: restore the key from a backup; "
            "with a new one every player would be warned of a false server"
        )
    # The identity comes last: a start killed in between is simply repeated.
    if not folder.secrets_key.exists():
        _write(folder.secrets_key, token_bytes(_AT_REST_BYTES))
    _write(folder.identity, to_pem(generate_signing_key()))


def _write(path: Path, key: bytes) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(descriptor)
    unfinished.rename(path)
    parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


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
