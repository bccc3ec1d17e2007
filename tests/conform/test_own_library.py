"""Our own client library, in this process: it passes, and stops at the very check that a case names."""

import re
from pathlib import Path

import pytest
import trio
from client.playing import play_on

from truc_client import CheckFailedError, Player, RefusedError, connect, open_home
from truc_conform.client_cases import JudgingOrder, chosen, filled, in_order, patience, perform
from truc_conform.result import CaseVerdict
from truc_conform.scenes import ClientExit, Scene
from truc_conform.shown import CODE

PATIENCE_S = 30.0
_CHECK = re.compile(r"^stops at .*\((C\d+)\)")


def check_of(scene: Scene) -> str | None:
    """Return the check at which a scene's cases say that a client stops."""
    ((case, _), *_) = scene.judged
    found = _CHECK.search(case.expected)
    return found and found[1]


BY_CHECK = [scene for scene in chosen(None, ["C3.*", "C4.*"]) if check_of(scene)]
SCENES = [*BY_CHECK, *chosen(None, ["C5.*"])]
OTHERWISE = {"C3.cheat-position": "C33"}
"""It asks again for what seems to be missing, and is shown another record for a place that it has."""


class Visitor:
    """Our own library as a client under test, in this process; `failed` is the check at which it has stopped."""

    def __init__(self) -> None:
        self.failed: str | None = None

    async def visit(self, server, home: Path) -> ClientExit:
        (url,) = filled(["{url}"], server, home)
        await trio.Path(home).mkdir(exist_ok=True)
        try:
            with patience(server, PATIENCE_S):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._stop, server.done, nursery.cancel_scope)
                    await self._play(url, home)
                    nursery.cancel_scope.cancel()
        except* CheckFailedError as group:
            (failed,) = group.exceptions
            while isinstance(failed, ExceptionGroup):
                (failed,) = failed.exceptions
            self.failed = failed.check
        server.is_over = True
        return ClientExit(0 if self.failed is None else 1, 0.0)

    async def _stop(self, done: trio.Event, scope: trio.CancelScope) -> None:
        await done.wait()
        scope.cancel()

    async def _play(self, url: str, home: Path) -> None:
        async with connect(url, Player(open_home(home), "north")) as connection:
            if connection.held:
                table = await connection.resume(connection.held[0])
            else:
                table = await connection.join(CODE)
                await table.ready()
            await play_on(table)


class LateVisitor(Visitor):
    """One that names what a seat takes where the host sees no card only after it was told so."""

    async def _play(self, url: str, home: Path) -> None:
        async with connect(url, Player(open_home(home), "north"), want=()) as connection:
            with pytest.raises(RefusedError):
                await connection.join(CODE)
        await super()._play(url, home)


def test_client_may_come_back_and_name_what_it_takes_to_deal() -> None:
    (scene,) = chosen(None, ["C5.plays"])
    (result,) = trio.run(perform, scene, JudgingOrder(()), LateVisitor().visit)
    assert result.verdict is CaseVerdict.PASS


@pytest.mark.slow
def test_our_library_passes_and_stops_at_the_check_that_each_case_names() -> None:
    visitors = [Visitor() for _ in SCENES]

    async def work(visited):
        scene, visitor = visited
        return await perform(scene, JudgingOrder(()), visitor.visit)

    found = trio.run(in_order, list(zip(SCENES, visitors, strict=True)), work, 8)
    results = [result for each in found for result in each]
    assert [result for result in results if result.verdict is not CaseVerdict.PASS] == []
    stopped = {
        scene.judged[0][0].name: visitor.failed for scene, visitor in zip(SCENES, visitors, strict=True)
    }
    assert stopped == {scene.judged[0][0].name: check_of(scene) for scene in SCENES} | OTHERWISE
