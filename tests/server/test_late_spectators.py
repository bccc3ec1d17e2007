"""Who watches a table that is shown late sees all of it, in order, and nothing before its time."""

from functools import partial

import pytest
import trio
from server.conftest import PATIENT as SETTINGS
from server.conftest import holder_of, in_hand, running, together
from server.late import LATE, eye_at, played, played_again, stand
from server.substituting import standing_by, step_in, voided
from server.watching import Eye
from trio.testing import wait_all_tasks_blocked

from truc_protocol.audit import Result
from truc_server.lobby.lobby import Lobby
from truc_server.spectating import spectator_feed
from truc_server.storage import StoreError, page_reader
from truc_server.storage.archive import unpack_setup


async def test_late_watcher_sees_records_and_waiting_when_their_time_has_come_and_not_before(
    server, mock_clock
):
    seats = await in_hand(server, options=LATE)
    eye = await eye_at(server, seats[0].table)
    mock_clock.jump(50)  # how long a record has waited when the watcher comes is taken from the real clock
    await eye.settle()
    assert (eye.records, "waiting" in eye.order) == ([], False)
    mock_clock.jump(10)
    await eye.settle()
    assert (eye.records, eye.order[-1]) == (list(range(8)), "waiting")


async def test_every_record_has_its_own_time(server, mock_clock):
    seats = await in_hand(server, options=LATE)
    eye = await eye_at(server, seats[0].table)
    mock_clock.jump(30)
    await stand(holder_of(seats)[0])
    mock_clock.jump(31)
    await eye.settle()
    assert eye.records == list(range(8))
    mock_clock.jump(30)
    await eye.settle()
    assert eye.records[8:]


async def test_who_comes_to_watch_is_sent_what_is_shown_and_no_more(server, mock_clock):
    seats = await in_hand(server, options=LATE)
    mock_clock.jump(61)
    await stand(holder_of(seats)[0])
    eye = await Eye().connect(server)
    assert (await eye.watch(seats[0].table))["k"] == 8
    assert eye.records == list(range(8))


async def test_phrase_comes_as_late_as_the_records(server, mock_clock):
    seats = await in_hand(server, "truco-argentino", options=LATE)
    phrase = {"t": "say", "table": seats[0].table, "phrase": seats[0].ledger.setup.terms.variant.phrases[0]}
    eye = await eye_at(server, seats[0].table)
    assert (await seats[0].client.ask(phrase))["t"] == "ok"
    await eye.settle()
    assert "said" not in eye.order
    mock_clock.jump(61)
    await eye.settle()
    assert eye.order[-1] == "said"


async def test_end_of_a_match_is_told_to_watchers_and_in_the_list_when_it_is_shown(server, mock_clock):
    seats, eye = await played(server)
    assert set(eye.states) == {"open", "terms", "playing"}
    stranger = await Eye().connect(server)
    (table,) = (await stranger.ask({"t": "tables"}))["tables"]
    assert (table["state"], "expires_ms" in table) == ("playing", False)
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert eye.records == list(range(seats[0].next))


async def test_seat_that_is_left_after_the_match_is_shown_as_it_was(server):
    seats, eye = await played(server)
    await seats[1].client.ask({"t": "leave", "table": seats[1].table})
    await eye.settle()
    late = await Eye().connect(server)
    (table,) = (await late.ask({"t": "tables"}))["tables"]
    assert [(seat["kind"], seat["name"]) for seat in table["seats"]] == [
        ("key", seats[0].name),
        ("key", seats[1].name),
    ]


async def test_next_match_is_shown_after_the_one_before_with_its_state_and_setup(server, mock_clock):
    seats, eye = await played(server)
    first = seats[0].next
    await played_again(seats)
    await eye.settle()
    assert "record" not in eye.order
    del eye.order[:]
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert [len(seen) for seen in eye.seen.values()] == [first, seats[0].next]
    shown = [tag for tag in eye.order if tag not in ("record", "waiting")]
    assert shown == ["playing", "setup", "over"]


async def test_rest_of_a_match_comes_although_the_table_is_closed_and_another_watcher_is_gone(
    server, mock_clock
):
    seats, eye = await played(server)
    other = await eye_at(server, seats[0].table)
    for seat in seats:
        await seat.client.ask({"t": "leave", "table": seat.table})
    await other.settle()
    assert "closed" not in other.order
    await eye.client.stream.aclose()
    mock_clock.jump(61)
    await other.until(lambda eye: eye.order[-1] == "closed")
    assert other.records == list(range(seats[0].next))


