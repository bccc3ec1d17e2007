"""Seats whose players are gone: offered between two deals, stood by for, and taken over by a signed record."""

from functools import partial

import pytest
from server.conftest import QUICK, changed, in_hand, only_cut, running, together
from server.rawclient import Seat
from server.test_recovery import come_back, play_until_gone
from server.test_rekeying import (
    BRIEF,
    after,
    awake,
    bodies,
    called,
    held,
    is_ended,
    nothing,
    results,
    rulings,
    until,
)
from trio.testing import wait_all_tasks_blocked

from truc_protocol import keys
from truc_protocol.audit import Result
from truc_protocol.bodies import Sub, Void
from truc_protocol.records import Phase, parse
from truc_rules import deciders_in_view
from truc_server.tables.standins import MOST

SETTINGS = changed(QUICK, limits={"idle_s": 3600, "login_s": 120})
TERMS = {"gone": 1, "release_ms": 5000, "decision_ms": 1000, "bank_ms": 0, **BRIEF}


@pytest.fixture
def settings():
    return SETTINGS


async def voided(server, mock_clock, *, count=2, silent=(1,), variant="truc-french", **options) -> list[Seat]:
    """Return seats of which some were silent at the first hand, so that they are offered to others."""
    seats = await called(server, count=count, variant=variant, options={**TERMS, **options})
    await awake(*seats)
    for seat in silent:
        seats[seat].follow = nothing
    await until(seats, lambda seat: hand_called(seat, count - len(silent)))
    mock_clock.jump(5.01)
    await until(seats, held)
    return seats


def hand_called(seat: Seat, released: int) -> bool:
    ledger = seat.ledger
    return ledger.match is not None and ledger.phase is Phase.CALLED and len(ledger.released) == released


def offered(seat: Seat) -> bool:
    return held(seat) and seat.waiting["what"] == "sub"


async def standing_by(server, seats, *, seed=7, seat=None, **fields) -> Seat:
    """Return a newcomer who stands by for a vacant seat and follows the match."""
    newcomer = await server.seat(seed=seed, **fields)
    reply = await newcomer.join(seats[0].table, seat)
    assert reply["t"] == "ok", reply
    reply = await follow(newcomer, seats)
    assert reply["t"] == "ok", reply
    return newcomer


async def follow(newcomer: Seat, seats) -> dict:
    match = seats[0].ledger.setup.mid
    wanted = {"t": "resume", "table": newcomer.table, "match": match, "next": -1}
    return await newcomer.ask(wanted)


async def step_in(newcomer: Seat, **fields) -> dict:
    return await newcomer.ask(newcomer.sign(newcomer.sub(**fields)))


def state_of(seat: Seat) -> dict:
    """Return the newest state of the table that a seat was told."""
    return [message for message in seat.client.log if message["t"] == "table"][-1]


def vacancies(seat: Seat) -> list[int]:
    return [told["seat"] for told in state_of(seat)["seats"] if told.get("vacant")]


async def test_seat_that_is_silent_at_a_hand_is_offered_to_others(server, mock_clock):
    seats = await voided(server, mock_clock)
    assert (seats[0].waiting["what"], seats[0].waiting["seats"], vacancies(seats[0])) == ("sub", [1], [1])


async def test_seat_that_is_silent_at_the_draw_is_offered_to_others(server, mock_clock):
    seats = await called(server, options=TERMS)
    await Seat.follow(seats[0])
    await until(seats[:1], after(2))
    mock_clock.jump(5.01)
    await until(seats, offered)
    assert seats[0].waiting["seats"] == [1]


async def test_draw_is_called_again_where_no_substitute_comes(server, mock_clock):
    seats = await called(server, options=TERMS)
    await Seat.follow(seats[0])
    await until(seats[:1], after(2))
    mock_clock.jump(5.01)
    await until(seats, offered)
    mock_clock.jump(5.01)
    await awake(*seats)
    await together(*(seat.play for seat in seats))
    assert results(seats) == {(Result.PROVEN, "won")}


