"""What others than watchers are told of a table that is shown late, and what the server keeps of it in the meantime."""

import gc
import weakref
from functools import partial

import pytest
from server.conftest import PATIENT as SETTINGS
from server.conftest import asked, only_cut, play_on, running, together
from server.late import LATE, SHORT, eye_at, played, played_again
from server.visitors import follower, guest, keyed
from server.watching import Eye
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_server.spectating import audience, spectator_feed
from truc_server.spectating.spectator_feed import ShownMatch, SpectatorFeed
from truc_server.storage.sql import Store
from truc_server.timing import clock


async def leave(seat) -> None:
    assert (await seat.ask({"t": "leave", "table": seat.table}))["t"] == "ok"


async def listed(client) -> dict:
    """Return the only public table as a client is told of it."""
    (table,) = (await client.ask({"t": "tables"}))["tables"]
    return table


def living(monkeypatch, kind: type) -> weakref.WeakSet:
    """Return those that are made of a kind from now on, as long as anybody holds them."""
    made, begin = weakref.WeakSet(), kind.__init__

    def noted(self, *args, **fields) -> None:
        begin(self, *args, **fields)
        made.add(self)

    monkeypatch.setattr(kind, "__init__", noted)
    return made


async def test_end_of_a_late_match_is_told_to_the_lobby_when_it_is_shown(server, mock_clock):
    seats, eye = await played(server)
    lobby = await follower(server)
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


async def test_key_of_the_same_name_is_not_shown_as_who_plays(server):
    seats, eye = await played(server)
    before = (await listed(eye))["seats"][1]["player"]
    await leave(seats[1])
    newcomer = await keyed(server, seats[1].name, keys.generate_signing_key())
    assert (await newcomer.ask({"t": "join", "table": seats[0].table}))["t"] == "ok"
    assert (await listed(eye))["seats"][1]["player"] == before


async def test_guest_of_the_same_name_is_not_shown_as_who_plays(server):
    seats = await server.match(2, guests=(0, 1), options={**SHORT, **LATE})
    await play_on(seats)
    await leave(seats[1])
    newcomer = await guest(server, seats[1].name)
    assert (await newcomer.ask({"t": "join", "table": seats[0].table}))["t"] == "ok"
    stranger = await guest(server)
    assert not (await listed(stranger))["seats"][1].get("online", False)


@pytest.mark.parametrize("kind", ["key", "guest"])
async def test_player_is_shown_by_their_tag_while_something_is_held_back(server, kind):
    guests = () if kind == "key" else (0, 1)
    seats = await server.match(2, guests=guests, options=LATE)
    for seat in seats:
        seat.chooses = only_cut
    await play_on(seats, asked)
    told = [message for message in seats[0].client.log if message["t"] == "table"][-1]
    shown = await listed(await Eye().connect(server))
    assert [seat["player"] for seat in shown["seats"]] == [seat["player"] for seat in told["seats"]]


async def test_key_that_was_given_another_name_than_it_asked_for_is_shown_as_connected(server):
    for name in ("seat10", "seat11"):
        await guest(server, name)
    seats = await server.seats(2, options={"spectators": 2})
    for seat in seats:
        seat.chooses = only_cut
        await seat.ready()
    await play_on(seats, asked)
    table = await listed(await guest(server))
    assert [seat.get("online", False) for seat in table["seats"]] == [True, True]


async def test_matches_that_wait_for_their_turn_are_all_shown(server, mock_clock):
    seats, eye = await played(server)
    lengths = [seats[0].next]
    for _ in range(2):
        await played_again(seats)
        lengths.append(seats[0].next)
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert [len(seen) for seen in eye.seen.values()] == lengths


async def test_of_matches_that_wait_for_their_turn_only_the_newest_is_in_memory(server, monkeypatch):
    shown = living(monkeypatch, ShownMatch)
    seats, _ = await played(server)
    for _ in range(2):
        await played_again(seats)
    assert len(shown) == 2


async def test_match_is_left_out_when_more_are_held_back_than_may_be(server, mock_clock, monkeypatch):
    monkeypatch.setattr(spectator_feed, "MATCHES", 3)
    seats, eye = await played(server)
    lengths = [seats[0].next]
    for _ in range(3):
        await played_again(seats)
        lengths.append(seats[0].next)
    del lengths[2]
    mock_clock.jump(61)
    await eye.until(lambda eye: eye.order[-1:] == ["over"])
    assert [len(seen) for seen in eye.seen.values()] == lengths


async def closed(server, **options):
    """Return somebody who watches a table that is gone, and not all of it has been shown."""
    seats, eye = await played(server, **options)
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
    await eye.client.stream.aclose()
    await wait_all_tasks_blocked()
    gc.collect()
    assert (before, len(feeds)) == (1, 0)


async def test_closed_table_can_be_watched_no_more_by_who_says_so(server, mock_clock):
    seats, eye = await closed(server)
    assert (await eye.ask({"t": "unwatch", "table": seats[0].table.lower()}))["t"] == "ok"
    del eye.order[:]
    mock_clock.jump(61)
    await eye.settle()
    assert eye.order == []


async def test_closed_table_is_not_unwatched_by_who_does_not_watch_it(server):
    seats, _ = await closed(server)
    stranger = await guest(server)
    reply = await stranger.ask({"t": "unwatch", "table": seats[0].table})
    assert reply["code"] == "no_such_table"


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
        assert eye.states == ["playing"]
        mock_clock.jump(61)
        await eye.until(lambda eye: eye.states[-1] != "playing")
        assert len(eye.seen[seats[0].ledger.setup.mid]) == seats[0].next
