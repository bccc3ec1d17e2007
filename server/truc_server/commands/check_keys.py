"""What `truc-server check` says about the keys and what opens them.

Nobody is asked for a passphrase: if no file has it, only the public parts of the keys are looked at.
"""

from collections.abc import Iterator
from pathlib import Path

from truc_server.identity.identity import (
    PublicIdentity,
    check_in_force,
    read_identity,
    read_public,
    unsealed_files,
)
from truc_server.identity.key_files import IdentityError
from truc_server.identity.passphrases import passphrase_of, read_passphrase
from truc_server.identity.rotation import made_at
from truc_server.settings.findings import Finding, note, right, wrong
from truc_server.settings.folder import Folder, FolderError
from truc_server.settings.settings import Settings


def look_at_keys(settings: Settings, folder: Folder, now: int) -> Iterator[Finding]:
    """Look at the identity keys, the key for secrets and the passphrase; `now` is Unix time in seconds."""
    try:
        if folder.identity.exists() or folder.database.exists():
            yield from _look_at_used(settings, folder, now)
        else:
            yield from _look_at_new(settings.store.passphrase_file)
    except (FolderError, IdentityError) as error:
        yield wrong(f"keys: {error}")
    except OSError as error:
        yield wrong(f"keys: cannot read {error.filename}: {error.strerror}")


def _look_at_new(passphrase_file: str) -> Iterator[Finding]:
    if passphrase_file:
        read_passphrase(Path(passphrase_file).expanduser())
    sealed = f", sealed with the passphrase in {passphrase_file}" if passphrase_file else ""
    yield right(f"keys: will be made at the first start{sealed}")


def _look_at_used(settings: Settings, folder: Folder, now: int) -> Iterator[Finding]:
    identity = read_public(folder)
    check_in_force(identity)
    yield from _look_at_seals(settings, folder)
    yield right(f"keys: fingerprint {identity.fingerprint}, serial {identity.serial}")
    yield from _look_at_clock(identity, now)


def _look_at_seals(settings: Settings, folder: Folder) -> Iterator[Finding]:
    plain = unsealed_files(folder)
    is_sealed = folder.identity not in plain
    if is_sealed and plain:
        names = ", ".join(map(str, plain))
        yield wrong(f"passphrase: {names} not sealed, although others are: run truc-server key passphrase")
    if is_sealed and not settings.store.passphrase_file:
        yield note(
            "passphrase: asked for at every start, at the terminal; a service needs store.passphrase_file"
        )
        return
    read_identity(folder, passphrase_of(settings, folder))
    if settings.store.passphrase_file:
        yield right(f"passphrase: {settings.store.passphrase_file} opens the keys")


def _look_at_clock(identity: PublicIdentity, now: int) -> Iterator[Finding]:
    if identity.rotations and now < (made := made_at(identity.rotations[-1])):
        days = -(-(made - now) // 86_400)
        yield wrong(
            f"clock: the key was changed up to {days} days from now by this machine's clock: set the clock, as players'"
            " clients refuse a key to come"
        )
