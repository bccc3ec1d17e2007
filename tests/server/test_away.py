"""Who is away is told at once and in full, with the time until the seat counts as gone; and who comes back meanwhile."""

import pytest
from msgspec.structs import replace
from protocol.peers import Table
from rows import each_row
from server.acting import stand
from server.clocks import come_back, leave, pass_time
from server.conftest import PATIENT, holder_of, in_hand
from server.visitors import guest

from truc_protocol.ledger import seats_missing
from truc_protocol.records import Phase
from truc_protocol.setup import Opts
from truc_server.matches.presence import (
    Attendance,
    SeatClock,
    answered,
    attended,
    claim_in_ms,
    counted_anew,
    everybody_away,
    missing_in_ms,
)

SETTINGS = PATIENT
QUICKLY = {"decision_ms": 1000, "bank_ms": 500}
ALONE = 1_800_000  # ms without a connection after which a match may be claimed, by default


def told(seat) -> dict:
    """Return what was told last of who is away: seat, online, missed, and the time."""
    message = seat.client.came("away")[-1]
    absent = {"online": False, "missed": 0, "claim_in_ms": None}
    return {"seat": message["seat"]} | {name: message.get(name, absent[name]) for name in absent}


async def until_told(seat) -> dict:
    await seat.client.until("away")
    return told(seat)


@pytest.mark.parametrize(
    ("options", "who", "claim_in_ms"),
    [
        (QUICKLY, "holder", 1200 + 2 * 1000),  # after what is left of the decision and two more
        (QUICKLY, "other", 3 * 1000 + 500),  # after three decisions and the bank
        ({"decision_ms": 0}, "holder", ALONE),
        ({**QUICKLY, "gone": 2}, "holder", None),
    ],
)
async def test_seat_that_loses_its_connection_is_told_with_the_time_until_it_is_gone(
    server, mock_clock, *, options, who, claim_in_ms
):
    leaving, staying = holder_of(await in_hand(server, options=options))
    if who == "other":
        leaving, staying = staying, leaving
    mock_clock.jump(0.3)
    await leave(leaving)
    heard = await until_told(staying)
    assert (heard["seat"], heard["claim_in_ms"]) == (leaving.seat, claim_in_ms)


async def test_seat_that_is_back_is_told_to_the_other_without_a_time(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=QUICKLY))
    await leave(mover)
    await come_back(server, mover)
    await until_told(other)
    assert await until_told(other) == {"seat": mover.seat, "online": True, "missed": 0, "claim_in_ms": None}


async def test_who_watches_or_comes_back_is_told_who_is_away(server, mock_clock):
    first, second = await in_hand(server, options=QUICKLY)
    await leave(second)
    visitor = await guest(server)
    await visitor.ask({"t": "watch", "table": first.table})
    assert (await visitor.until("away"))["seat"] == second.seat
    await leave(first)
    await come_back(server, first)
    await first.client.ask({"t": "tables"})
    assert told(first)["seat"] == second.seat
    back = [
        (heard["t"], heard.get("seat")) for heard in first.client.log if heard["t"] in ("away", "table", "ok")
    ]
    assert back == [("away", first.seat), ("table", None), ("ok", None), ("away", second.seat), ("ok", None)]


async def test_who_watches_late_is_not_told_who_is_away_now(server, mock_clock):
    first, second = await in_hand(server, options={**QUICKLY, "spectators": 63})
    await leave(second)
    visitor = await guest(server)
    await visitor.ask({"t": "watch", "table": first.table})
    await visitor.ask({"t": "tables"})
    assert visitor.came("away") == []


async def test_who_watches_by_hand_is_told_what_was_held_back_when_the_hand_is_shown(server, mock_clock):
    options = {"decision_ms": 1000, "bank_ms": 0, "gone_after": 0, "spectators": 2}
    mover, other = holder_of(await in_hand(server, options=options))
    visitor = await guest(server)
    await visitor.ask({"t": "watch", "table": other.table})
    mock_clock.jump(1.01)
    await until_told(other)
    await visitor.ask({"t": "tables"})
    assert visitor.came("away") == []
    for _ in range(12):
        await visitor.ask({"t": "tables"})
        await pass_time(mock_clock, 1.01)
    assert mover.seat in {heard["seat"] for heard in visitor.came("away")}


async def test_who_comes_back_to_a_match_that_is_over_is_told_of_nobody(server, mock_clock):
    options = {"decision_ms": 1000, "bank_ms": 0, "gone_after": 1}
    mover, other = holder_of(await in_hand(server, options=options))
    await leave(mover)
    mock_clock.jump(1.01)
    await other.play(lambda seat: seat.ledger.phase is Phase.ENDED)
    await come_back(server, mover)
    await mover.client.ask({"t": "tables"})
    assert mover.client.came("away") == []


async def test_nobody_is_told_of_who_is_there(server, mock_clock):
    mover, _ = holder_of(await in_hand(server, options=QUICKLY))
    await stand(mover)
    await mover.client.ask({"t": "tables"})
    assert mover.client.came("away") == []


def clock(bank=500, decision=None, release=None, alone=None) -> SeatClock:
    return SeatClock(bank, decision, release, alone)


def in_a_hand(**opts) -> Table:
    table = Table("truc-french", opts=Opts(**{"decision_ms": 1000, "bank_ms": 500, **opts}))
    return table.run(until=lambda ledger: ledger.phase is Phase.HAND)


