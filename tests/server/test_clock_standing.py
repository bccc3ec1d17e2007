"""No time of a seat runs before the question is stored, nor while nobody is connected; over a restart neither."""

import pytest
import trio
from msgspec.structs import replace
from protocol.peers import Table
from rows import each_row
from server.acting import act, all_ask
from server.calls import after, awake, called, rulings
from server.clocks import come_back, first_told, leave, pass_time
from server.conftest import PATIENT as SETTINGS
from server.conftest import holder_of, in_hand, play_on, running
from server.gates import Gate
from server.rawclient import RawSeat

from truc_protocol.ledger import seats_missing
from truc_protocol.records import Phase, parse
from truc_protocol.setup import Opts
from truc_server import recovery
from truc_server.matches.choices import position
from truc_server.matches.deadlines import Clocks, MatchClock, charged, full_clocks, left_ms, opens_decision

QUICKLY = {"decision_ms": 1000, "bank_ms": 900}


async def test_time_goes_on_where_it_stood_when_the_last_seat_left(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=QUICKLY))
    mock_clock.jump(0.5)
    await leave(other)
    await leave(mover)
    await pass_time(mock_clock, 500)
    await come_back(server, mover)
    assert ((await first_told(mover))["deadline_ms"], rulings(mover)) == (1400, [])


@pytest.fixture
async def changed_hands(path, mock_clock, monkeypatch):
    """Run a server on a hand of another one, whose players may come to know of that a minute late."""
    async with running(path, SETTINGS) as server:
        seats = await in_hand(server, options=QUICKLY)
    read = recovery.read
    monkeypatch.setattr(recovery, "read", lambda *of, **how: read(*of, **how)._replace(late_s=60.0))
    async with running(path, SETTINGS) as server:
        yield server, *holder_of(seats)


async def test_no_time_runs_until_everybody_is_back_who_may_not_know_that_the_table_changed_hands(
    changed_hands, mock_clock
):
    server, mover, other = changed_hands
    await come_back(server, other)
    await pass_time(mock_clock, 59)
    await come_back(server, mover)
    assert rulings(mover) == []
    assert (await first_told(mover))["deadline_ms"] == 1900


async def test_who_is_not_back_in_time_is_awaited_no_longer(changed_hands, mock_clock):
    server, mover, other = changed_hands
    await come_back(server, other)
    await pass_time(mock_clock, 60)
    mock_clock.jump(1.91)
    await play_on([other], after(9))
    assert rulings(other) == [("move", mover.seat, "stand")]


async def test_time_runs_again_when_only_the_opponent_is_back(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=QUICKLY))
    await leave(mover)
    await leave(other)
    await pass_time(mock_clock, 500)
    await come_back(server, other)
    mock_clock.jump(1.91)
    await play_on([other], after(9))
    assert rulings(other) == [("move", mover.seat, "stand")]


async def deserted(server, options) -> list[RawSeat]:
    """Return two players who are both gone while their first release is awaited."""
    seats = await called(server, options=options)
    for seat in seats:
        await leave(seat)
    return seats


async def test_release_that_is_awaited_has_its_time_when_somebody_is_back(server, mock_clock):
    seats = await deserted(server, {"release_ms": 5000})
    await pass_time(mock_clock, 500)
    await come_back(server, seats[0])
    assert (seats[0].ledger.voids, seats_missing(seats[0].ledger)) == (0, (0, 1))


async def test_deserted_match_ends_also_where_releases_are_awaited(server, mock_clock):
    seats = await deserted(server, {"release_ms": 5000, "gone": 2, "voids": 100})
    await pass_time(mock_clock, 1_801)
    await come_back(server, seats[0])
    await seats[0].play(lambda seat: seat.ledger.phase is Phase.ENDED)
    assert rulings(seats[0]) == [("abandon", None, "server")]


async def test_deserted_match_has_no_winner_though_one_seat_has_released(server, mock_clock):
    seats = await server.match(2, options={"release_ms": 5000, "voids": 0})
    seats[1].is_idle = True
    await play_on(seats, after(2))
    for seat in seats:
        await leave(seat)
    await pass_time(mock_clock, 1_801)
    await come_back(server, seats[0])
    await seats[0].play(lambda seat: seat.ledger.phase is Phase.ENDED)
    assert rulings(seats[0]) == [("abandon", None, "server")]


async def test_pause_that_is_longer_than_the_host_keeps_a_match_is_waited_for(server, mock_clock):
    seats = await in_hand(server, options={**QUICKLY, "pause_ms": 7_200_000})
    await all_ask(seats, "pause")
    for seat in seats:
        await leave(seat)
    await pass_time(mock_clock, 7_190)
    await pass_time(mock_clock, 1_790)
    await come_back(server, seats[0])
    assert rulings(seats[0]) == [("pause", None, None), ("resume", None, None)]


async def test_restart_costs_a_seat_that_pays_from_its_bank_nothing(path, settings, mock_clock):
    async with running(path, settings) as server:
        mover, _ = holder_of(await in_hand(server, options=QUICKLY))
        mock_clock.jump(1.2)
        await mover.hand_in(act(mover, "pause"))
    async with running(path, settings) as server:
        await pass_time(mock_clock, 500)
        await come_back(server, mover)
        assert ((await first_told(mover))["deadline_ms"], rulings(mover)) == (700, [])


