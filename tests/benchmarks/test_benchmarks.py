"""Each benchmark runs and prints its rows; what they say of time is not asserted."""

import sys

import pytest
from benchmarks import audit, engine, fairness, flood

from truc_rules import preset


def printed(main, monkeypatch, capsys, *arguments):
    """Run a benchmark's main; return the lines it prints, as words."""
    monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
    main()
    return [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_fairness_prints_three_figures_and_the_bytes_for_each_number_of_seats(monkeypatch, capsys):
    lines = printed(fairness.main, monkeypatch, capsys, "--rounds", "1")
    assert [line[0] for line in lines if line and line[0].isdigit()] == [*"222444666", *"246"]


@pytest.mark.slow
def test_audit_prints_a_row_for_each_game(monkeypatch, capsys):
    lines = printed(audit.main, monkeypatch, capsys, "--rounds", "1", "--hands", "2")
    assert [(line[0], int(line[1])) for line in lines[2:]] == list(audit.GAMES)


@pytest.mark.slow
def test_engine_prints_a_row_for_each_number_of_seats(monkeypatch, capsys):
    monkeypatch.setattr(engine, "ACTIONS", 100)
    lines = printed(engine.main, monkeypatch, capsys, "--rounds", "1", "truc-catalan")
    assert [int(line[1]) for line in lines[2:]] == list(preset("truc-catalan").players)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and all of 127.0.0.0/8")
def test_flood_prints_quiet_and_flooded_rounds_and_their_ratios(monkeypatch, capsys):
    arguments = ["--rounds", "1", "--seconds", "3", "--tables", "9"]
    lines = printed(flood.main, monkeypatch, capsys, *arguments)
    assert [line[0] for line in lines[1:]] == ["quiet", "flooded", "ratio"]


def test_hand_that_is_measured_is_the_one_of_the_prototype():
    hand = fairness.played_hand(2)
    signed = [step.record.signer for step in hand.steps if step.record.signer > 0]
    assert len(signed) == 2 + 3 * 2 + 4


def test_work_that_is_measured_alone_refuses_a_false_signature():
    hand = fairness.played_hand(2)
    release = next(step for step in hand.steps if step.record.signer > 0)
    forged = release._replace(record=release.record._replace(sig=bytes(64)))
    with pytest.raises(AssertionError, match="signature"):
        fairness.check_signature(forged)