COURSE = [(0, 1500), (0, 700), (0, 0), (1, 1000), (1, 1), (1, 0), (2, 1000), (2, 400), (2, 0)]


def test_time_never_grows_while_one_decision_after_the_other_is_missed():
    opts = Opts(decision_ms=1000, bank_ms=500, gone_after=3)
    times = [missing_in_ms(opts, missed, clock(bank=0, decision=left)) for missed, left in COURSE]
    assert times == sorted(times, reverse=True)


@each_row("left", [1500, 900, 500, 1, 0])
def test_time_of_the_holder_runs_as_its_clock_does(left):
    table = in_a_hand()
    assert claim_in_ms(table.ledger, 0, clock(decision=left), is_back=False) == left + 2000


def test_time_without_a_connection_counts_where_it_is_shorter():
    assert claim_in_ms(in_a_hand(gone_after=0).ledger, 0, clock(), is_back=False) is None
    assert claim_in_ms(in_a_hand().ledger, 0, clock(alone=1200), is_back=False) == 1200


def test_seat_that_has_missed_enough_is_gone_now_or_after_one_decision_more_when_it_is_back():
    table = in_a_hand()
    table.ledger = replace(table.ledger, streaks=(3, 0))
    assert claim_in_ms(table.ledger, 0, clock(), is_back=False) == 0
    assert claim_in_ms(table.ledger, 0, clock(decision=800), is_back=True) == 800


def test_seat_whose_release_is_awaited_is_gone_when_the_time_for_it_is_over():
    table = in_a_hand().run(until=lambda ledger: ledger.match and seats_missing(ledger))
    (seat, *_) = seats_missing(table.ledger)
    assert claim_in_ms(table.ledger, seat, clock(release=400), is_back=False) == 400


def test_seat_that_is_silent_before_the_draw_is_not_gone_for_that():
    table = Table("truc-french", opts=Opts(decision_ms=1000, bank_ms=500, gone_after=3)).run(
        until=seats_missing
    )
    assert claim_in_ms(table.ledger, 0, clock(release=400), is_back=False) == 3500


def gone_and_back(table: Table) -> Attendance:
    """Return the attendance after seat 0 was gone, with three decisions missed, and came back."""
    table.ledger = replace(table.ledger, streaks=(3, 0))
    before = attended(everybody_away(2, 0.0), table.ledger, (1,), 1.0)
    return attended(before, table.ledger, (0, 1), 2.0)


def test_seat_that_comes_back_after_it_was_gone_has_returned_until_it_misses_one_more():
    table = in_a_hand()
    there = gone_and_back(table)
    assert there.returned(table.ledger.streaks) == (0,)
    assert there.returned((4, 0)) == ()
    left = attended(there, table.ledger, (1,), 3.0)
    assert left.returned((3, 0)) == (0,)  # losing the connection takes nothing back
    assert attended(everybody_away(2, 0.0), table.ledger, (1,), 1.0).returned((3, 0)) == ()


def test_seat_returns_once_until_it_acts():
    table = in_a_hand()
    there = gone_and_back(table)
    table.ledger = replace(table.ledger, streaks=(4, 0))
    left = attended(there, table.ledger, (1,), 3.0)
    assert attended(left, table.ledger, (0, 1), 4.0).returned((4, 0)) == ()


def test_seat_that_has_acted_may_return_again_when_it_comes():
    table = in_a_hand()
    there = gone_and_back(table)
    acted = attended(there, replace(table.ledger, streaks=(0, 0)), (0, 1), 3.0)
    left = attended(acted, table.ledger, (1,), 4.0)
    assert left.returned((3, 0)) == ()
    assert attended(left, table.ledger, (0, 1), 5.0).returned((3, 0)) == (0,)


def test_seat_that_signs_a_pause_is_there_again():
    table = in_a_hand()
    table.ledger = replace(table.ledger, streaks=(3, 0))
    there = attended(everybody_away(2, 0.0), replace(table.ledger, streaks=(0, 0)), (0, 1), 1.0)
    assert answered(there, table.ledger, 0).returned((3, 0)) == (0,)


def test_seat_that_signs_a_pause_before_it_is_gone_may_still_return():
    table = in_a_hand()
    table.ledger = replace(table.ledger, streaks=(1, 0))
    there = answered(attended(everybody_away(2, 0.0), table.ledger, (0, 1), 1.0), table.ledger, 0)
    table.ledger = replace(table.ledger, streaks=(3, 0))
    left = attended(there, table.ledger, (1,), 2.0)
    assert attended(left, table.ledger, (0, 1), 3.0).returned((3, 0)) == (0,)


def test_pause_is_no_second_return():
    table = in_a_hand()
    there = gone_and_back(table)
    table.ledger = replace(table.ledger, streaks=(4, 0))
    assert answered(there, table.ledger, 0).returned((4, 0)) == ()


def test_wait_is_counted_anew_for_those_who_are_meant_and_away():
    attendance = Attendance((None, 1.0, 2.0, 3.0), (None,) * 4, ())
    assert counted_anew(attendance, (0, 2), 9.0).left == (None, 1.0, 9.0, 3.0)


def test_sides_are_there_by_the_seats_that_are():
    table = Table("truc-catalan", seats=4)
    assert attended(everybody_away(4, 0.0), table.ledger, (0, 2), 1.0).sides == (0,)
