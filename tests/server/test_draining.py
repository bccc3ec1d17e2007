"""A server that is told to drain: hands end, nothing begins, and after the start every match goes on from the next call."""

from functools import partial

import pytest
import trio
from server.acting import paused
from server.admins import host_says, hosting
from server.clocks import pass_time
from server.conftest import (
    PATIENT,
    QUICK,
    changed,
    give_up,
    holder_of,
    in_hand,
    is_to_move,
    play_on,
    together,
)
from server.rawclient import GoneError, RawClient, RawSeat, bodies
from server.restarting import come_back
from server.visitors import greeted, guest

from truc_protocol.bodies import Call, Close
from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.ledger import Due, due
from truc_protocol.records import Phase
from truc_server.settings.folder import Folder

FRENCH = {"t": "create", "variant": "truc-french"}
SEEK = {"t": "seek", "variant": "truc-french", "seats": 2}


@pytest.fixture
def data(path):
    return Folder(path)


@pytest.fixture
async def server(data):
    async with hosting(data.root) as server:
        yield server


async def drain(server) -> dict:
    return await host_says(server.folder, command="drain")


async def play_to_the_end_of_the_server(seat: RawSeat) -> None:
    seat.chooses = seat.pick
    try:
        if is_to_move(seat):
            await seat.act(seat.act_message(seat.options, seat.pick(seat.options, seat.offered)))
        await seat.play()
    except GoneError:
        return
    raise AssertionError("the match has ended")


async def to_the_end_of_the_hand(*seats: RawSeat) -> None:
    """Play until the server is gone."""
    await together(*(partial(play_to_the_end_of_the_server, seat) for seat in seats))


def is_between(seat: RawSeat) -> bool:
    return seat.ledger.phase is Phase.BETWEEN


async def last_words(client) -> dict:
    with trio.fail_after(10):
        return (await client.closed())[-1]


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

    async def test_newcomers_are_sent_away(self, server):
        await in_hand(server)
        await drain(server)
        for login in (RawClient.login_guest, login_with_new_key):
            assert (await refused_at(server, login))["code"] == "shutting_down"

    async def test_guest_without_a_seat_is_sent_away_with_their_token_too(self, server):
        (away, _) = await server.seats(2, guests=(0,))
        code = away.table
        await away.client.ask({"t": "leave", "table": code})
        await in_hand(server, seed=7)
        await drain(server)
        turned_away = await refused_at(server, partial(RawClient.login_token, token=away.token))
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
        again = next(message for message in seats[0].client.log if message["t"] == "draining")
        assert again["left_ms"] <= first["left_ms"]


class TestEnd:
    async def test_hand_is_played_to_its_close_and_no_other_called(self, server):
        seats = await in_hand(server)
        assert (await drain(server))["hands"] == 1
        assert not server.host.heard_of_end.is_set()
        await to_the_end_of_the_hand(*seats)
        assert server.host.heard_of_end.is_set()
        assert {seat.ledger.phase for seat in seats} == {Phase.BETWEEN}
        assert {type(bodies(seat.records)[-1]) for seat in seats} == {Close}
        assert {seat.client.log[-1]["code"] for seat in seats} == {"shutting_down"}

    async def test_match_in_a_pause_is_not_waited_for(self, server):
        seats = await paused(server)
        assert (await drain(server))["hands"] == 0
        assert (await last_words(seats[0].client))["code"] == "shutting_down"

    async def test_hand_that_nobody_plays_is_not_waited_for(self, server):
        seats = await in_hand(server)
        client = await guest(server)
        for seat in seats:
            await trio.aclose_forcefully(seat.client.stream)
        await drain(server)
        assert (await last_words(client))["code"] == "shutting_down"

    @pytest.mark.parametrize("drain_s", [0, 1])
    async def test_time_that_is_over_ends_it_in_the_hand(self, data, drain_s):
        async with hosting(data.root, changed(QUICK, tables={"drain_s": drain_s})) as server:
            seats = await in_hand(server)
            await drain(server)
            assert (await last_words(seats[0].client))["code"] == "shutting_down"
        assert seats[0].ledger.phase is Phase.HAND


class TestAfterwards:
    async def test_match_goes_on_with_the_next_call_and_is_proven(self, data):
        async with hosting(data.root) as server:
            seats = await in_hand(server, options={"match": 1})
            await drain(server)
            await to_the_end_of_the_hand(*seats)
        length = len(seats[0].records)
        (data.root / "unasked.json").write_text("{}")  # as a server of an older version has left it
        async with hosting(data.root) as server:
            await come_back(server, *seats)
            await give_up(seats)  # sooner than a call waits for who may want time
        assert isinstance(bodies(seats[0].records)[length], Call)

    async def test_hand_with_a_guest_is_played_out_and_its_call_waits_for_the_cut(self, data):
        async with hosting(data.root) as server:
            seats = await in_hand(server, "truc-catalan", guests=(1,), boxed=False, options={"match": 1})
            await drain(server)
            await to_the_end_of_the_hand(*seats)
        assert {seat.ledger.phase for seat in seats} == {Phase.BETWEEN}
        assert due(seats[0].ledger) in (Due.CALL, Due.PLAYERS)  # who cuts may not have done so by then

    async def test_call_that_somebody_has_asked_to_hold_back_stays_held(self, data):
        async with hosting(data.root) as server:
            seats = await in_hand(server)
            assert (await seats[0].want_rekey())["t"] == "ok"
            await drain(server)
            await to_the_end_of_the_hand(*seats)
        async with hosting(data.root) as server:
            await come_back(server, *seats)
            waiting = await seats[0].client.until("waiting")
        assert (waiting["what"], waiting["seats"]) == ("rekey", [0])

    async def test_call_is_held_back_for_who_asks_while_other_hands_end(self, data, mock_clock):
        async with hosting(data.root, PATIENT) as server:
            seats = await in_hand(server, options={"release_ms": 5000})
            await in_hand(server, seed=7)  # whose end is waited for
            await drain(server)
            mover, _ = holder_of(seats)
            for seat in seats:
                seat.chooses = seat.pick
            await mover.act(mover.act_message(mover.options, mover.pick(mover.options, mover.offered)))
            await play_on(seats, is_between)
            mock_clock.jump(5.01)
            assert (await seats[0].want_rekey())["t"] == "ok"
            await pass_time(mock_clock, 1)
            server.stop()
        async with hosting(data.root, PATIENT) as server:
            await come_back(server, *seats)
            waiting = await seats[0].client.until("waiting")
        assert (waiting["what"], waiting["seats"]) == ("rekey", [0])
