"""Single acts, as a seat signs and sends them."""

from server.calls import after
from server.conftest import in_hand, play_on
from server.rawclient import RawSeat

from truc_protocol.bodies import Act


def act(player: RawSeat, kind: str, args=(), **fields) -> Act:
    return player.act_of({"kind": kind, "args": args}, **fields)


async def stand(seat: RawSeat) -> None:
    """Accept what was dealt."""
    assert (await seat.hand_in(act(seat, "stand")))["t"] == "ok"


def card(seat: RawSeat) -> tuple:
    """Return the play of the seat's first card."""
    slot, opening = 0, seat.auditor.openings[0]
    return "play", (slot, opening.card, opening.salt, None)


async def paused(server, **fields) -> list[RawSeat]:
    """Return players in a hand that rests."""
    seats = await in_hand(server, **fields)
    await all_ask(seats, "pause")
    return seats


def resumption(seat: RawSeat, next_: int = -1) -> dict:
    """Return the request for the match that a seat has come to, from a position on."""
    return {"t": "resume", "table": seat.table, "match": seat.ledger.setup.mid, "next": next_}


async def all_ask(seats, kind: str) -> None:
    """Let every seat ask for a pause, or for its end, until that has come."""
    for seat in seats:
        await play_on(seats, after(max(each.next for each in seats)))
        reply = await (seat.hand_in(act(seat, kind)) if seat.key else seat.choose_line(kind))
        assert reply["t"] == "ok"
    await play_on(seats, lambda each: each.ledger.pause.active is (kind == "pause"))
