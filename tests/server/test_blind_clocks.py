"""Mode blind when seats do not do what is due, or do something else: who is waited for, for how long, and what follows."""

import pytest
from server.blind_seats import blind_match, is_due, is_in_hand, rest_in_hand
from server.calls import bodies, first_of, rulings
from server.clocks import pass_time
from server.conftest import PATIENT, only_cut, play_on
from server.gates import Gate
from trio.testing import wait_all_tasks_blocked

from truc_conform.blind_seat import in_shut_boxes, reordered, with_one_twice
from truc_protocol.audit import Result
from truc_protocol.blind_mode.sealed_pack import LockStep
from truc_protocol.bodies import Close, Garbled, Keys, Resign, Void
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
    seats[1].withheld = frozenset()
    with monkeypatch.context() as patched:
        patched.setattr(acts, "judged", gate.before(acts.judged))
        await seats[1].follow()
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
    seats[1].withheld = frozenset()
    await seats[1].follow()
    await play_on(seats)
    assert seats[0].auditor.verdict().reason == "won"


async def test_hand_that_a_seat_does_not_open_costs_it_the_match(server, mock_clock):
    seats = await begun(server, withheld={1: "link"})
    await play_on(seats, is_due("opening", 1))
    mock_clock.jump(60.1)
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert rulings(seats[0])[-1] == ("forfeit", 1, "opening")
    assert seats[0].auditor.verdict().unopened == ((1, (1,)),)


async def resigned(seats) -> None:
    await rest_in_hand(seats)
    ledger = seats[1].ledger
    body = Resign(ledger.setup.mid, ledger.k, ledger.head, 1)
    await seats[1].act(seats[1].sign(body))


async def test_who_resigns_in_a_hand_opens_it_before_it_is_closed(server):
    seats = await begun(server, withheld={})
    await resigned(seats)
    assert await verdict_of(seats) == (Result.PROVEN, "resigned", 0)
    assert [body.reason for body in bodies(seats[0], Close)] == ["ended"]
    assert seats[0].auditor.verdict().unopened == ()


async def test_result_stands_where_a_resigned_hand_is_not_opened(server, mock_clock):
    seats = await begun(server, withheld={1: "link"})
    await resigned(seats)
    await play_on(seats, is_due("opening", 1))
    mock_clock.jump(60.1)
    assert await verdict_of(seats) == (Result.PROVEN, "resigned", 0)
    assert seats[0].auditor.verdict().unopened == ((1, (1,)),)


async def test_seat_that_masks_otherwise_than_its_link_says_is_exposed_and_loses(server):
    seats = await begun(server, withheld={})
    seats[1].cheats = reordered
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert rulings(seats[0])[-1] == ("forfeit", 1, "cheat")
    assert not seats[0].auditor.verdict().by_ruling


async def test_mask_that_fails_is_refused_and_the_deal_void_for_its_points(server, mock_clock):
    seats = await begun(server, withheld={1: "mask"})
    await play_on(seats, is_due("mask", 1))
    seats[1].cheats, seats[1].withheld = with_one_twice, frozenset()
    refused = await seats[1].ask(seats[1].sign(seats[1].due_body(Duty.MASK)))
    assert (refused["code"], refused["msg"].startswith("C45")) == ("illegal_action", True)
    mock_clock.jump(60.1)
    await play_on(seats)
    assert [(body.reason, body.seats) for body in bodies(seats[0], Void)] == [("points", (1,))]


async def test_right_mask_is_taken_after_one_that_failed(server):
    seats = await begun(server, withheld={1: "mask"})
    await play_on(seats, is_due("mask", 1))
    seats[1].cheats, seats[1].withheld = with_one_twice, frozenset()
    assert (await seats[1].ask(seats[1].sign(seats[1].due_body(Duty.MASK))))["code"] == "illegal_action"
    seats[1].cheats = lambda step: step
    await seats[1].follow()
    assert await verdict_of(seats) == (Result.PROVEN, "won", seats[0].ledger.outcome.winner)


