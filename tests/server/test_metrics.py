"""Every metric moves when what it counts happens on a running server."""

import contextlib
import re
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import SimpleNamespace

import pytest
import trio
from server.asking import figures, get, telling
from server.blind_seats import blind_seats
from server.conftest import QUICK, changed, holder_of, in_hand, play_on, running
from server.gates import Gate
from server.rawclient import frame
from server.test_snapshots import overflown
from server.visitors import guest, hang_up, keyed
from server.watching import Eye, Held
from trio.testing import wait_all_tasks_blocked

from truc_server.identity.certificate import open_tls
from truc_server.metrics import page
from truc_server.metrics.measures import MEASURES
from truc_server.operation import disk

FRENCH = {"t": "create", "variant": "truc-french"}
TIGHT = changed(QUICK, limits={"idle_s": 3600, "outbox_bytes": 16_384, "burst": 1_000_000})
PINGS = b"".join(frame({"t": "ping", "n": n}) for n in range(100))


@pytest.fixture(autouse=True)
def always_read(monkeypatch):
    """Read the figures anew for everybody who asks."""
    monkeypatch.setattr(page, "FRESH_S", 0.0)


@pytest.fixture
def settings():
    return telling(TIGHT)


@pytest.fixture
def around(server, monkeypatch, mock_clock):
    """What an event may need: the server, and the test's hold on its world."""
    return SimpleNamespace(server=server, monkeypatch=monkeypatch, clock=mock_clock)


async def connect(around) -> None:
    await around.server.connect()
    await wait_all_tasks_blocked()


async def log_in_guest(around) -> None:
    await guest(around.server)


async def log_in_key(around) -> None:
    await keyed(around.server)


async def make_table(around) -> None:
    assert (await (await guest(around.server)).ask(FRENCH))["t"] == "ok"


async def make_blind_table(around) -> None:
    await blind_seats(around.server)


async def agree(around) -> None:
    """Let both seats be ready, and sign nothing."""
    for seat in await around.server.seats(2):
        await seat.ready()


async def begin_match(around) -> None:
    await in_hand(around.server)


async def play_as_guests(around) -> None:
    """Play a short match to its end."""
    seats = await around.server.match(2, options={"match": 1, "target": 3}, guests=(0, 1))
    await play_on(seats)


async def ask_for_no_table(around) -> None:
    assert (await (await guest(around.server)).ask({"t": "join", "table": "NOPE"}))["t"] == "error"


async def send_no_frame(around) -> None:
    client = await guest(around.server)
    await client.send_bytes(bytes(4))
    await client.closed()


async def act_too_late(around) -> None:
    mover, _ = holder_of(await in_hand(around.server, guests=(0, 1)))
    act = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid, "at": 0, "choose": "tap"}
    assert (await mover.client.ask(act))["code"] == "stale_position"


async def miss_login(around) -> None:
    client = await around.server.connect()
    await wait_all_tasks_blocked()
    around.clock.jump(10.01)
    assert [message["t"] for message in await client.closed()] == ["bye"]


async def fill_outbox(around) -> None:
    """Ask for more than may wait for a connection, to which nothing is written."""
    held, greedy = Held(around.monkeypatch), SimpleNamespace(client=await guest(around.server))
    held.hold(greedy)
    await greedy.client.send_bytes(PINGS * 40)
    await wait_all_tasks_blocked()
    held.release(greedy)


async def read_nothing(around) -> None:
    """Let the kernel take no more for a connection, until the server gives up."""
    client = await guest(around.server)
    before, sent = -1.0, 0.0
    while sent > before:
        await client.send_bytes(PINGS)
        await wait_all_tasks_blocked()
        before, sent = sent, (await figures(around.server))["truc_sent_bytes_total"]
    around.clock.jump(10.01)
    await wait_all_tasks_blocked()


async def miss_what_is_watched(around) -> None:
    held, eye = Held(around.monkeypatch), Eye("snapshot")
    await overflown(around.server, held, eye)
    held.release(eye)


async def be_held_up(around) -> None:
    around.clock.jump(3)
    await wait_all_tasks_blocked()


async def look_at_disk(around, free: int, told: Callable[[dict[str, float]], bool]) -> None:
    """Let so much be free, until the figures tell it."""
    around.monkeypatch.setattr(disk, "free_bytes", lambda _: free)
    around.clock.jump(disk.LOOK_S)
    for _ in range(1_000):  # it is looked at in a thread, of which the clock of the test knows nothing
        if told(await figures(around.server)):
            return


