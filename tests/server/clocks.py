"""Seats whose time runs: how they leave and come back, and how time passes."""

from server.visitors import hang_up
from trio.testing import wait_all_tasks_blocked


async def first_told(seat) -> dict:
    while True:
        message = await seat.client.receive()
        if message["t"] in ("options", "waiting"):
            return message


async def come_back(server, seat) -> None:
    assert (await seat.come_back(await server.connect()))["t"] == "ok"


async def leave(seat) -> None:
    await hang_up(seat.client)


async def pass_time(clock, seconds: float) -> None:
    """Let time pass, and what is due happen."""
    clock.jump(seconds)
    await wait_all_tasks_blocked()
