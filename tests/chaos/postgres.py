"""A PostgreSQL of one's own, on a port of loopback and in a folder that goes with it; and whether this machine has one.

Its programs refuse to run as root, so root runs them as the user that the system's package has made. Invariant: the
server ends with the block that started it.
"""

import getpass
import os
import shutil
import signal
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
_TRIES: Final = 5


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest of several; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda program: int(program.parts[-3]))
    return versions[-1].parent if versions else None


class Cluster:
    """A PostgreSQL that runs.

    Attributes:
        port: where it listens.
    """

    def __init__(self, port: int, owner: str, folder: Path, control: list[str]) -> None:
        self.port = port
        self._owner = owner
        self._folder = folder
        self._control = control

    def create(self, database: str) -> str:
        """Make an empty database; return its URL, as `store.url` wants it."""
        with self.connect(_OWNER, autocommit=True) as raw:
            raw.execute(SQL("CREATE DATABASE {}").format(Identifier(database)))
        return self.url(database, self.port)

    def url(self, database: str, port: int) -> str:
        """Return the URL of a database by way of another port, such as that of a relay."""
        return f"postgresql://{self._owner}@{HOST}:{port}/{database}"

    def connect(self, database: str, *, autocommit: bool = False) -> psycopg.Connection:
        """Connect to a database."""
        return psycopg.connect(
            host=HOST, port=self.port, user=self._owner, dbname=database, autocommit=autocommit
        )

    def restart(self) -> None:
        """End it as a power cut would, and start it again; blocks until it takes connections."""
        _run([*self._control, "-m", "immediate", "restart"])

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let it stand still to the end of the block, with every process that it has: what it was sent waits."""
        stopped: list[int] = []
        try:
            # Its first process before the others, so that no more are started.
            for process in self._processes():
                os.kill(process, signal.SIGSTOP)
                stopped.append(process)
            yield
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)

    def _processes(self) -> Iterator[int]:
        first = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        yield first
        yield from map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())


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
    with TemporaryDirectory() as folder:
        shutil.chown(folder, owner)
        control = [*as_owner, str(where / "pg_ctl"), "-D", f"{folder}/data", "-w", "-l", f"{folder}/log"]
        _run([*as_owner, str(where / "initdb"), "-D", f"{folder}/data", "-A", "trust", "-N", "-E", "UTF8"])
        port, at_port = _start(control, Path(folder))
        try:
            yield Cluster(port, owner, Path(folder), at_port)
        finally:
            _run([*control, "-m", "immediate", "stop"])


def _start(control: list[str], folder: Path) -> tuple[int, list[str]]:
    """Start it on a free port; return the port, and the command that controls it there.

    Raises:
        OSError: It does not start; its log is told.
    """
    for _ in range(_TRIES):  # a port may be taken by a server of another test before it is taken here
        port = free_port()
        at_port = [*control, "-o", f"-k {folder} -p {port} -c listen_addresses={HOST}"]
        started = subprocess.run([*at_port, "start"], check=False, cwd="/", stdout=subprocess.DEVNULL)
        if started.returncode == 0:
            return port, at_port
    raise OSError(f"PostgreSQL did not start in {_TRIES} tries: {(folder / 'log').read_text()}")


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
