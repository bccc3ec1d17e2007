"""What docs/rules says by hand is checked: every example runs, every table has all that the code has."""

import inspect
import re
from pathlib import Path

import pytest
from rows import each_row

from truc_docs.protocol.games import page_of
from truc_rules import KINDS, TABLE_OPTIONS, preset, presets
from truc_rules.scenario.checks import ASSERTIONS, CODES
from truc_rules.scenario.runner import main as run_scenarios
from truc_rules.scenario.setup import DEALS, SETUP
from truc_rules.variants import variant as variant_fields
from truc_rules.variants.house import HouseVariantError
from truc_rules.variants.presets import ORDERS
from truc_words import local_sets
from truc_words.house_variants import read_variant
from truc_words.rules_page import rules_page

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "rules"
SCENARIOS = (FOLDER / "scenarios.md").read_text(encoding="utf-8")
VARIANTS = (FOLDER / "variants.md").read_text(encoding="utf-8")
README = (FOLDER / "README.md").read_text(encoding="utf-8")
PARAMETERS = (FOLDER / "parameters.md").read_text(encoding="utf-8")
FITTING = PARAMETERS.partition("\n## What must fit together\n")[2].partition("\n## ")[0]
CONTRADICTED = sorted(
    {*re.findall(r'_(?:require|at_most)\(\s*"([a-z._]+)"', inspect.getsource(variant_fields))}
)
NEVER_IN_SCENARIOS = ("pause", "resume", "resign")
LADDERS = {"x2": "doubled", "+2": "two more", "any": "any", "game": "the game", "trut": "a trut"}


ROOT = FOLDER.parents[1]
NUMBER = r"\d+b?(?:\.\d+)?"
TITLES = r'"[A-Z][^"\n]*"(?: and "[A-Z][^"\n]*")*'
CITATION = re.compile(
    rf"\brules\.md,?\s+(?:sections?\s+)?({NUMBER}(?:(?:,|;| and| -)\s+{NUMBER}(?![\w%]))*)(?:,?\s+({TITLES}))?"
)
OF_A_PAGE = re.compile(r'\brules/([a-z0-9-]+\.md), ("[A-Z][^"\n]*")')


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def titled(text):
    return [
        "scenario" + part
        for part in re.split(r"^scenario", "\n".join(blocks(text, "scenario")), flags=re.MULTILINE)[1:]
    ]


@pytest.mark.parametrize(
    "example", titled(SCENARIOS), ids=lambda text: text.splitlines()[0].removeprefix("scenario ")
)
def test_scenario_of_the_page_passes(example, tmp_path, capsys):
    (own,) = blocks(SCENARIOS, "toml")
    (tmp_path / "pampa-corta.toml").write_text(own, encoding="utf-8")
    (tmp_path / "page.scenario").write_text(example, encoding="utf-8")
    assert (run_scenarios([str(tmp_path / "page.scenario")]), capsys.readouterr().out) == (
        0,
        "1 passed, 0 failed\n",
    )


def test_failure_of_the_page_is_what_the_runner_says(tmp_path, capsys, monkeypatch):
    (example,), (told,) = blocks(SCENARIOS, "scenario-fails"), blocks(SCENARIOS, "text")
    monkeypatch.chdir(tmp_path)
    Path("page.scenario").write_text(example, encoding="utf-8")
    assert run_scenarios(["page.scenario"]) == 1
    assert capsys.readouterr().out == told


@each_row("param", CONTRADICTED)
def test_param_that_may_contradict_another_is_told_of(param):
    assert f"`{param}" in FITTING


def section(title):
    return SCENARIOS.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_move_stands_in_the_table_of_moves_and_those_that_no_scenario_has_behind_it():
    table = section("Moves")
    assert {kind for kind in KINDS if not re.search(rf"`{kind}[ `]", table)} == set()
    after = table.split("\n\n")[-1]
    assert [kind for kind in NEVER_IN_SCENARIOS if f"`{kind}`" not in after] == []


def test_every_line_assertion_and_code_of_a_refusal_is_explained():
    before, holds = section("Before the first move"), section("What must hold")
    assert [word for word in (*SETUP, *DEALS, "score") if f"| `{word} " not in before] == []
    assert [word for word in ASSERTIONS if f"* `{word} " not in holds] == []
    assert [code for code in CODES if f"`{code}`" not in SCENARIOS] == []


