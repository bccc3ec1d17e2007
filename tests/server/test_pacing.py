"""Pages of what is stored or of the lobby, and acts: how many one address and one table have, and how fast after that."""

from collections import Counter

import pytest
import trio
import trio.testing
from rows import each_row
from server.acting import resumption
from server.blind_seats import blind_match
from server.conftest import holder_of, in_hand, play_on
from server.visitors import keyed

from truc_protocol.bodies import Ack, Act, Keys, Lock, Mask, Release
from truc_protocol.records import parse
from truc_rules import preset, presets
from truc_server.matches.game import RecentRecords
from truc_server.net.usage_limits import ACTS_S, BURST, STEPS, Budget, Pace
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import LimitSettings, Settings

LIMITS = LimitSettings(connections_per_address=2)
HERE, THERE = "192.0.2.1", "192.0.2.2"


def pace_of(limits) -> Pace:
    return Pace(CurrentValue(Settings(limits=limits)))


async def waited(pace, pages, network=HERE) -> float:
    """Return after how long an address has had so many pages."""
    begun = trio.current_time()
    for _ in range(pages):
        await pace.wait_page(network)
    return trio.current_time() - begun


async def test_pages_come_at_once_and_further_ones_one_a_second_for_each_connection_allowed(autojump_clock):
    pace = pace_of(LIMITS)
    assert await waited(pace, 2 * BURST) == 0
    assert await waited(pace, 20) == pytest.approx(10, abs=0.1)
    assert await waited(pace, 1, THERE) == 0  # another address does not wait


async def test_connections_of_one_address_share_its_pages(autojump_clock):
    pace, begun = pace_of(LIMITS), trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(waited, pace, BURST)
    assert trio.current_time() - begun == pytest.approx(BURST, abs=0.1)


async def acted(budget, acts, network=HERE, mid=b"m") -> float:
    """Return after how long so many acts of an address in a match have been taken."""
    begun = trio.current_time()
    for _ in range(acts):
        await budget.wait(network, mid, trio.current_time())
    return trio.current_time() - begun


@pytest.mark.parametrize(("rate", "of_table"), [(2, 100), (100, 2)])
async def test_acts_come_at_once_for_a_while_and_further_ones_at_the_rate(autojump_clock, rate, of_table):
    acts = pace_of(LimitSettings(connections_per_address=1, acts_per_s=rate, table_acts_per_s=of_table)).acts
    assert await acted(acts, 2 * ACTS_S) == 0
    assert await acted(acts, 20) == pytest.approx(10, abs=0.1)
    assert await acted(acts, 1, THERE, b"n") == 0  # neither another address nor another table waits
    await trio.sleep(ACTS_S)
    assert await acted(acts, 2 * ACTS_S) == 0


async def test_steps_with_a_pack_wait_for_no_act_and_come_as_many_times_as_fast(autojump_clock):
    pace = pace_of(LimitSettings(connections_per_address=1, acts_per_s=100, table_acts_per_s=2))
    assert await acted(pace.acts, 2 * ACTS_S) == 0
    assert await acted(pace.steps, STEPS * 2 * ACTS_S) == pytest.approx(0)
    assert await acted(pace.steps, STEPS * 20) == pytest.approx(10, abs=0.1)


