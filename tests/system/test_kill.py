"""A server process is killed in the middle of a hand and started again: nothing acknowledged is lost.

Process-level: slower than other tests, and the only ones that see a real kill.
"""

import signal
from contextlib import suppress
from functools import partial

import pytest
import trio
from chaos.servers import serving
from server.conftest import together
from server.rawclient import GoneError, RawClient, Seat

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


async def connect(server) -> RawClient:
    return RawClient(await server.connect())


async def seated(server, variant: str, count: int, guests=()) -> list[Seat]:
    seats = [Seat(await connect(server), seed=i + 1, keyed=i not in guests) for i in range(count)]
    for seat in seats:
        await seat.login()
    table = await seats[0].create(variant, seats=count, options={"guests": len(guests)})
    for i, seat in enumerate(seats[1:], 1):
        await seat.join(table, i)
    for seat in seats:
        assert (await seat.ready())["t"] == "ok"
    return seats


async def play_or_lose(seat: Seat) -> None:
    with suppress(GoneError, trio.BrokenResourceError, trio.ClosedResourceError):
        await seat.play()


async def kill_after(server, seat: Seat, records: int) -> None:
    with suppress(GoneError, trio.BrokenResourceError):
        await seat.play(until=lambda seat: seat.done or seat.next >= records)
    await server.kill()


async def close(seats) -> None:
    for seat in seats:
        await trio.aclose_forcefully(seat.client.stream)


@pytest.mark.parametrize(
    ("variant", "count", "guests", "kills"),
    [
        ("truc-french", 2, (), (9, 30)),
        ("truc-catalan", 4, (2,), (14,)),
    ],
)
async def test_match_survives_kills_in_the_middle_of_a_hand(tmp_path, variant, count, guests, kills):
    async with serving(tmp_path / "data") as server:
        seats = await seated(server, variant, count, guests)
        for records in kills:
            others = [partial(play_or_lose, seat) for seat in seats[1:]]
            await together(partial(kill_after, server, seats[0], records), *others)
            await close(seats)
            await server.start()
            await come_back(seats, server)
        await together(*(seat.play for seat in seats))
        await close(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def come_back(seats, server) -> None:
    for seat in seats:
        reply = await seat.come_back(await connect(server))
        assert reply["t"] == "ok", reply
        await seat.send_again()


async def test_interrupt_ends_the_process_with_goodbye_and_status_zero(tmp_path):
    async with serving(tmp_path / "data") as server:
        client = await connect(server)
        await client.login_guest()
        server.signal(signal.SIGTERM)
        (goodbye,) = await client.closed()
        status = await server.wait()
        await trio.aclose_forcefully(client.stream)
    assert (goodbye["code"], status) == ("shutting_down", 0)
