"""The links that open a hand of mode blind: all seats send theirs at once, and they are judged and stored together."""

import pytest
import trio
from server.blind_seats import blind_match, is_due
from server.calls import bodies, rulings
from server.conftest import PATIENT, play_on

from truc_conform.blind_seat import reordered
from truc_protocol.audit import Result
from truc_protocol.bodies import Close, Mask, Release, Rule
from truc_protocol.records import parse
from truc_server.matches import blind_hands
from truc_server.matches.blind_hands import StepsInTurn
from truc_server.requests import acts

SETTINGS = PATIENT
SHORT = {"target": 3, "match": 1}


@pytest.fixture
def patience(monkeypatch):
    """Let links wait for each other however busy the machine is."""
    monkeypatch.setattr(blind_hands, "GATHER_S", 60)


@pytest.fixture
def judged(monkeypatch):
    """Return which seats' links are judged, by the times when that is done; one that is judged alone stands by itself."""
    found: list[list[int]] = []
    alone, several = acts.judged, acts.judged_together

    def judge_alone(public, placed, held):
        if isinstance(placed.body, Release):
            found.append([placed.body.seat])
        return alone(public, placed, held)

    def judge_together(links):
        found.append([placed.body.seat for _, placed in links])
        return several(links)

    monkeypatch.setattr(acts, "judged", judge_alone)
    monkeypatch.setattr(acts, "judged_together", judge_together)
    return found


@pytest.fixture
def gathered(monkeypatch):
    """Return an event for each link that has begun to wait, as a list that grows."""
    waiting, gather = [], StepsInTurn.gather

    async def noted(self, seats):
        waiting.append(set(seats))
        await gather(self, seats)

    monkeypatch.setattr(StepsInTurn, "gather", noted)
    return waiting


async def until(holds) -> None:
    with trio.fail_after(30):
        while not holds():
            await trio.lowlevel.checkpoint()


def is_closed(seat) -> bool:
    return seat.auditor is not None and bool(bodies(seat, Close))


async def at_the_opening(server, *, late=(1,)):
    """Return two players of a hand that is over; those who are late have not sent their links."""
    seats = await blind_match(server, options=SHORT)
    for seat in late:
        seats[seat].withheld = frozenset({"link"})
    await play_on(seats, is_due("opening", 0, 1))
    return seats


async def test_links_are_judged_in_one_go_and_written_in_the_order_of_the_masks(server, patience, judged):
    seats = await blind_match(server, 4, options=SHORT)
    await play_on(seats, is_closed)
    masked = [body.seat for body in bodies(seats[0], Mask) if body.j == 1]
    assert judged == [masked]
    assert [body.seat for body in bodies(seats[0], Release) if body.j == 1] == masked


async def test_seat_that_is_exposed_among_others_loses_when_all_links_stand(server, patience, judged):
    seats = await blind_match(server, 4, options=SHORT)
    seats[2].cheats = reordered
    await play_on(seats)
    assert seats[0].auditor.verdict().result is Result.PROVEN
    assert rulings(seats[0]) == [("forfeit", 2, "cheat")]
    assert len(judged) == 1
    assert {body.seat for body in bodies(seats[0], Release) if body.j == 1} == {0, 1, 2, 3}


@pytest.mark.parametrize(("spoilt", "code"), [("link", "illegal_action"), ("signature", "bad_signature")])
async def test_link_that_fails_is_refused_alone_and_a_right_one_taken_after_it(
    server, patience, judged, spoilt, code
):
    seats = await at_the_opening(server)
    late = seats[1]
    message = late.sign(late.opening(bytes(32)) if spoilt == "link" else late.opening())
    if spoilt == "signature":
        message["sig"] = bytes(64)
    assert (await late.ask(message))["code"] == code
    assert sorted(judged.pop()) == [0, 1]
    if spoilt == "signature":  # for which a connection is closed
        await late.come_back(await server.connect())
    await play_on(seats, is_due("opening", 1))
    await late.do_withheld()
    await play_on(seats)
    assert judged[0] == [1]
    assert seats[0].auditor.verdict().result is Result.PROVEN
    assert Rule not in map(type, map(parse, seats[0].records))


async def test_link_that_comes_on_another_connection_too_is_taken_once_and_answered_twice(
    server, patience, gathered
):
    seats = await at_the_opening(server)
    early, before = seats[0], seats[0].client
    await until(lambda: gathered)
    await early.come_back(await server.connect())  # which sends it again; it waits for nobody
    await play_on(seats, is_due("opening", 1))
    await seats[1].do_withheld()
    await play_on(seats, is_closed)
    answers = []
    while not answers:
        message = await before.receive()
        answers += [message] if message["t"] == "ok" and "dup" in message else []
    assert answers[0]["dup"] is True
    assert [body.seat for body in bodies(seats[1], Release) if body.j == 1] == [0, 1]


async def test_seat_that_is_away_is_not_waited_for(server, patience, gathered):
    seats = await at_the_opening(server, late=(0, 1))
    await seats[0].client.stream.aclose()
    await seats[1].client.until("away")
    await seats[1].do_withheld()
    await until(lambda: gathered)
    assert gathered == [{1}]


async def test_seat_whose_link_waits_when_the_time_is_over_does_not_owe_it(server, mock_clock, gathered):
    seats = await at_the_opening(server, late=(0,))
    await until(lambda: gathered)
    mock_clock.jump(60.1)
    await play_on(seats, lambda seat: bool(bodies(seat, Rule)))
    assert rulings(seats[0]) == [("forfeit", 0, "opening")]
    assert [body.seat for body in bodies(seats[0], Release) if body.j == 1] == [1]
