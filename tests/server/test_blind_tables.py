"""Tables whose host sees no card: who may sit there, which games can be played, and whole matches that are proven."""

import os
from threading import current_thread, main_thread

import pytest
from rows import each_row
from server.blind_seats import WANT, BlindSeat, blind_match, blind_seat, blind_seats, is_due, is_in_hand
from server.conftest import play_on, under

from truc_protocol.audit import Result, verify
from truc_protocol.bodies import Deal, Keys, Lock, Mask, Release, Rule
from truc_protocol.records import parse
from truc_protocol.setup import blind_hindrance
from truc_protocol.wire.capabilities import OWN_OPTIONS
from truc_rules import Variant, preset, presets
from truc_server.matches import acceptance

SHORT = {"target": 3, "match": 1}
EXCLUDED = sorted(name for name in presets() if blind_hindrance(preset(name), 0))


def kinds(seat: BlindSeat) -> list[type]:
    return [type(parse(record)) for record in seat.records]


def is_proven(seat: BlindSeat) -> bool:
    return seat.auditor.verdict().result is Result.PROVEN and seat.auditor.verdict().host_saw_no_card


async def test_match_of_two_is_dealt_by_its_seats_and_proven_as_it_is_stored_and_so_is_the_next(server):
    seats = await blind_match(server, options=SHORT)
    await play_on(seats)
    assert all(map(is_proven, seats))
    assert {Mask, Lock, Keys, Deal, Release} <= set(kinds(seats[0]))
    assert Rule not in kinds(seats[0])
    mid = seats[0].ledger.setup.mid
    found = server.store.past_match(mid)
    assert found is not None
    # what the store has is what the seats were sent
    rows = server.store.records(mid, first=0, limit=10_000)
    stored = [(row.signer, row.body, row.sig) for row in rows]
    assert stored == [tuple(record) for record in seats[0].records[len(found.setup) :]]
    assert verify(seats[0].file()).result is Result.PROVEN
    for seat in seats:
        assert (await seat.ready())["t"] == "ok"
    await play_on(seats, lambda seat: seat.done and seat.ledger.setup.mid != mid)
    assert all(map(is_proven, seats))


async def test_client_that_does_not_deal_is_told_what_to_do_and_a_guest_to_log_in_with_a_key(server):
    seats = await blind_seats(server)
    plain = await server.seat(seed=7, want=(OWN_OPTIONS,))
    for request in (
        {"t": "create", "variant": "truc-catalan", "options": {"mode": "blind"}},
        {"t": "seek", "variant": "truc-catalan", "options": {"mode": "blind"}},
    ):
        refused = await plain.client.ask(request)
        assert (refused["code"], refused["field"]) == ("bad_option", "options/mode")
        assert "`want`" in refused["msg"]
    refused = await plain.client.ask({"t": "join", "table": seats[0].table})
    assert refused["code"] == "not_now"
    assert "`want`" in refused["msg"]
    guest = await server.seat(seed=8, keyed=False, want=WANT)
    for request in (
        {"t": "create", "variant": "truc-catalan", "options": {"mode": "blind"}},
        {"t": "join", "table": seats[0].table},
    ):
        assert (await guest.client.ask(request))["code"] == "guests_not_allowed"


async def test_seek_finds_a_blind_table_only_for_who_wants_one(server):
    seats = await blind_seats(server, 2, "truc-catalan", options={"target": 9})
    seats[1].table, _ = "", await seats[1].client.ask({"t": "leave", "table": seats[0].table})
    third = await blind_seat(server, seed=8)
    other = await third.client.ask({"t": "seek", "variant": "truc-catalan", "options": {"target": 9}})
    assert other["table"] != seats[0].table
    found = await third.client.ask(
        {"t": "seek", "variant": "truc-catalan", "options": {"target": 9, "mode": "blind"}}
    )
    assert found["table"] == seats[0].table


@each_row(
    "name, options, reason",
    [
        *((name, {}, blind_hindrance(preset(name), 0)) for name in EXCLUDED),
        ("truc-catalan", {"guests": 1}, "guests"),
        ("truc-catalan", {"reveal": "match"}, "reveal"),
    ],
)
async def test_game_guests_and_late_opening_that_cannot_be_are_refused_with_the_reason(
    server, name, options, reason
):
    seat = await blind_seat(server)
    wanted = {"t": "create", "variant": name, "options": {"mode": "blind", **options}}
    refused = await seat.client.ask(wanted)
    assert (refused["code"], reason in refused["msg"]) == ("bad_option", True)


@under(tables={"blind": False})
async def test_host_that_offers_none_makes_none(server):
    seat = await blind_seat(server)
    assert "blind" not in seat.client.info["caps"]
    refused = await seat.client.ask({"t": "create", "variant": "truc-catalan", "options": {"mode": "blind"}})
    assert (refused["code"], refused["field"]) == ("bad_option", "options/mode")


async def test_no_keys_are_told_before_those_of_every_seat_are_there(server):
    seats = await blind_match(server, options=SHORT)
    seats[1].withheld = frozenset({"keys"})
    await play_on(seats, is_due("keys"))
    assert ("keys", 1, 0) in seats[0].taken
    assert Keys not in kinds(seats[0]) + kinds(seats[1])
    await seats[1].do_withheld()
    await play_on(seats, is_in_hand)
    assert [each for each in kinds(seats[0]) if each in (Keys, Deal)][:3] == [Keys, Keys, Deal]


async def test_card_turned_up_is_searched_for_in_the_thread_that_checks_keys(server, monkeypatch):
    searched, find = [], acceptance.find_cards_shown

    def noted(ledger, keys):
        searched.append((current_thread() is main_thread(), {body.seat for body in keys}))
        find(ledger, keys)

    monkeypatch.setattr(acceptance, "find_cards_shown", noted)
    seats = await blind_match(server, 2, "truco-paulista", options={"target": 3, "match": 1})
    await play_on(seats, is_in_hand)
    assert not any(is_main for is_main, _ in searched)
    assert searched[-1][1] == {0, 1}


ALLOWED = {name: preset(name) for name in presets() if not blind_hindrance(preset(name), 0)}
IN_FULL = "TRUC_EXAMPLES" in os.environ
LONG = 100 if IN_FULL else 50
"""Records after which a match is given up: the rest would be more of the same."""


def dealing_of(variant: Variant) -> tuple:
    """Return what games that are dealt alike have in common."""
    return len(variant.pack), variant.turnup, variant.redeal, variant.pica


FIRST = {dealing_of(variant): name for name, variant in reversed(ALLOWED.items())}
PLAYED = [
    (name, count)
    for i, name in enumerate(ALLOWED if IN_FULL else reversed(FIRST.values()))
    for at, count in enumerate(ALLOWED[name].players)
    if IN_FULL or at == i % min(2, len(ALLOWED[name].players))
]
"""The first of the games that are dealt alike, each with the fewest seats or the next more; with TRUC_EXAMPLES all at all tables."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), PLAYED)
async def test_game_is_played_to_its_end_and_proven(server, name, count):
    seats = await blind_match(server, count, name, options={"match": 1, "decision_ms": 0}, seed=3)
    seats[0].resigns_at = LONG
    await play_on(seats)
    assert all(seat.auditor.verdict().result is Result.PROVEN for seat in seats)
    assert seats[0].auditor.verdict().unopened == ()
