"""The files of the data folder that hold a secret key: how one is written, read, and recognised without being opened.

A file may be sealed with a passphrase. The file of an identity key then says, before the sealed part, which key it is, so
that whoever only wants to know that needs no passphrase; when it is opened, this is checked. Invariants: a file that
other users may read is refused; neither key nor passphrase is in an error.
"""

import re
import stat
from pathlib import Path
from typing import Final

from truc_commands.files import MAX_TEXT, read_bounded
from truc_protocol.crypto.keys import (
    KeyFileError,
    SigningKey,
    from_pem,
    is_sealed_pem,
    signing_key_from_seed,
    to_pem,
)

SECRET_BYTES: Final = 32
_OPEN_LINE: Final = re.compile(rb"truc server key ([0-9a-f]{64})\n")


class IdentityError(Exception):
    """The server's keys are missing, damaged, given up or open to others; the text says which and what to do."""


def key_text(key: SigningKey, passphrase: str | None) -> bytes:
    """Return the content of an identity key's file."""
    # Which key it is can then be told without the passphrase; unsealed, the file itself tells.
    open_line = "" if passphrase is None else f"truc server key {key.public.hex()}\n"
    return open_line.encode() + to_pem(key, passphrase)


def secret_text(secret: bytes, passphrase: str | None) -> bytes:
    """Return the content of a file of 32 secret bytes: themselves, or sealed in the form of an identity key."""
    return secret if passphrase is None else to_pem(signing_key_from_seed(secret), passphrase)


def is_sealed(path: Path) -> bool:
    """Tell whether a file is sealed with a passphrase.

    Raises:
        IdentityError: It is missing, or may be read by others.
    """
    return is_sealed_pem(_read(path))


def public_key(path: Path) -> bytes:
    """Return the public part of an identity key; no passphrase is needed.

    Raises:
        IdentityError: The file is missing, damaged, or may be read by others.
    """
    content = _read(path)
    if not is_sealed_pem(content):
        return _key(path, content, None).public
    said = _OPEN_LINE.match(content)
    if said is None:
        raise IdentityError(
            f"{path}: expected the line 'truc server key ...' at its head: restore it from a backup"
        )
    return bytes.fromhex(said[1].decode())


def open_key(path: Path, passphrase: str | None) -> SigningKey:
    """Return an identity key; the passphrase is used only if the file is sealed.

    Raises:
        IdentityError: The file is missing, damaged, may be read by others, or the passphrase does not open it.
    """
    key = _key(path, _read(path), passphrase)
    # The line stands outside of what is sealed, so that anybody who can write there could change it.
    if key.public != public_key(path):
        raise IdentityError(f"{path}: another key than its first line says: restore it from a backup")
    return key


def open_secret(path: Path, passphrase: str | None) -> bytes:
    """Return 32 secret bytes; the passphrase is used only if the file is sealed.

    Raises:
        IdentityError: The file is missing, damaged, may be read by others, or the passphrase does not open it.
    """
    content = _read(path)
    if is_sealed_pem(content):
        return _key(path, content, passphrase).seed()
    if len(content) != SECRET_BYTES:
        raise IdentityError(f"{path}: expected {SECRET_BYTES} bytes, got {len(content)}")
    return content


def _key(path: Path, content: bytes, passphrase: str | None) -> SigningKey:
    sealed = is_sealed_pem(content)
    if sealed and passphrase is None:
        raise IdentityError(f"{path} is sealed with a passphrase, and none was given")
    try:
        return from_pem(content, passphrase if sealed else None)
    except KeyFileError as error:
        why = "the passphrase does not open it, or it is damaged" if sealed else str(error)
        raise IdentityError(f"{path}: {why}") from error


def _read(path: Path) -> bytes:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise IdentityError(f"{path} is open to other users (mode {mode:04o}): run chmod 600 {path}")
        return read_bounded(path, MAX_TEXT)
    except FileNotFoundError as error:
        raise IdentityError(f"{path} is missing: restore it from a backup") from error
    except OSError as error:
        raise IdentityError(f"cannot read {path}: {error.strerror}") from error
