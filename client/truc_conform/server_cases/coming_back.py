"""Cases S3: coming back, taking a seat over, and players whose connections break again and again."""

from functools import partial
from typing import Final

import trio

from truc_conform.expectations import Map, expect, expect_ok
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import Seat
from truc_conform.server_visit import ServerVisit, case, held_seats, level, row, together
from truc_protocol.audit import Result
from truc_protocol.errors import Code

LEAST_ASIDE: Final = 6  # records between two breaks of a connection
_BREAKS: Final = 40  # more than a short match has records, so the whole of it is played over breaks
_SHORT: Final = 2
_FAR: Final = 2**40  # beyond every position, and still an integer of the profile
_BACK: Final = "session.md#coming-back"


def resuming(seat: Seat, next_: int) -> Map:
    """Return the request to resume a player's match from a position."""
    return {"t": "resume", "table": seat.table, "match": seat.ledger.setup.mid, "next": next_}


Sent = tuple[int, int, bytes, bytes]
"""A record as it came: position, signer, body, signature."""


def records_of(client: RawClient) -> list[Sent]:
    """Return the records that came on a connection, in order."""
    records = client.came("record")
    return [(each["k"], each["signer"], each["body"], each["sig"]) for each in records]


@case("S3.resume", _BACK)
async def _resume(visit: ServerVisit) -> None:
    """Resuming from any position brings the match's records unchanged."""
    mover, other = await visit.in_hand()
    await level(mover, other)
    live = records_of(mover.client)
    client = await visit.player(mover.key)
    for next_ in range(mover.next + 1):
        client.log.clear()
        reply = await client.ask_patiently(resuming(mover, next_))
        expect_ok(reply, f"ok with k {mover.next}", k=mover.next)
        expect(
            records_of(client) == live[next_:], f"the records from {next_} on, as they came live", client.log
        )


@case("S3.resume-setup", _BACK)
async def _resume_setup(visit: ServerVisit) -> None:
    """Resuming from -1 brings the setup, then every record."""
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    expect_ok(await client.ask(resuming(mover, -1)), "ok to resume")
    tags = [message["t"] for message in client.log if message["t"] in ("setup", "record")]
    expect(tags == ["setup"] + ["record"] * mover.next, "the setup, then every record", tags)
    (setup,) = client.came("setup")
    known = [list(record) for record in mover.ledger.setup.records]
    expect(setup["doc"] == mover.document and setup["records"] == known, "the setup as it came live", setup)


@case("S3.resume-options", _BACK)
async def _resume_options(visit: ServerVisit) -> None:
    """After ok come the current options, with the time that is left."""
    mover, _ = await visit.in_hand()
    known = mover.options or {}
    client = await visit.player(mover.key)
    await client.ask(resuming(mover, mover.next))
    options = await client.until("options")
    came = {name: options.get(name) for name in ("at", "offer", "must")}
    expect(came == {name: known[name] for name in came}, "the current options, after ok", options)
    was, now = known.get("deadline_ms"), options.get("deadline_ms")
    expect((was is None) == (now is None) and (now or 0) <= (was or 0), "no more time than is left", options)


@case("S3.resume-cards", _BACK)
async def _resume_cards(visit: ServerVisit) -> None:
    """A guest without x is sent its cards again."""
    mover, _ = await visit.in_hand(await visit.seats(guests=(0, 1), boxed=False))
    client = await visit.connect()
    await client.login_token(mover.token)
    await client.ask(resuming(mover, mover.next))
    cards = await client.until("cards")
    expect(cards["cards"] == mover.cards, "the guest's cards again", cards)


async def _refused_resume(visit: ServerVisit, *, changed: Map, code: Code) -> None:
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    await client.refused(resuming(mover, 0) | changed, code)
    await client.check_alive()


_REFUSED: Final = [
    row(
        "S3.resume-beyond",
        "errors.md#bad_position",
        "A resume from beyond the last record gets bad_position",
        _refused_resume,
        changed={"next": _FAR},
        code=Code.BAD_POSITION,
    ),
    row(
        "S3.resume-other",
        "errors.md#no_such_match",
        "A resume of another match gets no_such_match",
        _refused_resume,
        changed={"match": bytes(32)},
        code=Code.NO_SUCH_MATCH,
    ),
]


@case("S3.resume-stranger", "errors.md#not_seated")
async def _resume_stranger(visit: ServerVisit) -> None:
    """Nobody can resume the seat of another."""
    mover, _ = await visit.in_hand()
    await visit.stranger_refused(resuming(mover, 0), Code.NOT_SEATED)


@case("S3.take-over", _BACK)
async def _take_over(visit: ServerVisit) -> None:
    """The newest connection has the seat; the older one is told, and stays open."""
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    await client.ask(resuming(mover, mover.next))
    told = await mover.client.until("seat_taken_over")
    expect((told["table"], told["seat"]) == (mover.table, mover.seat), "which seat was taken over", told)
    await mover.client.check_alive()


@case("S3.seats-listed", "session.md#login")
async def _seats_listed(visit: ServerVisit) -> None:
    """welcome lists the match to resume."""
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    expected = [(mover.table, mover.ledger.setup.mid, mover.seat)]
    expect(held_seats(client.welcome) == expected, f"seats to be {expected}", client.welcome)


@case("S3.storm", _BACK)
async def _storm(visit: ServerVisit) -> None:
    """Over many lost connections a player gets every record, once and in order."""
    seats = await visit.match(await visit.seats(target=_SHORT))
    await together(partial(_restless, visit, seats[0]), partial(seats[1].play))
    for seat in seats:
        verdict = seat.verdict()
        expect(verdict and verdict.result is Result.PROVEN, "a match proven to both players", verdict)


def _is_further(seat: Seat, *, than: int) -> bool:
    """Tell whether enough records have come since a position, or the match is over."""
    return seat.done or seat.next >= than + LEAST_ASIDE


async def _restless(visit: ServerVisit, seat: Seat) -> None:
    """Play, moving to a new connection after every few records; a gap in them ends the case."""
    for _ in range(_BREAKS):
        await seat.play(partial(_is_further, than=seat.next))
        if seat.done:
            return
        await trio.aclose_forcefully(seat.client.stream)
        expect_ok(await seat.come_back(await visit.connect()), "ok to resume")
        await seat.send_again()
    await seat.play()


@case("S3.offline", "messages.md#seatstate")
async def _offline(visit: ServerVisit) -> None:
    """A seat whose connection is gone shows as offline, and is kept."""
    first, second = await visit.seats()
    await trio.aclose_forcefully(second.client.stream)
    while True:
        state = await first.client.until("table")
        if not state["seats"][second.seat].get("online", False):
            break
    client = await visit.connect()
    if second.key is not None:
        await client.login_key(second.key)
    reply = await client.ask({"t": "join", "table": second.table})
    expect_ok(reply, "one's own seat", seat=second.seat)
