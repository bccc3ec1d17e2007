"""The scenario runner: what it reads, what it refuses, what it prints."""

import re
import runpy
import sys

import pytest
from rows import each_row

from truc_rules.scenario.runner import main, run
from truc_rules.scenario.text import ScenarioError, scenarios

FRENCH = """scenario A hand
# a comment
variant truc-french   # and another
seats 2

dealer 1
deal 0 8h Jd 9c
deal 1 Ks 7d 10h
"""
CATALAN = """scenario A hand
variant truc-catalan
deal 0 3o 7e 4b
deal 1 2o 1e 5c
"""
FOUR = "scenario Four\nvariant truc-catalan\nseats 4\n"


def failure(text):
    (scenario,) = scenarios(text)
    with pytest.raises(ScenarioError) as caught:
        run(scenario)
    return caught.value.number, caught.value.message


def last_line(text):
    return len(text.splitlines())


@each_row(
    "lines, said",
    [
        ("0 stand\nplay 8h", "expected a move, an assertion or a deal, got play 8h"),
        ("stand 0", "expected a move, an assertion or a deal, got stand 0"),
        ("0 stnad", "expected one of play, .* got 'stnad'"),
        ("0", "expected `SEAT MOVE`, got 0"),
        ("12345678 stand", "expected a number, got 12345678"),
        ("0 play 8h", "expected a legal move `0 play 8h`, got illegal_action: seat 0 cannot play 8h"),
        ("7 stand", "expected a seat of 0 to 1, got 7"),
        ("? 7 -", "expected a seat of 0 to 1, got 7"),
        ("0 stand\nseats 2", "expected `seats` before the first move, got seats 2"),
        ("0 stand\nrule match 1", "expected `rule` before the first move"),
        ("! 0 stand", "expected a refusal, got `0 stand` taken"),
        (
            "! 1 stand illegal_action",
            "expected the code illegal_action, got not_your_turn: seat 1 cannot stand",
        ),
        ("! 1 stnad", "expected one of play, .* got 'stnad'"),
        (
            "! 1 stand not_your_trun",
            "expected the code not_your_turn or illegal_action or void_bet, got not_your_trun",
        ),
        ("! 1 stand void-bet", "expected the code not_your_turn or illegal_action or void_bet, got void-bet"),
        ("! 1", "expected `! SEAT MOVE`, and perhaps an error code, got ! 1"),
        ("! x stand", "expected a number, got x"),
        ("! 1 void_bet", "expected one of play, .* got 'void_bet'"),
        ("? 0 stand; redeal", "expected redeal; stand, got concede; redeal; stand"),
        ("? 0 -", "expected -, got concede; redeal; stand"),
        ("0 concede\n? 0 stand", "expected stand, got -"),
        ("? 0", "expected `. SEAT MOVE; MOVE ...`, or `. SEAT -`"),
        ("? 0 concede; stand; redeal; stand", "expected every move once, got concede; stand; redeal; stand"),
        ("? 0 stand; sing", "expected one of play, .* got 'sing'"),
        ("? 0 sign seven", "expected one of play, .* got 'sign'"),
        ("! 0 sign sevn", "expected the word of a sign, got sevn; the nearest.* seven"),
        ("0 sign seven", "seat 0 cannot sign: this table is played without signs"),
        ("next 1", "expected next 1, got next 0"),
        ("next -", "expected next -, got next 0"),
        ("next", "expected `next SEAT...`, or `next -`, got next"),
        ("next zero", "expected a number, got zero"),
        ("trick 0", "expected 0, got no trick yet"),
        ("trick 2", "expected 0 or 1 or tie, got 2"),
        ("trick", "expected `trick 0.1.tie`, got trick"),
        ("stake 2", "expected stake 2, got stake 1"),
        ("stake game", "expected stake game, got stake 1"),
        ("stake high", "expected a number, got high"),
        ("hand draw", "expected hand draw, got hand open"),
        ("hand 2", "expected 0 or 1 or draw or open, got 2"),
        ("0 concede\nhand open", "expected hand open, got hand 1"),
        ("points 1 0", "expected points 1 0, got points 0 0"),
        ("points 1", "expected `points SIDE-0 SIDE-1`, got points 1"),
        ("0 concede\nscore 0 0", "expected score 0 0, got score 0 1"),
        ("0 concede\nscore 0+0 0+1", "expected a number, got 0.0"),
        ("0 stand\nscore 0 +", "expected a number, got "),
        ("game 1", "expected game 1, got game open"),
        ("match 0", "expected match 0, got match open"),
        ("match won", "expected 0 or 1 or open, got won"),
        ("shown 0 -", "expected `rule reveal match` before the first move"),
        ("0 concede\ndeal 0 8h\nnext 1", "expected 3 cards dealt to seat 0, got 1"),
        ("0 concede\ndeal 0 8h Jd 9c 9d\nnext 1", "expected 3 cards dealt to seat 0, got 4"),
        (
            "0 concede\ndeal 0 8h Jd 9c\ndeal 1 8h As Ad\nnext 1",
            "expected every card once in a hand, got 8h again",
        ),
        ("0 concede\ndeal 0 8h Jd 9c\ndeal 0 8d As Ad", "expected a seat of 0 to 1, each once a deal, got 0"),
        ("0 concede\ndeal 2 8h Jd 9c", "expected a seat of 0 to 1, each once a deal, got 2"),
        ("0 concede\ndeal 0 8h 8h 9c", "expected every card once, got 8h twice"),
        ("0 concede\ndeal 0 6h 8h 9c", "expected cards of the pack of truc-french, got 6h"),
        ("0 concede\ndeal 0", "expected `deal SEAT CARD...`, got deal 0"),
        ("0 stand\nturn 4d", "expected a variant that turns a card up, as truc-french does not, got turn 4d"),
    ],
)
def test_a_line_that_fails_says_what_was_expected_and_what_came(lines, said):
    text = FRENCH + lines
    number, message = failure(text)
    assert number == last_line(text)
    assert re.search(said, message), message


