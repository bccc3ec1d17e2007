"""Who the server is: its identity key with those before it, and the key that match secrets are sealed with at rest.

Both are made on the first start. The format of the files is in key_files.py. Invariants: neither is ever replaced
silently: if one is missing although the folder shows that the server has run, that is an error, because players know the
server by the first and running matches need the second. The present key is the one that the last rotation leads to,
whatever a killed rotation has left undone: there is never a second truth. A rotation happens when its statement is stored,
after both keys are on the disk: if it is killed before, there was none; if after, whoever opens the folder next finishes it.
"""

from collections.abc import Iterator
from pathlib import Path
from secrets import token_bytes
from typing import Final, NamedTuple

from truc_commands.files import MAX_TEXT, read_beginning, read_bounded
from truc_protocol.codec import enc
from truc_protocol.crypto.keys import KeyFileError, SigningKey, fingerprint, generate_signing_key, hkdf
from truc_protocol.key_files import Rotation, read_revocation, read_rolls, rolls_text
from truc_protocol.wire.handshake import MAX_ROLLS, Roll, make_roll
from truc_server.identity.key_files import (
    SECRET_BYTES,
    IdentityError,
    is_sealed,
    key_text,
    open_key,
    open_secret,
    public_key,
    secret_text,
)
from truc_server.settings.folder import Folder, FolderError, files_in, make_private, move, write_private

# A player's clock may be this late, and must not take the new key for a future one (security.md, C39).
_SLOW_CLOCKS_S: Final = 86_400


def revoked_keys(folder: Folder) -> frozenset[bytes]:
    """Return every key that was given up.

    Raises:
        FolderError: A file in the folder is no revocation, or they cannot be read.
    """
    return frozenset(map(_read, files_in(folder.revoked)))


def accept_revocation(folder: Folder, text: str) -> bytes:
    """Keep a revocation and return the key it gives up; it is heeded from the next start on.

    Raises:
        KeyFileError: It is no revocation.
    """
    public = read_revocation(text)
    make_private(folder.revoked)
    write_private(folder.revoked / f"{fingerprint(public)}.txt", text.encode("ascii"))
    return public


def _read(path: Path) -> bytes:
    try:
        return read_revocation(read_beginning(path, MAX_TEXT).decode("ascii", "replace"))
    except KeyFileError as error:
        raise FolderError(f"{path}: expected a revocation: {error}") from error
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from error


class PublicIdentity(NamedTuple):
    """The public side of the server's keys, which can be read without a passphrase.

    Attributes:
        key: the public part of the present identity key.
        rotations: how it came to be the present one, oldest first.
        earlier: the public parts of the keys before it that are still there.
        revoked: keys that were given up, of servers and of players.
    """

    key: bytes
    rotations: tuple[Rotation, ...] = ()
    earlier: tuple[bytes, ...] = ()
    revoked: frozenset[bytes] = frozenset()

    @property
    def fingerprint(self) -> str:
        """The short form of the identity that invites carry."""
        return fingerprint(self.key)

    @property
    def serial(self) -> int:
        """The number of the last rotation; 0 if there was none."""
        return len(self.rotations)


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

    @property
    def earlier_public_keys(self) -> tuple[bytes, ...]:
        """The public parts of the keys before the present one, oldest first."""
        return tuple(rotation.change.old for rotation in self.rotations)

    @property
    def at_rest_check(self) -> bytes:
        """What tells whether somebody else has the key for secrets at rest, and from which it cannot be found."""
        return hkdf(self.at_rest, b"", enc(["truc/1/at-rest-check"]))

    def key_of(self, public: bytes) -> SigningKey:
        """Return the identity key that a match was begun under.

        Raises:
            IdentityError: It is not among the present and earlier keys, or was given up.
        """
        if public in self.revoked:
            raise IdentityError(f"the key {fingerprint(public)} was revoked: nothing more is signed with it")
        # A match keeps the key of its `table`, which goes on signing it after a rotation.
        for key in (self.key, *self.earlier):
            if key.public == public:
                return key
        raise IdentityError(f"the key {fingerprint(public)} is not among the keys of this server")

    def __repr__(self) -> str:
        return f"Identity({self.fingerprint}, serial {self.serial})"


