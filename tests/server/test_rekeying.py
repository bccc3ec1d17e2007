"""New chains: where the old ones are exhausted, and where a seat has lost its own."""

import pytest
from server.acting import act
from server.calls import BRIEF, after, awake, called, held, is_ended, results, sign_now
from server.clocks import pass_time
from server.conftest import PATIENT as SETTINGS
from server.conftest import changed, play_on, running
from server.rawclient import RawSeat
from server.restarting import come_back, play_until_stopped
from trio.testing import wait_all_tasks_blocked

from truc_protocol.audit import Result
from truc_protocol.bodies import Call, Rekey
from truc_protocol.records import parse

AFTER_DRAW = {"links": 1}  # every chain is exhausted as soon as the first dealer is drawn
ONE_LINK = changed(SETTINGS, match=AFTER_DRAW)


@pytest.fixture
async def one_link(tmp_path):
    """Return a server whose chains serve one deal."""
    async with running(tmp_path / "one", ONE_LINK) as server:
        yield server


async def exhausted(server, **fields) -> list[RawSeat]:
    """Return two seats after the draw: the server has begun a new chain, and neither seat does."""
    seats = await called(server, **fields)
    await sign_now(*seats)
    await play_on(seats, held)
    return seats


@pytest.mark.slow
async def test_server_and_seats_rekey_where_their_chains_are_exhausted(path):
    async with running(path, changed(SETTINGS, match={"links": 2})) as server:
        seats = await server.match(
            4, "truc-catalan", guests=(3,), options={**BRIEF, "target": 6, "guests": 1}
        )
        await play_on(seats)
    last = seats[0].ledger.deal_index
    expected = {(role, first) for role in range(4) for first in range(2, last + 1, 2)}
    rekeyed = {(body.role, body.first) for body in seats[0].bodies(Rekey)}
    # at the very last index the match may have ended before anybody rekeyed
    assert {pair for pair in expected if pair[1] < last} <= rekeyed <= expected
    assert results(seats) == {(Result.PROVEN, "won")}


async def test_server_rekeys_at_once_and_holds_the_call_until_the_last_seat_has_rekeyed(one_link):
    seats = await exhausted(one_link, options={"release_ms": 5000})
    newest, told = parse(seats[0].records[-1]), seats[0].waiting
    assert (type(newest), newest.role, newest.first) == (Rekey, 0, 1)
    assert (told["what"], told["seats"], told["at"]) == ("rekey", [0, 1], seats[0].next)
    assert 4000 < told["deadline_ms"] <= 5000
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await play_on(seats, lambda seat: held(seat) and seat.waiting["seats"] == [1])
    k = seats[0].next
    await seats[1].act(seats[1].sign(seats[1].rekey()))
    await play_on(seats, after(k + 2))
    assert [type(parse(record)) for record in seats[0].records[-2:]] == [Rekey, Call]


async def test_seat_that_does_not_rekey_forfeits_when_the_time_is_over(one_link, mock_clock):
    seats = await exhausted(one_link, options={"release_ms": 5000})
    await awake(seats[0])
    await play_on(seats, lambda seat: held(seat) and seat.waiting["seats"] == [1])
    mock_clock.jump(5.01)
    await play_on(seats, is_ended)
    assert (seats[0].rulings(), seats[0].auditor.verdict().winner) == ([("forfeit", 1, "absent")], 0)


async def test_where_the_terms_say_wait_an_exhausted_chain_is_waited_for_as_long_as_is_told(
    one_link, mock_clock
):
    seats = await exhausted(one_link, options=WAITS)
    await hold_over(seats, mock_clock)
    assert {seat.waiting["deadline_ms"] for seat in seats} == {54_990}
    await awake(*seats)
    await play_on(seats)
    assert results(seats) == {(Result.PROVEN, "won")}


WAITS = {"release_ms": 5000, "pause_ms": 60_000, "gone": 2, **BRIEF}


async def hold_over(seats, mock_clock) -> None:
    """Let the time for a rekey pass where the terms say wait, until both are told that it is waited for longer."""
    told = seats[1].waiting
    mock_clock.jump(5.01)
    await play_on(seats, lambda seat: held(seat) and seat.waiting["deadline_ms"] > told["deadline_ms"])


async def test_exhausted_chain_is_waited_for_no_longer_than_the_longest_pause(one_link, mock_clock):
    seats = await exhausted(one_link, options=WAITS)
    await awake(seats[1])
    await play_on(seats, lambda seat: held(seat) and seat.waiting["seats"] == [0])
    await hold_over(seats, mock_clock)
    mock_clock.jump(55)
    await play_on(seats, is_ended)
    assert (seats[1].rulings(), seats[1].auditor.verdict().winner) == ([("abandon", None, "server")], None)