@each_row(
    "text, number, said",
    [
        (
            "scenario X\n",
            1,
            "expected a line `variant NAME` or `variant FILE.toml` under the title, got scenario X",
        ),
        (
            "scenario X\nvariant truc-klingon\n",
            2,
            r"expected the name of a preset, or a FILE\.toml, got truc-klingon$",
        ),
        ("scenario X\nvariant truc-frensh\n", 2, "got truc-frensh; the nearest are? truc-french"),
        (
            "scenario X\nvariant truco-argentino-6\nseats 4\n",
            3,
            "expected 6 seats for truco-argentino-6, got 4",
        ),
        ("scenario X\nvariant truc-french\nscore 1 0\ndealer 2\n", 4, "expected a dealer of 0 to 1, got 2"),
        ("scenario X\nvariant\n", 2, "expected `variant NAME` or `variant FILE.toml`, got variant"),
        ("scenario X\nvariant truc-french\nvariant truc-catalan\n", 3, "expected one line `variant`"),
        ("scenario X\nvariant truc-french\nseats 4\n", 3, "expected 2 seats for truc-french, got 4"),
        ("scenario X\nvariant truc-french\nseats two\n", 3, "expected a number, got two"),
        ("scenario X\nvariant truc-french\ndealer 2\n", 3, "expected a dealer of 0 to 1, got 2"),
        (
            "scenario X\nvariant truc-french\nscore 12 0\n",
            3,
            "expected a score at which a game to 12 goes on, got score 12 0",
        ),
        ("scenario X\nvariant truc-french\nscore 1\n", 3, "expected `score SIDE-0 SIDE-1`, got score 1"),
        (
            "scenario X\nvariant truc-french\nrule pica on\n",
            3,
            "pica: expected a game of six with envido, got truc-french",
        ),
        ("scenario X\nvariant truc-french\nrule match\n", 3, "expected `rule NAME VALUE`, got rule match"),
        ("scenario X\nvariant truc-french\nturn 4d\n", 3, "expected a variant that turns a card up"),
        (
            "scenario X\nvariant trut\nscore 1+2 0+1\nnext 0\nscore 1+2 0+0\n",
            5,
            r"^expected score 1\+2 0\+0, got score 1\+2 0\+1$",
        ),
        (
            "scenario X\nvariant truc-french\nrule match 1\nscore 11 0\n1 concede\nmatch 0\ndeal 0 8h Jd 9c\n",
            7,
            "^expected a match that is not won, got deal 0 8h Jd 9c$",
        ),
        (
            "scenario X\nvariant truco-paulista\ndeal 0 7c 4h 5h\n",
            1,
            "^expected a line `turn CARD` before the first move, got scenario X$",
        ),
        (
            "scenario X\nvariant truco-paulista\nturn 4h\nturn 5h\n",
            4,
            "^expected one line `turn` a deal, got turn 5h$",
        ),
        # a deal that was never played
        ("scenario X\nvariant truc-french\ndeal 0 8h Jd\n", 1, "^expected 3 cards dealt to seat 0, got 2$"),
    ],
)
def test_a_line_of_set_up_units_or_cards_that_fails_is_named(text, number, said):
    at, message = failure(text)
    assert at == number
    assert re.search(said, message), message


