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
from system.seating import all_ready, close, come_back, play_or_lose, seated

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow


async def connect(server) -> RawClient:
    return RawClient(await server.connect())


async def kill_after(server, seat: Seat, records: int) -> None:
    with suppress(GoneError, trio.BrokenResourceError):
        await seat.play(until=lambda seat: seat.done or seat.next >= records)
    await server.kill()


@pytest.mark.parametrize(
    ("variant", "count", "guests", "kills"),
    [
        ("truc-french", 2, (), (9, 30)),
        ("truc-catalan", 4, (2,), (14,)),
    ],
)
async def test_match_survives_kills_in_the_middle_of_a_hand(tmp_path, variant, count, guests, kills):
    async with serving(tmp_path / "data") as server:
        seats = await all_ready(await seated(partial(connect, server), variant, count, guests=guests))
        for records in kills:
            others = [partial(play_or_lose, seat) for seat in seats[1:]]
            await together(partial(kill_after, server, seats[0], records), *others)
            await close(seats)
            await server.start()
            await come_back(seats, partial(connect, server))
        await together(*(seat.play for seat in seats))
        await close(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def test_interrupt_ends_the_process_with_goodbye_and_status_zero(tmp_path):
    async with serving(tmp_path / "data") as server:
        client = await connect(server)
        await client.login_guest()
        server.signal(signal.SIGTERM)
        (goodbye,) = await client.closed()
        status = await server.wait()
        await trio.aclose_forcefully(client.stream)
    assert (goodbye["code"], status) == ("shutting_down", 0)
