"""The rules in JavaScript (client/truc_web/lib/rules), which were written from docs/rules, come to what ours do."""

import json
import os
import random
from pathlib import Path

import pytest
from clients_elsewhere.programs import needs_node
from perft.pinned import CARDS_ALONE, POSITIONS
from perft.test_perft_counts import fixed
from protocol.test_house_mixes import mixes
from rules.chance import TABLES, optioned, parametered
from rules_elsewhere.told import differences, document_of, rules_in_javascript, seen_by_a_seat, table_of, told

from truc_protocol.checks import CheckError
from truc_protocol.codec import enc
from truc_protocol.documents import read_document
from truc_rules import preset, presets, with_options
from truc_rules.scenario.setup import set_up
from truc_rules.scenario.text import scenarios

pytestmark = [pytest.mark.slow, needs_node]

FOLDER = Path(__file__).parents[1] / "scenarios"
TIMES = int(os.environ.get("TRUC_EXAMPLES", "1"))
HANDS = 8 * TIMES
HANDS_WITH_OPTION = TIMES
HANDS_SEEN = 4 * TIMES
MIXES = 30 * TIMES
DOCUMENTS = 40 * TIMES
"""Of each game, with something else in one place."""


@pytest.fixture(scope="module")
def rules():
    with rules_in_javascript() as asked:
        yield asked


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_hands_at_random_go_on_alike(rules, name, seats):
    match = told(preset(name), seats, hands=HANDS, seed="suite")
    assert differences(rules, preset(name), [match]) == []


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_seat_finds_the_same_options_by_itself(rules, name, seats):
    for number in range(HANDS_SEEN):
        hand = seen_by_a_seat(preset(name), seats, f"{number}")
        assert rules.asked("sure", preset(name), hand.task) == hand.found


def test_hands_with_table_options_and_of_mixed_games_go_on_alike(rules):
    variants = [with_options(preset(name), {option: value}) for name, option, value in optioned()]
    for variant in (*variants, *parametered(), *mixes(3, MIXES)):
        match = told(variant, variant.players[-1], hands=HANDS_WITH_OPTION, seed="options")
        assert differences(rules, variant, [match]) == []


SHOWN_BY_CHOICE = """
scenario Of two pairs that make the value the one is taken of which the owner has shown more
variant shown.toml
seats 2
deal 0 10e 7e 12e
deal 1 3o 4c 12b
0 envido
1 accept
0 points 27
1 good
0 play 7e
1 play 3o
0 concede
shown 0 7e 10e
0 show 12e
shown 0 7e 12e
"""


def test_every_scenario_holds(rules, tmp_path):
    (tmp_path / "shown.toml").write_text(
        'name = "shown"\nversion = 1\nbase = "truco-argentino"\nshow = "owner"\n'
    )
    (tmp_path / "shown.scenario").write_text(SHOWN_BY_CHOICE)
    failed = []
    for path in sorted([*FOLDER.glob("*.scenario"), *tmp_path.glob("*.scenario")]):
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
    positions, cards = POSITIONS[name, seats], CARDS_ALONE[name, seats]
    task = {"table": table_of(match), "steps": steps}
    depths = {"positions": len(positions) - 1, "cards": len(cards)}
    assert rules.asked("counts", match.variant, {**task, **depths}) == {
        "positions": [*positions],
        "cards": [*cards],
    }


def changed(value, other, chance):
    """Return a document with one value of it left out, doubled, or in place of it another, or what a game like it has there."""
    if not isinstance(value, list) or not value or chance.random() < 0.25:
        return chance.choice([other, value, None, True, False, 0, 1, 2, 9, 33, "", "said", "2", [], [3, 5]])
    at = chance.randrange(len(value))
    if chance.random() < 0.1:
        return value[:at] + value[at + 1 :]
    twin = other[at] if isinstance(other, list) and at < len(other) else None
    return [*value[:at], changed(value[at], twin, chance), *value[at + 1 :]]


def is_read(document):
    try:
        read_document(enc(document))
    except CheckError:
        return False
    return True


def with_word(document, word):
    """Return documents with a word that is none: a card of the pack with its place, an entry of the order, and a sign."""
    *_, pack, params = document
    values = dict(params)
    signs = [[name, [word] if name == "vocabulary" else value] for name, value in values["signals"]]
    order = {"order": [*values["order"], word]}
    for cards, changed in ((pack, {"signals": signs}), (pack, order), ([*pack, word], order)):
        yield [*document[:4], cards, [[name, changed.get(name, value)] for name, value in params]]


def test_words_that_are_none_are_refused_as_ours_refuses_them(rules):
    document = json.loads(json.dumps(document_of(preset("truc-partnership"))))
    words = ("toString", "", "01e", "1E", "ae", "1 e", " ", "3 ")
    odd = [(word, each) for word in words for each in with_word(document, word)]
    assert [(word, each) for word, each in odd if is_read(each) or rules.reads(each)] == []


def test_a_document_is_taken_where_ours_takes_it(rules):
    chance, judged = random.Random(5), []
    for name in presets():
        whole = json.loads(json.dumps(document_of(preset(name))))
        for _ in range(DOCUMENTS):
            other = document_of(preset(chance.choice(presets())))
            document = json.loads(json.dumps(changed(whole, other, chance)))
            judged.append((is_read(document), rules.reads(document), document))
    assert [document for ours, theirs, document in judged if ours != theirs] == []
    assert {ours for ours, _, _ in judged} == {True, False}
