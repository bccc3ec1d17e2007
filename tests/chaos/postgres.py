"""A PostgreSQL of one's own, on a port of loopback and in a folder that goes with it; and whether this machine has one.

Its programs refuse to run as root, so root runs them as the user that the system's package has made. Invariant: the
server ends with the block that started it.
"""

import getpass
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg
from chaos.servers import HOST, free_port
from psycopg.sql import SQL, Identifier

_OWNER: Final = "postgres"
_INSTALLED: Final = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest of several; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda program: int(program.parts[-3]))
    return versions[-1].parent if versions else None


class Cluster:
    """A PostgreSQL that runs."""

    def __init__(self, port: int, owner: str) -> None:
        self._port = port
        self._owner = owner

    def create(self, database: str) -> str:
        """Make an empty database; return its URL, as `store.url` wants it."""
        with self.connect(_OWNER, autocommit=True) as raw:
            raw.execute(SQL("CREATE DATABASE {}").format(Identifier(database)))
        return f"postgresql://{self._owner}@{HOST}:{self._port}/{database}"

    def connect(self, database: str, *, autocommit: bool = False) -> psycopg.Connection:
        """Connect to a database."""
        return psycopg.connect(
            host=HOST, port=self._port, user=self._owner, dbname=database, autocommit=autocommit
        )


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Run a PostgreSQL as it is by default: what it commits is durable.

    Raises:
        FileNotFoundError: This machine has none.
    """
    where = programs()
    if where is None:
        raise FileNotFoundError("expected PostgreSQL's programs, found none")
    is_root = os.geteuid() == 0
    owner = _OWNER if is_root else getpass.getuser()
    as_owner = ["runuser", "-u", owner, "--"] if is_root else []
    port = free_port()
    with TemporaryDirectory() as folder:
        shutil.chown(folder, owner)
        control = [*as_owner, str(where / "pg_ctl"), "-D", f"{folder}/data", "-w", "-l", f"{folder}/log"]
        options = f"-k {folder} -p {port} -c listen_addresses={HOST}"
        _run([*as_owner, str(where / "initdb"), "-D", f"{folder}/data", "-A", "trust", "-N", "-E", "UTF8"])
        _run([*control, "-o", options, "start"])
        try:
            yield Cluster(port, owner)
        finally:
            _run([*control, "-m", "immediate", "stop"])


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