def most_steps(variant, seats) -> int:
    """The steps with the pack that one hand can take: with all the new cards that its pack can supply, and cards that are lent."""
    dealt = 3 * seats
    deals = len(variant.pack) // dealt if variant.redeal else 1
    lent = seats * (seats // 2 - 1) if variant.last_point and variant.last_point.share else 0
    unseen = dealt * seats if variant.blind else 0
    return 2 * seats + deals * (2 * seats + 1 + lent) + unseen


@each_row("name", presets())
def test_table_has_the_steps_of_ten_hands_at_once_and_of_one_every_two_seconds(name):
    variant, limits = preset(name), LimitSettings()
    for seats in variant.players:
        steps = most_steps(variant, seats)
        assert 10 * steps <= STEPS * limits.table_acts_per_s * ACTS_S
        assert steps <= 2 * STEPS * limits.table_acts_per_s


async def test_connections_of_one_address_wait_for_their_acts_no_longer_than_one_would(autojump_clock):
    acts = pace_of(LIMITS).acts  # a second: one for each connection, two of the address
    await acted(acts, 2 * ACTS_S, mid=None)
    waits = [0.0, 0.0]

    async def act(number: int) -> None:
        waits[number] = await acted(acts, 1, mid=b"%d" % number)

    async with trio.open_nursery() as nursery:
        for number in range(2):
            nursery.start_soon(act, number)
    assert sorted(waits) == [pytest.approx(0.5), pytest.approx(1)]


async def test_nothing_is_kept_of_matches_that_owe_nothing(autojump_clock):
    acts = pace_of(LIMITS).acts
    for number in range(100):
        await acted(acts, 1, mid=b"%d" % number)
        await trio.sleep(1)
    assert len(acts) < 5


@pytest.mark.parametrize("guests", [(), (0, 1)])
async def test_act_is_answered_before_the_wait_and_the_next_message_after_it(server, monkeypatch, guests):
    waiting, goes_on = [], trio.Event()

    async def wait(_budget, network, mid, _now):
        waiting.append((network, mid))
        await goes_on.wait()
        waiting.append("over")

    seat, other = holder_of(await in_hand(server, "truco-argentino", guests=guests))
    monkeypatch.setattr(Budget, "wait", wait)
    card = next(option for option in seat.offered if option["kind"] == "play")
    assert (await seat.ask(seat.act_message(seat.options, card)))["t"] == "ok"
    assert waiting == [("127.0.0.1", seat.ledger.setup.mid)]
    await seat.client.send({"t": "ping", "n": 7})
    await other.client.send({"t": "ping", "n": 8})
    assert (await other.client.until("pong"))["n"] == 8
    await trio.testing.wait_all_tasks_blocked(0.005)
    assert waiting[1:] == []
    goes_on.set()
    assert (await seat.client.until("pong"))["n"] == 7
    assert waiting[1:] == ["over"]


@pytest.mark.slow
async def test_steps_of_a_hand_are_counted_apart_from_acts(server, monkeypatch):
    counted = Counter()  # by budget

    async def wait(budget, _network, mid, _now):
        if mid is not None:
            counted[budget] += 1

    monkeypatch.setattr(Budget, "wait", wait)
    seats = await blind_match(server, options={"target": 3, "match": 1})
    await play_on(seats)
    kinds = Counter(type(parse(record)) for record in seats[0].records)
    drawn = len(seats)  # they release for the draw as in mode dealt
    of_acts, of_steps = counted.values()  # the draw came first
    assert of_acts == drawn + kinds[Act] + kinds[Ack]
    assert of_steps == kinds[Mask] + kinds[Lock] + kinds[Keys] + kinds[Release] - drawn


@pytest.fixture
def pages(monkeypatch) -> list[str]:
    """Return the address of every page that is given from now on."""
    given = []

    async def note(_pace, network):
        given.append(network)

    monkeypatch.setattr(Pace, "wait_page", note)
    return given


async def test_history_and_records_that_are_read_again_are_such_pages(server, pages, monkeypatch):
    seats = await in_hand(server)
    await seats[0].client.ask({"t": "history", "match": seats[0].ledger.setup.mid, "from": 0})
    monkeypatch.setattr(RecentRecords, "at", lambda _tail, _k: None)
    await seats[0].client.ask(resumption(seats[0]))
    assert pages == ["127.0.0.1"] * 2


@pytest.mark.parametrize("request_", [{"t": "seek", "variant": "truc-french"}, {"t": "lobby"}])
async def test_search_through_all_tables_and_the_lobby_are_such_pages(server, pages, request_):
    await (await keyed(server)).ask(request_)
    assert pages == ["127.0.0.1"]
