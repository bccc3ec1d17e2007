"""What a data folder says about itself: that it was restored from a backup, that restoring is unfinished, that it has moved.

Each is a file of its own, made by `truc-server restore` and `truc-server backup --final`. Invariant: for each match under
way in the backup the file says how many records it had, so that it is held at every start until it has more.
"""

import json
from collections.abc import Mapping
from typing import Literal, NamedTuple

from truc_server.settings.folder import Folder, FolderError, write_private

OpenMatches = Literal["ask", "continue", "close"]


class Restored(NamedTuple):
    """What a start must be careful with after a backup was restored.

    Attributes:
        matches: how many records each match under way had in the backup, by its id.
        terms: the `th` of terms that were out.
        gives_up: whether the host lets none of these matches go on.
    """

    matches: Mapping[bytes, int] = {}
    terms: frozenset[bytes] = frozenset()
    gives_up: bool = False

    def holds(self, match: bytes, k: int) -> bool:
        """Tell whether a match of `k` records has not gone on since."""
        return self.matches.get(match) == k


def write_restored(folder: Folder, restored: Restored) -> None:
    """Make the next starts careful."""
    matches = {mid.hex(): k for mid, k in restored.matches.items()}
    terms = sorted(th.hex() for th in restored.terms)
    values = {"gives_up": restored.gives_up, "matches": matches, "terms": terms}
    write_private(folder.restored, (json.dumps(values, indent=1) + "\n").encode())


def read_restored(folder: Folder) -> Restored:
    """Return what a start must be careful with; nothing if no backup was restored.

    Raises:
        FolderError: The file is not as it was written.
    """
    try:
        values = json.loads(folder.restored.read_text("ascii"))
        matches = {bytes.fromhex(mid): int(k) for mid, k in values["matches"].items()}
        return Restored(matches, frozenset(map(bytes.fromhex, values["terms"])), bool(values["gives_up"]))
    except FileNotFoundError:
        return Restored()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FolderError(
            f"{folder.restored}: expected what `truc-server restore` has written, got: {error}; restore the backup again"
        ) from error


def check_may_start(folder: Folder, *, moved_to: str) -> None:
    """Check that the tables in a folder may be taken up.

    Raises:
        FolderError: The folder is a backup; or one is only half restored in it; or the tables go on elsewhere, and
            `moved_to` does not say where.
    """
    if folder.manifest.exists():
        raise FolderError(
            f"{folder.root} is a backup: run truc-server restore {folder.root} --data FOLDER, and a server on that folder"
        )
    if folder.restoring.exists():
        raise FolderError(
            f"a backup was not restored to the end in {folder.root}: run the same truc-server restore again"
        )
    if folder.moved.exists() and not moved_to:
        raise FolderError(
            f"the tables in {folder.root} have moved: truc-server backup --final was run here. Set access.moved_to; or,"
            f" if that backup was restored nowhere and never will be, delete {folder.moved}"
        )