async def test_seat_that_nobody_takes_over_forfeits(server, mock_clock):
    seats = await voided(server, mock_clock)
    mock_clock.jump(5.01)
    await until(seats, is_ended)
    assert rulings(seats[0]) == [("forfeit", 1, "silent")]


async def test_match_is_abandoned_where_nobody_takes_over_seats_of_both_sides(server, mock_clock):
    seats = await voided(server, mock_clock, silent=(0, 1))
    mock_clock.jump(5.01)
    await until(seats, is_ended)
    assert rulings(seats[0]) == [("abandon", None, "empty")]


async def test_newcomer_takes_the_seat_over_and_plays_to_a_proven_end(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    reply = await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert (reply["t"], results([seats[0], newcomer])) == ("ok", {(Result.PROVEN, "won")})


async def test_match_is_rated_for_who_has_left_it_and_not_for_the_newcomer(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    found = await newcomer.ask({"t": "leaderboard", "variant": "truc-french", "seats": 2})
    rated = {standing["player"] for standing in found["standings"]}
    assert rated == {keys.fingerprint(seat.key.public) for seat in seats}


async def test_newcomer_is_sent_the_setup_and_every_record(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    assert newcomer.records == seats[0].records


async def test_newcomer_is_told_how_long_the_seat_is_offered_still(server, mock_clock):
    seats = await voided(server, mock_clock)
    mock_clock.jump(2)
    newcomer = await standing_by(server, seats)
    await until([newcomer], offered)
    assert newcomer.waiting["deadline_ms"] == 3000


async def test_newcomer_follows_a_match_that_nobody_may_watch(server, mock_clock):
    seats = await voided(server, mock_clock, spectators=0)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert results([newcomer]) == {(Result.PROVEN, "won")}


async def test_who_stands_by_in_vain_is_shown_no_more_of_a_match_that_nobody_may_watch(server, mock_clock):
    seats = await voided(server, mock_clock, spectators=0)
    newcomer = await standing_by(server, seats)
    mock_clock.jump(5.01)
    await until(seats[:1], is_ended)
    assert (await newcomer.ask({"t": "tables"}))["t"] == "ok"
    assert newcomer.next < seats[0].next


async def test_everybody_is_told_who_has_the_seat_now(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    await until(seats[:1], lambda seat: not vacancies(seat) and len(bodies(seat, Sub)) == 1)
    told = state_of(seats[0])["seats"][1]
    assert (told["name"], told["kind"], "vacant" in told) == (newcomer.name, "key", False)


async def test_connection_that_had_the_seat_is_told_and_has_it_no_more(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    assert (await seats[1].client.until("seat_taken_over"))["seat"] == 1
    wanted = {"t": "resume", "table": seats[1].table, "match": seats[1].ledger.setup.mid, "next": 0}
    assert (await seats[1].client.ask(wanted))["code"] == "seat_gone"


async def test_player_who_has_left_can_sign_nothing_more(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    late = seats[1].sign(seats[1].rekey())
    await step_in(newcomer)
    assert (await seats[1].client.ask(late))["code"] == "seat_gone"


async def test_seat_belongs_to_the_newcomer_when_it_comes_back(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    welcomes = [
        await (await server.connect()).login_key(seat.key, seat.name) for seat in (newcomer, seats[1])
    ]
    held_now = {"table": seats[0].table, "match": seats[0].ledger.setup.mid, "seat": 1}
    assert [welcome.get("seats", []) for welcome in welcomes] == [[held_now], []]


async def test_same_sub_again_is_a_repeat(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    signed = newcomer.sign(newcomer.sub())
    first = await newcomer.ask(signed)
    again = await newcomer.ask(signed)
    assert (again["k"], again["dup"]) == (first["k"], True)


async def test_other_vacant_seat_is_still_offered_after_one_is_taken(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomer = await standing_by(server, seats, seat=3)
    await step_in(newcomer)
    await until(seats[:1], lambda seat: offered(seat) and seat.waiting["seats"] == [1])
    assert vacancies(seats[0]) == [1]


async def test_newcomers_take_two_seats_of_four_to_a_proven_end(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 2))
    newcomers = [await standing_by(server, seats, seed=seat, seat=seat) for seat in (1, 2)]
    first, second = newcomers
    await step_in(first)
    await until([seats[0], second], lambda seat: offered(seat) and seat.waiting["seats"] == [2])
    await step_in(second)
    playing = [seats[0], *newcomers, seats[3]]
    await together(*(seat.play for seat in playing))
    assert results(playing) == {(Result.PROVEN, "won")}


async def test_newcomer_that_never_signs_keeps_no_other_from_the_seat(server, mock_clock):
    seats = await voided(server, mock_clock)
    await standing_by(server, seats)
    newcomer = await standing_by(server, seats, seed=8)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert results([seats[0], newcomer]) == {(Result.PROVEN, "won")}


async def test_first_of_two_newcomers_to_sign_has_the_seat(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomers = [await standing_by(server, seats, seed=seed) for seed in (7, 8)]
    signed = [newcomer.sign(newcomer.sub()) for newcomer in newcomers]
    replies = [await newcomers[i].ask(signed[i]) for i in (1, 0)]
    assert (replies[0]["t"], replies[1]["code"]) == ("ok", "not_seated")


async def test_newcomer_whose_seat_another_took_is_told_who_has_it(server, mock_clock):
    seats = await voided(server, mock_clock, spectators=0)
    late = await standing_by(server, seats)
    newcomer = await standing_by(server, seats, seed=8)
    await step_in(newcomer)
    assert (await late.ask({"t": "tables"}))["t"] == "ok"
    told = state_of(late)["seats"][1]
    assert (told["name"], "vacant" in told) == (newcomer.name, False)


async def test_newcomer_whose_seat_another_took_is_shown_no_more_where_nobody_may_watch(server, mock_clock):
    seats = await voided(server, mock_clock, spectators=0)
    late = await standing_by(server, seats)
    newcomer = await standing_by(server, seats, seed=8)
    taken = (await step_in(newcomer))["k"]
    await together(seats[0].play, newcomer.play)
    assert (await late.ask({"t": "tables"}))["t"] == "ok"
    assert late.next == taken + 1


async def test_newcomer_whose_seat_another_took_follows_on_where_anybody_may_watch(server, mock_clock):
    seats = await voided(server, mock_clock)
    late = await standing_by(server, seats)
    newcomer = await standing_by(server, seats, seed=8)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    await until([late], is_ended)
    assert late.records == newcomer.records[: len(late.records)]


async def test_newcomers_without_a_wish_are_spread_over_the_vacant_seats(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomers = [await standing_by(server, seats, seed=seed) for seed in (5, 6, 7, 8)]
    assert [newcomer.seat for newcomer in newcomers] == [1, 3, 1, 3]


async def test_newcomer_without_a_wish_keeps_the_seat_it_stands_by_for(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomer = await standing_by(server, seats, seat=3)
    assert (await newcomer.join(seats[0].table))["seat"] == 3


async def test_one_key_under_two_names_stands_by_once(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    first = await standing_by(server, seats, seat=1)
    other = await server.seat(seed=8)
    other.client = await server.connect()
    await other.client.login_key(first.key, "another name")
    assert (await other.join(seats[0].table, 3))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_more_newcomers_than_a_table_holds_take_the_place_of_the_first(server, mock_clock):
    seats = await voided(server, mock_clock)
    first = await standing_by(server, seats)
    second = await standing_by(server, seats, seed=8)
    for seed in range(20, 20 + MOST - 1):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"
    assert (await step_in(second))["t"] == "ok"


async def test_newcomer_who_joins_again_keeps_its_place_among_the_others(server, mock_clock):
    seats = await voided(server, mock_clock)
    first = await standing_by(server, seats)
    for seed in range(20, 20 + MOST - 1):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    assert (await first.join(seats[0].table))["t"] == "ok"
    assert (await (await server.seat(seed=8)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_newcomer_whose_connection_has_ended_takes_no_place(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    gone = await standing_by(server, seats, seed=8)
    await gone.client.stream.aclose()
    await wait_all_tasks_blocked()
    for seed in range(20, 20 + MOST - 1):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(newcomer))["t"] == "ok"


async def test_newcomer_crowded_out_is_shown_no_more_of_a_match_that_nobody_may_watch(server, mock_clock):
    seats = await voided(server, mock_clock, spectators=0)
    first = await standing_by(server, seats)
    for seed in range(20, 20 + MOST):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"
    k = first.next
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await until(seats[:1], after(k + 1))
    assert (await first.ask({"t": "tables"}))["t"] == "ok"
    assert first.next == k


@pytest.mark.parametrize("request_", ["leave", "unwatch"])
async def test_who_stands_by_may_step_back(server, mock_clock, request_):
    seats = await voided(server, mock_clock)
    first = await standing_by(server, seats)
    assert (await first.ask({"t": request_, "table": first.table}))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_newest_connection_of_a_player_stands_by(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    newcomer.client = await server.connect()
    await newcomer.client.login_key(newcomer.key, newcomer.name)
    assert (await newcomer.join(seats[0].table))["t"] == "ok"
    assert (await follow(newcomer, seats))["t"] == "ok"
    assert (await step_in(newcomer))["t"] == "ok"


async def test_older_connection_of_who_stands_by_sees_no_more_of_a_match_that_nobody_may_watch(
    server, mock_clock
):
    seats = await voided(server, mock_clock, spectators=0)
    newcomer = await standing_by(server, seats)
    older, newcomer.client = newcomer.client, await server.connect()
    seen = len(older.log)
    await newcomer.client.login_key(newcomer.key, newcomer.name)
    await newcomer.join(seats[0].table)
    await follow(newcomer, seats)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert (await older.ask({"t": "tables"}))["t"] == "ok"
    assert [message for message in older.log[seen:] if message["t"] == "record"] == []


async def test_guest_cannot_stand_by(server, mock_clock):
    seats = await voided(server, mock_clock)
    guest = await server.seat(seed=8, keyed=False)
    assert (await guest.join(seats[0].table))["code"] == "guests_not_allowed"


async def test_player_of_the_match_has_its_own_seat_and_no_other(server, mock_clock):
    seats = await voided(server, mock_clock)
    reply = await seats[0].ask({"t": "join", "table": seats[0].table, "seat": 1})
    assert reply["code"] == "not_now"


async def test_player_who_has_left_cannot_stand_by(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomer = await standing_by(server, seats, seat=1)
    await step_in(newcomer)
    assert (await seats[1].ask({"t": "join", "table": seats[0].table}))["code"] == "seat_gone"


async def test_seat_that_is_not_vacant_cannot_be_stood_by_for(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await server.seat(seed=8)
    assert (await newcomer.join(seats[0].table, 0))["code"] == "seat_taken"


async def test_table_without_a_vacant_seat_is_full_as_ever(server):
    seats = await in_hand(server, options={"gone": 1})
    newcomer = await server.seat(seed=8)
    assert (await newcomer.join(seats[0].table))["code"] == "table_full"


async def test_sub_for_another_key_than_the_one_logged_in_is_refused(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    other = keys.generate_signing_key()
    assert (await step_in(newcomer, pk=other.public))["code"] == "terms_refused"


async def test_sub_that_its_own_key_has_not_signed_closes_the_connection(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    signed = newcomer.sign(newcomer.sub())
    reply = await newcomer.ask({**signed, "sig": bytes(64)})
    assert (reply["code"], reply["close"]) == ("bad_signature", True)


async def test_sub_with_a_box_key_of_another_seat_is_refused_with_a_signed_word(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    reply = await step_in(newcomer, x=seats[0].x.public)
    assert (reply["code"], "refuse" in reply) == ("terms_refused", True)


async def test_sub_for_a_position_that_has_passed_is_stale(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    stale = newcomer.sign(newcomer.sub())
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await until([newcomer], after(newcomer.next + 1))
    assert (await newcomer.ask(stale))["code"] == "stale_position"


async def test_sub_of_who_does_not_stand_by_is_refused(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    await newcomer.ask({"t": "unwatch", "table": newcomer.table})
    assert (await step_in(newcomer))["code"] == "not_seated"


async def test_sub_for_another_seat_than_stood_by_for_is_refused(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomer = await standing_by(server, seats, seat=1)
    assert (await step_in(newcomer, seat=3))["code"] == "bad_message"


async def test_sub_of_a_seated_player_is_refused(server, mock_clock):
    seats = await voided(server, mock_clock)
    assert (await seats[0].ask(seats[0].sign(seats[0].sub())))["code"] == "not_now"


async def test_nothing_but_a_sub_is_taken_from_who_stands_by(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    assert (await newcomer.ask(newcomer.sign(newcomer.rekey())))["code"] == "not_now"


async def test_newcomer_who_has_not_caught_up_may_sign_and_resume_then(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await server.seat(seed=7)
    await newcomer.join(seats[0].table)
    newcomer.auditor = seats[0].auditor
    signed = newcomer.sign(newcomer.sub())
    newcomer.auditor = None
    assert (await newcomer.client.ask(signed))["t"] == "ok"
    seats[0].auditor.add_box_key(newcomer.fresh[1])
    assert (await follow(newcomer, seats))["t"] == "ok"
    await together(seats[0].play, newcomer.play)
    assert results([newcomer]) == {(Result.PROVEN, "won")}


async def test_second_void_is_beyond_the_terms_and_forfeits(server, mock_clock):
    seats = await voided(server, mock_clock, voids=1)
    newcomer = await standing_by(server, seats)
    newcomer.follow = nothing
    await step_in(newcomer)
    await until([seats[0], newcomer], lambda seat: hand_called(seat, 1))
    mock_clock.jump(5.01)
    await until([seats[0]], is_ended)
    assert (rulings(seats[0]), len(bodies(seats[0], Void))) == ([("forfeit", 1, "silent")], 2)


async def absent(server, mock_clock, *, guests=(), **options) -> tuple[list[Seat], int]:
    """Return seats one of which was ruled for through a whole hand, so that it is offered; and which."""
    seats = await server.match(2, guests=guests, options={**TERMS, "gone_after": 1, "guests": 1, **options})
    away = 1
    seats[away].chooses = only_cut

    def stuck(seat: Seat) -> bool:
        return offered(seat) or (is_told(seat) and away in deciders_in_view(seat.ledger.match))

    while not offered(seats[0]):
        await until(seats, stuck)
        if not offered(seats[0]):
            k = seats[0].next
            mock_clock.jump(1.01)
            await until(seats, after(k + 1))
    return seats, away


def is_told(seat: Seat) -> bool:
    """Tell whether a seat knows whose decision is waited for in a hand."""
    told = [message for message in (seat.options, seat.waiting) if message and message["at"] == seat.next]
    return bool(told and seat.ledger.hand)


@pytest.mark.slow
async def test_seat_ruled_for_too_often_is_not_forfeited_in_the_hand_but_offered_after_it(server, mock_clock):
    seats, away = await absent(server, mock_clock, target=12)
    ruled = {ruling for ruling, _, _ in rulings(seats[0])}
    assert (ruled, seats[0].ledger.phase, seats[0].waiting["seats"]) == ({"move"}, Phase.BETWEEN, [away])


@pytest.mark.slow
async def test_absent_seat_that_nobody_takes_over_forfeits_between_the_hands(server, mock_clock):
    seats, away = await absent(server, mock_clock, target=12)
    mock_clock.jump(5.01)
    await until(seats, is_ended)
    assert rulings(seats[0])[-1] == ("forfeit", away, "absent")


@pytest.mark.slow
@pytest.mark.parametrize("guests", [(), (1,)])
async def test_absent_seat_is_taken_over_by_a_player_with_a_key(server, mock_clock, guests):
    seats, _ = await absent(server, mock_clock, guests=guests, target=12)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert results([seats[0], newcomer]) == {(Result.PROVEN, "won")}


@pytest.mark.slow
async def test_guest_whose_seat_was_taken_over_has_it_no_more(server, mock_clock):
    seats, _ = await absent(server, mock_clock, guests=(1,), target=12)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    assert (await seats[1].client.until("seat_taken_over"))["seat"] == 1
    welcome = await (await server.connect()).login_token(seats[1].token)
    assert welcome.get("seats", []) == []


@pytest.mark.slow
async def test_guest_whose_seat_was_taken_over_is_told_so_when_it_chooses(server, mock_clock):
    seats, _ = await absent(server, mock_clock, guests=(1,), target=12)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    wanted = {"table": seats[1].table, "match": newcomer.ledger.setup.mid, "at": newcomer.next}
    reply = await seats[1].client.ask({"t": "act", **wanted, "choose": "resign"})
    assert reply["code"] == "seat_gone"


@pytest.mark.slow
async def test_guest_whose_seat_was_taken_over_is_told_so_after_a_restart_too(tmp_path, mock_clock):
    path = tmp_path / "data"
    async with running(path, SETTINGS) as server:
        seats, _ = await absent(server, mock_clock, guests=(1,), target=12)
        newcomer = await standing_by(server, seats)
        await step_in(newcomer)
    async with running(path, SETTINGS) as server:
        client = await server.connect()
        await client.login_token(seats[1].token)
        wanted = {"table": seats[1].table, "match": newcomer.ledger.setup.mid, "next": 0}
        assert (await client.ask({"t": "resume", **wanted}))["code"] == "seat_gone"


@pytest.mark.slow
async def test_seat_is_offered_after_a_restart_too(tmp_path, mock_clock):
    path = tmp_path / "data"
    async with running(path, SETTINGS) as server:
        seats = await voided(server, mock_clock)
    async with running(path, SETTINGS) as server:
        seats[0].waiting = None
        await come_back(server, seats[0])
        await until(seats[:1], offered)
        newcomer = await standing_by(server, seats)
        await step_in(newcomer)
        await together(seats[0].play, newcomer.play)
    assert results([newcomer]) == {(Result.PROVEN, "won")}


@pytest.mark.slow
async def test_newcomer_has_the_seat_after_a_restart_too(tmp_path, mock_clock):
    path = tmp_path / "data"
    async with running(path, SETTINGS) as server:
        seats = await voided(server, mock_clock)
        newcomer = await standing_by(server, seats)
        await step_in(newcomer)

        async def watched() -> None:
            await seats[0].play(until=lambda seat: seat.ledger.hand is not None)
            server.stop()

        await together(watched, partial(play_until_gone, newcomer))
    async with running(path, SETTINGS) as server:
        for seat in (seats[0], newcomer):
            await come_back(server, seat)
            await seat.follow()
        left = await server.connect()
        assert "seats" not in await left.login_key(seats[1].key)
        await together(seats[0].play, newcomer.play)
    assert results([newcomer]) == {(Result.PROVEN, "won")}


@pytest.mark.slow
async def test_nobody_stands_by_after_a_restart(tmp_path, mock_clock):
    path = tmp_path / "data"
    async with running(path, SETTINGS) as server:
        seats = await voided(server, mock_clock)
        await standing_by(server, seats)
    async with running(path, SETTINGS) as server:
        other = await server.seat(seed=8)
        assert (await other.join(seats[0].table))["t"] == "ok"


async def test_table_of_a_match_that_is_over_has_no_vacant_seat(server, mock_clock):
    seats = await voided(server, mock_clock)
    mock_clock.jump(5.01)
    await until(seats[:1], is_ended)
    await seats[0].client.until("table", state="over")
    assert vacancies(seats[0]) == []


async def test_rematch_is_between_those_who_sit_there_now(server, mock_clock):
    seats = await voided(server, mock_clock)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    players = [seats[0], newcomer]
    await together(*(seat.play for seat in players))
    first = newcomer.ledger.setup.mid
    for seat in players:
        assert (await seat.ready())["t"] == "ok"
    await until(players, lambda seat: seat.ledger.setup.mid != first and seat.ledger.hand is not None)
    assert [taken.pk for taken in newcomer.ledger.setup.seats] == [seat.key.public for seat in players]


async def test_reader_at_another_table_is_told_which_seats_are_vacant(server, mock_clock):
    seats = await voided(server, mock_clock)
    reader = await server.seat(seed=8)
    listed = (await reader.ask({"t": "tables"}))["tables"]
    assert [seat.get("vacant", False) for seat in listed[0]["seats"]] == [False, True]
    assert parse(seats[0].records[-1]).seats == (1,)
