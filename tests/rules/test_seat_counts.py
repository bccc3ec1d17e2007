"""The numbers of players that the sources describe, and no others: rules.md 13b.18, 13.36, 14."""

import pytest
from rows import each_row

from truc_rules import preset, presets
from truc_rules.scenario.runner import run
from truc_rules.scenario.text import ScenarioError, scenarios

TRUC = [name for name in presets() if name.startswith(("truc-", "le-truc", "trut"))]


@each_row("name", TRUC)
def test_no_truc_is_offered_for_other_seats_than_the_sources_describe(name):
    assert set(preset(name).players) <= ({2} if name.startswith("le-truc") else {2, 4})


def test_pica_pica_is_offered_for_six_alone():
    assert {preset(name).players for name in presets() if preset(name).pica} == {(6,)}


@each_row("seats", [3, 5, 6])
@each_row("name", TRUC)
def test_a_truc_for_three_five_or_six_cannot_be_set_up(name, seats):
    (scenario,) = scenarios(f"scenario X\nvariant {name}\nseats {seats}\n")
    with pytest.raises(ScenarioError, match="seats"):
        run(scenario)
