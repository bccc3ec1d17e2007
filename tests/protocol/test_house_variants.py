"""Variants as files: what is read, what is refused and why, and what is written."""

import tomllib
from dataclasses import replace

import pytest
from rows import each_row

from truc_protocol.documents import read_document, rule_document
from truc_rules import Redeal, VariantError, preset, presets, variant_from_fields
from truc_rules.variants.house import MAX_FILE, HouseVariantError
from truc_words.house_variants import preset_called, read_variant, variant_file

HEAD = 'name = "club-truc"\nversion = 1\n'
CATALAN, LANES, LANES_36 = (preset(name) for name in ("truc-catalan", "truc-lanes", "truc-lanes-36"))


def read(fields: str, base: str = "truc-catalan"):
    return read_variant(f'{HEAD}base = "{base}"\n{fields}', "club.toml")


def refused(text: str) -> tuple[str, ...]:
    with pytest.raises(HouseVariantError) as error:
        read_variant(text, "club.toml")
    return error.value.problems


def refused_of(fields: str, base: str = "truc-catalan") -> tuple[str, ...]:
    return refused(f'{HEAD}base = "{base}"\n{fields}')


def without(text: str, field: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith(f"{field} ="))


@each_row(
    "fields, base, changes",
    [
        ("", CATALAN, {}),
        ("match = 3", CATALAN, {"match": 3}),
        ("[scoring]\ntarget = 15", CATALAN, {"scoring": replace(CATALAN.scoring, target=15)}),
        ("redeal = false", LANES, {"redeal": None}),
        ('[redeal]\nconsent = "all"\nmax = 2', CATALAN, {"redeal": Redeal(consent="all", max=2)}),
        ('pack = "fr36"\norder = "fr36"', LANES, {"pack": LANES_36.pack, "order": LANES_36.order}),
        ('ladder = "x2"', LANES, {"ladder": "x2"}),
        (
            'words = "club"\nphrases = ["bona nit!", "som-hi"]',
            CATALAN,
            {"words": "club", "phrases": ("bona nit!", "som-hi")},
        ),
    ],
)
def test_file_is_its_base_under_another_name_but_for_the_fields_that_it_gives(fields, base, changes):
    assert read(fields, base.name) == replace(base, name="club-truc", **changes)


def test_variant_that_was_read_comes_back_from_its_document_and_its_file():
    own = read("ladder = [1, 2, 4]\n[scoring]\ntarget = 15")
    assert read_document(rule_document(own)) == own
    assert read_variant(variant_file(own), "club.toml") == own
    assert read_variant('name = "club"\nversion = 7\nbase = "put"', "club.toml").version == 7


@each_row("name", presets())
def test_written_file_is_read_as_the_same_game_under_a_free_name(name):
    assert read_variant(variant_file(preset(name)), name) == replace(preset(name), name=f"house-{name}")


def test_written_file_is_toml_with_every_field_and_so_no_base():
    written = tomllib.loads(variant_file(replace(CATALAN, words="a\x7fb")))
    assert (written["words"], "base" in written) == ("a\x7fb", False)
    assert len(refused(without(variant_file(CATALAN), "short_deal"))) == 1


@each_row(
    "name, line",
    [
        ("truc-lanes", '# a list of numbers or "x2" or "+2" or "any" or "game" or "trut"\nladder = "any"'),
        ("truc-french", '# a number or "pack"\nmax = 1'),
        ("truc-catalan", '# "hand" or "match"\nreveal = "hand"'),
    ],
)
def test_written_file_says_what_may_stand_in_the_place_of_a_word(name, line):
    assert line in variant_file(preset(name))


