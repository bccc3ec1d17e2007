"""Seats whose time runs: what they ask for meanwhile, and how they leave and come back."""

from server.acting import act
from server.calls import after
from server.conftest import play_on
from server.rawclient import RawSeat
from server.visitors import hang_up
from trio.testing import wait_all_tasks_blocked


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
        await play_on(seats, after(k + i))
        assert (await seat.ask(wish(seat, kind)))["t"] == "ok"
    await play_on(seats, after(k + len(seats) + 1))


async def come_back(server, seat) -> None:
    assert (await seat.come_back(await server.connect()))["t"] == "ok"


async def leave(seat) -> None:
    await hang_up(seat.client)


async def pass_time(clock, seconds: float) -> None:
    """Let time pass, and what is due happen."""
    clock.jump(seconds)
    await wait_all_tasks_blocked()
