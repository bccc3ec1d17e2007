"""Mode blind when seats do not do what is due, or do something else: who is waited for, for how long, and what follows."""

import pytest
from server.acting import all_ask
from server.blind_seats import blind_match, is_due, is_in_hand, rest_in_hand
from server.calls import bodies, first_of, rulings
from server.clocks import come_back, leave, pass_time
from server.conftest import PATIENT, only_cut, play_on
from server.gates import Gate
from trio.testing import wait_all_tasks_blocked

from truc_conform.blind_seat import with_one_twice
from truc_protocol.audit import Result
from truc_protocol.bodies import Close, Keys, Void
from truc_protocol.ledger import next_share, sealed_pack
from truc_protocol.own_steps import Duty
from truc_server.matches import blind_hands
from truc_server.matches.deadlines import Clocks
from truc_server.requests import acts

SETTINGS = PATIENT
SHORT = {"target": 3, "match": 1}


@pytest.fixture(autouse=True)
def _links_wait_for_nobody(monkeypatch):
    """Time stands still here: a link would wait for ever for that of a seat which sends none."""
    monkeypatch.setattr(blind_hands, "GATHER_S", 0)


async def begun(server, *, withheld: dict[int, str], count=2, variant="truc-valencia", **options) -> list:
    """Return players of a match, some of whom do not take a kind of step."""
    seats = await blind_match(server, count, variant, options={**SHORT, **options})
    for seat, what in withheld.items():
        seats[seat].withheld = frozenset({what})
    return seats


async def verdict_of(seats) -> tuple:
    await play_on(seats)
    verdict = seats[0].auditor.verdict()
    return verdict.result, verdict.reason, verdict.winner


@pytest.mark.parametrize("what", ["mask", "lock"])
async def test_mask_or_lock_that_does_not_come_voids_the_deal_and_costs_the_match(server, mock_clock, what):
    seats = await begun(server, withheld={1: what})
    await play_on(seats, is_due(what, 1))
    assert seats[0].waiting["deadline_ms"] == 60_000
    mock_clock.jump(60.1)
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert [(body.reason, body.seats) for body in bodies(seats[0], Void)] == [("silent", (1,))]
    assert rulings(seats[0]) == [("forfeit", 1, "silent")]


async def test_keys_that_do_not_come_void_nothing_and_those_that_came_are_written(server, mock_clock):
    seats = await begun(server, withheld={1: "keys"})
    await play_on(seats, is_due("keys", 0, 1))
    await seats[0].ask({"t": "tables"})  # answered when its keys are held
    mock_clock.jump(60.1)
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert [body.seat for body in bodies(seats[0], Keys)] == [0]
    assert (bodies(seats[0], Void), rulings(seats[0])) == ([], [("forfeit", 1, "opening")])
    assert seats[0].auditor.verdict().unopened == ()  # nothing was dealt that anybody might open


async def test_what_the_check_of_an_act_takes_costs_its_seat_no_time(server, mock_clock, monkeypatch):
    seats = await begun(server, withheld={}, decision_ms=5000, bank_ms=20_000)
    await rest_in_hand(seats)
    mover = seats[seats[0].waiting["seats"][0]]
    gate = Gate()
    monkeypatch.setattr(acts, "judged", gate.before(acts.judged))
    mover.chooses = mover.pick
    await mover.choose(mover.find_options(mover.waiting))
    await gate.reached()
    mock_clock.jump(10)
    gate.open()
    await play_on(seats, lambda seat, k=mover.next: seat.next > k)
    newest = server.store.records(seats[0].ledger.setup.mid, first=mover.next - 1, limit=1)
    assert Clocks.from_bytes(newest[0].clocks).banks == (20_000, 20_000)


async def keys_are_checked_when_the_time_is_over(seats, mock_clock, monkeypatch) -> list[tuple]:
    """Let the last keys be checked while the time for them ends; return the rulings up to the first decision."""
    seats[1].withheld = frozenset({"keys"})
    await play_on(seats, is_due("keys", 0, 1))
    gate = Gate()
    await wait_all_tasks_blocked()  # those of the other seat have been checked
    with monkeypatch.context() as patched:
        patched.setattr(acts, "judged", gate.before(acts.judged))
        await seats[1].do_withheld()
        await gate.reached()
        await pass_time(mock_clock, 5.01)
        gate.open()
        await play_on(seats, lambda seat: seat.done or is_in_hand(seat))
    return rulings(seats[0])


async def test_keys_that_are_checked_when_the_time_is_over_are_taken_in_every_match_of_a_table(
    server, mock_clock, monkeypatch
):
    seats = await blind_match(server, options={**SHORT, "release_ms": 5000})
    for seat in seats:
        seat.chooses = only_cut
    assert await keys_are_checked_when_the_time_is_over(seats, mock_clock, monkeypatch) == []
    first = seats[0].ledger.setup.mid
    await seats[0].resign()
    await play_on(seats)
    for seat in seats:
        await seat.ready()
    await play_on(seats, lambda seat: seat.ledger.setup.mid != first)
    assert await keys_are_checked_when_the_time_is_over(seats, mock_clock, monkeypatch) == []