def load_identity(folder: Folder, passphrase: str | None = None) -> Identity:
    """Return the keys in a data folder, made now if it is new; the folder must be locked.

    Raises:
        IdentityError: A key is missing from a used folder, damaged, given up, or may be read by others.
        FolderError: A folder of keys or revocations cannot be read.
    """
    if not folder.identity.exists():
        _create(folder, passphrase)
    return settled_identity(folder, passphrase)


def settled_identity(folder: Folder, passphrase: str | None) -> Identity:
    """Return the keys in a used data folder, and finish what was killed half-way; the folder must be locked.

    Raises:
        IdentityError: A key is missing, damaged, given up, or may be read by others.
        FolderError: A folder of keys or revocations cannot be read.
    """
    # First, as its files may be those of the keys looked at below.
    settle_passphrase(folder)
    identity = read_identity(folder, passphrase)
    check_in_force(read_public(folder))
    if folder.next_identity.exists():
        if public_key(folder.next_identity) == identity.key.public:
            move(folder.next_identity, folder.identity)
        else:
            folder.next_identity.unlink()  # of a rotation that was killed before it was stored: nobody knows it
    return identity


def roll(folder: Folder, now: int, passphrase: str | None = None) -> Identity:
    """Give the server a new identity key and return its keys; the folder must be locked, `now` is Unix time in seconds.

    Whatever is written is sealed with the passphrase, if there is one.

    Raises:
        IdentityError: The present keys cannot be used.
        FolderError: A folder of keys or revocations cannot be read.
    """
    before = settled_identity(folder, passphrase)
    key = generate_signing_key()
    made = make_roll(before.key, key, serial=before.serial + 1, not_before=max(0, now - _SLOW_CLOCKS_S))
    make_private(folder.earlier)
    write_private(folder.earlier / f"{before.fingerprint}.pem", key_text(before.key, passphrase))
    write_private(folder.next_identity, key_text(key, passphrase))
    rolls = (*(rotation.roll for rotation in before.rotations), made)
    # This is the rotation: until now the new key is of use to nobody, and from now on, as both are on the
    # disk, `settled_identity` finishes whatever is killed.
    write_private(folder.rolls, rolls_text(rolls).encode())
    return settled_identity(folder, passphrase)


def made_at(rotation: Rotation) -> int:
    """Return when a rotation was made, as Unix time in seconds."""
    return rotation.change.not_before + _SLOW_CLOCKS_S


def settle_passphrase(folder: Folder) -> None:
    """Move the files of a change of the passphrase into place, if any are not there yet; the folder must be locked."""
    if not folder.next_keys.exists():
        return
    # File by file: if it is killed in between, `_file_in_force` finds each in one place or the other.
    following = Folder(folder.next_keys)
    for path in sorted(following.earlier.glob("*.pem")):
        move(path, folder.earlier / path.name)
    if following.earlier.exists():
        following.earlier.rmdir()
    for path in sorted(following.root.iterdir()):
        move(path, folder.root / path.name)
    following.root.rmdir()


def read_identity(folder: Folder, passphrase: str | None = None) -> Identity:
    """Return the keys in a data folder; nothing is changed.

    Raises:
        IdentityError: A key is missing, damaged, or may be read by others, or the passphrase does not open it.
        FolderError: A folder of keys or revocations cannot be read.
    """
    public = read_public(folder)
    return Identity(
        open_key(_present(folder, public.rotations), passphrase),
        open_secret(_file_in_force(folder, folder.secrets_key), passphrase),
        public.rotations,
        tuple(open_key(path, passphrase) for path in _earlier(folder)),
        public.revoked,
    )


