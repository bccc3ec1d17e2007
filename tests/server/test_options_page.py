"""docs/protocol/options.md against the options that the server takes."""

import json
import re
from pathlib import Path

import pytest
from rows import each_row

from truc_protocol.setup import TERM_RANGES, Opts
from truc_rules import TABLE_OPTIONS, VariantError, preset, presets, with_options
from truc_rules.variants.presets import ORDERS as PRESET_ORDERS
from truc_server.net.peer import RefusedRequestError
from truc_server.settings.settings import MatchDefaults
from truc_server.table_data.options import (
    CLAIM,
    CLAIMS,
    MODE,
    MODES,
    MOST_SEALED,
    READERS,
    TRANSCRIPT,
    choose,
)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "protocol" / "options.md").read_text(encoding="utf-8")


def games_named(cell: str) -> list[str]:
    """Return the games that a cell names, all with its set of words for a name in bold."""
    named = [(word.strip("*`"), "**" in word) for word in cell.split(", ")]
    return [
        game
        for name, is_set in named
        for game in presets()
        if game == name or (is_set and preset(game).words == preset(name).words)
    ]


def rows(chapter: str) -> list[list[str]]:
    """Return the cells of the first table under a heading."""
    table = PAGE.split(f"\n## {chapter}\n")[1].split("\n| ", 1)[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()[2:]]


def options(chapter: str) -> list[tuple[str, list[str]]]:
    """Return the options that the list under a heading tells, each with its values, the default last if there is one."""
    text = PAGE.split(f"\n## {chapter}\n")[1].split("\n## ")[0]
    return [
        (name, [value.strip("`") for value in re.split(", (?:default )?", values)])
        for name, values in re.findall(r"^\* `(\w+)`, (.*?): ", text, re.MULTILINE)
    ]


DEFAULTS = MatchDefaults()
TERMS = rows("Terms")
HOUSE_RULES = options("House rules")
ORDERS = re.findall(r'^\* `"([a-z0-9-]+)"`, (\d+) cards: (.*): (.*)$', PAGE, re.MULTILINE)
TAKEN = [
    (name, json.loads(value))
    for name, values in HOUSE_RULES
    for value in values
    if name not in ("target", "order") and not value.endswith("more")
] + [("order", name) for name, *_ in ORDERS]


def is_taken(name: str, value: int) -> bool:
    try:
        choose(preset("truc-lanes"), 4, {name: value}, DEFAULTS)
    except RefusedRequestError:
        return False
    return True


def test_terms_their_defaults_and_their_meanings_are_those_of_the_code():
    told = [(row[0].strip("`"), int(row[1]), int(row[3])) for row in TERMS]
    assert told == [(name, at, default) for at, (name, default) in enumerate(Opts()._asdict().items())]
    assert tuple(TERM_RANGES) == Opts._fields
    told = re.findall(r"^ +(\w+): (.*)\.$", Opts.__doc__, re.MULTILINE)
    assert [(row[0].strip("`"), row[4]) for row in TERMS] == told


@each_row("row", TERMS)
def test_values_of_a_term_are_those_taken(row):
    name, values = row[0].strip("`"), row[2].replace("the number of seats", "4")
    none, _, span = values.rpartition(" or ")
    low, _, high = span.partition(" to ")
    told = {int(low), int(high)} if high else {*map(int, values.split(", "))}
    around = {value for edge in told | {0} for value in (edge - 1, edge, edge + 1)}
    inside = {value for value in around if value in range(int(low), int(high) + 1)} if high else told
    assert {value for value in around if is_taken(name, value)} == inside | {*map(int, none.split())}


WORDS = [
    ("Who deals", MODE, [*MODES, MODES[0]]),
    ("Who may read the records afterwards", TRANSCRIPT, [*READERS, READERS[0]]),
    ("Who ends a match against a side that is gone", CLAIM, [*CLAIMS, DEFAULTS.claim]),
]


@each_row("chapter, name, words", WORDS)
def test_words_of_an_option_and_its_default_are_those_taken(chapter, name, words):
    ((told, values),) = options(chapter)
    assert (told, [json.loads(value) for value in values]) == (name, words)


def test_most_cards_that_are_sealed_stand_on_the_page():
    assert f"at most {MOST_SEALED} cards" in " ".join(PAGE.split())


def test_other_word_for_transcript_is_refused():
    with pytest.raises(RefusedRequestError, match="expected seats or watchers or all"):
        choose(preset("truc-lanes"), 4, {"transcript": "nobody"}, DEFAULTS)


def test_house_rules_are_the_options_of_the_rules():
    assert [name for name, _ in HOUSE_RULES] == list(TABLE_OPTIONS)


def possible(name: str, value: int | str) -> bool:
    for known in presets():
        try:
            with_options(preset(known), {name: value})
        except VariantError:
            continue
        return True
    return False


@each_row("name, value", TAKEN)
def test_value_of_a_house_rule_is_possible(name, value):
    assert possible(name, value)


@each_row(
    "name, value",
    [("match", 2), ("match", 7), ("ladder", "game"), ("order", "es41"), ("reveal", "never"), ("redeals", -1)],
)
def test_value_beyond_those_of_a_house_rule_is_not_possible(name, value):
    assert not possible(name, value)


def test_orders_are_those_of_the_rules():
    for name, size, users, order in ORDERS:
        for user in games_named(users):
            changed = with_options(preset(user), {"order": name})
            assert (len(changed.pack), " ".join(changed.order)) == (int(size), order)
    assert {name for name, *_ in ORDERS} == {*PRESET_ORDERS}


def test_hosting_maps_the_settings_whose_names_differ():
    page = (DOCS / "hosting" / "settings.md").read_text(encoding="utf-8")
    told = re.findall(r"^\* `match\.\w+.* is `(\w+)`(?: = [\w, +]+)?$", page, re.MULTILINE)
    assert told == ["gone", "spectators", "gone_after"]