def test_options_of_a_rule_line_are_those_of_a_table():
    (row,) = [line for line in SCENARIOS.splitlines() if line.startswith("| `rule ")]
    assert re.findall(r"`([a-z_]+)`", row) == list(TABLE_OPTIONS)


@each_row("example", blocks(VARIANTS, "toml"))
def test_variant_of_the_page_is_read_and_told(example):
    variant = read_variant(example, "page.toml")
    assert rules_page(variant).startswith(f"# {variant.name}\n")


def test_variant_says_what_its_example_is_said_to_change():
    sunday = read_variant(next(text for text in blocks(VARIANTS, "toml") if "sunday" in text), "page.toml")
    assert (sunday.redeal, sunday.remainder, sunday.players) == (None, "none", (2, 4))


def test_refused_variant_of_the_page_is_refused_in_these_words():
    (example,), (told,) = blocks(VARIANTS, "toml-refused"), blocks(VARIANTS, "text")
    with pytest.raises(HouseVariantError) as refused:
        read_variant(example, "too-few.toml")
    assert str(refused.value) == told.strip()


def test_sets_of_words_and_packs_are_those_there_are():
    (told,) = re.findall(r"that the game is told in: (.*?)\. A game with another", VARIANTS, re.DOTALL)
    assert re.findall(r"`([a-z]+)`", told) == list(local_sets())
    packs = VARIANTS.split("presets play with: ")[1].split(". `order`")[0]
    assert re.findall(r"`([a-z0-9-]+)`", packs) == list(ORDERS)


def game_rows():
    found = [line.strip("| ").split(" | ") for line in README.splitlines() if line.startswith("| [`")]
    return {row[0].split("`")[1]: row for row in found}


def test_readme_lists_every_preset_once_in_order():
    assert re.findall(r"^\| \[`([a-z0-9-]+)`\]", README, re.MULTILINE) == list(presets())


@each_row("name", presets())
def test_row_of_a_game_is_what_its_data_says(name):
    variant, row = preset(name), game_rows()[name]
    ladder = (
        LADDERS[variant.ladder] if isinstance(variant.ladder, str) else " ".join(map(str, variant.ladder))
    )
    target = f"{variant.scoring.target}{' truts' if variant.scoring.points_per_unit else ''}"
    link = f"[`{name}`]({page_of(name)}.md{'' if page_of(name) == name else f'#{name}'})"
    seats = ", ".join(map(str, variant.players))
    assert [row[0], *row[2:]] == [link, seats, str(len(variant.pack)), ladder, target, str(variant.match)]


def clauses():
    """Give the text of every clause of rules.md: sections by their heads, points by section and number."""
    found, chapter = {}, (FOLDER / "rules.md").read_text(encoding="utf-8")
    heads = list(re.finditer(r"^(?:#+ |\*\*|(?=\d+\.\d))(\d+b?(?:\.\d+)?)\.? ", chapter, re.MULTILINE))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        text = chapter[head.start() : after.start() if after else None]
        found[head[1]] = text
        found |= {f"{head[1]}.{point}": text for point in re.findall(r"^ *(\d+)\. ", text, re.MULTILINE)}
    return found


def code():
    """Give every file that may cite a clause, but this one, which tells how clauses are cited."""
    for folder in ("protocol", "server", "client", "tests"):
        for ending in ("py", "toml", "scenario", "mjs"):
            files = sorted((ROOT / folder).rglob(f"*.{ending}"))
            yield from (file for file in files if file != Path(__file__).resolve())


def test_every_clause_that_is_cited_stands_in_the_rules():
    known, cited, missing = clauses(), 0, []
    for file in code():
        text = file.read_text(encoding="utf-8")
        for citation in CITATION.finditer(text):
            numbers, titles = re.findall(NUMBER, citation[1]), re.findall('"([^"]+)"', citation[2] or "")
            cited += len(numbers)
            missing += [(file.name, number) for number in numbers if number not in known]
            within = known.get(numbers[-1], "")
            missing += [(file.name, numbers[-1], title) for title in titles if title not in within]
        for page, title in OF_A_PAGE.findall(text):
            there = (FOLDER / page).exists() and f"\n## {title[1:-1]}" in (FOLDER / page).read_text("utf-8")
            missing += [] if there else [(file.name, page, title)]
    assert missing == []
    assert cited > 100
