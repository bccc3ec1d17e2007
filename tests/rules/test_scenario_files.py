"""Every scenario of tests/scenarios holds."""

from itertools import pairwise
from pathlib import Path

import pytest

from truc_rules.scenario.runner import run
from truc_rules.scenario.text import scenarios

FOLDER = Path(__file__).parents[1] / "scenarios"
CASES = [
    pytest.param(scenario, id=f"{path.stem}:{scenario.title.number}")
    for path in sorted(FOLDER.glob("*.scenario"))
    for scenario in scenarios(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("scenario", CASES)
def test_scenario_holds(scenario):
    run(scenario)


def test_every_scenario_has_a_title_of_its_own():
    titles = [case.values[0].title.text for case in CASES]
    assert len(titles) > 100
    paths = [case.id.partition(":")[0] for case in CASES]
    assert len(set(zip(paths, titles, strict=True))) == len(titles)


def test_every_scenario_cites_its_paragraph():
    for path in FOLDER.glob("*.scenario"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for title, cited in pairwise(lines):
            assert not title.startswith("scenario ") or cited.startswith("# "), (path.name, title)