@each_row(
    "text",
    [
        CATALAN + "next 0\n? 0 cut; tap\n0 cut\n0 play 3o\n",  # the fewest seats, the highest dealer
        FOUR + "2 cut\n0 raise 2\n3 decline\nhand 0\n",  # without cards
        FOUR + "2 cut\n0 raise 2\nnext 3 1\n? 1 decline;raise 3 ; accept\n",  # in any order
        "scenario X\nvariant truc-catalan\nrule reveal match\nshown 0 -\n",  # nothing, before the deal
    ],
)
def test_what_need_not_be_written_or_may_be_in_any_order_is_so(text):
    (scenario,) = scenarios(text)
    run(scenario)


def test_cards_of_a_seat_without_a_line_are_unknown():
    (scenario,) = scenarios(FOUR + "deal 0 3o 7e 4b\n2 cut\n0 play 3o\n? 1 -\n! 1 play 2o\n")
    with pytest.raises(ScenarioError, match="expected -, got raise 2"):
        run(scenario)


def test_a_refused_card_of_a_seat_without_a_line_says_why():
    number, message = failure(FOUR + "deal 0 3o 7e 4b\n2 cut\n0 play 3o\n1 play 2o\n")
    assert (number, message.split("; ")[-1]) == (7, "its cards are unknown without a line `deal 1 CARD...`")


def test_no_move_follows_a_hand_that_is_over():
    text = (
        CATALAN.replace("deal 0", "score 11 0\ndeal 0")
        + "0 cut\n0 accept\n0 play 3o\n1 play 5c\n0 play 7e\n1 play 1e\n"
    )
    text += "1 play 2o\n0 play 4b\n"
    number, message = failure(text + "hand 1\nscore 11 3\n0 raise 2\n")
    assert (number, message.split(":")[0]) == (16, "expected a legal move `0 raise 2`, got illegal_action")


@each_row(
    "lines, said",
    [
        ("0 play 3o\nshown 0 -", "expected -, got 3o"),
        ("shown 0 3o", "expected 3o, got -"),
        ("shown 0", "expected `shown SEAT CARD...`, or `shown SEAT -`, got shown 0"),
        ("shown 2 -", "expected a seat of 0 to 1, got 2"),
        ("shown 0 8o", "expected cards of the pack of truc-catalan, got 8o"),
    ],
)
def test_shown_names_the_cards_played(lines, said):
    assert failure(CATALAN.replace("deal 0", "rule reveal match\ndeal 0") + "0 cut\n" + lines)[1] == said


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


PAMPA = 'name = "pampa-corta"\nversion = 1\nbase = "truco-argentino"\n[scoring]\ntarget = 9\n'


