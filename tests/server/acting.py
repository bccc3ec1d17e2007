"""Single acts, as a seat signs and sends them."""

from server.conftest import in_hand, play_on
from server.rawclient import RawSeat

from truc_protocol.bodies import Act


def act(player: RawSeat, kind: str, args=(), **fields) -> Act:
    ledger = player.ledger
    body = {
        "k": ledger.k,
        "head": ledger.head,
        "j": ledger.deal_index,
        "seat": player.seat,
        "mid": ledger.setup.mid,
    }
    return Act(**{**body, **fields}, kind=kind, args=args)


async def hand_in(seat: RawSeat, body, *, key=None, **fields) -> dict:
    message = seat.sign(body) | fields
    if key is not None:
        message["sig"] = key.sign(message["body"])
    return await seat.ask(message)


def card(seat: RawSeat) -> tuple:
    """Return the play of the seat's first card."""
    slot, opening = 0, seat.auditor.openings[0]
    return "play", (slot, opening.card, opening.salt, None)


async def paused(server, **fields) -> list[RawSeat]:
    """Return players in a hand that rests."""
    seats = await in_hand(server, **fields)
    for at, seat in enumerate(seats, seats[0].next):
        await play_on(seats, lambda each, at=at: each.next == at)
        await (hand_in(seat, act(seat, "pause")) if seat.key else choose(seat, "pause"))
    await play_on(seats, lambda each: each.ledger.pause.active)
    return seats


def resumption(seat: RawSeat, next_: int = -1) -> dict:
    """Return the request for the match that a seat has come to, from a position on."""
    return {"t": "resume", "table": seat.table, "match": seat.ledger.setup.mid, "next": next_}


async def choose(seat: RawSeat, line: str, **fields) -> dict:
    here = {"table": seat.table, "match": seat.ledger.setup.mid, "at": seat.next}
    return await seat.ask({"t": "act", **here, "choose": line, **fields})