async def test_where_seats_of_both_sides_keep_their_keys_nobody_wins(server, mock_clock):
    seats = await begun(server, withheld={0: "keys", 1: "keys"})
    await play_on(seats, is_due("keys", 0, 1))
    mock_clock.jump(60.1)
    assert await verdict_of(seats) == (Result.PROVEN, "abandoned", None)
    assert rulings(seats[0]) == [("abandon", None, "empty")]


async def test_table_that_waits_for_who_is_gone_waits_for_keys_as_long_as_for_the_end_of_a_pause(
    server, mock_clock
):
    seats = await begun(server, withheld={1: "keys"}, gone=2)
    await play_on(seats, is_due("keys", 0, 1))
    assert seats[0].waiting["deadline_ms"] == 600_000
    mock_clock.jump(61)
    await seats[1].do_withheld()
    await play_on(seats)
    assert seats[0].auditor.verdict().reason == "won"


async def test_who_resigns_in_a_hand_opens_it_before_it_is_closed(server):
    seats = await begun(server, withheld={})
    await rest_in_hand(seats)
    await seats[1].resign()
    assert await verdict_of(seats) == (Result.PROVEN, "resigned", 0)
    assert [body.reason for body in bodies(seats[0], Close)] == ["ended"]
    assert seats[0].auditor.verdict().unopened == ()


async def test_result_stands_where_a_resigned_hand_is_not_opened(server, mock_clock):
    seats = await begun(server, withheld={1: "link"})
    await rest_in_hand(seats)
    await seats[1].resign()
    await play_on(seats, is_due("opening", 1))
    mock_clock.jump(60.1)
    assert await verdict_of(seats) == (Result.PROVEN, "resigned", 0)
    assert seats[0].auditor.verdict().unopened == ((1, (1,)),)


async def test_mask_that_fails_is_refused_and_the_deal_void_for_its_points(server, mock_clock):
    seats = await begun(server, withheld={1: "mask"})
    await play_on(seats, is_due("mask", 1))
    seats[1].cheats, seats[1].withheld = with_one_twice, frozenset()
    refused = await seats[1].ask(seats[1].sign(seats[1].due_body(Duty.MASK)))
    assert (refused["code"], refused["msg"].startswith("C45")) == ("illegal_action", True)
    mock_clock.jump(60.1)
    await play_on(seats)
    assert [(body.reason, body.seats) for body in bodies(seats[0], Void)] == [("points", (1,))]


async def test_turn_of_who_is_away_is_conceded_and_its_program_opens_the_hand(server, mock_clock):
    seats = await begun(server, withheld={}, decision_ms=1000, bank_ms=0, gone_after=0)
    await rest_in_hand(seats)
    mover = seats[seats[0].waiting["seats"][0]]
    for seat in seats:
        seat.chooses = seat.pick
    mock_clock.jump(1.1)
    await play_on(seats)
    assert ("move", mover.seat, "concede") in rulings(seats[0])
    assert seats[0].auditor.verdict().reason == "won"
    assert seats[0].auditor.verdict().unopened == ()


async def test_while_no_seat_is_connected_no_time_runs_for_keys(server, mock_clock):
    seats = await begun(server, withheld={0: "keys", 1: "keys"})
    await play_on(seats, is_due("keys", 0, 1))
    for seat in seats:
        await leave(seat)
    mock_clock.jump(120)
    for seat in seats:
        await come_back(server, seat)
        await seat.do_withheld()
    await play_on(seats)
    assert seats[0].auditor.verdict().reason == "won"


async def test_where_a_partner_lends_no_cards_the_question_is_ruled(server, mock_clock):
    options = {"target": 3, "match": 1, "decision_ms": 1000, "bank_ms": 0, "gone_after": 0}
    seats = await blind_match(server, 4, "truco-mineiro-2", options=options)
    for seat in seats:
        seat.withheld = frozenset({"lend"})

    def owes_lend(seat) -> bool:
        return seat.done or (is_due("keys")(seat) and next_share(seat.ledger) is not None)

    await play_on(seats, owes_lend)
    giver, _ = next_share(seats[0].ledger)
    assert seats[0].waiting["seats"] == [giver]
    mock_clock.jump(60.1)
    await play_on(seats, lambda seat: seat.done or bool(rulings(seat)))
    ruling, ruled, _ = rulings(seats[0])[0]
    assert (ruling, ruled % 2) == ("move", giver % 2)


async def test_pause_in_a_redeal_ends_and_the_new_cards_are_locked(server, mock_clock):
    seats = await begun(server, withheld={}, variant="truc-french")
    for seat in seats:
        seat.chooses = first_of("redeal", "accept")
    await play_on(seats, lambda seat: seat.next and seat.ledger.hand is not None)
    for seat in seats:
        seat.withheld = frozenset({"lock"})
    await play_on(seats, is_due("lock"))
    assert sealed_pack(seats[0].ledger).d == 1
    await all_ask(seats, "pause")
    await pass_time(mock_clock, 61)  # longer than a step with the pack may take
    await all_ask(seats, "resume")
    for seat in seats:
        seat.chooses = seat.pick
        await seat.do_withheld()
    await play_on(seats)
    assert (seats[0].auditor.verdict().result, seats[0].auditor.verdict().reason) == (Result.PROVEN, "won")
