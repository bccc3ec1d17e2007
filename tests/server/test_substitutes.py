"""Seats whose players are gone: offered between two deals, stood by for, and taken over by a signed record."""

from server.acting import resumption
from server.calls import after, awake, called, held, is_ended, results, sign_now
from server.conftest import PATIENT, in_hand, play_on, together
from server.substituting import (
    TERMS,
    follow,
    hand_called,
    offered,
    standing_by,
    state_of,
    step_in,
    vacancies,
    voided,
    with_newcomer,
)
from server.visitors import hang_up

from truc_protocol.audit import Result
from truc_protocol.bodies import Sub, Void
from truc_protocol.crypto import keys
from truc_server.tables.standby import MOST

SETTINGS = PATIENT


async def test_seat_silent_at_the_draw_is_offered_and_the_draw_called_again_where_nobody_comes(
    server, mock_clock
):
    seats = await called(server, options=TERMS)
    await sign_now(seats[0])
    await play_on(seats[:1], after(2))
    mock_clock.jump(5.01)
    await play_on(seats, offered)
    assert seats[0].waiting["seats"] == [1]
    mock_clock.jump(5.01)
    await awake(*seats)
    await play_on(seats)
    assert results(seats) == {(Result.PROVEN, "won")}


async def test_seat_that_is_silent_at_a_hand_is_offered_and_forfeits_if_nobody_takes_it_over(
    server, mock_clock
):
    seats = await voided(server, mock_clock)
    assert (seats[0].waiting["what"], seats[0].waiting["seats"], vacancies(seats[0])) == ("sub", [1], [1])
    mock_clock.jump(5.01)
    await play_on(seats, is_ended)
    assert seats[0].rulings() == [("forfeit", 1, "silent")]


async def test_newcomer_takes_the_seat_over_and_plays_to_a_proven_end(server, mock_clock):
    """The match is rated for who has left it, and not for the newcomer."""
    seats, newcomer = await with_newcomer(server, mock_clock, spectators=0)
    assert newcomer.records == seats[0].records
    signed = newcomer.sign(newcomer.sub())
    first, again = await newcomer.ask(signed), await newcomer.ask(signed)
    assert (first["t"], again["k"], again["dup"]) == ("ok", first["k"], True)
    await together(seats[0].play, newcomer.play)
    assert results([seats[0], newcomer]) == {(Result.PROVEN, "won")}
    found = await newcomer.ask({"t": "leaderboard", "variant": "truc-french", "seats": 2})
    rated = {standing["player"] for standing in found["standings"]}
    assert rated == {keys.fingerprint(seat.key.public) for seat in seats}


async def test_newcomer_is_told_how_long_the_seat_is_offered_still(server, mock_clock):
    seats = await voided(server, mock_clock)
    mock_clock.jump(2)
    newcomer = await standing_by(server, seats)
    await play_on([newcomer], offered)
    assert newcomer.waiting["deadline_ms"] == 3000


async def test_who_stands_by_in_vain_is_shown_no_more_of_a_match_that_nobody_may_watch(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock, spectators=0)
    mock_clock.jump(5.01)
    await play_on(seats[:1], is_ended)
    assert (await newcomer.ask({"t": "tables"}))["t"] == "ok"
    assert newcomer.next < seats[0].next


async def test_newcomer_has_the_seat_and_everybody_is_told_who_had_it_too(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock)
    late = seats[1].sign(seats[1].rekey())
    await step_in(newcomer)
    await play_on(seats[:1], lambda seat: not vacancies(seat) and len(seat.bodies(Sub)) == 1)
    told = state_of(seats[0])["seats"][1]
    assert (told["name"], told["kind"], "vacant" in told) == (newcomer.name, "key", False)
    assert (await seats[1].client.until("seat_taken_over"))["seat"] == 1
    for message in (resumption(seats[1], 0), late):
        assert (await seats[1].client.ask(message))["code"] == "seat_gone"
    welcomes = [
        await (await server.connect()).login_key(seat.key, seat.name) for seat in (newcomer, seats[1])
    ]
    held_now = {"table": seats[0].table, "match": seats[0].ledger.setup.mid, "seat": 1}
    assert [welcome.get("seats", []) for welcome in welcomes] == [[held_now], []]


