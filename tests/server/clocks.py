"""Seats whose time runs: what they ask for meanwhile, and how they leave and come back."""

from functools import partial

from server.acting import act
from server.conftest import together
from server.rawclient import RawSeat
from trio.testing import wait_all_tasks_blocked


async def until_next(seats, k) -> None:
    await together(*(partial(seat.play, lambda seat: seat.next >= k) for seat in seats))


def wish(seat: RawSeat, kind: str) -> dict:
    return seat.sign(act(seat, kind))


def stand(seat: RawSeat) -> dict:
    return wish(seat, "stand")


async def first_told(seat) -> dict:
    while True:
        message = await seat.client.receive()
        if message["t"] in ("options", "waiting"):
            return message


async def ask_pause(seats, kind, k) -> None:
    for i, seat in enumerate(seats):
        await until_next(seats, k + i)
        assert (await seat.ask(wish(seat, kind)))["t"] == "ok"
    await until_next(seats, k + len(seats) + 1)


async def come_back(server, seat) -> None:
    assert (await seat.come_back(await server.connect()))["t"] == "ok"


async def leave(seat) -> None:
    await seat.client.stream.aclose()
    await wait_all_tasks_blocked()
