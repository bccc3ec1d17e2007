"""The rules in JavaScript (client/truc_web/lib/rules), which were written from docs/rules, come to what ours do."""

import os
from pathlib import Path

import pytest
from clients_elsewhere.programs import needs_node
from perft.pinned import CARDS_ALONE, POSITIONS, ROWS
from perft.test_perft_counts import fixed
from protocol.test_house_mixes import mixes
from rules.chance import TABLES, optioned
from rules_elsewhere.told import difference, rules_in_javascript, table_of, told

from truc_rules import preset, with_options
from truc_rules.scenario.setup import set_up
from truc_rules.scenario.text import scenarios

pytestmark = [pytest.mark.slow, needs_node]

FOLDER = Path(__file__).parents[1] / "scenarios"
TIMES = int(os.environ.get("TRUC_EXAMPLES", "1"))
HANDS = 12 * TIMES
HANDS_WITH_OPTION = 2 * TIMES
MIXES = 60 * TIMES


@pytest.fixture(scope="module")
def rules():
    with rules_in_javascript() as asked:
        yield asked


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_hands_at_random_go_on_alike(rules, name, seats):
    match = told(preset(name), seats, hands=HANDS, seed="suite")
    assert difference(rules, preset(name), match) is None


def test_hands_with_table_options_and_of_mixed_games_go_on_alike(rules):
    variants = [with_options(preset(name), {option: value}) for name, option, value in optioned()]
    for variant in (*variants, *mixes(3, MIXES)):
        match = told(variant, variant.players[-1], hands=HANDS_WITH_OPTION, seed="options")
        assert difference(rules, variant, match) is None


def test_every_scenario_holds(rules):
    failed = []
    for path in sorted(FOLDER.glob("*.scenario")):
        for scenario in scenarios(path.read_text(encoding="utf-8")):
            match, lines = set_up(scenario, path.parent)
            task = {"table": table_of(match), "lines": [(line.number, line.words) for line in lines]}
            if (said := rules.asked("scenario", match.variant, task)) is not None:
                failed.append((path.name, said))
    assert failed == []


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_what_can_follow_is_counted_alike(rules, name, seats):
    match = fixed(name, seats)
    steps = [["deal", match.hand.dealt.cards, match.hand.dealt.up]]
    if match.variant.short_deal:
        steps = [["play", {"seat": seats - 2, "kind": "cut", "cards": [], "value": None}], *steps]
    rows, positions, cards = (pinned[name, seats] for pinned in (ROWS, POSITIONS, CARDS_ALONE))
    task = {"table": table_of(match), "steps": steps}
    depths = {"rows": len(rows), "positions": len(positions) - 1, "cards": len(cards)}
    assert rules.asked("counts", match.variant, {**task, **depths}) == {
        "rows": [*rows],
        "positions": [*positions],
        "cards": [*cards],
    }
