"""Tables that are shown late: who watches sees all in order and nothing before its time, and others are told no more."""

import gc
import itertools
from functools import partial
from types import SimpleNamespace

import pytest
import trio
from server.acting import stand
from server.clocks import pass_time
from server.conftest import PATIENT as SETTINGS
from server.conftest import asked, holder_of, in_hand, living, play_on, running, together
from server.late import LATE, SHORT, eye_at, played, played_again
from server.rawclient import bodies
from server.stored import sql
from server.substituting import state_of, step_in, voided, with_newcomer
from server.visitors import follower, guest, hang_up, heard, keyed
from server.watching import Eye

from truc_protocol.audit import Result
from truc_protocol.bodies import Call
from truc_protocol.codec import enc
from truc_server.lobby.lobby import Lobby
from truc_server.spectating import audience, spectator_feed
from truc_server.spectating.spectator_feed import ShownMatch, SpectatorFeed
from truc_server.storage import StoreError, page_reader
from truc_server.storage.archive import unpack_setup
from truc_server.storage.sql import Store
from truc_server.timing import clock


async def leave(seat) -> None:
    assert (await seat.ask({"t": "leave", "table": seat.table}))["t"] == "ok"


async def listed(client) -> dict:
    """Return the only public table as a client is told of it."""
    (table,) = (await client.ask({"t": "tables"}))["tables"]
    return table


async def test_end_of_a_late_match_is_told_to_the_lobby_when_it_is_shown_and_not_before(server, mock_clock):
    lobby = await follower(server)
    seats, eye = await played(server)
    await pass_time(mock_clock, 2)
    assert (await heard(lobby, "table"))[-1]["state"] == "playing"
    assert (await heard(lobby, "lobby"))[-1]["playing"] == 1
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    mock_clock.jump(2)
    assert (await lobby.until("table"))["state"] == "over"
    assert (await lobby.until("lobby", playing=0))["tables"] == 1
    players = (await eye.ask({"t": "players"}))["players"]
    assert [player.get("tables") for player in players].count([seats[0].table]) == 2
    reply = await eye.ask({"t": "history", "match": seats[0].ledger.setup.mid, "from": 0})
    assert reply["code"] == "private_table"


async def test_next_late_match_is_told_to_the_lobby_when_its_turn_comes(server, mock_clock):
    seats, eye = await played(server)
    mock_clock.jump(30)
    await played_again(seats)
    lobby = await follower(server)
    mock_clock.jump(31)
    await eye.until(lambda eye: len(eye.seen) == 2)
    mock_clock.jump(2)
    assert (await lobby.until("table"))["match"] == seats[0].ledger.setup.mid


async def test_no_field_of_a_table_tells_what_has_come_after_what_is_shown(server, monkeypatch):
    """Its players, its state, its match, when it expires and how old it is stay those of the match that is being shown."""
    seats = await server.seats(2, options={**SHORT, **LATE})
    for seat in seats:
        await seat.ready()
    await together(*(partial(seat.play, until=lambda seat: seat.auditor is not None) for seat in seats))
    stranger, shown = await guest(server), []

    async def look() -> None:
        table = await listed(stranger)
        shown.append((table.pop("age_ms"), [seat.pop("online", False) for seat in table["seats"]], table))

    await look()
    # the rest of the match is made ten minutes later: by its end it is no longer as old as by its beginning
    for place in ("matches.game", "spectating.spectator_feed"):
        monkeypatch.setattr(f"truc_server.{place}.now_ms", lambda: clock.now_ms() + 600_000)
    await play_on(seats)
    await look()
    await leave(seats[1])
    await look()
    newcomer = await server.seat(seed=7)
    await newcomer.join(seats[0].table, 1)
    await newcomer.ready()
    await look()
    first = seats[0].ledger.setup.mid
    await seats[0].ready()
    await look()
    await together(
        *(
            partial(seat.play, lambda seat: seat.auditor and seat.ledger.setup.mid != first)
            for seat in (seats[0], newcomer)
        )
    )
    await look()
    assert [table for _, _, table in shown] == [shown[0][2]] * 6
    assert [online for _, online, _ in shown] == [[True, True]] * 2 + [[True, False]] * 4
    assert min(age_ms for age_ms, _, _ in shown[1:]) >= 600_000


async def test_players_do_not_tell_who_has_left_a_table_that_is_shown_late(server):
    seats, _ = await played(server)
    stranger = await guest(server)
    before = await stranger.ask({"t": "players"})
    await leave(seats[1])
    assert (await stranger.ask({"t": "players"}))["players"] == before["players"]


@pytest.mark.parametrize(("guests", "newcomer"), [((), keyed), ((0, 1), guest)], ids=["key", "guest"])
async def test_player_is_shown_by_their_tag_and_another_of_the_same_name_is_not_shown_as_who_plays(
    server, guests, newcomer
):
    seats = await server.match(2, guests=guests, options={**SHORT, **LATE})
    await play_on(seats)
    told = state_of(seats[0])
    await leave(seats[1])
    other = await newcomer(server, seats[1].name)
    assert (await other.ask({"t": "join", "table": seats[0].table}))["t"] == "ok"
    shown = (await listed(await guest(server)))["seats"]
    assert [seat["player"] for seat in shown] == [seat["player"] for seat in told["seats"]]
    assert not shown[1].get("online", False)