async def test_exhausted_chain_is_waited_for_anew_after_the_record_of_another_seat(one_link, mock_clock):
    seats = await exhausted(one_link, options=WAITS)
    await hold_over(seats, mock_clock)
    mock_clock.jump(50)
    await awake(seats[1])
    await play_on(seats, lambda seat: held(seat) and seat.waiting["seats"] == [0])
    await hold_over(seats, mock_clock)
    assert not any(map(is_ended, seats))


async def test_match_without_a_pause_is_abandoned_when_the_time_to_rekey_is_over(one_link, mock_clock):
    seats = await exhausted(one_link, options={**WAITS, "pause_ms": 0})
    mock_clock.jump(5.01)
    await play_on(seats, is_ended)
    assert seats[0].rulings() == [("abandon", None, "server")]


async def wished(server, **fields) -> list[RawSeat]:
    """Return two seats after the draw, of which seat 0 has asked for time to rekey."""
    seats = await called(server, **fields)
    assert (await seats[0].want_rekey())["t"] == "ok"
    await awake(*seats)
    await play_on(seats, held)
    return seats


async def test_wish_holds_the_next_call_for_the_seats_that_ask_while_the_match_lasts(server):
    seats = await wished(server)
    assert (seats[1].waiting["what"], seats[1].waiting["seats"]) == ("rekey", [0])
    stranger = await server.seat(seed=9)
    stranger.table, stranger.auditor = seats[0].table, seats[0].auditor
    assert (await stranger.want_rekey())["code"] == "not_seated"
    assert (await seats[1].want_rekey())["t"] == "ok"
    await play_on(seats, lambda seat: seat.waiting["seats"] == [0, 1])
    await seats[1].resign()
    await play_on(seats, is_ended)
    assert (await seats[0].want_rekey())["code"] == "not_now"


async def test_call_follows_the_rekey_that_was_wished_for(server):
    seats = await wished(server, options=BRIEF)
    k = seats[0].next
    await seats[0].act(seats[0].sign(seats[0].rekey()))
    await play_on(seats, after(k + 2))
    assert [type(parse(record)) for record in seats[0].played[k : k + 2]] == [Rekey, Call]


async def test_wish_that_nothing_comes_of_is_forgotten_when_the_time_is_over_and_counts(server, mock_clock):
    seats = await wished(server, options={"release_ms": 5000, "rekeys": 1})
    k = seats[0].next
    mock_clock.jump(4.9)
    assert (await seats[1].ask({"t": "tables"}))["t"] == "ok"
    assert seats[1].next == k
    mock_clock.jump(0.11)
    await play_on(seats, lambda seat: seat.next > k)
    assert isinstance(parse(seats[0].played[k]), Call)
    assert (await seats[0].want_rekey())["code"] == "illegal_action"


async def test_wish_beyond_the_terms_or_of_a_guest_is_refused(server):
    seats = await called(server, options={"rekeys": 0})
    assert (await seats[0].want_rekey())["code"] == "illegal_action"
    seats = await called(server, guests=(0,), seed=2)
    assert (await seats[0].want_rekey())["code"] == "not_now"


async def test_wish_where_the_chain_is_exhausted_anyhow_is_not_refused(one_link):
    seats = await called(one_link, options={"rekeys": 0})
    assert (await seats[0].want_rekey())["t"] == "ok"


async def at_the_cut(seats) -> tuple[RawSeat, RawSeat]:
    """Let the draw be made; return the seat that is to cut, and the other."""
    for seat in seats:
        seat.chooses = lambda message, options: None
    await awake(*seats)
    await play_on(seats, lambda seat: seat.ledger.match is not None and (seat.options or seat.waiting))
    first, second = seats
    return (first, second) if first.options else (second, first)


async def test_hold_begins_when_the_decision_before_the_deal_is_made(server):
    seats = await called(server, variant="truc-catalan")
    assert (await seats[0].want_rekey())["t"] == "ok"
    cutter, other = await at_the_cut(seats)
    assert "what" not in other.waiting
    await cutter.act(cutter.sign(act(cutter, "cut", (5,))))
    await play_on(seats, held)
    assert (other.waiting["what"], other.waiting["seats"]) == ("rekey", [0])


