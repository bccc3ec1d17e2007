"""The collector's rounds: none while there is nothing to find, and one when there may be much."""

import gc
import weakref

import pytest
import trio
import trio.testing
from server.conftest import play_on

from truc_server.operation import process
from truc_server.operation.process import collect_when_grown


class Ring:
    """An object that holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
async def collector(monkeypatch):
    """Let the rounds be taken over, where much is a thousand objects."""
    monkeypatch.setattr(process, "LITTLE", 1_000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_grown)
        await trio.testing.wait_all_tasks_blocked()
        yield
        nursery.cancel_scope.cancel()


def forgotten() -> weakref.ref:
    return weakref.ref(Ring())


async def test_no_round_walks_what_is_there_while_little_comes(collector, autojump_clock):
    ring = forgotten()
    await trio.sleep(10 * process.EVERY_S)
    assert ring() is not None


async def test_what_holds_itself_is_freed_when_much_has_come(collector, autojump_clock):
    ring = forgotten()
    kept = [[] for _ in range(5_000)]
    await trio.sleep(2 * process.EVERY_S)
    assert (len(kept), ring()) == (5_000, None)


async def test_after_a_round_as_much_may_come_again_as_was_left(collector, autojump_clock):
    kept = [[] for _ in range(5_000)]
    await trio.sleep(2 * process.EVERY_S)
    ring = forgotten()
    kept += [[] for _ in range(3_000)]
    await trio.sleep(2 * process.EVERY_S)
    assert ring() is not None


async def test_the_rounds_are_given_back():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect_when_grown)
        await trio.testing.wait_all_tasks_blocked()
        assert not gc.isenabled()
        nursery.cancel_scope.cancel()
    assert gc.isenabled()


async def test_what_is_over_holds_nothing_of_itself(server):
    """Matches, tables and connections that have gone are freed without a round."""
    await _play(server, seed=1)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        await _play(server, seed=2)
        gc.collect()
        left = {f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert [each for each in left if each.startswith("truc_server.")] == []


async def _play(server, *, seed: int) -> None:
    """Play a match, and go; the answer to a ping tells that the server has seen them go."""
    seats = await server.match(2, guests=(0, 1), seed=seed, options={"match": 1, "target": 3})
    await play_on(seats)
    for seat in seats:
        await trio.aclose_forcefully(seat.client.stream)
    later = await server.connect()
    server.clients.clear()  # which would hold what they have received
    await later.login_guest()
    await later.send({"t": "ping", "n": 1})
    await later.until("pong")
    await trio.aclose_forcefully(later.stream)
