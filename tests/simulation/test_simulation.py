"""Runs of simulated servers: none may fail, each can be made again, and those of broken servers fail."""

import os
import subprocess
import sys
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from server.stored import MATCH, MID, TABLE, new_database, record
from simulation.machine import Machine
from simulation.observer import Observer
from simulation.runs import run, runs
from simulation.world import ViolationError, World
from sqlalchemy import select

from truc_protocol.bodies import Rule
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.records import encode
from truc_server.storage import leases
from truc_server.storage.journal import Journal
from truc_server.storage.schema import nodes, ownership
from truc_server.storage.sql import open_store

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow

WITHIN = 30  # seeds a broken server must be found


def simulated(*arguments: str, hashes: str) -> subprocess.CompletedProcess[str]:
    """Make runs in a process of their own."""
    command = [sys.executable, "-m", "tests.simulation", *arguments]
    environment = os.environ | {"PYTHONHASHSEED": hashes}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


# the two dozen behind them come to less than a hundredth more of what the server does
@pytest.mark.parametrize("first", [0, 12])
def test_two_dozen_runs_end_well(first):
    made = [*runs(range(first, first + 12), processes=1)]
    assert [(each.seed, each.why) for each in made if each.outcome is None] == []
    assert len({each.outcome.digest for each in made}) == 12


def test_run_is_the_same_byte_for_byte_in_another_process():
    seed = 31  # of three nodes, with many faults
    made = simulated("--seed", f"{seed}", "--digests", hashes="2")
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.splitlines()[:-1] == [f"{seed} {run(seed).outcome.digest}"]


def test_failing_seed_is_told_with_why_and_is_played_again_with_a_trace(monkeypatch, capsys):
    from simulation import __main__ as program

    monkeypatch.setattr("simulation.simulation.LONGEST_S", 0.5)
    assert program.main(["--seed", "3"]) == 1
    told = capsys.readouterr()
    assert told.err == "seed 3: StuckError: it is not over after 0.5 s\n"
    assert told.out.endswith("1 failed: \n")
    assert program.main(["--seed", "3", "--trace"]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == "seed 3: StuckError: it is not over after 0.5 s"
    assert any("starts 1" in line for line in lines)


BROKEN = {
    "fence": [(leases, "fence", lambda _lease: select(ownership.c.epoch))],
    "acknowledgement": [(Journal, "gate", property(lambda _: 0, lambda _journal, _gate: None))],
    "clock": [
        (
            leases,
            "_ENDED",
            select(nodes.c.name).where(nodes.c.lease_until_ms <= leases.db_now_ms() + 3_600_000),
        )
    ],
}
"""What is broken: the fence of a commit; that what is told waits for it; the clock by which leases end."""


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_server_is_found_within_a_few_seeds(broken):
    with ExitStack() as stack:
        for owner, name, instead in BROKEN[broken]:
            stack.enter_context(patch.object(owner, name, instead, create=True))
        whys = (run(seed).why for seed in range(WITHIN))
        found = next((why for why in whys if why is not None), None)
    assert found is not None
    assert found.startswith("ViolationError: ")


@pytest.fixture
def file(tmp_path):
    (tmp_path / "truc.db").write_bytes(new_database())
    return tmp_path / "truc.db"


@pytest.mark.parametrize("excused", [True, False])
def test_ruling_is_found_unless_the_players_own_line_has_failed(file, excused):
    world, machine = World(1), Machine(World(1), "n1", "10.0.0.1")
    observer = Observer(world, file, lambda table, seat: excused and (table, seat) == ("ABC", 1))
    ruling = record(0)._replace(body=encode(Rule(MID, 0, b"h" * 32, 1, "move", 1, "cut", ())))
    with closing(open_store(f"sqlite:///{file}")) as store:
        store.claim("n1")
        store.commit([TABLE, MATCH, ruling])
    observer.committed(machine, "n1", [TABLE, MATCH, ruling])
    observer.close()
    with nullcontext() if excused else pytest.raises(ViolationError, match="move cut against seat 1"):
        world.check()
    assert observer.blamed == 1


def test_card_shown_early_is_found(file):
    world = World(1)
    observer = Observer(world, file)
    observer.dealt(DealtCards(((Opening(3, b"s" * 16),),), (), 1))
    observer.check_hidden(b"something else", "p1.0")
    world.check()
    observer.check_hidden(b"before " + b"s" * 16, "p1.0")
    with pytest.raises(ViolationError, match="is sent what opens a card that nobody has played"):
        world.check()
    observer.close()