async def fill_disk(around) -> None:
    await look_at_disk(around, 0, lambda figures: bool(figures["truc_disk_nearly_full"]))


async def empty_disk(around) -> None:
    await look_at_disk(around, 1 << 60, lambda figures: figures["truc_disk_free_bytes"] == 1 << 60)


Event = Callable[[SimpleNamespace], Awaitable[None]]

EVENTS: list[tuple[Event, str]] = [
    (connect, 'truc_connections{state="login"} truc_connections_opened_total'),
    (log_in_guest, 'truc_connections{state="ready"} truc_players truc_logins_total{kind="guest"}'),
    (log_in_key, 'truc_logins_total{kind="key"} truc_received_bytes_total truc_sent_bytes_total'),
    (make_table, 'truc_tables{state="open"} truc_append_seconds_count truc_append_writes_sum'),
    (agree, 'truc_tables{state="terms"}'),
    (begin_match, 'truc_tables{state="playing"} truc_acts_total{kind="key"} truc_act_seconds_count'),
    (play_as_guests, 'truc_tables{state="over"} truc_acts_total{kind="guest"}'),
    (make_blind_table, "truc_blind_tables"),
    (ask_for_no_table, 'truc_errors_total{code="no_such_table"}'),
    (send_no_frame, 'truc_errors_total{code="bad_frame"}'),
    (act_too_late, 'truc_errors_total{code="stale_position"}'),
    (miss_login, 'truc_goodbyes_total{code="timeout"}'),
    (fill_outbox, 'truc_goodbyes_total{code="slow_consumer"} truc_slow_consumers_total{reason="full"}'),
    (read_nothing, 'truc_slow_consumers_total{reason="stuck"}'),
    (miss_what_is_watched, "truc_frames_dropped_total"),
    (be_held_up, "truc_loop_lag_seconds_sum"),
    (fill_disk, "truc_disk_nearly_full"),
    (empty_disk, "truc_disk_free_bytes"),
]


@pytest.mark.parametrize(("event", "names"), EVENTS, ids=[event.__name__ for event, _ in EVENTS])
async def test_figures_rise_with_what_they_count(around, mock_clock, event, names):
    before = await figures(around.server)
    await event(around)
    after = await figures(around.server)
    assert [name for name in names.split() if after[name] <= before[name]] == []


async def test_gauges_fall_when_it_is_over(around, mock_clock):
    await connect(around)
    await log_in_guest(around)
    for client in around.server.clients:
        await client.stream.aclose()
    await wait_all_tasks_blocked()
    told = await figures(around.server)
    gauges = ('truc_connections{state="login"}', 'truc_connections{state="ready"}', "truc_players")
    assert [told[name] for name in gauges] == [0, 0, 0]


TURNED_AWAY = [
    ("banned", {"access": {"banned": ("127.0.0.1",)}}, 1),
    ("full", {"limits": {"connections": 1}}, 2),
    ("address", {"limits": {"connections_per_address": 1}}, 2),
    ("pace", {"limits": {"connects_per_min": 1, "connections_per_address": 1}}, 3),
]


@pytest.mark.parametrize(("reason", "changes", "comers"), TURNED_AWAY, ids=[row[0] for row in TURNED_AWAY])
async def test_who_is_turned_away_is_counted_by_the_reason(path, reason, changes, comers):
    async with running(path, telling(changed(QUICK, **changes))) as server:
        for _ in range(comers):
            client = await server.connect()
            await wait_all_tasks_blocked()
            if reason == "pace":
                await hang_up(client)
        told = await figures(server)
    reasons = [*(row[0] for row in TURNED_AWAY), "site"]  # which needs addresses of IPv6
    assert {one: told[f'truc_turned_away_total{{reason="{one}"}}'] for one in reasons} == {
        one: float(one == reason) for one in reasons
    }


