"""A server of mode blind that is stopped between any two records: it goes on from its log, and held keys come again."""

import os

import pytest
from server.blind_seats import BlindSeat, blind_match, is_due
from server.conftest import PATIENT, play_on, running, together
from server.restarting import play_until_stopped

from truc_protocol.audit import Result
from truc_protocol.bodies import Keys
from truc_protocol.records import parse

pytestmark = pytest.mark.slow
SHORT = {"target": 3, "match": 1}
FIRST_HAND = range(3, 26, 1 if "TRUC_EXAMPLES" in os.environ else 2)
"""From the call of the first hand of two seats, over its masks, locks, keys, deal and acts, to those of the next one; every
second record of them, and with TRUC_EXAMPLES every one."""
DEALT = 12
"""Records after a restart before the match is given up: enough for a hand to be dealt."""


async def interrupted(path, count, variant, *, until, **options) -> list[BlindSeat]:
    """Play until a condition holds for the first seat, and stop the server."""
    async with running(path) as server:
        seats = await blind_match(server, count, variant, options={**SHORT, **options})
        await play_until_stopped(server, seats, until)
    return seats


async def gone_on(path, seats) -> None:
    async with running(path) as server:
        for seat in seats:
            assert (await seat.come_back(await server.connect()))["t"] == "ok"
        await play_on(seats)


@pytest.mark.parametrize("after", FIRST_HAND)
async def test_match_goes_on_after_a_restart_behind_any_record(path, after):
    seats = await interrupted(path, 2, "truc-catalan", until=lambda seat: seat.next >= after)
    seats[0].resigns_at = after + DEALT
    await gone_on(path, seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_keys_that_were_held_are_sent_again_after_a_restart(path):
    async with running(path) as server:
        seats = await blind_match(server, options=SHORT)
        seats[1].withheld = frozenset({"keys"})

        await together(*((lambda s=seat: s.play(is_due("keys"))) for seat in seats))
        before = [parse(record) for record in seats[0].records]
        assert not any(isinstance(body, Keys) for body in before)
    seats[1].withheld = frozenset()
    async with running(path) as server:
        for seat in seats:
            assert (await seat.come_back(await server.connect()))["t"] == "ok"
            await seat.follow()
        await play_on(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_seat_that_comes_back_on_another_connection_sends_its_held_keys_again(server):
    seats = await blind_match(server, options=SHORT)
    seats[1].withheld = frozenset({"keys"})

    await together(*((lambda s=seat: s.play(is_due("keys"))) for seat in seats))
    old = seats[0].client
    assert (await seats[0].come_back(await server.connect()))["t"] == "ok"
    await old.until("seat_taken_over")
    assert (await old.until("error"))["code"] == "not_now"
    seats[1].withheld = frozenset()
    await seats[1].follow()
    await play_on(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_masks_and_locks_share_their_time_and_have_it_whole_after_a_restart(tmp_path, mock_clock):
    """Time that was used up is not stored: nobody can have used what a server that stood still took."""
    path, patient = tmp_path / "data", PATIENT
    async with running(path, patient) as server:
        seats = await blind_match(server, options=SHORT)
        seats[1].withheld = frozenset({"mask"})
        await play_on(seats, is_due("mask", 1))
        mock_clock.jump(40)
        seats[1].withheld = frozenset({"lock"})
        await seats[1].follow()
        await play_on(seats, is_due("lock", 1))
        assert seats[0].waiting["deadline_ms"] <= 20_000
    async with running(path, patient) as server:
        for seat in seats:
            seat.waiting = None
            assert (await seat.come_back(await server.connect()))["t"] == "ok"
        await play_on(seats, is_due("lock", 1))
        assert seats[0].waiting["deadline_ms"] == 60_000
        mock_clock.jump(50)
        seats[1].withheld = frozenset()
        await seats[1].follow()
        await play_on(seats)
    assert {(seat.auditor.verdict().result, seat.auditor.verdict().reason) for seat in seats} == {
        (Result.PROVEN, "won")
    }
