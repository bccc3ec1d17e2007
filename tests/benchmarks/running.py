"""What is measured and who measures, each a process with a core of its own.

Invariants: both end with the block that started them; every server has a fresh data folder, unless one is named, and, but in a flood, plays as fast as
it can (QUICK: no pauses between hands, no limits that one address would reach).
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import trio
from benchmarks.generator import Plan
from benchmarks.proc import cores, pin, raise_file_limit
from chaos.servers import QUICK, ServerProcess, StartError, serving

TESTS: Final = Path(__file__).resolve().parent.parent
SETTINGS: Final = {**QUICK, "TRUC_LIMITS_CONNECTIONS": "20000", "TRUC_LIMITS_TABLES": "20000"}
TLS: Final = {**SETTINGS, "TRUC_LISTEN_TLS": "true"}
COMPILED: Final = {**SETTINGS, "PYTHONDONTWRITEBYTECODE": ""}
"""The interpreter keeps bytecode, as it does where nothing is said: then only the first start compiles."""
PATIENCE_S: Final = 900.0


class BenchmarkError(Exception):
    """A benchmark could not be run; the text says what was in the way."""


class MissingError(Exception):
    """A benchmark is left out, as something is not on this machine that nobody need have; the text says what."""


@asynccontextmanager
async def server(
    folder: Path, *, settings: Mapping[str, str] = SETTINGS, is_pinned: bool = True, data: Path | None = None
) -> AsyncIterator[ServerProcess]:
    """Run a server on the first core, or on all of them; without `data`, its data folder is a fresh one."""
    raise_file_limit()
    data = data or folder / f"data-{time.monotonic_ns()}"
    async with _started(data, settings) as running:
        if is_pinned:
            pin(running.pid, cores()[0])
        yield running


@asynccontextmanager
async def _started(data: Path, settings: Mapping[str, str]) -> AsyncIterator[ServerProcess]:
    try:
        async with serving(data, settings, level="info") as started:
            yield started
    except StartError as error:
        log = (data.parent / f"{data.name}.log").read_text(errors="replace").strip()
        raise BenchmarkError(f"the server did not start: {log.splitlines()[-1] if log else error}") from error


@asynccontextmanager
async def echo() -> AsyncIterator[tuple[int, int]]:
    """Run the bare echo on the first core; return its port and process."""
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "benchmarks.floor"], stdout=subprocess.PIPE, env=environment()
    )
    pin(process.pid, cores()[0])
    try:
        async with process.stdout:
            yield int(await process.stdout.receive_some(16)), process.pid
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def environment() -> dict[str, str]:
    """Return the environment of processes of this package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}


async def load(plan: Plan) -> dict[str, Any]:
    """Let the generator carry a plan out, on the last core, which it takes itself.

    Raises:
        BenchmarkError: It could not.
    """
    return await told("benchmarks.generator", json.dumps(asdict(plan)))


async def told(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of this package in a process of its own; return the figures that it prints.

    Raises:
        BenchmarkError: It could not.
    """
    return await told_by([sys.executable, "-m", module, *arguments], environment())


async def told_by(command: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    """Run a command; return the figures that it prints as JSON.

    Raises:
        BenchmarkError: It could not.
    """
    with trio.move_on_after(PATIENCE_S):
        done = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False, env=env)
        return _told(done)
    raise BenchmarkError(f"{' '.join(command[1:])}: expected an end within {PATIENCE_S:.0f} s")


def _told(done: "subprocess.CompletedProcess[bytes]") -> dict[str, Any]:
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(done.args[1:])} has failed: {done.stderr.decode()[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout)
    if "error" in told:
        raise BenchmarkError(told["error"])
    return told


async def measured(
    folder: Path,
    kind: str = "play",
    *,
    settings: Mapping[str, str] = SETTINGS,
    is_pinned: bool = True,
    web_port: int | None = None,
    **wanted: Any,
) -> dict[str, Any]:
    """Let a plan be carried out at a server of its own, at its door for browsers if that has a port; return what came of it."""
    door = {} if web_port is None else {"TRUC_WEB_LISTEN": f"127.0.0.1:{web_port}"}
    async with server(folder, settings={**settings, **door}, is_pinned=is_pinned) as running:
        return await load(Plan(kind, web_port or running.port, running.pid, **wanted))