async def test_connection_that_does_not_agree_on_tls_is_counted_as_such(path):
    async with running(path, telling(changed(QUICK, listen={"tls": True}))) as server:
        failures = []
        for first in (frame({"t": "hello"}), b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x01\x00"):
            client = await server.connect()
            await client.send_bytes(first)
            with contextlib.suppress(trio.BrokenResourceError):
                await client.stream.receive_some(1_000)
            await hang_up(client)
            told = await figures(server)
            failures.append(told["truc_tls_failures_total"])
    assert (failures, told["truc_connections_opened_total"]) == ([1, 2, 3], 0)


async def test_end_of_the_certificate_is_told_where_there_is_one(path):
    settings = telling(changed(QUICK, listen={"tls": True}))
    async with running(path, settings) as server:
        told = (await figures(server))["truc_certificate_ends_seconds"]
        shown = open_tls(settings.listen, server.folder, int(time.time()))
    assert told == shown.ends
    async with running(path, telling()) as server:
        assert (await figures(server))["truc_certificate_ends_seconds"] == 0


async def test_writes_that_wait_for_a_commit_are_told(path):
    gate = Gate()
    async with running(path, telling(), wrap=gate.before_commit("SaveTable")) as server:
        first, second = await guest(server), await guest(server)
        await first.send(FRENCH)
        await gate.reached()
        await second.send(FRENCH)
        await wait_all_tasks_blocked()
        waiting = (await figures(server))["truc_journal_waiting_writes"]
        gate.open()
        await second.until("ok")
        assert (waiting > 0, (await figures(server))["truc_journal_waiting_writes"]) == (True, 0)


async def test_refused_act_and_repeat_are_no_acts(around, mock_clock):
    mover, _ = holder_of(await in_hand(around.server))
    before = await figures(around.server)
    for _ in range(3):
        await mover.client.ask({**mover.stored["release", 1]})
    assert acts(await figures(around.server)) == acts(before)


def acts(told: dict[str, float]) -> float:
    return told['truc_acts_total{kind="key"}'] + told['truc_acts_total{kind="guest"}']


async def test_act_is_timed_from_when_it_was_read_to_when_it_is_durable(path, mock_clock):
    gate = Gate()
    async with running(path, telling(TIGHT), wrap=gate.before_commit("AddRecord")) as server:
        seats = await server.seats(2)
        for seat in seats:
            await seat.ready()
        async with trio.open_nursery() as nursery:
            for seat in seats:
                nursery.start_soon(partial(seat.play, lambda seat: seat.next > 1))
            await gate.reached()
            mock_clock.jump(3)
            gate.open()
        told = await figures(server)
    quick, slow = (told[f'truc_act_seconds_bucket{{le="{bound}"}}'] for bound in ("2.0", "5.0"))
    assert quick < slow == told["truc_act_seconds_count"]


async def test_figures_are_read_once_a_second_however_many_ask(server, mock_clock, monkeypatch):
    monkeypatch.setattr(page, "FRESH_S", 1.0)
    texts = []
    for wait_s in (0.0, 0.99, 0.02):
        mock_clock.jump(wait_s)
        await server.connect()
        await wait_all_tasks_blocked()
        texts.append((await figures(server))["truc_connections_opened_total"])
    assert texts == [1, 1, 3]


async def test_no_figure_tells_of_anybody(around, mock_clock):
    seats = await around.server.match(2, options={"match": 1, "target": 3})
    await play_on(seats)
    text = (await get(around.server, "/metrics")).text
    names = {seats[0].name, seats[0].table, seats[0].client.welcome["player"], "127.0.0.1"}
    assert [name for name in names if name in text] == []


def test_every_metric_has_an_event_that_moves_it():
    own_tests = {"truc_turned_away", "truc_tls_failures", "truc_certificate_ends_seconds"}
    own_tests |= {"truc_journal_waiting_writes"}
    browsers = {f"truc_web_{what}" for what in ("requests", "refused", "connections", "tree_info")}
    nodes = {"truc_inner", "truc_links", "truc_links_lost", "truc_tables_moved"}
    nodes |= {f"truc_lease_{what}" for what in ("left_seconds", "renewal_seconds", "failures")}
    # test_web_door.py, test_inner_door.py, test_routing.py and test_giving.py, test_metrics_page.py
    elsewhere = own_tests | browsers | nodes | {"truc_healthy"}
    moved = {
        re.sub(r"(_count|_sum|_total)?(\{.*)?$", "", name) for _, names in EVENTS for name in names.split()
    }
    assert {measure.name.removesuffix("_total") for measure in MEASURES} == moved | elsewhere