async def test_restart_in_a_pause_costs_nobody_anything(path, settings, mock_clock):
    options = {**QUICKLY, "pause_ms": 60_000}
    async with running(path, settings) as server:
        seats = await in_hand(server, options=options)
        mover, _ = holder_of(seats)
        await all_ask(seats, "pause")
    async with running(path, settings) as server:
        await pass_time(mock_clock, 60.01)
        await pass_time(mock_clock, 500)
        await come_back(server, mover)
        told = await first_told(mover)
        assert (told["deadline_ms"], rulings(mover)) == (
            1900,
            [("pause", None, None), ("resume", None, None)],
        )


async def test_restart_while_a_release_is_awaited_voids_nothing(path, settings, mock_clock):
    async with running(path, settings) as server:
        seats = await called(server, options={"release_ms": 5000})
    async with running(path, settings) as server:
        await pass_time(mock_clock, 500)
        for seat in seats:
            await come_back(server, seat)
        await awake(*seats)
        await play_on(seats, after(4))
    assert seats[0].ledger.voids == 0


def waiting(window_ms: int | None = None) -> tuple[Table, MatchClock]:
    """Return a hand in which a decision is awaited, after a window where one is to be open."""
    table = Table("truc-french", opts=Opts(decision_ms=1000, bank_ms=500))
    table.run(until=lambda ledger: ledger.phase is Phase.HAND)
    here = position(table.ledger)
    waits = MatchClock(here, between_ms=0)
    last = parse(table.records[-1])
    waits.note(here, last, waits.clocks, trio.current_time(), opens=opens_decision(last), window_ms=window_ms)
    return table, waits


def decision_left(table: Table, waits: MatchClock) -> int | None:
    return waits.left_ms_of("decision", seat=next(iter(waits.wait.seats)))


async def test_window_passes_while_nobody_is_connected_and_the_decision_after_it_does_not(mock_clock):
    table, waits = waiting(window_ms=2000)
    waits.halt()
    assert waits.ends_at == trio.current_time() + 2
    mock_clock.jump(100)
    waits.end_wait()
    waits.go_on()
    assert decision_left(table, waits) == 1500


async def test_time_of_a_decision_runs_from_when_it_is_stored_and_no_other_record_gives_any_back(mock_clock):
    table, waits = waiting()
    mock_clock.jump(0.8)
    waits.start(trio.current_time())
    mock_clock.jump(0.3)
    assert decision_left(table, waits) == 1200
    waits.start(trio.current_time())  # a record without a question
    assert decision_left(table, waits) == 1200


async def test_nothing_is_ruled_where_the_store_has_not_taken_the_question(server, mock_clock, monkeypatch):
    seats = await in_hand(server, options=QUICKLY)
    mover, _ = holder_of(seats)
    gate = Gate()
    monkeypatch.setattr(server.store, "commit", gate.before(server.store.commit))
    await mover.act(mover.sign(act(mover, "stand")))
    await gate.reached()
    await pass_time(mock_clock, 500)
    gate.open()
    await play_on(seats, after(9))
    await mover.ask({"t": "tables"})
    assert (mover.ledger.k, rulings(mover)) == (9, [])


async def test_nothing_is_ruled_while_the_journal_takes_no_answers_but_soon_after_it_does_again(
    server, mock_clock, monkeypatch
):
    mover, other = holder_of(await in_hand(server, options=QUICKLY))
    monkeypatch.setattr("truc_server.storage.journal.Journal.is_full", True)
    await pass_time(mock_clock, 1.91)
    await other.ask({"t": "tables"})
    assert rulings(other) == []
    monkeypatch.undo()
    mock_clock.jump(5.01)
    await play_on([other], after(9))
    assert rulings(other) == [("move", mover.seat, "stand")]


OPTS = Opts(decision_ms=1000, bank_ms=500)


@each_row("used, left", [(0, 500), (1000, 500), (1001, 499), (1500, 0), (9000, 0)])
def test_bank_pays_for_what_is_beyond_the_time_for_a_decision_and_no_more(used, left):
    assert charged(full_clocks(OPTS, 2).banks, used, OPTS, 1).banks == (500, left)
    assert charged((500, 500), used, OPTS._replace(decision_ms=0), 0).banks == (500, 500)


@each_row("used", [0, 700, 1500, 9000])
def test_what_is_left_is_never_below_zero(used):
    assert left_ms(Clocks((500, 500), used), OPTS, 0) == max(0, 1500 - used)


async def test_bank_is_full_again_in_the_next_game(mock_clock):
    table, waits = waiting()
    mock_clock.jump(1.2)
    after = replace(table.ledger, match=table.ledger.match._replace(games=(1, 0)))
    assert waits.clocks_after(
        after, parse(table.records[-1]), trio.current_time(), opens=True
    ) == full_clocks(OPTS, 2)


async def test_nobody_forfeits_to_a_side_before_somebody_of_it_is_connected(server, mock_clock):
    options = {"decision_ms": 1000, "bank_ms": 0, "gone_after": 1}
    mover, other = holder_of(await in_hand(server, options=options))
    await leave(other)
    mock_clock.jump(1.01)
    await play_on([mover], after(9))
    await mover.client.ask({"t": "tables"})
    assert rulings(mover) == [("move", mover.seat, "stand")]
    await come_back(server, other)
    await play_on([mover], after(10))
    assert rulings(mover)[-1] == ("forfeit", mover.seat, "absent")