async def test_table_that_was_given_away_tells_the_lobby_no_more_when_all_of_it_has_been_shown(
    server, mock_clock, monkeypatch
):
    changes, changed = [], Lobby.changed
    monkeypatch.setattr(
        Lobby, "changed", lambda lobby, table: changes.append((lobby, table)) or changed(lobby, table)
    )
    seats = await in_hand(server, options=LATE)
    lobby, table = changes[-1]
    stranger = await server.seat(seed=9)
    await stranger.ask({"t": "lobby"})
    await seats[0].client.stream.aclose()
    await seats[1].client.until("away")
    mock_clock.jump(1)
    await stranger.client.until("table")
    table.give("two")
    lobby.given(table)
    del stranger.client.log[:]
    for _ in range(2):
        mock_clock.jump(61)
        await wait_all_tasks_blocked()
    await stranger.ask({"t": "tables"})
    assert stranger.client.came("table") == []


async def stopped_in_hand(path) -> list:
    async with running(path, SETTINGS) as server:
        return await in_hand(server, options=LATE)


async def records_after(path, seats) -> list[int]:
    async with running(path, SETTINGS) as server:
        return (await eye_at(server, seats[0].table)).records


@pytest.mark.parametrize(("later_ms", "shown"), [(0, []), (61_000, list(range(8)))])
async def test_time_of_a_record_goes_on_over_a_restart(path, mock_clock, monkeypatch, *, later_ms, shown):
    seats = await stopped_in_hand(path)
    now_ms = spectator_feed.now_ms
    monkeypatch.setattr(spectator_feed, "now_ms", lambda: now_ms() + later_ms)
    assert await records_after(path, seats) == shown


async def test_clock_that_was_set_back_holds_a_record_no_longer_than_the_delay(path, mock_clock, monkeypatch):
    seats = await stopped_in_hand(path)
    now_ms = spectator_feed.now_ms
    monkeypatch.setattr(spectator_feed, "now_ms", lambda: now_ms() - 1_000_000)
    async with running(path, SETTINGS) as server:
        eye = await eye_at(server, seats[0].table)
        mock_clock.jump(61)
        await eye.settle()
        assert eye.records == list(range(8))


async def test_restart_after_the_end_tells_no_more_than_is_shown(path, mock_clock):
    async with running(path, SETTINGS) as server:
        seats, _ = await played(server)
    async with running(path, SETTINGS) as server:
        eye = await eye_at(server, seats[0].table)
        assert (eye.states, eye.records) == (["playing"], [])
        mock_clock.jump(61)
        await eye.until(lambda eye: eye.order[-1:] == ["over"])
        assert eye.records == list(range(seats[0].next))


async def test_zero_seconds_late_is_live(server):
    seats = await in_hand(server, options={"spectators": 3})
    eye = await eye_at(server, seats[0].table)
    assert eye.records == list(range(8))


async def test_store_that_cannot_be_read_for_once_holds_nothing_up_for_good(server, mock_clock, monkeypatch):
    seats, eye = await played(server)
    reads = iter([True])
    read = server.store.records

    def fails_once(*place, **fields):
        if next(reads, False):
            raise StoreError("the disk is away")
        return read(*place, **fields)

    monkeypatch.setattr(server.store, "records", fails_once)
    monkeypatch.setattr(page_reader, "RETRY_S", 0.0)
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1] == "over")
    assert eye.records == list(range(seats[0].next))


async def test_row_that_is_not_as_it_was_written_keeps_back_no_other(nursery):
    read, taken, asked = trio.Event(), [], page_reader.PageReader()
    nursery.start_soon(asked.run)
    asked.ask(partial(unpack_setup, b"\xc1"), taken.append)
    asked.ask(lambda: "as it was", lambda _: read.set())
    with trio.fail_after(20):
        await read.wait()
    assert taken == []


async def test_who_stands_by_at_a_table_shown_late_sees_what_the_seats_see_and_takes_one_over(
    server, mock_clock
):
    seats = await voided(server, mock_clock, **LATE)
    newcomer = await standing_by(server, seats)
    assert newcomer.next == seats[0].next
    assert (await step_in(newcomer))["t"] == "ok"
    await together(seats[0].play, newcomer.play)
    assert newcomer.auditor.verdict().result is Result.PROVEN


async def test_vacant_seat_is_not_told_to_watchers_before_its_time(server, mock_clock):
    await voided(server, mock_clock, **LATE)
    stranger = await Eye().connect(server)
    (table,) = (await stranger.ask({"t": "tables"}))["tables"]
    assert [seat.get("vacant", False) for seat in table["seats"]] == [False, False]
