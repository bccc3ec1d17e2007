"""The committed pages of the games are what the fields of a variant, the presets and the introductions say."""

import json
from functools import cache
from pathlib import Path

from rows import each_row

from truc_docs.protocol.games import (
    RAISE_SAID,
    base_of,
    common_rules,
    differences,
    families,
    family_page,
    introduction,
    listed,
    page_of,
    told,
)
from truc_docs.protocol.rules import parameters_page, presets_file
from truc_docs.protocol.value_words import NO_RULE, meanings
from truc_protocol.codec import enc, sha256
from truc_protocol.documents import rule_document
from truc_rules import preset, presets
from truc_words.rules_page import chapters
from truc_words.rules_text import ENGLISH, SENTENCES

FOLDER = Path(__file__).parents[2] / "docs" / "rules"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
RULES = (FOLDER / "rules.md").read_text(encoding="utf-8")


@cache
def page():
    return parameters_page()


@cache
def page_of_family(main):
    return family_page(FOLDER, main)


@cache
def values_told():
    return {(path, value): words for path, value, words in meanings()}


def chapter(heading):
    return page().split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_page_of_params_is_fresh():
    assert (FOLDER / "parameters.md").read_text(encoding="utf-8") == page()


@each_row("main", families())
def test_page_of_a_family_is_fresh(main):
    assert (FOLDER / f"{main}.md").read_text(encoding="utf-8") == page_of_family(main)


def test_page_of_presets_is_fresh():
    assert (FOLDER / "presets.json").read_text(encoding="utf-8") == presets_file()


@each_row("main", families())
def test_page_of_a_family_and_the_common_rules_are_all_that_its_data_says(main):
    page = page_of_family(main).split("\n## Other games\n")[0].splitlines()
    rules = [line for line in listed(chapters(preset(main))).splitlines() if line.startswith(("* ", "| "))]
    called = {line: found[2] for line in rules if (found := RAISE_SAID.match(line))}
    assert {*rules} - {*page} == {*common_rules()} & {*rules} | {*called}
    stakes = [line for line in page if line.count(" | ") == 3]
    assert [word for word in called.values() if not any(f" | *{word}* | " in row for row in stakes)] == []


def test_common_rules_stand_on_the_index():
    part = README.split("\n## The common rules\n")[1].split("\n## ")[0]
    assert sorted(line for line in part.splitlines() if line.startswith("* ")) == sorted(common_rules())


@each_row("name", [name for name in presets() if page_of(name) != name])
def test_what_differs_makes_a_game_out_of_the_one_that_it_names(name):
    main, other = page_of(name), preset(name)
    base = preset(base_of(main, name))
    found = {rule: difference for _, rule, difference in differences(base, other)}
    part = page_of_family(main).split(f"\n### {name}\n")[1].split("\n### ")[0]
    assert f"As in [`{base.name}`](#{base.name}), but:" in part
    for rule in SENTENCES:
        instead, gone = found.get(rule, ((), ()))
        assert {*told(base, rule)} - {*gone} | {*instead} == {*told(other, rule)}
        assert (f": `{rule}`" in part) == (rule in found)


@each_row("name", presets())
def test_game_is_introduced_with_its_section_of_the_rules(name):
    written, page = introduction(FOLDER, name), page_of_family(page_of(name))
    assert all(part in page for part in (written.text, written.common))
    assert f"\n## {written.section}\n" in RULES
    assert f"[{written.section.split('.')[0]}](rules.md#" in page


def test_every_introduction_belongs_to_presets():
    families = {preset(name).words for name in presets()}
    assert {file.stem for file in (FOLDER / "intro").iterdir()} == families


@each_row("file", sorted((FOLDER / "intro").iterdir()))
def test_every_game_of_an_introduction_is_a_preset_of_it(file):
    named = [
        line[len("[presets.") : -1]
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("[presets.")
    ]
    assert named == [name for name in presets() if preset(name).words == file.stem]


@each_row("known", presets())
@each_row("name", ["hand_rule", "concede", "ask_window", "tie_leader", "accept"])
def test_value_of_a_preset_is_told_as_on_its_own_page(name, known):
    variant = preset(known)
    assert " ".join(SENTENCES[name](variant, ENGLISH)) in values_told()[name, getattr(variant, name)]


@each_row("path, value", lambda: (place for place, words in values_told().items() if words != NO_RULE))
def test_value_is_told_here_or_on_the_page_of_a_game_that_has_it(path, value):
    name, _, field = path.partition(".")
    line = f"* `{path}`, `{json.dumps(value)}`: {values_told()[path, value]}"
    owns = [(known, getattr(preset(known), name)) for known in presets()]
    users = [known for known, own in owns if (getattr(own, field, None) if field else own) == value]
    assert (line in chapter("Values that no preset has")) == (not users)
    assert all(
        sentence in page_of_family(page_of(known)) + README
        for known in users[:1]
        for sentence in SENTENCES[name](preset(known), ENGLISH)
    )


def test_values_of_a_param_are_told_apart():
    meant = [(path, words) for (path, _), words in values_told().items() if words != NO_RULE]
    assert len(meant) == len({*meant})


@each_row("name", presets())
def test_document_of_a_preset_and_its_hash_are_those_that_are_signed(name):
    entry = json.loads(presets_file())[name]
    assert enc(entry["document"]) == rule_document(preset(name))
    assert entry["sha256"] == sha256(rule_document(preset(name))).hex()
