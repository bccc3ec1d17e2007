"""Cases S3: coming back, taking a seat over, and players whose connections break again and again."""

from functools import partial
from typing import Final

import trio

from truc_conform.raw_client import Map, RawClient
from truc_conform.raw_seat import Seat
from truc_conform.server_cases.play import in_hand, level
from truc_conform.server_visit import (
    ServerCase,
    Visit,
    check_alive,
    expect,
    expect_ok,
    held_seats,
    refused,
    server_case,
    server_row,
    together,
)
from truc_protocol.audit import Result
from truc_protocol.errors import Code

LEAST_ASIDE: Final = 6  # records between two breaks of a connection
_BREAKS: Final = 40
_SHORT: Final = 2
_FAR: Final = 2**40


def resuming(seat: Seat, next_: int) -> Map:
    """Return the request to resume a player's match from a position."""
    return {"t": "resume", "table": seat.table, "match": seat.ledger.setup.mid, "next": next_}


Sent = tuple[int, int, bytes, bytes]
"""A record as it came: position, signer, body, signature."""


def records_of(client: RawClient) -> list[Sent]:
    """Return the records that came on a connection, in order."""
    records = client.came("record")
    return [(each["k"], each["signer"], each["body"], each["sig"]) for each in records]


async def _resume(visit: Visit) -> None:
    """Resuming from any position brings the match's records unchanged."""
    mover, other = await in_hand(visit)
    await level(mover, other)
    live = records_of(mover.client)
    client = await visit.player(mover.key)
    for next_ in range(mover.next + 1):
        client.log.clear()
        reply = await client.ask_patiently(resuming(mover, next_))
        expect((reply["t"], reply.get("k")) == ("ok", mover.next), f"ok with k {mover.next}", reply)
        expect(
            records_of(client) == live[next_:], f"the records from {next_} on, as they came live", client.log
        )


async def _resume_setup(visit: Visit) -> None:
    """Resuming from -1 brings the setup, then every record."""
    mover, _ = await in_hand(visit)
    client = await visit.player(mover.key)
    expect_ok(await client.ask(resuming(mover, -1)), "ok to resume")
    tags = [message["t"] for message in client.log if message["t"] in ("setup", "record")]
    expect(tags == ["setup"] + ["record"] * mover.next, "the setup, then every record", tags)
    (setup,) = client.came("setup")
    known = [list(record) for record in mover.ledger.setup.records]
    expect(setup["doc"] == mover.document and setup["records"] == known, "the setup as it came live", setup)


async def _resume_options(visit: Visit) -> None:
    """After ok come the current options, with the time that is left."""
    mover, _ = await in_hand(visit)
    known = mover.options or {}
    client = await visit.player(mover.key)
    await client.ask(resuming(mover, mover.next))
    options = await client.until("options")
    came = {name: options.get(name) for name in ("at", "offer", "must")}
    expect(came == {name: known[name] for name in came}, "the current options, after ok", options)
    was, now = known.get("deadline_ms"), options.get("deadline_ms")
    expect((was is None) == (now is None) and (now or 0) <= (was or 0), "no more time than is left", options)


async def _resume_cards(visit: Visit) -> None:
    """A guest without x is sent its cards again."""
    mover, _ = await in_hand(visit, guests=(0, 1), boxed=False)
    client = await visit.connect()
    await client.login_token(mover.token)
    await client.ask(resuming(mover, mover.next))
    cards = await client.until("cards")
    expect(cards["cards"] == mover.cards, "the guest's cards again", cards)


async def _refused_resume(visit: Visit, *, changed: Map, code: Code) -> None:
    mover, _ = await in_hand(visit)
    client = await visit.player(mover.key)
    await refused(client, resuming(mover, 0) | changed, code)
    await check_alive(client)


async def _resume_stranger(visit: Visit) -> None:
    """Nobody can resume the seat of another."""
    mover, _ = await in_hand(visit)
    await refused(await visit.player(), resuming(mover, 0), Code.NOT_SEATED)


async def _take_over(visit: Visit) -> None:
    """The newest connection has the seat; the older one is told, and stays open."""
    mover, _ = await in_hand(visit)
    client = await visit.player(mover.key)
    await client.ask(resuming(mover, mover.next))
    told = await mover.client.until("seat_taken_over")
    expect((told["table"], told["seat"]) == (mover.table, mover.seat), "which seat was taken over", told)
    await check_alive(mover.client)


async def _seats_listed(visit: Visit) -> None:
    """welcome lists the match to resume."""
    mover, _ = await in_hand(visit)
    client = await visit.player(mover.key)
    expected = [(mover.table, mover.ledger.setup.mid, mover.seat)]
    expect(held_seats(client.welcome) == expected, f"seats to be {expected}", client.welcome)


async def _storm(visit: Visit) -> None:
    """Over many lost connections a player gets every record, once and in order."""
    seats = await visit.match(target=_SHORT)
    await together(partial(_restless, visit, seats[0]), partial(seats[1].play))
    for seat in seats:
        verdict = seat.auditor.verdict() if seat.auditor else None
        expect(verdict and verdict.result is Result.PROVEN, "a match proven to both players", verdict)


def _is_further(seat: Seat, *, than: int) -> bool:
    """Tell whether enough records have come since a position, or the match is over."""
    return seat.done or seat.next >= than + LEAST_ASIDE


async def _restless(visit: Visit, seat: Seat) -> None:
    """Play, moving to a new connection after every few records; a gap in them ends the case."""
    for _ in range(_BREAKS):
        await seat.play(partial(_is_further, than=seat.next))
        if seat.done:
            return
        await trio.aclose_forcefully(seat.client.stream)
        expect_ok(await seat.come_back(await visit.connect()), "ok to resume")
        await seat.send_again()
    await seat.play()


async def _offline(visit: Visit) -> None:
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
    expect((reply["t"], reply.get("seat")) == ("ok", second.seat), "one's own seat", reply)


_case: Final = partial(server_case, "S3")
_row: Final = partial(server_row, "S3")
_BACK: Final = "session.md#coming-back"


def _refused_case(name: str, what: str, changed: Map, code: Code) -> ServerCase:
    """Return a case about a resume that is refused."""
    run = partial(_refused_resume, changed=changed, code=code)
    return _row(name, f"errors.md#{code}", f"A resume {what} gets {code}", run)


CASES: Final[tuple[ServerCase, ...]] = (
    _case(_resume, _BACK),
    _case(_resume_setup, _BACK),
    _case(_resume_options, _BACK),
    _case(_resume_cards, _BACK),
    _refused_case("resume-beyond", "from beyond the last record", {"next": _FAR}, Code.BAD_POSITION),
    _refused_case("resume-other", "of another match", {"match": bytes(32)}, Code.NO_SUCH_MATCH),
    _case(_resume_stranger, "errors.md#not_seated"),
    _case(_take_over, _BACK),
    _case(_seats_listed, "session.md#login"),
    _case(_storm, _BACK),
    _case(_offline, "messages.md#seatstate"),
)
