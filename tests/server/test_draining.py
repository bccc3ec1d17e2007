"""A server that is told to drain: hands end, nothing begins, and after the start every match goes on from the next call."""

from functools import partial

import pytest
import trio
from server.acting import paused
from server.admins import host_says, hosting
from server.clocks import pass_time
from server.conftest import PATIENT, QUICK, changed, give_up, in_hand, play_on
from server.rawclient import GoneError, RawClient, RawSeat, bodies
from server.restarting import come_back, go_on, goodbyes
from server.visitors import FRENCH, goodbye, greeted, guest

from truc_protocol.bodies import Call, Close
from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.ledger import Due, due
from truc_protocol.records import Phase

SEEK = {"t": "seek", "variant": "truc-french", "seats": 2}


@pytest.fixture
async def server(path):
    async with hosting(path) as server:
        yield server


async def drain(server) -> dict:
    return await host_says(server.folder, command="drain")


def is_between(seat: RawSeat) -> bool:
    return seat.ledger.phase is Phase.BETWEEN


async def login_with_new_key(client: RawClient) -> None:
    await client.login_key(generate_signing_key())


async def refused_at(server, login) -> dict:
    """Return the goodbye that is the answer to a login."""
    client = await server.connect()
    with pytest.raises(GoneError):
        await login(client)
    return client.log[-1]


class TestWhatBegins:
    """With a hand under way the server drains for as long as that takes."""

    async def test_newcomers_are_sent_away_and_so_is_a_guest_without_a_seat_with_their_token(self, server):
        (away, _) = await server.seats(2, guests=(0,))
        await away.client.ask({"t": "leave", "table": away.table})
        await in_hand(server, seed=7)
        await drain(server)
        with_token = partial(RawClient.login_token, token=away.token)
        for login in (RawClient.login_guest, login_with_new_key, with_token):
            turned_away = await refused_at(server, login)
            assert (turned_away["code"], turned_away["reconnect_after_ms"]) == ("shutting_down", 2_000)

    async def test_no_table_is_made_and_no_match_begins(self, server):
        waiting = await server.seats(2)
        visitor = await guest(server)
        await in_hand(server, seed=7)
        await drain(server)
        answers = [
            await visitor.ask(FRENCH),
            await visitor.ask(SEEK),
            await waiting[0].client.ask({"t": "ready", "table": waiting[0].table}),
        ]
        assert [(answer["code"], answer["retryable"]) for answer in answers] == [
            ("too_many_tables", True)
        ] * 3
        assert "about to be stopped" in answers[0]["msg"]

    async def test_everybody_is_told_why_nothing_begins_and_for_how_long(self, server):
        seats = await in_hand(server)
        visitor = await guest(server)
        await greeted(server)
        await drain(server)
        told = [await client.until("draining") for client in (seats[0].client, seats[1].client, visitor)]
        most_ms = server.settings.tables.drain_s * 1_000
        assert [0 < notice["left_ms"] <= most_ms for notice in told] == [True] * 3

    async def test_player_with_a_seat_comes_back_and_is_told_too(self, server):
        seats = await in_hand(server)
        assert [(await drain(server))["before"] for _ in range(2)] == [False, True]
        answer = await host_says(server.folder, command="status")
        assert (answer["draining"], answer["hands"]) == (True, 1)
        first = await seats[0].client.until("draining")
        await come_back(server, *seats)
        (again,) = seats[0].client.came("draining")
        assert again["left_ms"] <= first["left_ms"]


class TestEnd:
    async def test_hand_is_played_to_its_close_and_no_other_called(self, server):
        seats = await in_hand(server)
        assert (await drain(server))["hands"] == 1
        assert not server.host.heard_of_end.is_set()
        assert {bye["code"] for bye in await goodbyes(seats)} == {"shutting_down"}
        assert server.host.heard_of_end.is_set()
        assert all(map(is_between, seats))
        assert {type(bodies(seat.records)[-1]) for seat in seats} == {Close}

    async def test_match_in_a_pause_is_not_waited_for(self, server):
        seats = await paused(server)
        assert (await drain(server))["hands"] == 0
        assert (await goodbye(seats[0].client))["code"] == "shutting_down"

    async def test_hand_that_nobody_plays_is_not_waited_for(self, server):
        seats = await in_hand(server)
        client = await guest(server)
        for seat in seats:
            await trio.aclose_forcefully(seat.client.stream)
        await drain(server)
        assert (await goodbye(client))["code"] == "shutting_down"

    @pytest.mark.parametrize("drain_s", [0, 1])
    async def test_time_that_is_over_ends_it_in_the_hand(self, path, drain_s):
        async with hosting(path, changed(QUICK, tables={"drain_s": drain_s})) as server:
            seats = await in_hand(server)
            await drain(server)
            assert (await goodbye(seats[0].client))["code"] == "shutting_down"
        assert seats[0].ledger.phase is Phase.HAND


class TestAfterwards:
    async def test_match_goes_on_with_the_next_call_and_is_proven(self, path):
        async with hosting(path) as server:
            seats = await in_hand(server, options={"match": 1})
            await drain(server)
            await goodbyes(seats)
        length = len(seats[0].records)
        (path / "unasked.json").write_text("{}")  # as a server of an older version has left it
        async with hosting(path) as server:
            await come_back(server, *seats)
            await give_up(seats)  # sooner than a call waits for who may want time
        assert isinstance(bodies(seats[0].records)[length], Call)

    async def test_hand_with_a_guest_is_played_out_and_its_call_waits_for_the_cut(self, path):
        async with hosting(path) as server:
            seats = await in_hand(server, "truc-catalan", guests=(1,), boxed=False, options={"match": 1})
            await drain(server)
            await goodbyes(seats)
        assert all(map(is_between, seats))
        assert due(seats[0].ledger) in (Due.CALL, Due.PLAYERS)  # who cuts may not have done so by then

    async def test_call_that_somebody_has_asked_to_hold_back_stays_held(self, path):
        async with hosting(path) as server:
            seats = await in_hand(server)
            assert (await seats[0].want_rekey())["t"] == "ok"
            await drain(server)
            await goodbyes(seats)
        async with hosting(path) as server:
            await come_back(server, *seats)
            waiting = await seats[0].client.until("waiting")
        assert (waiting["what"], waiting["seats"]) == ("rekey", [0])

    async def test_call_is_held_back_for_who_asks_while_other_hands_end(self, path, mock_clock):
        async with hosting(path, PATIENT) as server:
            seats = await in_hand(server, options={"release_ms": 5000})
            await in_hand(server, seed=7)  # whose end is waited for
            await drain(server)
            for seat in seats:
                await go_on(seat)
            await play_on(seats, is_between)
            mock_clock.jump(5.01)
            assert (await seats[0].want_rekey())["t"] == "ok"
            await pass_time(mock_clock, 1)
            server.stop()
        async with hosting(path, PATIENT) as server:
            await come_back(server, *seats)
            waiting = await seats[0].client.until("waiting")
        assert (waiting["what"], waiting["seats"]) == ("rekey", [0])