async def test_newcomers_take_two_seats_of_four_to_a_proven_end(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 2))
    newcomers = [await standing_by(server, seats, seed=seat, seat=seat) for seat in (1, 2)]
    first, second = newcomers
    await step_in(first)
    await play_on([seats[0], second], lambda seat: offered(seat) and seat.waiting["seats"] == [2])
    await step_in(second)
    playing = [seats[0], *newcomers, seats[3]]
    await play_on(playing)
    assert results(playing) == {(Result.PROVEN, "won")}


async def test_newcomer_who_signs_after_another_is_told_and_shown_no_more_where_nobody_may_watch(
    server, mock_clock
):
    seats, late = await with_newcomer(server, mock_clock, spectators=0)
    newcomer = await standing_by(server, seats, seed=8)
    signed = late.sign(late.sub())
    taken = (await step_in(newcomer))["k"]
    assert (await late.ask(signed))["code"] == "not_seated"
    told = state_of(late)["seats"][1]
    assert (told["name"], "vacant" in told) == (newcomer.name, False)
    await together(seats[0].play, newcomer.play)
    assert (await late.ask({"t": "tables"}))["t"] == "ok"
    assert late.next == taken + 1


async def test_newcomer_whose_seat_another_took_follows_on_where_anybody_may_watch(server, mock_clock):
    seats, late = await with_newcomer(server, mock_clock)
    newcomer = await standing_by(server, seats, seed=8)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    await play_on([late], is_ended)
    assert late.records == newcomer.records[: len(late.records)]


async def test_sub_for_a_position_that_has_passed_is_stale(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock)
    stale = newcomer.sign(newcomer.sub())
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await play_on([newcomer], after(newcomer.next + 1))
    assert (await newcomer.ask(stale))["code"] == "stale_position"