async def test_seat_whose_boxes_do_not_open_is_exposed_once_the_other_says_so(server):
    seats = await begun(server, withheld={}, variant="truc-french")  # where nobody cuts
    seats[1].cheats = in_shut_boxes
    for seat in seats:
        seat.chooses = only_cut
    seats[0].find_options = lambda waiting: waiting  # it cannot read its cards
    await play_on(seats, lambda seat: seat.next and seat.ledger.hand is not None)
    assert seats[0].auditor.is_garbled
    ledger = seats[0].ledger
    await seats[0].act(
        seats[0].sign(
            Garbled(ledger.setup.mid, ledger.k, ledger.head, ledger.deal_index, sealed_pack(ledger).d, 0)
        )
    )
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert rulings(seats[0])[-1] == ("forfeit", 1, "cheat")


async def test_seat_that_calls_a_good_hand_garbled_is_exposed(server):
    seats = await begun(server, withheld={})
    await rest_in_hand(seats)
    ledger = seats[1].ledger
    body = Garbled(ledger.setup.mid, ledger.k, ledger.head, ledger.deal_index, sealed_pack(ledger).d, 1)
    await seats[1].act(seats[1].sign(body))
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert rulings(seats[0])[-1] == ("forfeit", 1, "cheat")


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
        await seat.client.stream.aclose()
    await wait_all_tasks_blocked()
    mock_clock.jump(120)
    for seat in seats:
        seat.withheld = frozenset()
        assert (await seat.come_back(await server.connect()))["t"] == "ok"
        await seat.follow()
    await play_on(seats)
    assert seats[0].auditor.verdict().reason == "won"


async def pause_and_resume(seats, mock_clock) -> None:
    """Let the match rest for longer than a step with the pack may take."""
    for kind in ("pause", "resume"):
        for seat in seats:
            k = max(each.next for each in seats)
            await play_on(seats, lambda each, k=k: each.next >= k)
            assert (await seat.hand_in(seat.act_of({"kind": kind})))["t"] == "ok"
        await play_on(seats, lambda seat, kind=kind: seat.ledger.pause.active is (kind == "pause"))
        if kind == "pause":
            await pass_time(mock_clock, 61)


async def test_lock_out_of_turn_is_refused(server):
    seats = await begun(server, withheld={1: "lock"})
    await play_on(seats, is_due("lock", 1))
    pack = sealed_pack(seats[0].ledger)
    count = len(pack.places)
    step = LockStep(0, 0, None, (pack.plan.xs[0],) * count, (bytes(32),) * count)
    refused = await seats[0].ask(seats[0].sign(seats[0].body_of(step)))
    assert (refused["code"], refused["msg"].startswith("C43")) == ("not_now", True)


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
    await pause_and_resume(seats, mock_clock)
    for seat in seats:
        seat.withheld = frozenset()
        seat.chooses = seat.pick
        await seat.follow()
    await play_on(seats)
    assert (seats[0].auditor.verdict().result, seats[0].auditor.verdict().reason) == (Result.PROVEN, "won")


async def test_seat_that_says_a_false_value_is_exposed_by_its_cards(server):
    seats = await begun(server, withheld={}, variant="truco-argentino")

    def lie(message, options):
        said = [option for option in options if option["kind"] in ("points", "good")]
        if not said:
            return first_of("envido", "accept", "play")(message, options)
        true = [option["args"][0] for option in said if option["kind"] == "points"]
        return {"key": "points", "kind": "points", "args": (32 if true == [33] else 33,), "hints": {}}

    seats[0].chooses = first_of("envido", "points", "good", "accept", "play")
    seats[1].chooses = lie
    assert await verdict_of(seats) == (Result.PROVEN, "forfeit", 0)
    assert rulings(seats[0])[-1] == ("forfeit", 1, "false")
    assert not seats[0].auditor.verdict().by_ruling
