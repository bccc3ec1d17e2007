"""Running scenes: a server on loopback, the client's program started against it, and what came of each case.

The program is started without a shell in a fresh folder, and ended by its own id. Several scenes may run at once; each
has its own ports.
"""

import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeVar

import trio

from truc_conform.client_harness import ClientHarness
from truc_conform.result import PASSED, CaseOutcome, CaseResult, failed
from truc_conform.scenes import Exit, Judge, Scene
from truc_conform.shown import CODE
from truc_protocol.crypto.keys import fingerprint

T = TypeVar("T")
R = TypeVar("R")

_HOST: Final = "127.0.0.1"
_DOORS: Final = 2  # the address of the join string, and that to which a client may be moved
_LONGEST_OUTPUT: Final = 4_000
_LAST_WORDS_S: Final = 1.0  # for what a client sent before it exited


class Order(NamedTuple):
    """How clients are to be judged.

    Attributes:
        command: the program and its arguments, with places for `{url}` and the like.
        seed: what everything random at the server is drawn from.
        patience_s: how long a client is given for a scene.
        jobs: how many scenes run at once.
    """

    command: tuple[str, ...]
    seed: int = 1
    patience_s: float = 20.0
    jobs: int = 1


def found_from_here(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command that can be run in another folder: words that name files here become absolute paths."""
    return tuple(str(Path(word).absolute()) if Path(word).is_file() else word for word in command)


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
    }
    return [_filled(word, places) for word in command]


def _filled(word: str, places: dict[str, str]) -> str:
    for place, value in places.items():
        word = word.replace(place, value)
    return word


async def perform(scene: Scene, order: Order) -> list[CaseResult]:
    """Run one scene and judge its cases."""
    began = time.monotonic()
    server = ClientHarness(seed=order.seed, target=scene.target)
    scene.arrange(server)
    with tempfile.TemporaryDirectory(prefix="truc-conform-") as folder:
        end, output = await _play(server, scene, order, Path(folder))
    seconds = time.monotonic() - began
    return [CaseResult(case, _judged(judge, server, end), seconds, output) for case, judge in scene.judged]


def _judged(judge: Judge, server: ClientHarness, end: Exit | str) -> CaseOutcome:
    return failed(end) if isinstance(end, str) else judge(server, end) or PASSED


async def _play(server: ClientHarness, scene: Scene, order: Order, folder: Path) -> tuple[Exit | str, str]:
    async with trio.open_nursery() as nursery:
        server.nursery = nursery
        for door in range(_DOORS):
            (listener,) = await trio.open_tcp_listeners(0, host=_HOST)
            server.doors.append(listener.socket.getsockname()[1])
            nursery.start_soon(partial(trio.serve_listeners, partial(_admit, server, door), [listener]))
        end: Exit | str = "it was not started"
        for run in range(scene.runs):
            end = await _run(server, order, folder / str(run))
            if isinstance(end, str):
                break
        nursery.cancel_scope.cancel()
    return end, _read_output(folder)


def _read_output(folder: Path) -> str:
    output = b"".join(path.read_bytes() for path in sorted(folder.glob("*.txt")))
    return output[-_LONGEST_OUTPUT:].decode(errors="replace")


async def _admit(server: ClientHarness, door: int, stream: trio.SocketStream) -> None:
    server.doors_used.append(door)
    await server.serve(stream)


async def _run(server: ClientHarness, order: Order, home: Path) -> Exit | str:
    """Run the client once; return how it ended, or why it could not be started."""
    began = trio.current_time()
    server.done, server.is_over = trio.Event(), False
    with _made(home) as output:
        try:
            process = await trio.lowlevel.open_process(
                filled(found_from_here(order.command), server, home),
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            return f"the client cannot be started: {error}"
    code = await _await_end(process, server, order.patience_s)
    return Exit(code, trio.current_time() - began)


def _made(home: Path) -> BinaryIO:
    """Make the client's folder, and open the file for what it writes."""
    home.mkdir()
    return home.with_suffix(".txt").open("wb")


async def _await_end(process: trio.Process, server: ClientHarness, patience_s: float) -> int | None:
    try:
        with trio.move_on_after(patience_s):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_when_done, server, nursery.cancel_scope)
                await process.wait()
                await server.endings.wait_all(_LAST_WORDS_S)
                nursery.cancel_scope.cancel()
        return process.returncode
    finally:
        server.is_over = True
        if process.returncode is None:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


async def _cancel_when_done(server: ClientHarness, scope: trio.CancelScope) -> None:
    await server.done.wait()
    scope.cancel()


async def perform_all(
    scenes: Sequence[Scene], order: Order, tell: Callable[[CaseResult], None] = lambda _result: None
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
