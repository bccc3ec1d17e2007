"""Servers under Node that are measured beside ours: what runs there is in peers/, and npm installs what it needs, outside this tree.

Nothing of the product needs Node. Invariant: the versions are those of peers/package-lock.json, whose contents name the folder, so that one
that is there already is whole, and of these versions.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import trio
from benchmarks.proc import cores
from benchmarks.running import BenchmarkError, MissingError, told_by

PEERS: Final = Path(__file__).resolve().parent / "peers"
LOCKED: Final = ("package.json", "package-lock.json")
SERVERS: Final[Mapping[str, str]] = {"boardgame.io": "boardgame.cjs", "room": "room.cjs"}
PROGRAMS: Final = ("node", "npm", "taskset")
NPM: Final = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
INSTALL_S: Final = 300.0
START_S: Final = 30.0


def folder() -> Path:
    """Return the folder that npm installs to: one for each set of versions, in the cache of this user."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = sha256(b"".join((PEERS / name).read_bytes() for name in LOCKED)).hexdigest()
    return cache / f"truc-benchmark-peers-{digest[:16]}"


def install() -> Path:
    """Return that folder, with everything in it.

    Raises:
        MissingError: Node or npm is not here, or npm did not get what it was to install.
    """
    wanted = folder()
    if None in map(shutil.which, PROGRAMS):
        raise MissingError("needs Node and npm (Debian's packages nodejs and npm)")
    if not wanted.exists():
        wanted.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wanted.parent, prefix=f"{wanted.name}-") as scratch:
            whole = Path(scratch, "whole")
            _install_into(whole)
            whole.rename(wanted)
    return wanted


def _install_into(scratch: Path) -> None:
    scratch.mkdir()
    for name in LOCKED:
        shutil.copy(PEERS / name, scratch)
    try:
        subprocess.run(NPM, cwd=scratch, capture_output=True, check=True, timeout=INSTALL_S, text=True)
    except subprocess.CalledProcessError as error:
        raise MissingError(f"npm could not install boardgame.io: {error.stderr.strip()[:200]}") from error
    except subprocess.TimeoutExpired as error:
        raise MissingError(f"npm has not installed boardgame.io within {INSTALL_S:.0f} s") from error


async def measured(installed: Path, kind: str, **wanted: Any) -> dict[str, Any]:
    """Run a server on the first core and its load generator on the last; return what came of it.

    Raises:
        BenchmarkError: It could not be measured, or a game was not really played.
    """
    async with _serving(installed, kind) as (port, pid):
        plan = json.dumps({"kind": kind, "port": port, "pid": pid, **wanted})
        told = await told_by(_on(cores()[1], "load.cjs", plan), _environment(installed))
    if told["faults"]:
        raise BenchmarkError(f"{kind}: {told['faults'][0]}")
    return told


@asynccontextmanager
async def _serving(installed: Path, kind: str) -> AsyncIterator[tuple[int, int]]:
    process = await trio.lowlevel.open_process(
        _on(cores()[0], SERVERS[kind]), stdout=subprocess.PIPE, env=_environment(installed)
    )
    try:
        port = b""
        async with process.stdout:
            with trio.move_on_after(START_S):
                port = await process.stdout.receive_some(16)
            if not port:
                raise BenchmarkError(f"{kind}: the server did not start")
            yield int(port), process.pid
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def _on(chosen: set[int], script: str, *arguments: str) -> list[str]:
    """Return a command that runs on these cores: Node has threads of its own from the start."""
    return ["taskset", "--cpu-list", ",".join(map(str, chosen)), "node", str(PEERS / script), *arguments]


def _environment(installed: Path) -> dict[str, str]:
    return {**os.environ, "NODE_PATH": str(installed / "node_modules"), "NODE_ENV": "production"}
