"""How a long run is asked for, what it says at its end, and what it leaves."""

from collections import Counter
from typing import NamedTuple

import pytest
from chaos.reporting import Outcome, carry_out, planned


class Plan(NamedTuple):
    count: int = 7
    life_s: float = 3.0
    away: bool = False
    deal: str = "dealt"
    unsaid: int = 1


FLAGS = {"count": "how often", "life_s": "how long", "away": "whether", "deal": "who deals"}


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return where new folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


async def kept(_plan, folder) -> Outcome:
    (folder / "data").write_text("something")
    return Outcome(Counter(matches=3), ", all well")


async def broken(plan, folder) -> Outcome:
    await kept(plan, folder)
    raise ValueError("signed twice")


class Lost(NamedTuple):
    line: str = "acts=1"
    violations: tuple[str, ...] = ("a gap",)


async def lost(plan, folder) -> Lost:
    await kept(plan, folder)
    return Lost()


def test_flags_are_called_as_the_fields_and_have_their_values_for_defaults(capsys):
    assert planned(Plan(), FLAGS, [], "") == Plan()
    arguments = ["--count", "9", "--life", "1.5", "--away", "--deal", "blind"]
    assert planned(Plan(), FLAGS, arguments, "", deal=("dealt", "blind")) == Plan(9, 1.5, True, "blind")
    with pytest.raises(SystemExit):
        planned(Plan(), FLAGS, ["--deal", "nobody"], "", deal=("dealt", "blind"))


def test_run_that_keeps_every_promise_says_its_figures_and_leaves_nothing(folders, capsys):
    assert carry_out("plan", kept) == 0
    assert (capsys.readouterr().out, list(folders.iterdir())) == ("plan: matches 3, all well\n", [])


@pytest.mark.parametrize(
    ("run", "line", "why"), [(broken, "failed", "ValueError: signed twice"), (lost, "acts=1", "a gap\n")]
)
def test_run_that_breaks_a_promise_fails_and_leaves_its_folder(folders, capsys, run, line, why):
    assert carry_out("plan", run) == 1
    (folder,) = folders.iterdir()
    told = capsys.readouterr()
    assert (folder / "data").exists()
    assert told.out == f"plan: {line}; everything is left in {folder}\n"
    assert why in told.err