async def test_rekey_while_the_cut_is_waited_for_leaves_the_time_for_it_as_it_is(server, mock_clock):
    seats = await called(server, variant="truc-catalan", options={"decision_ms": 10_000, "bank_ms": 0})
    cutter, other = await at_the_cut(seats)
    offer = cutter.options["offer"]
    mock_clock.jump(4)
    k = other.next
    await other.act(other.sign(other.rekey()))
    await play_on(seats, lambda seat: ((seat.options or seat.waiting)["at"]) == k + 1)
    assert (cutter.options["offer"], cutter.options["deadline_ms"]) == (offer, 6000)


async def ask_all(seats, kind: str) -> None:
    for seat in seats:
        k = seat.next
        assert (await seat.hand_in(act(seat, kind)))["t"] == "ok"
        await play_on(seats, after(k + 1))


async def test_nobody_forfeits_for_an_exhausted_chain_while_the_match_rests(one_link, mock_clock):
    seats = await exhausted(one_link, options={"release_ms": 5000, "pause_ms": 60_000, **BRIEF})
    await ask_all(seats, "pause")
    await play_on(seats, lambda seat: seat.ledger.pause.active)
    mock_clock.jump(50)
    await ask_all(seats, "resume")
    await play_on(seats, lambda seat: held(seat) and not seat.ledger.pause.active)
    await awake(*seats)
    await play_on(seats)
    assert results(seats) == {(Result.PROVEN, "won")}


async def back_in_hold(server, seats) -> None:
    """Come back to a call that is held back."""
    for seat in seats:
        seat.waiting = None
    await come_back(server, *seats)
    await play_on(seats, held)


@pytest.mark.slow
async def test_call_is_held_for_an_exhausted_chain_after_a_restart_too(path):
    async with running(path, ONE_LINK) as server:
        seats = await exhausted(server, options=BRIEF)
    k = seats[0].next
    async with running(path, ONE_LINK) as server:
        await back_in_hold(server, seats)
        assert {seat.next for seat in seats} == {k}
        await awake(*seats)
        await play_on(seats)
    assert results(seats) == {(Result.PROVEN, "won")}


@pytest.mark.slow
async def test_wish_holds_the_call_after_a_restart_too_for_who_has_asked_alone_and_counts_there(
    path, mock_clock
):
    async with running(path, SETTINGS) as server:
        seats = await wished(server, options={**BRIEF, "release_ms": 5000, "rekeys": 1})
    async with running(path, SETTINGS) as server:
        await back_in_hold(server, seats)
        assert seats[1].waiting["seats"] == [0]
        k = seats[0].next
        mock_clock.jump(5.01)
        await play_on(seats, after(k + 1))
        assert isinstance(parse(seats[0].played[k]), Call)
    async with running(path, SETTINGS) as server:
        await come_back(server, *seats)
        codes = [(await seat.want_rekey()).get("code") for seat in seats]
    assert codes == ["illegal_action", None]


@pytest.mark.slow
async def test_new_chain_after_a_restart_leaves_the_others_the_time_they_had_asked_for(path):
    async with running(path, SETTINGS) as server:
        seats = await called(server, options=BRIEF)
        for seat in seats:
            assert (await seat.want_rekey())["t"] == "ok"
        await awake(*seats)
        await play_on(seats, held)
    async with running(path, SETTINGS) as server:
        await back_in_hold(server, seats)
        for seat in seats:
            k = seat.next
            await seat.act(seat.sign(seat.rekey()))
            await play_on(seats, after(k + 1))
        await play_on(seats)
    found = [type(body) for body in map(parse, seats[0].records) if isinstance(body, (Rekey, Call))]
    assert found[:4] == [Call, Rekey, Rekey, Call]
    assert results(seats) == {(Result.PROVEN, "won")}


@pytest.mark.slow
async def test_server_deals_from_its_new_chains_after_a_restart(path):
    async with running(path, ONE_LINK) as server:
        seats = await server.match(2, "truc-french", options=BRIEF)
        await play_until_stopped(server, seats, after(23))
    async with running(path, ONE_LINK) as server:
        for seat in seats:
            await come_back(server, seat)
            await seat.follow()
        await play_on(seats)
    assert results(seats) == {(Result.PROVEN, "won")}


async def test_match_without_any_player_connected_is_abandoned_in_a_hold_too(one_link, mock_clock):
    seats = await exhausted(one_link, options={"gone": 2})
    for seat in seats:
        await seat.client.stream.aclose()
    await wait_all_tasks_blocked()
    await pass_time(mock_clock, 1_801)
    await come_back(one_link, seats[0])
    await play_on(seats[:1], is_ended)
    assert seats[0].rulings() == [("abandon", None, "server")]
