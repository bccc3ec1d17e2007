"""A server of mode blind that is stopped between any two records: it goes on from its log, and held keys come again."""

import os

import pytest
from server.blind_seats import BlindSeat, blind_match, is_due
from server.calls import after, bodies
from server.clocks import come_back
from server.conftest import PATIENT, play_on, running
from server.restarting import play_until_stopped

from truc_protocol.audit import Result
from truc_protocol.bodies import Keys

pytestmark = pytest.mark.slow
SHORT = {"target": 3, "match": 1}
FIRST_HAND = range(3, 26, 1 if "TRUC_EXAMPLES" in os.environ else 2)
"""From the call of the first hand of two seats, over its masks, locks, keys, deal and acts, to those of the next one; every
second record of them, and with TRUC_EXAMPLES every one."""
DEALT = 12
"""Records after a restart before the match is given up: enough for a hand to be dealt."""


@pytest.mark.parametrize("k", FIRST_HAND)
async def test_match_goes_on_after_a_restart_behind_any_record(path, k):
    async with running(path) as server:
        seats = await blind_match(server, 2, "truc-catalan", options=SHORT)
        await play_until_stopped(server, seats, after(k))
    seats[0].resigns_at = k + DEALT
    async with running(path) as server:
        for seat in seats:
            await come_back(server, seat)
        await play_on(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def keys_are_held(server) -> list[BlindSeat]:
    """Return two seats whose hand waits for the keys of the second; those of the first are held."""
    seats = await blind_match(server, options=SHORT)
    seats[1].withheld = frozenset({"keys"})
    await play_on(seats, is_due("keys"))
    assert bodies(seats[0], Keys) == []
    return seats


async def test_keys_that_were_held_are_sent_again_after_a_restart(path):
    async with running(path) as server:
        seats = await keys_are_held(server)
    async with running(path) as server:
        for seat in seats:
            await come_back(server, seat)
            await seat.do_withheld()
        await play_on(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_request_of_keys_that_come_again_on_another_connection_is_refused_on_the_older_one(server):
    seats = await keys_are_held(server)
    old = seats[0].client
    await come_back(server, seats[0])
    await old.until("seat_taken_over")
    assert (await old.until("error"))["code"] == "not_now"


async def test_masks_and_locks_share_their_time_and_have_it_whole_after_a_restart(path, mock_clock):
    """Time that was used up is not stored: nobody can have used what a server that stood still took."""
    async with running(path, PATIENT) as server:
        seats = await blind_match(server, options=SHORT)
        seats[1].withheld = frozenset({"mask"})
        await play_on(seats, is_due("mask", 1))
        mock_clock.jump(40)
        seats[1].withheld = frozenset({"lock"})
        await seats[1].follow()
        await play_on(seats, is_due("lock", 1))
        assert seats[0].waiting["deadline_ms"] <= 20_000
    async with running(path, PATIENT) as server:
        for seat in seats:
            seat.waiting = None
            await come_back(server, seat)
        await play_on(seats, is_due("lock", 1))
        assert seats[0].waiting["deadline_ms"] == 60_000
        mock_clock.jump(50)
        await seats[1].do_withheld()
        await play_on(seats)
    assert {(seat.auditor.verdict().result, seat.auditor.verdict().reason) for seat in seats} == {
        (Result.PROVEN, "won")
    }