@each_row(
    "fields, problem",
    [
        # a contradiction
        ("players = [4, 2]", "players: expected some of 2, 4, 6, ascending, got [4, 2]"),
        (
            'pack = ["1o", "2o", "3o"]\norder = ["1", "2", "3"]',
            "pack: expected at least 12 cards for 4 seats, got 3",
        ),
        (
            f"pack = {[f'{rank}{suit}' for suit in 'oce' for rank in range(43)]}",
            "pack: expected at most 128 cards, got 129",
        ),
        (
            'answerer = "governor"',
            'answerer: expected any, as only four players have governors, got "governor"',
        ),
        (
            "blind = true\nlast_point = false",
            "blind: expected a rule for the last point, or no blind hands, got true",
        ),
        ("cover_from_trick = 1", "cover_from_trick: expected 0, or a trick from 2 to 3, got 1"),
        ('[signals]\nvocabulary = ["nod"]', 'signals.vocabulary: expected words such as three, got ["nod"]'),
        (
            '[turnup]\ncycle = ["3"]\nsuits = ["o"]',
            'turnup.cycle: expected every rank of the pack, each once, got ["3"]',
        ),
        (
            "[pica]\nmin = 5\nmax = 20",
            "pica: expected six players, who meet in pairs, got { min = 5, max = 20 }",
        ),
        (
            '[signals]\nvisible_to = "governor"',
            "signals: expected four players, where governors are signed to or give orders,"
            ' got { visible_to = "governor" }',
        ),
        # a value of a wrong kind
        ("match = 2.5", "match: expected a number from 0 on, got 2.5"),
        ("match = 1979-05-27", "match: expected a number from 0 on, got 1979-05-27"),
        ('pack = "es41"', "pack: expected a list, or one of es40, "),
        ("pack = 40", "pack: expected a list, got 40"),
        ("scoring = false", "scoring: expected a group of fields, got false"),
        ("redeal = true", "redeal: expected a group of fields, or false for none, got true"),
        ("[redeal]\nmax = 2", "redeal.consent: expected this field, got none"),
        ("match = 0x1ffffffffffffffff", "match: expected a number of at most 64 bits, got 65"),
        ("match = [[07:30:00, {a = 1, b = inf}]]", "match: expected a number from 0 on, got [[07:30:00, { a"),
        (
            "[scoring]\ntarget = 9223372036854775807",
            "scoring.target: expected at most 1000, got 9223372036854775807",
        ),
        # what can be no field, card or phrase
        ("laddr = [1, 2]", "laddr: expected a field of a variant, got laddr; the nearest is ladder"),
        (
            "[scoring]\ntarge = 20",
            "scoring.targe: expected a field of scoring, got targe; the nearest is target",
        ),
        (
            "[scoring]\nmatch = 3",
            "scoring.match: expected a field of scoring, got match;"
            " fields of no group stand above the first [group]",
        ),
        ("target = 3", "target: expected a field of a variant, got target; it stands below [scoring]"),
        ("max = 3", "max: expected a field of a variant, got max; it stands below [redeal] or [pica]"),
        ('pack = ["7e", "10 e"]', 'pack: expected cards such as 7e, Kh or 10c, got "10 e"'),
        ('pack = ["lowe"]', 'pack: expected cards such as 7e, Kh or 10c, got "lowe"'),
        ('words = "\\u001b[2J"', 'words: expected 1 to 40 printable ASCII characters, got "\\u001b[2J"'),
        ('phrases = ["sí"]', 'phrases: expected 1 to 40 printable ASCII characters, got "sí"'),
        ('words = ""', 'words: expected 1 to 40 printable ASCII characters, got ""'),
        (f'phrases = ["{"x" * 41}"]', "phrases: expected 1 to 40 printable ASCII characters, got "),
        ('phrases = ["a", "b", "a"]', 'phrases: expected every phrase once, got ["a", "b", "a"]'),
    ],
)
def test_problem_names_file_field_expected_and_got(fields, problem):
    (told,) = refused_of(fields)
    assert told.startswith(f"club.toml: {problem}")
    assert ", got " in told


@each_row("name", ["x", "Club", "club truc", "-club", "c" * 33, "club/../truc"])
def test_name_that_is_none_is_refused(name):
    assert refused(f'name = "{name}"\nversion = 1\nbase = "put"') == (
        f'club.toml: name: expected 3 to 32 lower-case letters, digits and hyphens, got "{name}"',
    )


