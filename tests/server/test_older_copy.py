"""A player has seen more of a match than the server has: the host is told whose word it is, and the match goes on."""

import pytest
from server.acting import act, resumption
from server.conftest import in_hand, play_on
from server.rawclient import RawSeat
from structlog.testing import capture_logs

from truc_protocol.bodies import Act, Release

BEYOND = 30


def told(logged) -> list[tuple]:
    """Return of whose records the host was told: the match, the newest one seen, and the newest there is."""
    return [
        (entry["log_level"], entry["match"], entry["seen"], entry["newest"])
        for entry in logged
        if entry["event"] == "player_has_seen_more"
    ]


def act_at(seat: RawSeat, k: int) -> dict:
    return seat.sign(act(seat, "play", (0, 0, b"s" * 16), k=k, head=b"h" * 32))


def release_at(seat: RawSeat, k: int) -> dict:
    ledger = seat.ledger
    return seat.sign(Release(ledger.setup.mid, k, b"h" * 32, ledger.deal_index + 3, seat.seat, bytes(32)))


@pytest.mark.parametrize("request_at", [resumption, act_at, release_at])
async def test_host_is_told_when_a_player_is_beyond_the_last_record(server, request_at):
    seats = await in_hand(server)
    with capture_logs() as logged:
        reply = await seats[0].client.ask(request_at(seats[0], BEYOND))
    found = ("warning", seats[0].ledger.setup.mid.hex(), BEYOND - 1, seats[0].next - 1)
    assert (reply["code"], told(logged)) == ("bad_position", [found])


async def test_body_unsigned_overtaken_or_of_another_match_tells_the_host_nothing(server):
    seat = (await in_hand(server))[0]
    elsewhere = Act(b"m" * 32, BEYOND, b"h" * 32, 0, 0, "pause", ())
    requests = (
        {**act_at(seat, BEYOND), "sig": bytes(64)},
        {**seat.sign(elsewhere), "match": seat.ledger.setup.mid},
        act_at(seat, 1),
    )
    with capture_logs() as logged:
        codes = [(await seat.client.ask(request))["code"] for request in requests]
    assert (codes, told(logged)) == (["bad_position", "bad_position", "stale_position"], [])


async def test_host_is_told_once_for_each_seat_whose_claim_it_is_and_that_one_proves_nothing(server):
    seats = await in_hand(server)
    with capture_logs() as logged:
        for seat in seats:
            await seat.client.ask(resumption(seat, BEYOND))
            await seat.client.ask(act_at(seat, BEYOND))
    first, second = (entry for entry in logged if entry["event"] == "player_has_seen_more")
    assert (first["seat"], first["claims"], "alone, which proves nothing" in first["reason"]) == (0, 1, True)
    assert (second["seat"], second["claims"], "older copy?" in second["reason"]) == (1, 2, True)


async def test_claim_of_a_player_ends_no_match(server):
    seats = await in_hand(server, options={"match": 1, "target": 3})
    await seats[0].client.ask(resumption(seats[0], BEYOND))
    await seats[0].client.ask(act_at(seats[0], BEYOND))
    for seat in seats:
        seat.chooses = seat.pick
        assert (await seat.resume())["t"] == "ok"
    await play_on(seats)
    assert {seat.auditor.verdict().reason for seat in seats} == {"won"}


async def test_player_without_a_seat_tells_the_host_nothing(server):
    seats = await in_hand(server)
    stranger = await server.seat(seed=9)
    stranger.table, stranger.auditor = seats[0].table, seats[0].auditor
    with capture_logs() as logged:
        await stranger.client.ask(resumption(stranger, BEYOND))
    assert told(logged) == []