def read_public(folder: Folder) -> PublicIdentity:
    """Return the public side of the keys in a data folder; no passphrase is needed, and nothing is changed.

    Raises:
        IdentityError: A key is missing, damaged, or may be read by others.
        FolderError: A folder of keys or revocations cannot be read.
    """
    rotations = _rotations(folder)
    key = public_key(_present(folder, rotations))
    known = {key, *(rotation.change.old for rotation in rotations)}
    earlier = {path: public_key(path) for path in _earlier(folder)}
    for path, public in earlier.items():
        if public not in known:
            raise IdentityError(
                f"{path}: no rotation in {folder.rolls} leads from this key: restore it from a backup"
            )
    return PublicIdentity(key, rotations, tuple(earlier.values()), revoked_keys(folder))


def unsealed_files(folder: Folder) -> tuple[Path, ...]:
    """Return the key files that no passphrase protects.

    Raises:
        IdentityError: One is missing, or may be read by others.
        FolderError: The folder of earlier keys cannot be read.
    """
    return tuple(path for path in _secret_files(folder) if not is_sealed(path))


def has_passphrase(folder: Folder) -> bool:
    """Tell whether a passphrase protects a key file.

    Raises:
        IdentityError: One is missing, or may be read by others.
        FolderError: The folder of earlier keys cannot be read.
    """
    return any(is_sealed(path) for path in _secret_files(folder))


def check_in_force(identity: PublicIdentity) -> None:
    """Check that the present key was not given up.

    Raises:
        IdentityError: It was.
    """
    if identity.key in identity.revoked:
        raise IdentityError(
            f"the key {identity.fingerprint} of this server was revoked; no client that knows of it comes to it or "
            "follows it to another: start anew with an empty data folder, and give players the new address"
        )


def _create(folder: Folder, passphrase: str | None) -> None:
    used = [folder.database, folder.rolls, folder.certificate, folder.admin_log]
    # `init` writes both, the settings last. Without settings a start was killed half-way; without the
    # secrets' key it was a host who began by hand.
    if folder.settings.exists() and folder.secrets_key.exists():
        used.append(folder.settings)
    for trace in used:
        if trace.exists():
            raise IdentityError(
                f"{folder.identity} is missing, but {trace} is there: restore the key from a backup; "
                "with a new one every player would be warned of a false server"
            )
    # The identity comes last: a start killed in between is simply repeated.
    if not folder.secrets_key.exists():
        write_private(folder.secrets_key, secret_text(token_bytes(SECRET_BYTES), passphrase))
    write_private(folder.identity, key_text(generate_signing_key(), passphrase))


def _rotations(folder: Folder) -> tuple[Rotation, ...]:
    try:
        return read_rolls(read_bounded(folder.rolls, MAX_TEXT).decode("ascii"))
    except FileNotFoundError:
        return ()
    except (KeyFileError, UnicodeDecodeError) as error:
        raise IdentityError(f"{folder.rolls}: {error}; restore it from a backup") from error
    except OSError as error:
        raise IdentityError(f"cannot read {folder.rolls}: {error.strerror}") from error


def _present(folder: Folder, rotations: tuple[Rotation, ...]) -> Path:
    """Return the file of the key that the last rotation leads to."""
    path = _file_in_force(folder, folder.identity)
    found = public_key(path)
    if not rotations or rotations[-1].change.new == found:
        return path
    expected = rotations[-1].change.new
    # A rotation that was stored, and killed before its key was in place.
    if folder.next_identity.exists() and public_key(folder.next_identity) == expected:
        return folder.next_identity
    raise IdentityError(
        f"{folder.identity}: expected the key {fingerprint(expected)}, which {folder.rolls} leads to, "
        f"got {fingerprint(found)}: restore both from the same backup"
    )


def _earlier(folder: Folder) -> Iterator[Path]:
    return (_file_in_force(folder, path) for path in files_in(folder.earlier) if path.suffix == ".pem")


def _secret_files(folder: Folder) -> Iterator[Path]:
    yield _file_in_force(folder, folder.identity)
    yield _file_in_force(folder, folder.secrets_key)
    yield from _earlier(folder)
    if folder.next_identity.exists():
        yield folder.next_identity


def _file_in_force(folder: Folder, path: Path) -> Path:
    """Return where a key file is: among those under a new passphrase, as long as they are not in place."""
    following = folder.next_keys / path.relative_to(folder.root)
    return following if following.exists() else path
