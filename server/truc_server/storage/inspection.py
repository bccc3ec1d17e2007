"""A look at a SQLite database from outside, for `truc-server check`: nothing is written, migrated or repaired.

It may run beside a server. Invariant: the folder is left as it was found.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from truc_server.storage.schema import REVISION


class Inspection(NamedTuple):
    """What was found: what is wrong, or None; and the revision of the schema, or None if there is none."""

    problem: str | None
    revision: str | None

    @property
    def is_older(self) -> bool:
        """Whether the next start brings the schema up to date."""
        return self.revision is not None and self.revision < REVISION

    @property
    def is_newer(self) -> bool:
        """Whether a newer version has written it, so that this one does not open it."""
        return self.revision is not None and self.revision > REVISION


def inspect(database: Path) -> Inspection:
    """Read every page of a database and the revision of its schema; blocks, long if it is large."""
    try:
        with closing(sqlite3.connect(_address(database), uri=True)) as connection:
            found = [text for (text,) in connection.execute("PRAGMA quick_check(1)")]
            if found != ["ok"]:
                return Inspection(" ".join(" ".join(found).split()), None)
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return Inspection(None, None)  # a first start was killed before its end
            ((revision,),) = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except (sqlite3.Error, ValueError) as error:
        return Inspection(str(error), None)
    return Inspection(None, str(revision))


def _address(database: Path) -> str:
    """Return the address to open it by: with no log beside it nobody writes to it, and no log is to be made."""
    is_alone = not database.with_name(f"{database.name}-wal").exists()
    return f"file:{quote(str(database.absolute()))}?{'immutable=1' if is_alone else 'mode=ro'}"