def test_a_file_of_a_variant_is_named_from_the_folder_of_the_scenario_on(tmp_path, capsys):
    (tmp_path / "games").mkdir()
    written(tmp_path / "games", "pampa.toml", PAMPA)
    path = written(tmp_path, "one.scenario", "scenario X\nvariant games/pampa.toml\nscore 8 8\nscore 8 8\n")
    assert (main([str(path)]), capsys.readouterr().out) == (0, "1 passed, 0 failed\n")


def test_a_file_of_a_variant_has_its_own_rules_which_table_options_change(tmp_path):
    written(tmp_path, "pampa.toml", PAMPA)
    (scenario,) = scenarios("scenario X\nvariant pampa.toml\nscore 9 0\n")
    with pytest.raises(ScenarioError, match="expected a score at which a game to 9 goes on, got score 9 0"):
        run(scenario, tmp_path)
    run(scenarios("scenario X\nvariant pampa.toml\nrule target 12\nscore 11 0\n")[0], tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "expected pampa.toml as a readable file in UTF-8, got .*No such file"),
        (b"\xff", "expected pampa.toml as a readable file in UTF-8, got 'utf-8' codec"),
        (PAMPA.replace("9", "0"), "pampa.toml: scoring.target: expected more than 1, got 0"),
        ("base = 1", "pampa.toml: base: expected the name of a preset, got 1; pampa.toml: name: "),
    ],
)
def test_a_file_that_is_no_variant_is_named_with_the_reason(tmp_path, content, said):
    if content is not None:
        written(tmp_path, "pampa.toml", content)
    (scenario,) = scenarios("scenario X\nvariant pampa.toml\n")
    with pytest.raises(ScenarioError, match=said) as caught:
        run(scenario, tmp_path)
    assert caught.value.number == 2


def test_files_and_folders_are_run_and_counted(tmp_path, capsys):
    (tmp_path / "below").mkdir()
    written(tmp_path, "one.scenario", FRENCH + "next 0\n" + FRENCH + "next 1\n")
    written(tmp_path / "below", "two.scenario", FRENCH)
    written(tmp_path, "no.txt", "nothing")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}/one.scenario:18: expected next 1, got next 0",
        "2 passed, 1 failed",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("next 0\nscenario X\n", ":1: expected a line `scenario TITLE` first, got next 0"),
        ("scenario\nvariant put\n", ":1: expected `scenario TITLE`, got scenario"),
        ("# nothing\n", ":1: expected at least one scenario, got none"),
        (b"scenario \xff\n", ":1: expected a readable file in UTF-8, got 'utf-8' codec"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_failure(tmp_path, capsys, text, said):
    path = written(tmp_path, "bad.scenario", text)
    assert main([str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{path}{said}")
    assert out.endswith("0 passed, 1 failed\n")


@each_row(
    "name, said",
    [
        ("", ": expected files that end in .scenario, got none"),
        ("/none.scenario", ":1: expected a readable file"),
    ],
)
def test_a_folder_without_scenarios_or_a_path_that_is_not_there_is_a_failure(tmp_path, capsys, name, said):
    assert main([f"{tmp_path}{name}"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{tmp_path}{name}{said}")
    assert out.endswith("0 passed, 1 failed\n")


@pytest.mark.parametrize(("words", "status"), [(["-h"], 0), (["--help"], 0), ([], 2)])
def test_help_or_no_path_says_how_it_is_called(capsys, words, status):
    assert main(words) == status
    said = capsys.readouterr()
    assert "python -m truc_rules.scenario PATH...\n" in (said.err if status else said.out)


def test_the_module_runs_its_arguments(monkeypatch, tmp_path):
    path = written(tmp_path, "one.scenario", FRENCH)
    monkeypatch.setattr(sys, "argv", ["scenario", str(path)])
    monkeypatch.delitem(sys.modules, "truc_rules.scenario.__main__", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("truc_rules.scenario", run_name="__main__")
    assert ended.value.code == 0
