"""Pages of what is stored, and of the lobby: how many one address is given, and how fast after that."""

import pytest
import trio
from server.conftest import in_hand
from server.visitors import keyed

from truc_server.net.floods import BURST, Pace
from truc_server.settings.settings import LimitSettings
from truc_server.spectating.sent_records import Tail

LIMITS = LimitSettings(connections_per_address=2)
HERE, THERE = "192.0.2.1", "192.0.2.2"


async def waited(pace, pages, network=HERE) -> float:
    """Return after how long an address has had so many pages."""
    begun = trio.current_time()
    for _ in range(pages):
        await pace.wait_page(network)
    return trio.current_time() - begun


async def test_pages_come_at_once_and_further_ones_one_a_second_for_each_connection_allowed(autojump_clock):
    pace = Pace(LIMITS)
    assert await waited(pace, 2 * BURST) == 0
    assert await waited(pace, 20) == pytest.approx(10, abs=0.1)
    assert await waited(pace, 1, THERE) == 0  # another address does not wait


async def test_connections_of_one_address_share_its_pages(autojump_clock):
    pace, begun = Pace(LIMITS), trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(waited, pace, BURST)
    assert trio.current_time() - begun == pytest.approx(BURST, abs=0.1)


@pytest.fixture
def pages(monkeypatch) -> list[str]:
    """Return the address of every page that is given from now on."""
    given = []

    async def note(_pace, network):
        given.append(network)

    monkeypatch.setattr(Pace, "wait_page", note)
    return given


async def test_history_is_such_a_page(server, pages):
    seats = await in_hand(server)
    await seats[0].client.ask({"t": "history", "match": seats[0].ledger.setup.mid, "from": 0})
    assert pages == ["127.0.0.1"]


async def test_records_that_are_read_again_are_such_pages(server, pages, monkeypatch):
    seats = await in_hand(server)
    monkeypatch.setattr(Tail, "at", lambda _tail, _k: None)
    await seats[0].client.ask(
        {"t": "resume", "table": seats[0].table, "match": seats[0].ledger.setup.mid, "next": -1}
    )
    assert pages == ["127.0.0.1"]


@pytest.mark.parametrize("request_", [{"t": "seek", "variant": "truc-french"}, {"t": "lobby"}])
async def test_search_through_all_tables_and_the_lobby_are_such_pages(server, pages, request_):
    await (await keyed(server)).ask(request_)
    assert pages == ["127.0.0.1"]