@each_row(
    "text, got",
    [
        ('name = 5\nversion = 1\nbase = "put"', "5"),
        (f"{HEAD}base = 5", "5"),
        (f'{HEAD}base = "put"\nfoo = 1', "foo"),  # which is near no name of a field
        (f'{HEAD}base = "put"\n[scoring]\nfoo = 1', "foo"),
    ],
)
def test_what_came_in_the_place_of_a_name_is_told_last(text, got):
    assert refused(text)[0].endswith(f"got {got}")


@each_row(
    "text, problems",
    [
        ('name = "put"\nversion = 1\nbase = "put"', ('name: expected a name that no preset has, got "put"',)),
        ('name = "club"\nversion = 0\nbase = "put"', ("version: expected at least 1, got 0",)),
        ('base = "put"', ("name: expected this field, got none", "version: expected this field, got none")),
        (
            f'{HEAD}base = "truco-argentino-6"\nplayers = [2]',  # a group of the base, as a file would have it
            ("pica: expected six players, who meet in pairs, got { max = 20, min = 5 }",),
        ),
        (
            f'{HEAD}base = "truc-catalan"\nmatch = 0x{"f" * 5_000}',
            ("match: expected a number of at most 64 bits, got 20000",),
        ),
        (
            without(variant_file(CATALAN), "short_deal"),
            ("base: expected a preset's name, or every field; there is no short_deal",),
        ),
        ("#" * (MAX_FILE + 1), (f"expected at most {MAX_FILE} bytes, got {MAX_FILE + 1}",)),
    ],
)
def test_problems_of_a_file_are_told_each_once_and_no_others(text, problems):
    assert refused(text) == tuple(f"club.toml: {problem}" for problem in problems)


@each_row(
    "text, problem",
    [
        (
            f'{HEAD}base = "truc-frensh"',
            'base: expected the name of a preset, got "truc-frensh"; the nearest are truc-french',
        ),
        ("name = \n", "expected TOML, got: Invalid value (at line 1"),
        (f"match = {'9' * 5_000}", "expected "),
        (f"match = {'[' * 10_000}", "expected "),
        (
            f'{HEAD}base = "truc-catalan"\nphrases = {[f"{number:040}" for number in range(500)]}',
            "expected rules that fit a document of 16384 bytes: ",
        ),
    ],
)
def test_text_that_is_no_variant_is_refused_with_what_was_expected(text, problem):
    assert refused(text)[0].startswith(f"club.toml: {problem}")


@each_row("field", ["name", "version", "pack"])
def test_fields_alone_are_no_variant_without(field):
    known = {"name": "club", "version": 1, "pack": "es40"}
    with pytest.raises(VariantError, match=f"^{field}: expected this field, got none"):
        variant_from_fields({name: value for name, value in known.items() if name != field})


@each_row("fields", ['"a\\nb" = 1', '[scoring]\n"a\\nb" = 1'])
def test_key_with_a_line_break_is_told_in_one_line_and_a_long_value_is_cut_short(fields):
    assert "a?b: expected a field of " in refused_of(fields)[0]
    for long in (f"[signals]\nvocabulary = {['nod'] * 1000}", f"words = '{'w' * 5000}'"):
        assert len(refused_of(long)[0]) <= 1_000


def test_preset_is_found_by_name():
    assert preset_called("truc-lanes", "") is LANES


def test_every_problem_of_the_form_is_told_at_once_and_the_error_is_all_in_one_line():
    with pytest.raises(HouseVariantError, match=r"^club\.toml: name: .*; club\.toml: version: ") as error:
        read_variant('name = "X"\nbase = "poker"\nladdr = 1', "club.toml")
    assert ("\n" in str(error.value), len(error.value.problems)) == (False, 4)


@each_row(
    "name, told",
    [
        ("puts", r'expected the name of a preset, got "puts"; the nearest: put; others have files$'),
        ("poker", r'got "poker"; others have files$'),
    ],
)
def test_unknown_preset_is_answered_with_those_like_it_and_how_others_are_named(name, told):
    with pytest.raises(HouseVariantError, match=told):
        preset_called(name, "others have files")