async def test_sub_for_another_seat_than_stood_by_for_is_refused(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomer = await standing_by(server, seats, seat=1)
    assert (await step_in(newcomer, seat=3))["code"] == "bad_message"


async def test_newcomer_signs_the_name_and_the_keys_that_the_server_knows_with_its_own_key(
    server, mock_clock
):
    seats, newcomer = await with_newcomer(server, mock_clock)
    for wrong in ({"name": seats[1].name.encode()}, {"pk": seats[1].key.public}):
        reply = await step_in(newcomer, **wrong)
        assert (reply["code"], reply["msg"].partition(":")[0]) == ("terms_refused", *wrong)
    reply = await step_in(newcomer, x=seats[0].x.public)
    assert (reply["code"], "refuse" in reply) == ("terms_refused", True)
    signed = newcomer.sign(newcomer.sub())
    reply = await newcomer.ask({**signed, "sig": bytes(64)})
    assert (reply["code"], reply["close"]) == ("bad_signature", True)


async def test_nothing_but_a_sub_is_taken_from_who_stands_by_and_a_sub_from_nobody_else(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock)
    assert (await newcomer.ask(newcomer.sign(newcomer.rekey())))["code"] == "not_now"
    assert (await seats[0].ask(seats[0].sign(seats[0].sub())))["code"] == "not_now"
    await newcomer.ask({"t": "unwatch", "table": newcomer.table})
    assert (await step_in(newcomer))["code"] == "not_seated"


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


async def test_wishes_that_came_to_nothing_do_not_count_for_who_takes_the_seat_over(server, mock_clock):
    seats = await called(server, options={**TERMS, "rekeys": 1})
    await seats[1].want_rekey()
    await awake(*seats)
    await play_on(seats, held)
    seats[1].is_idle = True
    mock_clock.jump(5.01)
    await play_on(seats, lambda seat: hand_called(seat, 1))
    assert (await seats[1].want_rekey())["code"] == "illegal_action"
    mock_clock.jump(5.01)
    await play_on(seats, offered)
    newcomer = await standing_by(server, seats)
    await step_in(newcomer)
    assert (await newcomer.want_rekey())["t"] == "ok"


async def test_second_void_is_beyond_the_terms_and_forfeits(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock, voids=1)
    newcomer.is_idle = True
    await step_in(newcomer)
    await play_on([seats[0], newcomer], lambda seat: hand_called(seat, 1))
    mock_clock.jump(5.01)
    await play_on([seats[0]], is_ended)
    assert (seats[0].rulings(), len(seats[0].bodies(Void))) == ([("forfeit", 1, "silent")], 2)


async def test_newcomers_without_a_wish_are_spread_over_the_vacant_seats_and_keep_them(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    newcomers = [await standing_by(server, seats, seed=seed) for seed in (5, 6, 7, 8)]
    assert [newcomer.seat for newcomer in newcomers] == [1, 3, 1, 3]
    assert (await newcomers[1].join(seats[0].table))["seat"] == 3


async def test_one_key_under_two_names_stands_by_once(server, mock_clock):
    seats = await voided(server, mock_clock, count=4, variant="truc-catalan", silent=(1, 3))
    first = await standing_by(server, seats, seat=1)
    other = await server.seat(seed=8)
    other.client = await server.connect()
    await other.client.login_key(first.key, "another name")
    assert (await other.join(seats[0].table, 3))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def crowd(server, seats, count) -> None:
    """Let so many others stand by."""
    for seed in range(20, 20 + count):
        assert (await (await server.seat(seed=seed)).join(seats[0].table))["t"] == "ok"


async def test_more_newcomers_than_a_table_holds_take_the_place_of_the_first_also_if_it_has_joined_again(
    server, mock_clock
):
    seats, first = await with_newcomer(server, mock_clock)
    second = await standing_by(server, seats, seed=8)
    await crowd(server, seats, MOST - 2)
    assert (await first.join(seats[0].table))["t"] == "ok"
    assert (await (await server.seat(seed=9)).join(seats[0].table))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"
    assert (await step_in(second))["t"] == "ok"


async def test_newcomer_whose_connection_has_ended_takes_no_place(server, mock_clock):
    seats, newcomer = await with_newcomer(server, mock_clock)
    gone = await standing_by(server, seats, seed=8)
    await hang_up(gone.client)
    await crowd(server, seats, MOST - 1)
    assert (await step_in(newcomer))["t"] == "ok"


async def test_newcomer_crowded_out_is_shown_no_more_of_a_match_that_nobody_may_watch(server, mock_clock):
    seats, first = await with_newcomer(server, mock_clock, spectators=0)
    await crowd(server, seats, MOST)
    k = first.next
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await play_on(seats[:1], after(k + 1))
    assert (await first.ask({"t": "tables"}))["t"] == "ok"
    assert first.next == k


async def test_who_stands_by_may_step_back(server, mock_clock):
    _, first = await with_newcomer(server, mock_clock)
    assert (await first.ask({"t": "leave", "table": first.table}))["t"] == "ok"
    assert (await step_in(first))["code"] == "not_seated"


async def test_older_connection_of_who_stands_by_sees_no_more_of_a_match_that_nobody_may_watch(
    server, mock_clock
):
    seats, newcomer = await with_newcomer(server, mock_clock, spectators=0)
    older, newcomer.client = newcomer.client, await server.connect()
    seen = len(older.log)
    await newcomer.client.login_key(newcomer.key, newcomer.name)
    await newcomer.join(seats[0].table)
    await follow(newcomer, seats)
    await step_in(newcomer)
    await together(seats[0].play, newcomer.play)
    assert (await older.ask({"t": "tables"}))["t"] == "ok"
    assert [message for message in older.log[seen:] if message["t"] == "record"] == []


async def test_guest_player_of_the_match_and_whoever_wants_another_seat_cannot_stand_by(server, mock_clock):
    seats = await voided(server, mock_clock)
    guest = await server.seat(seed=8, keyed=False)
    assert (await guest.join(seats[0].table))["code"] == "guests_not_allowed"
    reply = await seats[0].ask({"t": "join", "table": seats[0].table, "seat": 1})
    assert reply["code"] == "not_now"
    newcomer = await server.seat(seed=9)
    assert (await newcomer.join(seats[0].table, 0))["code"] == "seat_taken"


async def test_table_without_a_vacant_seat_is_full_as_ever(server):
    seats = await in_hand(server, options={"gone": 1})
    newcomer = await server.seat(seed=8)
    assert (await newcomer.join(seats[0].table))["code"] == "table_full"
