"""Changing the server's identity key: a new key, and a statement signed by the one before and the new one.

Invariant: the rotation happens when its statement is stored, after both keys are on the disk. If it is killed before,
there was none; if after, whoever opens the folder next finishes it.
"""

from typing import Final

from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.key_files import Rotation, rolls_text
from truc_protocol.wire.handshake import make_roll
from truc_server.identity.identity import Identity, settled_identity
from truc_server.identity.key_files import key_text
from truc_server.settings.folder import Folder, make_private, write_private

_SLOW_CLOCKS_S: Final = (
    86_400  # a player's clock may be this late, and must not take the new key for a future one
)


def roll(folder: Folder, now: int, passphrase: str | None = None) -> Identity:
    """Give the server a new identity key and return its keys; the folder must be locked, `now` is Unix time in seconds.

    Whatever is written is sealed with the passphrase, if there is one.

    Raises:
        IdentityError: The present keys cannot be used.
        FolderError: The revocations in the folder cannot be read.
    """
    before = settled_identity(folder, passphrase)
    key = generate_signing_key()
    made = make_roll(before.key, key, serial=before.serial + 1, not_before=max(0, now - _SLOW_CLOCKS_S))
    make_private(folder.earlier)
    write_private(folder.earlier / f"{before.fingerprint}.pem", key_text(before.key, passphrase))
    write_private(folder.next_identity, key_text(key, passphrase))
    rolls = (*(rotation.roll for rotation in before.rotations), made)
    write_private(folder.rolls, rolls_text(rolls).encode())
    return settled_identity(folder, passphrase)


def made_at(rotation: Rotation) -> int:
    """Return when a rotation was made, as Unix time in seconds."""
    return rotation.change.not_before + _SLOW_CLOCKS_S
