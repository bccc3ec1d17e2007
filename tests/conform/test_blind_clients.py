"""Our own client library at the kit's tables whose host sees no card, and bots that lack one check or duty there."""

import re
import sys
from pathlib import Path

import pytest
import trio
from client.playing import play_on
from conform.judging import failures, judge, judge_each

from truc_client import CheckFailedError, Player, connect, open_home
from truc_conform.client_cases import Order, chosen, filled, in_order, patience, perform
from truc_conform.result import CaseVerdict, Level
from truc_conform.scenes import Exit
from truc_conform.shown import CODE

PATIENCE_S = 30.0
_CHECK = re.compile(r"^stops at .*\((C\d+)\)$")
SCENES = chosen(None, ["C5.*"])
CARELESS = Path(__file__).with_name("careless_dealer.py")
FAULTS = {
    "takes points twice": "C5.cheat-mask-twice",
    "takes any places": "C5.cheat-places",
    "reads no links": "C5.exposed",
    "plays on when garbled": "C5.garbled",
    "opens at once": "C5.due",
    "lends nothing": "C5.lends",
    "keeps unseen cards shut": "C5.unseen",
    "deals no new cards": "C5.redeal",
    "turns nothing up": "C5.turn-up",
    "carries points over": "C5.games",
    "stands still where a step has moved": "C5.moved-lock",
    "believes any value": "C5.false-value",
    "reads no heads": "C5.cheat-two-masks",
}
"""What a bot lacks (careless_dealer.py), and the case that finds it."""


class Visitor:
    """Our own library as a client under test, in this process; `failed` is the check at which it has stopped."""

    def __init__(self) -> None:
        self.failed: str | None = None

    async def visit(self, server, home: Path) -> Exit:
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
        return Exit(0 if self.failed is None else 1, 0.0)

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


@pytest.mark.slow
def test_our_library_passes_and_stops_at_the_check_that_each_case_names() -> None:
    visitors = [Visitor() for _ in SCENES]

    async def work(visited):
        scene, visitor = visited
        return await perform(scene, Order(()), visitor.visit)

    found = trio.run(in_order, list(zip(SCENES, visitors, strict=True)), work, 4)
    results = [result for each in found for result in each]
    assert [result for result in results if result.verdict is not CaseVerdict.PASS] == []
    named = {case.name: _CHECK.search(case.expected) for scene in SCENES for case, _ in scene.judged[:1]}
    stopped = {
        scene.judged[0][0].name: visitor.failed for scene, visitor in zip(SCENES, visitors, strict=True)
    }
    assert stopped == {name: check and check[1] for name, check in named.items()}


@pytest.mark.slow
def test_bot_deals_and_goes_on_after_a_lost_connection_and_a_kill() -> None:
    """What else it has to do and to find, the library does."""
    command = ("env", "TRUC_HOME={home}", "LC_ALL=C.UTF-8", sys.executable, "-m", "truc_terminal")
    cases = ("C5.plays", "C5.ack", "C5.cut-off", "C5.killed-keys")
    results = judge(cases, *command, "bot", "{url}", level=Level.C5, patience_s=PATIENCE_S, jobs=4)
    assert [it.outcome for it in results.values() if it.verdict is not CaseVerdict.PASS] == []
    assert len(results) == len(cases)


def careless(fault: str) -> tuple[str, ...]:
    return ("env", "TRUC_HOME={home}", "LC_ALL=C.UTF-8", sys.executable, str(CARELESS), fault, "{url}")


@pytest.mark.slow
def test_each_bot_that_lacks_a_check_or_duty_is_found_by_the_case_about_it() -> None:
    found = judge_each({fault: ((name,), careless(fault)) for fault, name in FAULTS.items()}, jobs=6)
    failed = {fault: [name for name, _ in failures(results)] for fault, results in found.items()}
    assert failed == {fault: [name] for fault, name in FAULTS.items()}


@pytest.mark.slow
def test_client_that_does_not_deal_is_told_which_capability_it_does_not_name() -> None:
    result = judge(("C5.plays",), *careless("does not deal"))["C5.plays"]
    assert result.verdict is CaseVerdict.UNIMPLEMENTED
    assert "`blind`" in result.outcome.came
