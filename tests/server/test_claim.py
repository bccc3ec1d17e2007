"""A match that is claimed because the other side is away: when it is granted, to whom, and who wins."""

from server.acting import all_ask, stand
from server.calls import after, rulings
from server.clocks import come_back, leave
from server.conftest import QUICK, asked, changed, holder_of, in_hand, play_on
from server.rawclient import RawSeat

from truc_protocol.audit import Result
from truc_protocol.records import Phase

SETTINGS = changed(QUICK, limits={"idle_s": 3600, "login_s": 600}, tables={"expiry_s": 60})
STRICT = {"decision_ms": 1000, "bank_ms": 0, "gone_after": 1, "claim": "opponents"}
SLOW = {"decision_ms": 0}


async def claim(seat: RawSeat) -> dict:
    return await seat.ask({"t": "claim_match", "table": seat.table, "match": seat.ledger.setup.mid})


async def missed(server, mock_clock, **options) -> tuple[RawSeat, RawSeat]:
    """Return who has missed a decision, both connected, and the other; that is enough to be gone."""
    seats = await in_hand(server, options={**STRICT, **options})
    mover, other = holder_of(seats)
    mock_clock.jump(1.01)
    await play_on(seats, after(9))
    await play_on(seats, asked)
    return mover, other


async def ended(*seats: RawSeat) -> None:
    await play_on(seats, lambda seat: seat.ledger.phase is Phase.ENDED)


async def test_seat_that_is_gone_forfeits_to_the_opponent_who_claims_and_not_before_nor_twice(
    server, mock_clock
):
    mover, other = await missed(server, mock_clock)
    assert (await claim(mover))["code"] == "not_now"
    reply = await claim(other)
    assert (reply["k"], rulings(other)[-1][0], other.next) == (9, "forfeit", 10)
    await ended(mover, other)
    verdict = other.auditor.verdict()
    assert (verdict.result, verdict.reason, verdict.winner) == (Result.PROVEN, "forfeit", other.seat)
    reply = await claim(other)
    assert (reply["code"], reply["msg"]) == ("not_now", "expected a match that goes on")
    assert reply.get("retry_after_ms") is None


async def test_seat_that_acts_again_cannot_be_claimed_against(server, mock_clock):
    mover, other = await missed(server, mock_clock)
    decides, _ = holder_of((mover, other))
    if decides is other:
        await stand(other)
        await play_on([mover, other], after(10))
    await mover.play(lambda seat: seat.options and seat.options["at"] == seat.next)
    await mover.ask(mover.act_message(mover.options, mover.offered[0]))
    assert (await claim(other))["code"] == "not_now"


async def test_claim_before_its_time_tells_when_it_may_be_granted(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options={**STRICT, "gone_after": 3}))
    mock_clock.jump(0.4)
    reply = await claim(other)
    assert (mover.seat != other.seat, reply["code"], reply["retry_after_ms"]) == (True, "not_now", 2600)


async def test_both_sides_gone_is_abandoned_though_nobody_claims(server, mock_clock):
    seats = await in_hand(server, options=STRICT)
    for k in range(9, 12):
        mock_clock.jump(1.01)
        await play_on(seats, after(k))
    await ended(*seats)
    assert rulings(seats[0])[-1] == ("abandon", None, "empty")


async def test_match_is_claimed_without_a_winner_after_a_long_time_without_connection(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=SLOW))
    await leave(mover)
    mock_clock.jump(60.01)
    reply = await claim(other)
    await ended(other)
    verdict = other.auditor.verdict()
    assert (reply["t"], verdict.reason, verdict.winner) == ("ok", "abandoned", None)


async def test_long_time_without_connection_is_counted_anew_when_the_seat_comes_back(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=SLOW))
    await leave(mover)
    mock_clock.jump(50)
    await come_back(server, mover)
    await leave(mover)
    mock_clock.jump(20)
    assert (await claim(other))["retry_after_ms"] == 40_000


async def test_seat_for_which_the_match_waits_cannot_claim_for_want_of_a_connection(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=SLOW))
    await leave(other)
    mock_clock.jump(100)
    assert (await claim(mover))["code"] == "not_now"


async def test_long_time_without_connection_is_counted_from_when_the_other_side_has_acted(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options=SLOW))
    await leave(other)
    mock_clock.jump(100)
    await stand(mover)
    mock_clock.jump(10)
    assert (await claim(mover))["retry_after_ms"] == 50_000


async def test_time_without_connection_is_counted_from_the_end_of_a_pause_and_not_in_it(server, mock_clock):
    seats = await in_hand(server, options={**SLOW, "pause_ms": 300_000})
    mover, other = holder_of(seats)
    await all_ask(seats, "pause")
    await leave(mover)
    mock_clock.jump(100)
    assert (await claim(other))["retry_after_ms"] == 260_000
    mock_clock.jump(200.01)
    await other.play(lambda seat: rulings(seat)[-1][0] == "resume")
    mock_clock.jump(10)
    assert (await claim(other))["retry_after_ms"] == 50_000


async def test_where_decisions_have_a_limit_want_of_a_connection_is_no_claim(server, mock_clock):
    mover, other = holder_of(await in_hand(server, options={"decision_ms": 3_600_000}))
    await leave(mover)
    mock_clock.jump(100)
    assert (await claim(other))["code"] == "not_now"


async def test_claim_against_a_side_that_is_connected_has_no_time(server, mock_clock):
    _, other = holder_of(await in_hand(server, options=SLOW))
    reply = await claim(other)
    assert (reply["code"], reply.get("retry_after_ms")) == ("not_now", None)


async def test_where_the_terms_say_wait_a_seat_that_is_gone_is_not_claimed_against_at_once(
    server, mock_clock
):
    _, other = await missed(server, mock_clock, gone=2)
    assert (await claim(other))["code"] == "not_now"


async def test_partner_of_who_is_away_cannot_claim(server, mock_clock):
    seats = await in_hand(server, "truc-catalan", count=4, options=SLOW)
    await leave(seats[3])
    mock_clock.jump(60.01)
    assert (await claim(seats[1]))["code"] == "not_now"


async def test_claim_while_releases_are_awaited_tells_how_long_they_are(server, mock_clock):
    seats = await server.match(2, options={**SLOW, "release_ms": 90_000})
    for seat in seats:
        seat.is_idle = True
    await play_on(seats, after(1))
    await leave(seats[1])
    mock_clock.jump(70)
    reply = await claim(seats[0])
    assert (reply["code"], reply["retry_after_ms"]) == ("not_now", 20_000)


async def test_claim_while_only_those_who_are_there_owe_releases_has_no_time(server, mock_clock):
    seats = await server.match(2, options={**SLOW, "release_ms": 90_000})
    seats[0].is_idle = True
    await play_on(seats, after(2))
    await leave(seats[1])
    mock_clock.jump(70)
    reply = await claim(seats[0])
    assert (reply["code"], reply.get("retry_after_ms")) == ("not_now", None)
