"""Who was gone for missing decisions, and comes back while the seat is offered to others."""

from server.calls import BRIEF, nothing, rulings
from server.clocks import come_back, leave
from server.conftest import PATIENT, holder_of, in_hand
from server.rawclient import RawSeat
from server.substituting import offered, standing_by, state_of, step_in, vacancies

from truc_protocol.records import Phase

SETTINGS = PATIENT
TERMS = {"gone": 1, "gone_after": 1, "release_ms": 5000, "decision_ms": 1000, "bank_ms": 0, **BRIEF}


def plays(message, options):
    """Choose a card, or no other cards, where the hand waits for it."""
    kinds = ("stand", "play", "cut") if message["must"] else ()
    return next((option for option in options if option["kind"] in kinds), None)


async def vacated(server, mock_clock) -> tuple[RawSeat, RawSeat]:
    """Return who is gone for missing every decision of a hand, without a connection, and the other, who plays."""
    mover, other = holder_of(await in_hand(server, options=TERMS))
    other.follow, other.chooses = nothing, plays
    await leave(mover)
    await other.play(lambda seat: offered(seat) or waits_for(seat, mover))
    while not offered(other):
        mock_clock.jump(1.01)
        ruled = len(rulings(other))
        await other.play(lambda seat, ruled=ruled: len(rulings(seat)) > ruled)
        await other.play(lambda seat: offered(seat) or waits_for(seat, mover))
    return mover, other


def waits_for(seat: RawSeat, mover: RawSeat) -> bool:
    """Tell whether the hand waits for a decision of the other seat, as far as this one has been told."""
    if seat.options and seat.options["at"] == seat.next:
        return not seat.options["must"]
    told = seat.waiting
    return bool(told and told["at"] == seat.next and told["seats"] == [mover.seat] and "what" not in told)


def is_called(seat: RawSeat) -> bool:
    return seat.ledger.phase is Phase.CALLED


async def test_player_who_comes_back_keeps_the_seat_and_the_next_hand_is_called(server, mock_clock):
    mover, other = await vacated(server, mock_clock)
    await come_back(server, mover)
    await other.play(is_called)
    await other.client.ask({"t": "tables"})
    assert (vacancies(other), state_of(other)["seats"][mover.seat]["name"]) == ([], mover.name)


async def test_who_stands_by_does_not_get_the_seat_of_a_player_who_is_back(server, mock_clock):
    mover, other = await vacated(server, mock_clock)
    newcomer = await standing_by(server, [other])
    await come_back(server, mover)
    assert (await step_in(newcomer))["code"] == "not_seated"


async def test_seat_that_misses_too_many_decisions_is_vacant_not_claimed_against_and_forfeits_if_nobody_comes(
    server, mock_clock
):
    mover, other = await vacated(server, mock_clock)
    assert other.waiting["seats"] == [mover.seat]
    wanted = {"t": "claim_match", "table": other.table, "match": other.ledger.setup.mid}
    assert (await other.ask(wanted))["retry_after_ms"] == 5000
    mock_clock.jump(5.01)
    await other.play(lambda seat: seat.ledger.phase is Phase.ENDED)
    assert rulings(other)[-1] == ("forfeit", mover.seat, "absent")


async def test_time_of_the_offer_stands_still_while_nobody_is_connected(server, mock_clock):
    _, other = await vacated(server, mock_clock)
    await leave(other)
    mock_clock.jump(500)
    await come_back(server, other)
    await other.client.ask({"t": "tables"})
    assert (is_called(other), offered(other)) == (False, True)
