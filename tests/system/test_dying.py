"""A server process that kills itself at one exact point, and the next one on what it leaves.

Real kills are slow: every other point of death is in tests/server/test_recovery.py.
"""

import os
import signal
import sqlite3
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path

import pytest
from chaos.servers import QUICK, SERVER, serving
from server.conftest import play_on, together
from server.rawclient import RawClient, RawSeat
from server.restarting import LOSSES
from system.seating import come_back, seated

import truc_protocol
import truc_server
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
PACKAGES = [str(Path(each.__file__).parents[1]) for each in (truc_server, truc_protocol)]
SETTINGS = {**QUICK, "PYTHONPATH": os.pathsep.join([str(TESTS), *PACKAGES])}


@asynccontextmanager
async def dying(data, *places):
    """Run a server that dies at these places, or at none; yield it and a way to connect."""
    flags = [flag for place in places for flag in ("--at", place)]
    settings, program = (SETTINGS, ("chaos.dying", *flags, "run")) if places else (QUICK, SERVER)
    async with AsyncExitStack() as streams, serving(data, settings, program=program) as server:

        async def connect() -> RawClient:
            return RawClient(await streams.enter_async_context(await server.connect()))

        yield server, connect


async def ready_and_play(seat: RawSeat) -> None:
    with suppress(*LOSSES):
        await seat.ready()
        await seat.play()


async def finish(data, seats) -> set[Result]:
    """Play a match to its end on a server that lives, and return the verdicts."""
    async with dying(data) as (_, connect):
        await come_back(seats, connect)
        await play_on(seats)
    return {seat.auditor.verdict().result for seat in seats}


async def test_match_is_proven_although_the_server_was_killed(tmp_path):
    async with dying(tmp_path / "data", "middle:act:2") as (server, connect):
        seats = await seated(connect, target=3, match=1)
        await together(*(partial(ready_and_play, seat) for seat in seats))
        assert await server.wait() == -signal.SIGKILL
    assert await finish(tmp_path / "data", seats) == {Result.PROVEN}


async def test_server_that_is_killed_in_its_goodbye_has_everything_that_it_acknowledged(tmp_path):
    async with dying(tmp_path / "data", "goodbye") as (server, connect):
        (first, second) = await seated(connect, target=3, match=1)
        assert (await second.ready())["t"] == "ok"
        server.signal(signal.SIGTERM)
        assert await server.wait() == -signal.SIGKILL
    with closing(sqlite3.connect(tmp_path / "data" / "truc.db")) as database:
        ready = database.execute("SELECT ready FROM seats ORDER BY seat").fetchall()
    assert (first.seat, ready) == (0, [(0,), (1,)])
