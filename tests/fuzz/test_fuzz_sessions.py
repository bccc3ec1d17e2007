"""Mischievous sessions against a server in this process, for a moment.

The long form is `PYTHONPATH=tests:docs python -m fuzz sessions --seconds 600`.
"""

import random

import pytest
from chaos.stored import ViolationError
from fuzz.bending import Bending
from fuzz.mischief import Booty, Mischief, is_answered
from fuzz.rogues import Rogue
from fuzz.sessions import Fuzzer
from rows import each_row
from server.conftest import QUICK, changed, running
from structlog.testing import capture_logs

from truc_conform.raw_client import frame

ROOMY = changed(QUICK, limits={"connects_per_min": 10_000, "tables_per_address": 1_000})
TABLES = {"t": "tables", "id": 3}


@pytest.mark.slow
async def test_server_survives_mischief_and_honest_tables_play_on(tmp_path):
    with capture_logs() as logged:
        async with running(tmp_path / "data", ROOMY) as server:
            fuzzer = Fuzzer(server.port, seed=1)
            await fuzzer.run(seconds=8, count=6)
    assert [entry for entry in logged if entry["log_level"] in ("error", "critical")] == []
    assert fuzzer.figures.sessions >= 1
    assert fuzzer.figures.refusals >= 1
    assert fuzzer.figures.matches >= 1


@pytest.mark.slow
async def test_fault_of_the_server_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("truc_server.requests.lobby_requests.list_tables", lambda *_: 1 / 0)
    with capture_logs():
        async with running(tmp_path / "data", ROOMY) as server:
            with pytest.raises(ViolationError, match="session 0: "):
                await Fuzzer(server.port, seed=1).run(seconds=8, count=1)


@pytest.fixture
async def rogue(tmp_path):
    async with running(tmp_path / "data", ROOMY) as server:
        client = await server.connect()
        yield Rogue(client.stream, Mischief(random.Random(1), Booty(), 0.0), Booty())


async def test_connection_settles_when_everything_is_answered(rogue):
    await rogue.login_guest()
    await rogue.send(TABLES)
    await rogue.settle()
    assert (rogue.owed, rogue.answers) == (3, 3)


async def test_answer_that_does_not_come_and_one_too_many_are_found(rogue, autojump_clock):
    await rogue.login_guest()
    rogue.owed += 1
    with pytest.raises(ViolationError, match="3 answers are owed, 2 came"):
        await rogue.settle()
    rogue.answers += 2
    with pytest.raises(ViolationError, match="answered more often than asked"):
        await rogue.ask(TABLES)


@each_row(
    "message, answered",
    [
        ({"t": "pong", "n": 1}, False),
        ({"t": "pong", "n": -1}, True),
        ({"t": "ping", "n": 1}, True),
        (TABLES, True),
    ],
)
def test_only_a_good_pong_is_not_answered(message, answered):
    assert is_answered(frame(message)[4:]) is answered


@each_row("kind, said", [(Mischief, TABLES), (Bending, {"t": "draining", "left_ms": 60_000})])
def test_same_seed_brings_the_same_mischief_and_a_rate_of_zero_none(kind, said):
    def mangled(rate: float) -> list[bytes]:
        mischief = kind(random.Random(3), Booty(), rate)
        return [mischief.mangle(frame(said)) for _ in range(40)]

    assert mangled(0.5) == mangled(0.5)
    assert mangled(0.0) == [frame(said)] * 40
