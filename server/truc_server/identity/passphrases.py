"""The passphrase that the server's keys may be sealed with: where it comes from, and how it is changed.

It comes from the file that store.passphrase_file names, or from whoever sits at the terminal; never from the environment or
a flag, which others can see. Invariant: a change takes effect at one moment, for every file at once: if it is killed
before, the passphrase is the old one; if after, it is the new one, and whoever opens the folder next puts the files in
their places.
"""

import shutil
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Final

import click

from truc_commands.files import path_of
from truc_server.identity.identity import has_passphrase, settle_passphrase, settled_identity
from truc_server.identity.key_files import IdentityError, key_text, secret_text
from truc_server.settings.folder import Folder, make_private, move, write_private
from truc_server.settings.settings import Settings

# The format of the files (PBKDF2 of 2,048 rounds) does little against guessing (keys.md, "A passphrase").
MIN_CHARACTERS: Final = 12
_MAX_BYTES: Final = 1_023  # set by the format of the files


def passphrase_of(settings: Settings, folder: Folder) -> str | None:
    """Return what opens the keys of a folder, or is to seal those of a new one; None if they have no passphrase.

    Raises:
        IdentityError: There is one but it cannot be had; or one is named but the keys have none.
    """
    named = settings.store.passphrase_file
    if not folder.identity.exists():
        return _named(named) if named else None
    present = sealing_passphrase(settings, folder)
    if named and present is None:
        raise IdentityError(
            f"store.passphrase_file is {named}, but the keys in {folder.root} have no passphrase: give them one "
            f"with truc-server key passphrase --new {named}, or take the setting out"
        )
    return present


def sealing_passphrase(settings: Settings, folder: Folder) -> str | None:
    """Return what opens the keys of a used folder; None if they have no passphrase, whatever the settings name.

    Raises:
        IdentityError: It cannot be had.
    """
    if not has_passphrase(folder):
        return None
    named = settings.store.passphrase_file
    return _named(named) if named else _asked(folder)


def read_passphrase(path: Path) -> str:
    """Return the first line of a file.

    Raises:
        IdentityError: It cannot be read, is open to other users, or its first line cannot be a passphrase.
    """
    try:
        # A group may read it: that is how systemd lets the service read its credentials.
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & (stat.S_IRWXO | stat.S_IWGRP):
            raise IdentityError(f"{path} is open to other users (mode {mode:04o}): run chmod 600 {path}")
        with path.open("rb") as file:
            return first_line(file, str(path))
    except OSError as error:
        raise IdentityError(f"cannot read the passphrase file {path}: {error.strerror}") from error


def first_line(file: BinaryIO, name: str) -> str:
    """Return the passphrase in the first line of an open file.

    Raises:
        IdentityError: It cannot be one.
    """
    try:
        # Two more for the end of the line; and without a bound a line of a device would never end.
        return checked(file.readline(_MAX_BYTES + 2).rstrip(b"\r\n").decode())
    except (UnicodeDecodeError, ValueError) as error:
        raise IdentityError(
            f"{name}: expected a passphrase of {MIN_CHARACTERS} characters to {_MAX_BYTES} bytes in its first line"
        ) from error


def checked(passphrase: str) -> str:
    """Return a text that may be a passphrase.

    Raises:
        ValueError: It is too short or too long.
    """
    if len(passphrase) < MIN_CHARACTERS or len(passphrase.encode()) > _MAX_BYTES:
        raise ValueError(f"expected a passphrase of {MIN_CHARACTERS} characters to {_MAX_BYTES} bytes")
    return passphrase


def is_at_terminal() -> bool:
    """Tell whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def change_passphrase(folder: Folder, before: str | None, after: str | None) -> None:
    """Seal every key file with another passphrase, or with none; the folder must be locked.

    Raises:
        IdentityError: The keys cannot be opened.
        FolderError: A folder of keys or revocations cannot be read.
    """
    identity = settled_identity(folder, before)
    unfinished = Folder(folder.root / f".{folder.next_keys.name}")
    if unfinished.root.exists():
        shutil.rmtree(unfinished.root)  # of a change that was killed before it was in force
    make_private(unfinished.root)
    if identity.earlier:
        make_private(unfinished.earlier)
    for path, key in zip(sorted(folder.earlier.glob("*.pem")), identity.earlier, strict=True):
        write_private(unfinished.earlier / path.name, key_text(key, after))
    write_private(unfinished.secrets_key, secret_text(identity.at_rest, after))
    write_private(unfinished.identity, key_text(identity.key, after))
    # The moment of the change: all files have been written, and from here on these are the ones in force.
    move(unfinished.root, folder.next_keys)
    settle_passphrase(folder)


def _named(path: str) -> str:
    return read_passphrase(path_of(path))


def _asked(folder: Folder) -> str:
    if not is_at_terminal():
        raise IdentityError(
            f"{folder.identity} is sealed with a passphrase: name the file that holds it in store.passphrase_file, "
            "or start at a terminal"
        )
    answer: str = click.prompt(f"Passphrase of {folder.identity}", hide_input=True, err=True)
    return answer
