"""Every scene for clients, which of them each level asks for, and how a scene is run.

There is a server on loopback, and the client's program is started against it without a shell, where the kit was, and ended by
its own id; each start has a fresh folder, unless a scene is about what a program finds there again. Several scenes may run at
once; each has its own ports.
"""

import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

import trio

from truc_conform.client_cases import (
    blind,
    blind_cheats,
    cheats,
    contradictions,
    entering,
    games,
    keyed,
    moving,
    seated,
    server_keys,
    watching,
)
from truc_conform.client_cases.blind import deals
from truc_conform.client_cases.keyed import has_key
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import UnmetError
from truc_conform.result import PASSED, Case, CaseOutcome, CaseResult, Level, ProgramTrace, failed, in_module
from truc_conform.scenes import ClientExit, Judge, Scene, needing, sits_down, watches
from truc_conform.shown import CODE
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.key_files import revocation_text
from truc_protocol.wire.handshake import revoke

SCENES: Final[tuple[Scene, ...]] = (
    *in_module(entering, Scene),
    *needing(watches, in_module(watching, Scene)),
    *needing(sits_down, in_module(seated, Scene)),
    *in_module(moving, Scene),
    *in_module(keyed, Scene),
    *needing(has_key, in_module(cheats, Scene)),
    *needing(has_key, in_module(contradictions, Scene)),
    *needing(has_key, in_module(games, Scene)),
    *in_module(server_keys, Scene),
    *needing(deals, in_module(blind, Scene)),
    *needing(deals, in_module(blind_cheats, Scene)),
)
CASES: Final[tuple[Case, ...]] = tuple(case for scene in SCENES for case, _ in scene.judged)
ASKED: Final[dict[Level, tuple[Level, ...]]] = {
    Level.C0: (Level.C0,),
    Level.C1: (Level.C0, Level.C1),
    Level.C2: (Level.C0, Level.C2),
    Level.C3: (Level.C0, Level.C2, Level.C3),
    Level.C4: (Level.C0, Level.C2, Level.C3, Level.C4),
    Level.C5: (Level.C0, Level.C2, Level.C3, Level.C5),
}
"""What a client must pass at each level: one that plays need not watch."""


def chosen(level: Level | None, patterns: Sequence[str] = ()) -> tuple[Scene, ...]:
    """Return the scenes of a level, or of all levels, with the cases that match one of the patterns."""
    levels = ASKED[level] if level is not None else tuple(Level)
    narrowed = (_narrowed(scene, levels, patterns) for scene in SCENES)
    return tuple(scene for scene in narrowed if scene.judged)


def _narrowed(scene: Scene, levels: Sequence[Level], patterns: Sequence[str]) -> Scene:
    judged = tuple(
        (case, judges)
        for case, judges in scene.judged
        if case.name.partition(".")[0] in levels and fits(case, patterns)
    )
    return scene._replace(judged=judged)


def fits(case: Case, patterns: Sequence[str]) -> bool:
    """Tell whether a case has a name that one of the patterns matches; without patterns every case has."""
    return not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns)


T = TypeVar("T")
R = TypeVar("R")

_HOST: Final = "127.0.0.1"
_DOORS: Final = 2  # the address of the join string, and that to which a client may be moved
_REVOCATION: Final = "{revocation}"
_REVOCATION_FILE: Final = "revocation.txt"
_LONGEST_OUTPUT: Final = 4_000
_LAST_WORDS_S: Final = 1.0  # for what a client sent before it exited


class JudgingOrder(NamedTuple):
    """How clients are to be judged.

    Attributes:
        command: the program and its arguments, with places for `{url}` and the like.
        seed: what everything random at the server is drawn from.
        patience_s: how long a client is given for a scene, anew with each record of its match.
        jobs: how many scenes run at once.
    """

    command: tuple[str, ...]
    seed: int = 1
    patience_s: float = 20.0
    jobs: int = 1


VisitByClient = Callable[[ClientHarness, Path], Awaitable[ClientExit | str]]
"""Lets a client visit the server once, in a folder that need not be there yet; returns how it ended."""


def filled(command: Sequence[str], server: ClientHarness, home: Path) -> list[str]:
    """Put the address and the like into a command."""
    port, pin = server.doors[0], fingerprint(server.key.public)
    places = {
        "{url}": f"truc://{_HOST}:{port}/{CODE}#{pin}",
        "{host}": _HOST,
        "{port}": str(port),
        "{table}": CODE,
        "{fingerprint}": pin,
        "{home}": str(home),
        _REVOCATION: str(home.parent / _REVOCATION_FILE),
    }
    return [_filled(word, places) for word in command]


def _filled(word: str, places: dict[str, str]) -> str:
    for place, value in places.items():
        # Not format(): a command may have braces of its own.
        word = word.replace(place, value)
    return word


async def perform(scene: Scene, order: JudgingOrder, visit: VisitByClient | None = None) -> list[CaseResult]:
    """Run one scene and judge its cases; `visit` is what a client does that is no program with a command."""
    began = time.monotonic()
    server = scene.harness(scene.game, seed=order.seed)
    server.takes_revocations = any(_REVOCATION in word for word in order.command)
    scene.arrange(server)
    with tempfile.TemporaryDirectory(prefix="truc-conform-") as folder:
        (Path(folder) / _REVOCATION_FILE).write_text(revocation_text(revoke(server.revoked)))
        end = await _play(server, scene, visit or partial(_run, order), Path(folder))
        trace = _trace(server, end, Path(folder))
    seconds = time.monotonic() - began
    return [CaseResult(case, _judged(judges, server, end), seconds, trace) for case, judges in scene.judged]


