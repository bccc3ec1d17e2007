"""Whose match it is: told by who has played on the seats, by key or guest, and not by a name or by who sits there now."""

from functools import partial

import pytest
from server.acting import resumption
from server.calls import BRIEF
from server.conftest import PATIENT as SETTINGS
from server.conftest import in_hand, play_on, running
from server.rawclient import RawSeat
from server.substituting import standing_by, step_in, voided
from server.test_resigning import in_the_hand
from server.visitors import guest, heard, keyed

from truc_protocol.bodies import Ack
from truc_protocol.records import Phase


async def over(server, **fields):
    """Return two players whose match is over."""
    fields["options"] = {**BRIEF, **fields.get("options", {})}
    seats = await server.match(2, **fields)
    await play_on(seats)
    return seats


async def replaced(server, seats, **fields) -> RawSeat:
    """Return a stranger on the seat that the second player has left after the match."""
    await seats[1].ask({"t": "leave", "table": seats[1].table})
    stranger = await server.seat(seed=9, **fields)
    assert (await stranger.join(seats[0].table))["t"] == "ok"
    return stranger


def mid_of(seats) -> bytes:
    return seats[0].ledger.setup.mid


async def resume(client, seats) -> dict:
    return await client.ask(resumption(seats[0]))


async def back(server, seat: RawSeat) -> dict:
    """Log a player in again and return the welcome; the connection is the server's newest."""
    client = await server.connect()
    return await (client.login_key(seat.key) if seat.key else client.login_token(seat.token))


@pytest.mark.parametrize(("keyed", "spectators"), [(True, 0), (False, 603)], ids=["key", "guest"])
async def test_newcomer_does_not_resume_the_match_before_and_takes_no_part_in_it(server, spectators, keyed):
    seats = await over(server, guests=(0, 1), options={"spectators": spectators})
    stranger = await replaced(server, seats, keyed=keyed)
    assert (await resume(stranger.client, seats))["code"] == "no_such_match"
    assert [await heard(stranger.client, tag) for tag in ("setup", "record", "cards")] == [[], [], []]
    reply = await stranger.ask({"t": "rekey", "table": seats[0].table, "match": mid_of(seats)})
    assert reply["code"] == "no_such_match"


async def test_guest_with_the_name_of_another_neither_resumes_nor_is_told_of_their_match(server):
    seats = await over(server, guests=(0, 1))
    await seats[1].ask({"t": "leave", "table": seats[1].table})
    other = await guest(server, seats[1].name)
    await other.ask({"t": "join", "table": seats[0].table})
    assert (await resume(other, seats))["code"] == "no_such_match"
    welcome = await (await server.connect()).login_token(other.welcome["token"])
    assert [held.get("match") for held in welcome["seats"]] == [None]


async def resigned(server) -> list[RawSeat]:
    """Return two guests without boxes, the first of whom has resigned in the middle of a hand."""
    seats = await in_the_hand(server, (0, 1))
    assert (await seats[0].choose_line("resign"))["t"] == "ok"
    return seats


async def moved(server) -> list[RawSeat]:
    """Return two guests of a match that is over, the second of whom has come back to the seat of the first."""
    seats = await resigned(server)
    await replaced(server, seats)
    await seats[0].ask({"t": "leave", "table": seats[0].table})
    seats[1].client.log.clear()
    assert (await seats[1].ask({"t": "join", "table": seats[0].table}))["seat"] == 0
    return seats


async def test_player_who_has_changed_seats_resumes_and_is_not_shown_the_cards_of_the_other(server):
    seats = await moved(server)
    assert (await resume(seats[1].client, seats))["t"] == "ok"
    assert await heard(seats[1].client, "cards") == []


async def test_player_who_has_changed_seats_acknowledges_nothing_for_the_other(server):
    seats = await server.match(2, options=BRIEF)
    seats[0].follow = partial(until_the_end, seats[0], seats[0].follow)
    await play_on(seats, has_ended)
    await replaced(server, seats)
    await seats[0].ask({"t": "leave", "table": seats[0].table})
    assert (await seats[1].ask({"t": "join", "table": seats[0].table}))["seat"] == 0
    ack = Ack(mid_of(seats), *seats[1].ledger.parallel, 0)
    assert (await seats[1].ask(seats[1].sign(ack)))["code"] == "bad_signature"


def has_ended(seat: RawSeat) -> bool:
    return seat.next > 0 and seat.ledger.phase is Phase.ENDED


async def until_the_end(seat: RawSeat, follow) -> None:
    """Do what a match needs, except to acknowledge its end."""
    if not has_ended(seat):
        await follow()


async def test_guest_with_the_name_of_one_in_play_is_not_told_of_a_substitute(server):
    seats = await in_hand(server, guests=(0, 1))
    other = await guest(server, seats[1].name)
    assert (await resume(other, seats))["code"] == "not_seated"


@pytest.mark.parametrize("elsewhere", [(), (3,)], ids=["full", "another-vacant"])
async def test_substituted_player_is_told_that_the_seat_is_gone(server, mock_clock, elsewhere):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, *elsewhere))
    newcomer = await standing_by(server, seats, seat=1)
    assert (await step_in(newcomer))["t"] == "ok"
    assert (await back(server, seats[1]))["t"] == "welcome"
    for asked in ({"t": "join", "table": seats[0].table}, resumption(seats[0], 0)):
        assert (await server.clients[-1].ask(asked))["code"] == "seat_gone"


@pytest.mark.parametrize("place", [0, 1], ids=["key", "guest"])
class TestRestart:
    """A key and a guest have played a match that is over; the server has been started again since."""

    async def test_who_has_played_is_told_of_the_match_and_resumes(self, path, place):
        async with running(path, SETTINGS) as server:
            seats = await over(server, guests=(1,))
        async with running(path, SETTINGS) as server:
            welcome = await back(server, seats[place])
            assert [held.get("match") for held in welcome["seats"]] == [mid_of(seats)]
            assert (await resume(server.clients[-1], seats))["t"] == "ok"

    async def test_newcomer_of_the_same_name_does_not_resume(self, path, place):
        async with running(path, SETTINGS) as server:
            seats = await over(server, guests=(1,))
            await seats[place].ask({"t": "leave", "table": seats[0].table})
            other = await (keyed, guest)[place](server, seats[place].name)
            await other.ask({"t": "join", "table": seats[0].table})
        async with running(path, SETTINGS) as server:
            stranger = await (keyed, guest)[place](server, seats[place].name)
            await seats_left(server, seats, 1 - place)
            await stranger.ask({"t": "join", "table": seats[0].table})
            assert (await resume(stranger, seats))["code"] == "no_such_match"


async def seats_left(server, seats, place) -> None:
    """Let a player leave the table after a restart."""
    await back(server, seats[place])
    assert (await server.clients[-1].ask({"t": "leave", "table": seats[0].table}))["t"] == "ok"