async def test_key_that_was_given_another_name_than_it_asked_for_is_shown_as_connected(server):
    for name in ("seat10", "seat11"):
        await guest(server, name)
    await in_hand(server, options={"spectators": 2})
    table = await listed(await guest(server))
    assert [seat.get("online", False) for seat in table["seats"]] == [True, True]


async def played_often(server, count: int):
    """Let so many matches be played; return somebody who has watched from the start, and how long each was."""
    seats, eye = await played(server)
    lengths = [seats[0].next]
    while len(lengths) < count:
        await played_again(seats)
        lengths.append(seats[0].next)
    return eye, lengths


async def test_matches_that_wait_for_their_turn_are_all_shown_with_their_states_and_setups(
    server, mock_clock
):
    eye, lengths = await played_often(server, 3)
    assert set(eye.states) == {"open", "terms", "playing"}
    del eye.order[:]
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert [len(seen) for seen in eye.seen.values()] == lengths
    shown = [tag for tag in eye.order if tag not in ("record", "waiting")]
    assert shown == ["playing", "setup", "playing", "setup", "over"]


async def test_of_matches_that_wait_for_their_turn_only_the_newest_has_records_in_memory(server, monkeypatch):
    shown = living(monkeypatch, ShownMatch)
    await played_often(server, 3)
    assert sorted(each.recent.at(each.recent.end - 1) is not None for each in shown) == [False, True, True]


async def test_match_that_was_deleted_before_its_turn_keeps_no_other_back(server, mock_clock):
    seats, eye = await played(server)
    await played_again(seats)
    deleted = seats[0].ledger.setup.mid
    await played_again(seats)
    assert server.store.delete_match(deleted, before_ms=clock.now_ms() + 1)
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert [*eye.seen][-1] == seats[0].ledger.setup.mid
    assert len(eye.seen[seats[0].ledger.setup.mid]) == seats[0].next


async def test_match_is_left_out_when_more_are_held_back_than_may_be(server, mock_clock, monkeypatch):
    monkeypatch.setattr(spectator_feed, "MATCHES", 3)
    eye, lengths = await played_often(server, 4)
    del lengths[2]
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert [len(seen) for seen in eye.seen.values()] == lengths


async def closed(server):
    """Return somebody who watches a table that is gone, and not all of it has been shown."""
    seats, eye = await played(server)
    for seat in seats:
        await leave(seat)
    return seats, eye


async def test_closed_table_is_gone_with_the_last_who_watches(server, monkeypatch):
    feeds = living(monkeypatch, SpectatorFeed)
    seats = await server.match(2, options={**SHORT, **LATE})
    await play_on(seats)
    for seat in seats:
        await leave(seat)
    gc.collect()
    assert len(feeds) == 0
    _, eye = await closed(server)
    before = len(feeds)
    await hang_up(eye.client)
    gc.collect()
    assert (before, len(feeds)) == (1, 0)


async def test_closed_table_can_be_unwatched_by_who_watches_it_alone(server, mock_clock):
    seats, eye = await closed(server)
    stranger = await guest(server)
    refused = await stranger.ask({"t": "unwatch", "table": seats[0].table})
    assert refused["code"] == "no_such_table"
    assert (await eye.ask({"t": "unwatch", "table": seats[0].table.lower()}))["t"] == "ok"
    del eye.order[:]
    mock_clock.jump(61)
    await eye.settle()
    assert eye.order == []


async def test_who_watches_too_many_closed_tables_is_told_at_once_of_the_next(server, monkeypatch):
    monkeypatch.setattr(audience, "CLOSED", 0)
    _, eye = await closed(server)
    await eye.settle()
    assert eye.order[-1] == "closed"


async def test_history_of_a_match_goes_as_far_as_it_is_shown_though_the_table_has_gone_on(server):
    seats, eye = await played(server)
    first = seats[0].ledger.setup.mid
    await played_again(seats)
    reply = await eye.ask({"t": "history", "match": first, "from": 0})
    assert (reply["t"], reply["k"]) == ("ok", 0)


async def test_match_that_is_not_over_is_closed_to_others_where_its_table_was_not_restored(path, monkeypatch):
    async with running(path, SETTINGS) as server:
        seats = await server.match(2, options={"spectators": 1, "transcript": "all"})
        await play_on(seats, asked)
    monkeypatch.setattr(Store, "table", lambda *_: None)
    async with running(path, SETTINGS) as server:
        stranger = await guest(server)
        reply = await stranger.ask({"t": "history", "match": seats[0].ledger.setup.mid, "from": 0})
        assert reply["code"] == "private_table"