def _judged(judges: Sequence[Judge], server: ClientHarness, end: ClientExit | str) -> CaseOutcome:
    if isinstance(end, str):
        return failed(end)
    try:
        for judge in judges:
            judge(server, end)
    except UnmetError as unmet:
        return CaseOutcome(unmet.verdict, str(unmet))
    return PASSED


async def _play(server: ClientHarness, scene: Scene, visit: VisitByClient, folder: Path) -> ClientExit | str:
    async with trio.open_nursery() as nursery:
        server.nursery = nursery
        for door in range(_DOORS):
            # Ports of its own: scenes run at once, and a client
            # that comes back late must not meet the next one.
            (listener,) = await trio.open_tcp_listeners(0, host=_HOST)
            server.doors.append(listener.socket.getsockname()[1])
            nursery.start_soon(partial(trio.serve_listeners, partial(_admit, server, door), [listener]))
        end: ClientExit | str = "it was not started"
        for run in range(scene.runs):
            # Each start is seen and ended by itself; what the server knows of the match goes on.
            server.done, server.is_over = trio.Event(), False
            server.links_before = server.epoch
            end = await visit(server, folder / str(0 if scene.keeps_home else run))
            if isinstance(end, str):
                break
        nursery.cancel_scope.cancel()
    return end


def _trace(server: ClientHarness, end: ClientExit | str, folder: Path) -> ProgramTrace | None:
    """Return what the client has left behind; None if it could not be started."""
    if isinstance(end, str):
        return None
    stderr, stdout = (_read_output(folder, kind) for kind in ("stderr", "stdout"))
    return ProgramTrace(_ended(server, end), stderr, stdout, server.wire_trace.frames())


def _ended(server: ClientHarness, end: ClientExit) -> str:
    if end.code is None:
        why = "when the case had been seen" if server.done.is_set() else "as it had not ended"
        return f"stopped by the kit after {end.seconds:.1f} s, {why}"
    how = f"exit code {end.code}" if end.code >= 0 else f"signal {-end.code}"
    return f"{how} after {end.seconds:.1f} s"


def _read_output(folder: Path, kind: str) -> str:
    output = b"".join(path.read_bytes() for path in sorted(folder.glob(f"*.{kind}")))
    return output[-_LONGEST_OUTPUT:].decode(errors="replace")


async def _admit(server: ClientHarness, door: int, stream: trio.SocketStream) -> None:
    server.doors_used.append(door)
    await server.serve(stream)


async def _run(order: JudgingOrder, server: ClientHarness, home: Path) -> ClientExit | str:
    """Run the client once; return how it ended, or why it could not be started."""
    began = trio.current_time()
    await trio.Path(home).mkdir(exist_ok=True)
    # Beside its home, not in it; of several starts, one after the other.
    with home.with_suffix(".stdout").open("ab") as stdout, home.with_suffix(".stderr").open("ab") as stderr:
        try:
            process = await trio.lowlevel.open_process(
                filled(order.command, server, home), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
            )
        except OSError as error:
            return f"the client cannot be started: {error}"
    code = await await_end(process, server, order.patience_s)
    return ClientExit(code, trio.current_time() - began)


class RunningClient(Protocol):
    """A client that was started: a process, or what stands for one."""

    @property
    def returncode(self) -> int | None:
        """Its exit code; None while it runs."""

    async def wait(self) -> int:
        """Wait until it has ended."""

    def kill(self) -> None:
        """End it."""


async def await_end(process: RunningClient, server: ClientHarness, patience_s: float) -> int | None:
    """Wait until a client has ended, and end it when the case has been seen or nothing comes; return its exit code if it had one."""
    try:
        with patience(server, patience_s):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_when_done, server, nursery.cancel_scope)
                await process.wait()
                # A process may have ended before the kit has read what it sent last.
                await server.wait_parted(_LAST_WORDS_S)
                nursery.cancel_scope.cancel()
        return process.returncode
    finally:
        server.is_over = True
        if process.returncode is None:
            # Killed, not asked to end: what it would sign while it ends is not what the case is about.
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


@contextmanager
def patience(server: ClientHarness, seconds: float) -> Iterator[trio.CancelScope]:
    """Cancel what is done here when nothing has come of it for so long: a long match on a busy machine is no stalled one."""
    with trio.move_on_after(seconds) as scope:

        def wait_anew() -> None:
            scope.deadline = trio.current_time() + seconds

        server.goes_on = wait_anew
        yield scope


async def _cancel_when_done(server: ClientHarness, scope: trio.CancelScope) -> None:
    await server.done.wait()
    scope.cancel()


async def perform_all(
    scenes: Sequence[Scene], order: JudgingOrder, tell: Callable[[CaseResult], None] = lambda _result: None
) -> list[CaseResult]:
    """Run scenes, some of them at once; the results are in the order of the scenes."""

    async def work(scene: Scene) -> list[CaseResult]:
        results = await perform(scene, order)
        for result in results:
            tell(result)
        return results

    return [result for found in await in_order(scenes, work, order.jobs) for result in found]


async def in_order(items: Sequence[T], work: Callable[[T], Awaitable[R]], jobs: int) -> list[R]:
    """Work on so many items at once; return what came of each, in the order of the items."""
    found: dict[int, R] = {}
    waiting = iter(enumerate(items))

    async def take() -> None:
        for place, item in waiting:
            found[place] = await work(item)

    async with trio.open_nursery() as nursery:
        for _ in range(jobs):
            nursery.start_soon(take)
    return [found[place] for place in range(len(items))]
