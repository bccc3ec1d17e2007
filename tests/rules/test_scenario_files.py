"""Every scenario of tests/scenarios holds."""

from itertools import pairwise
from pathlib import Path

from rows import each_row

from truc_rules.scenario.runner import run
from truc_rules.scenario.text import scenarios

FOLDER = Path(__file__).parents[1] / "scenarios"
CASES = [
    (path.stem, scenario)
    for path in sorted(FOLDER.glob("*.scenario"))
    for scenario in scenarios(path.read_text(encoding="utf-8"))
]


@each_row("file, scenario", CASES)
def test_scenario_holds(file, scenario):
    run(scenario)


def test_every_scenario_has_a_title_of_its_own():
    titles = [(file, scenario.title.text) for file, scenario in CASES]
    assert len(titles) > 100
    assert len({*titles}) == len(titles)


def test_every_scenario_cites_its_paragraph():
    for path in FOLDER.glob("*.scenario"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for title, cited in pairwise(lines):
            assert not title.startswith("scenario ") or cited.startswith("# "), (path.name, title)
