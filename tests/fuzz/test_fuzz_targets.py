"""Every target for a moment: from what it starts, changed in its form and blindly, and on whatever has failed once.

The long form is `PYTHONPATH=tests:docs python -m fuzz TARGET --seconds 600`.
"""

import importlib.util
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from fuzz import targets, wire_targets
from fuzz.mutating import blind
from fuzz.running import Plan, run_mutations
from fuzz.targets import FOUND, TARGETS, found, mutator, starts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import each_row

from truc_protocol.audit import Result, verify
from truc_protocol.messages import Direction
from truc_protocol.wire.connection import ConnectionEnd, Role, State
from truc_protocol.wire.encoding import MessageError, decode

FIRST = 8
EVERY_TARGET = pytest.mark.parametrize("name", TARGETS)
every_target = each_row("name", TARGETS)
briefly = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
@every_target
def test_target_takes_what_it_starts_from(name):
    begin = starts(name)
    assert begin
    for start in begin[:: max(1, len(begin) // FIRST)]:
        TARGETS[name].check(start)


@EVERY_TARGET
@briefly
@given(chance=st.randoms(use_true_random=False))
def test_target_takes_what_was_changed_in_its_form(name, chance):
    begin = starts(name)
    TARGETS[name].check(mutator(name)(chance, chance.choice(begin), begin))


@EVERY_TARGET
@briefly
@given(noise=st.binary(max_size=300))
def test_target_takes_noise(name, noise):
    TARGETS[name].check(noise)


@each_row("path", lambda: (path for name in TARGETS for path in found(name)))
def test_target_takes_what_it_has_failed_on(path):
    TARGETS[path.parent.name].check(path.read_bytes())


def test_everything_found_belongs_to_a_target():
    assert {folder.name for folder in FOUND.iterdir()} <= set(TARGETS)


@every_target
def test_same_seed_brings_the_same_changes(name):
    first, second = (
        [mutator(name)(chance, starts(name)[0], starts(name)) for _ in range(5)]
        for chance in (random.Random(7), random.Random(7))
    )
    assert first == second


def is_message(frame: bytes) -> bool:
    for way in Direction:
        with suppress(MessageError):
            decode(frame, way)
            return True
    return False


def test_messages_to_start_from_are_sound():
    assert all(map(is_message, starts("messages")))


def test_streams_to_start_from_lead_to_a_login():
    for stream in starts("server-end"):
        connection = ConnectionEnd(Role.SERVER)
        for piece in wire_targets.turns(stream):
            for item in connection.receive(piece):
                wire_targets.answered(connection, item)
        assert connection.state is State.READY


def test_transcripts_to_start_from_are_proven_but_for_one_that_is_incomplete():
    results = [verify(file).result for file in starts("transcripts")]
    assert results.count(Result.INCOMPLETE) == 1
    assert set(results) == {Result.INCOMPLETE, Result.PROVEN}


@pytest.fixture
def fragile(monkeypatch):
    """A target that fails on some of what is made of its start."""

    def check(tried: bytes) -> None:
        assert len(tried) < 9, "too long"

    target = targets.Target(check, lambda: (b"12345678",), blind)
    monkeypatch.setitem(TARGETS, "fragile", target)
    starts.cache_clear()
    yield "fragile"
    starts.cache_clear()


def test_run_that_finds_something_keeps_it_and_fails(fragile, tmp_path, capsys):
    status = run_mutations(Plan(fragile, 10, 1_000, 1, None, tmp_path))
    (kept,) = (tmp_path / fragile).iterdir()
    told = capsys.readouterr()
    assert (status, len(kept.read_bytes()) >= 9) == (1, True)
    assert "too long" in told.err
    assert f"FOUND {kept}" in told.out


def test_run_ends_at_its_count_and_says_that_nothing_was_found(tmp_path, capsys):
    assert run_mutations(Plan("addresses", 10, 50, 1, None, tmp_path)) == 0
    assert "50 runs" in (told := capsys.readouterr().out)
    assert told.endswith("nothing found\n")


@pytest.mark.slow
def test_atheris_runs_a_target_for_a_moment(tmp_path):
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: it is made for Linux on x86_64")
    given = ["addresses", "--seconds", "0.5", "--crashes", str(tmp_path), "--guide", "truc_client.address"]
    command = [sys.executable, "-m", "fuzz", *given]
    here = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    ran = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": here},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "addresses: atheris" in ran.stdout