async def test_terms_over_a_restart_do_not_tell_that_a_late_match_is_over(path, mock_clock):
    async with running(path, SETTINGS) as server:
        seats, _ = await played(server)
        for seat in seats:
            await seat.client.ask({"t": "ready", "table": seat.table})
        table = await seats[0].client.until("terms")
    async with running(path, SETTINGS) as server:
        eye = await eye_at(server, table["table"])
        assert (eye.states, eye.records) == (["playing"], [])
        mock_clock.jump(61)
        await eye.until(lambda eye: eye.states[-1] != "playing")
        assert eye.records == list(range(seats[0].next))


async def test_every_record_has_its_own_time(server, mock_clock):
    seats = await in_hand(server, options=LATE)
    eye = await eye_at(server, seats[0].table)
    mock_clock.jump(30)
    await stand(holder_of(seats)[0])
    mock_clock.jump(20)  # how long a record has waited when the watcher comes is taken from the real clock
    await eye.settle()
    assert (eye.records, "waiting" in eye.order) == ([], False)
    mock_clock.jump(11)
    await eye.settle()
    assert (eye.records, "waiting" in eye.order) == (list(range(8)), True)
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


async def test_rest_of_a_match_comes_although_the_table_is_closed_and_another_watcher_is_gone(
    server, mock_clock
):
    seats, eye = await played(server)
    other = await eye_at(server, seats[0].table)
    for seat in seats:
        await leave(seat)
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
        await pass_time(mock_clock, 61)
    await stranger.ask({"t": "tables"})
    assert stranger.client.came("table") == []


@pytest.mark.parametrize(
    ("later_ms", "at_once"),
    [(0, []), (61_000, list(range(8))), (-1_000_000, [])],
    ids=["at once", "after the delay", "clock set back"],
)
async def test_time_of_a_record_goes_on_over_a_restart_and_is_no_longer_than_the_delay(
    path, mock_clock, monkeypatch, *, later_ms, at_once
):
    async with running(path, SETTINGS) as server:
        seats = await in_hand(server, options=LATE)
    now_ms = spectator_feed.now_ms
    monkeypatch.setattr(spectator_feed, "now_ms", lambda: now_ms() + later_ms)
    async with running(path, SETTINGS) as server:
        eye = await eye_at(server, seats[0].table)
        assert eye.records == at_once
        mock_clock.jump(61)
        await eye.settle()
        assert eye.records == list(range(8))


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


def only_cards(_message, options):
    """Play a card wherever one may be played."""
    return next((option for option in options if option["kind"] == "play"), options[0])


@pytest.mark.parametrize("damage", ["body = x'ff'", "sig = 7"])
async def test_record_that_is_damaged_keeps_nothing_back_for_good(server, mock_clock, damage):
    """The rest of its hand is left out; a client that takes no snapshots is sent away instead."""
    seats = await server.seats(2, options={"match": 1, "target": 3, **LATE})
    eye, other = await eye_at(server, seats[0].table, "snapshot"), await eye_at(server, seats[0].table)
    for seat in seats:
        seat.chooses = only_cards  # so that a hand is worth one point
        await seat.ready()
    for k in itertools.count(5, 5):
        await play_on(seats, lambda seat, k=k: seat.done or seat.next >= k)
        if seats[0].done:
            break
        mock_clock.jump(1)
    calls = [k for k, body in enumerate(bodies(seats[0].records[-seats[0].next :])) if isinstance(body, Call)]
    assert len(calls) > 2
    sql(server.folder.database, f"UPDATE records SET {damage} WHERE k = ?", (calls[1] + 2,))
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1] == "over")
    assert eye.skips == 1
    assert eye.records[-1] == seats[0].next - 1
    assert (await other.client.closed())[-1]["code"] == "internal"


async def test_row_that_is_not_as_it_was_written_keeps_back_no_other(nursery):
    def records(mid, *, first, limit):
        return unpack_setup(mid)

    read, told, asked = trio.Event(), [], page_reader.PageReader(SimpleNamespace(records=records))
    nursery.start_soon(asked.run)
    asked.ask(page_reader.PageRequest(b"\xc1", 0, told.append, partial(told.append, "lost")))
    asked.ask(page_reader.PageRequest(enc([]), 0, lambda _: read.set(), told.clear))
    with trio.fail_after(20):
        await read.wait()
    assert told == ["lost"]


async def test_who_stands_by_at_a_table_shown_late_sees_what_the_seats_see_and_takes_one_over(
    server, mock_clock
):
    seats, newcomer = await with_newcomer(server, mock_clock, **LATE)
    assert newcomer.next == seats[0].next
    assert (await step_in(newcomer))["t"] == "ok"
    await together(seats[0].play, newcomer.play)
    assert newcomer.auditor.verdict().result is Result.PROVEN


async def test_vacant_seat_is_not_told_to_watchers_before_its_time(server, mock_clock):
    await voided(server, mock_clock, **LATE)
    stranger = await Eye().connect(server)
    (table,) = (await stranger.ask({"t": "tables"}))["tables"]
    assert [seat.get("vacant", False) for seat in table["seats"]] == [False, False]
