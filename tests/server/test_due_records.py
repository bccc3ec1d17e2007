"""Records that the rules demand of the server: shared hands, cards played blind, shows at the end of a hand."""

from functools import partial

import pytest
from server.calls import BRIEF, bodies, first_of, towards_a_tie
from server.conftest import play_on, play_out, together, under

from truc_protocol.bodies import Act, Close, Open, Proxy, Share
from truc_rules import is_hand_over

pytestmark = pytest.mark.slow


def shared(seat) -> bool:
    return seat.done or bool(bodies(seat, Share))


async def sharing(server, **fields):
    """Return four seats of which one side has been shown its partner's cards: it is at its last point."""
    seats = await server.match(4, "truco-paulista", options={"target": 2, "guests": 4}, **fields)
    for seat in seats:
        seat.chooses = partial(towards_a_tie, seat)
    await play_on(seats, shared)
    return seats


async def test_guest_without_a_box_is_told_its_partners_cards_and_again_when_it_comes_back(server):
    seats = await sharing(server, guests=(0, 1, 2, 3), boxed=False)
    share = bodies(seats[0], Share)[0]
    receiver = seats[share.receiver]
    await together(partial(receiver.play, lambda seat: share.giver in seat.partners))
    assert receiver.partners == {share.giver: seats[share.giver].cards}
    receiver.partners = {}
    await receiver.come_back(await server.connect())
    await together(partial(receiver.play, lambda seat: seat.partners))
    assert set(receiver.partners) == {share.giver}


async def test_keyed_seat_opens_its_partners_cards(server):
    seats = await sharing(server)
    share = bodies(seats[0], Share)[0]
    ((giver, openings),) = seats[share.receiver].auditor.partners
    assert (giver, openings) == (share.giver, seats[giver].auditor.openings)


@pytest.mark.parametrize("guests", [(), (0, 1)])
async def test_blind_hand_is_played_to_a_proven_end(server, guests):
    options = {"target": 2, "blind": "on", "guests": 2}
    seats = await server.match(2, "truco-paulista", guests=guests, boxed=False, options=options)
    for seat in seats:
        seat.chooses = partial(towards_a_tie, seat)
    await play_out(seats)
    assert bodies(seats[0], Open)


async def test_envido_that_unplayed_cards_have_won_is_shown_before_the_close_under_match(server):
    seats = await server.match(2, "truco-argentino", options={"reveal": "match", **BRIEF})
    for seat in seats:
        seat.chooses = first_of("envido", "points", "good", "accept", "concede")
    await play_out(seats)
    assert bodies(seats[0], Open)


def over(seat) -> bool:
    return seat.ledger.hand is not None and is_hand_over(seat.ledger.match)


@under(limits={"idle_s": 3600}, tables={"between_hands_ms": 2000})
async def test_hand_is_held_open_for_shows_and_then_closed(server, mock_clock):
    seats = await server.match(2, "le-truc", options={"reveal": "match"})
    for seat in seats:
        seat.chooses = to_the_end
    await play_on(seats, showed)
    assert all(over(seat) for seat in seats)
    mock_clock.jump(2.01)
    await play_on(seats, closed)


def closed(seat) -> bool:
    """Tell whether the first hand is closed."""
    return bool(bodies(seat, Close))


def to_the_end(message, options):
    """Ask and decline, to be at the end of the hand; then show what can be shown."""
    wanted = ("stand", "decline", "raise 2")
    first = [option for option in options if option["key"] in wanted or option["kind"] == "show"]
    return first[0] if first else options[0]


def showed(seat) -> bool:
    shows = [body for body in bodies(seat, Act | Proxy) if body.kind == "show"]
    return len(shows) >= 2 and over(seat) and {body.seat for body in shows} == {0, 1}


@under(limits={"idle_s": 3600}, tables={"between_hands_ms": 2000})
async def test_hand_is_closed_at_once_where_its_close_opens_everything(server, mock_clock):
    seats = await server.match(2, "le-truc")
    for seat in seats:
        seat.chooses = to_the_end
    await play_on(seats, closed)
    assert not any(body.kind == "show" for body in bodies(seats[0], Act))
