"""A server process that kills itself at one exact point, and what it leaves.

Real kills are slow: every other point of death is in tests/server/test_recovery.py.
"""

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from chaos.seating import entrance, seated
from chaos.servers import QUICK, serving

import truc_protocol
import truc_server

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
PACKAGES = [str(Path(each.__file__).parents[1]) for each in (truc_server, truc_protocol)]
SETTINGS = {**QUICK, "PYTHONPATH": os.pathsep.join([str(TESTS), *PACKAGES])}


async def test_server_that_is_killed_in_its_goodbye_has_everything_that_it_acknowledged(tmp_path):
    program = ("chaos.dying", "--at", "goodbye", "run")
    async with (
        serving(tmp_path / "data", SETTINGS, program=program) as server,
        entrance(server.connect) as players,
    ):
        (first, second) = await seated(players.connect, target=3, match=1)
        assert (await second.ready())["t"] == "ok"
        server.signal(signal.SIGTERM)
        assert await server.wait() == -signal.SIGKILL
    with closing(sqlite3.connect(tmp_path / "data" / "truc.db")) as database:
        ready = database.execute("SELECT ready FROM seats ORDER BY seat").fetchall()
    assert (first.seat, ready) == (0, [(0,), (1,)])
