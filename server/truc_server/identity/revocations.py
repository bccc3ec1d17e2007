"""The keys that this server regards as given up: one revocation text each, in a folder within the data folder.

They are read at the start. Invariant: no file in that folder is passed over except hidden ones; what cannot be read is an
error, because a revocation that nobody heeds protects nobody.
"""

from pathlib import Path

from truc_protocol.crypto.keys import KeyFileError, fingerprint
from truc_protocol.key_files import read_revocation
from truc_server.settings.folder import Folder, FolderError, make_private, write_private


def revoked_keys(folder: Folder) -> frozenset[bytes]:
    """Return every key that was given up.

    Raises:
        FolderError: A file in the folder is no revocation.
    """
    if not folder.revoked.exists():
        return frozenset()
    return frozenset(
        _read(path) for path in sorted(folder.revoked.iterdir()) if not path.name.startswith(".")
    )


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
        return read_revocation(path.read_text("ascii", "replace"))
    except KeyFileError as error:
        raise FolderError(f"{path}: expected a revocation: {error}") from error
    except OSError as error:
        raise FolderError(f"cannot read {path}: {error.strerror}") from error
