"""A server process is killed in the middle of a hand and started again: nothing acknowledged is lost.

Process-level: slower than other tests, and the only ones that see a real kill.
"""

import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio
from server.conftest import together
from server.rawclient import GoneError, RawClient, Seat

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow
QUICK = {
    "TRUC_TABLES_BETWEEN_HANDS_MS": "0",
    "TRUC_LIMITS_REQUESTS_PER_S": "10000",
    "TRUC_LIMITS_BURST": "10000",
}


@asynccontextmanager
async def process(data):
    """Run a server as a process; yield it and its port."""
    command = [
        sys.executable,
        "-m",
        "truc_server",
        "run",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--data",
        str(data),
    ]
    server = await trio.lowlevel.open_process(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **QUICK}
    )
    try:
        with trio.fail_after(20):
            line = await _first_line(server)
        yield server, int(line.rsplit("#", 1)[0].rsplit(":", 1)[1])
    finally:
        server.kill()
        await server.wait()
        await server.stdout.aclose()


async def _first_line(server) -> str:
    received = b""
    while b"\n" not in received:
        received += await server.stdout.receive_some(200)
    return received.decode().splitlines()[0]


async def connect(port: int) -> RawClient:
    return RawClient(await trio.open_tcp_stream("127.0.0.1", port))


async def seated(port: int, variant: str, count: int, guests=()) -> list[Seat]:
    seats = [Seat(await connect(port), seed=i + 1, keyed=i not in guests) for i in range(count)]
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
    server.send_signal(signal.SIGKILL)


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
    seats: list[Seat] = []
    for records in kills:
        async with process(tmp_path / "data") as (server, port):
            if seats:
                await come_back(seats, port)
            else:
                seats = await seated(port, variant, count, guests)
            others = [partial(play_or_lose, seat) for seat in seats[1:]]
            await together(partial(kill_after, server, seats[0], records), *others)
        await close(seats)
    async with process(tmp_path / "data") as (_, port):
        await come_back(seats, port)
        await together(*(seat.play for seat in seats))
    await close(seats)
    assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}


async def come_back(seats, port: int) -> None:
    for seat in seats:
        reply = await seat.come_back(await connect(port))
        assert reply["t"] == "ok", reply
        await seat.send_again()


async def test_interrupt_ends_the_process_with_goodbye_and_status_zero(tmp_path):
    async with process(tmp_path / "data") as (server, port):
        client = await connect(port)
        await client.login_guest()
        server.send_signal(signal.SIGTERM)
        (goodbye,) = await client.closed()
        status = await server.wait()
        await trio.aclose_forcefully(client.stream)
    assert (goodbye["code"], status) == ("shutting_down", 0)
