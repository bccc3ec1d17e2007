"""Scenario files have one spelling: what Python would also take for a number, or for a space, is refused in its line."""

import re
from pathlib import Path

import pytest
from rows import each_row

from truc_rules.scenario.runner import run
from truc_rules.scenario.text import ScenarioError, scenarios

EVERY_LINE = """\
scenario Every kind of line that has a number
variant truco-paulista
seats 4
dealer 3
rule match 3
rule cover_from_trick 2
rule reveal match
rule signals partner
score 4 2
turn 6d
deal 0 7c 4h 5h
deal 1 3s Kd Qd
deal 2 2s 2h 2d
deal 3 As Ad Ac
next 0
! 1 play 3s
? 0 play 7c; play 4h; play 5h; raise 3
0 sign manilha-clubs
0 play 7c
1 play 3s
2 play 2s
3 play As
trick 0
0 raise 3
3 accept
stake 3
0 cover 4h
shown 0 7c
1 raise 6
2 decline
hand 1
points 0 3
score 4 5
game open
match open
"""
SPANISH = """\
scenario Values, claims and the choices of a deal
variant truc-catalan
seats 2
dealer 1
score 2 0
0 tap
1 deal 1
"""
TRUT = "scenario Units\nvariant trut\nscore 1+2 0+1\n"
ENVIDO = """\
scenario A value, and a claim
variant truco-argentino-flor
deal 0 6o 7o 1c
deal 1 4b 5b 12b
0 envido
1 flor
0 play 1c
"""
NUMBERS = re.compile(r"(?<![A-Za-z])[0-9]+")
LOOSE = (
    *("0{}", "00{}", "+{}", "-{}", "{}_0", "_{}", "{}.0", "{}\u00a0", "{}\u2003", "0x{}", "\u0663"),
    *("\uff11", "\u00b9"),
)
"""Other spellings of a number; the last are digits of other scripts."""


def numbers():
    for text in (EVERY_LINE, SPANISH, TRUT, ENVIDO):
        lines = text.splitlines()
        for at, line in enumerate(lines[1:], start=1):
            for found in NUMBERS.finditer(line):
                yield lines, at, found


@each_row("text", [EVERY_LINE, SPANISH, TRUT, ENVIDO])
def test_the_plain_spelling_holds(text):
    run(scenarios(text)[0])


@pytest.mark.parametrize("spelling", LOOSE)
def test_no_number_has_a_second_spelling(spelling):
    for lines, at, found in numbers():
        line = lines[at][: found.start()] + spelling.format(found[0]) + lines[at][found.end() :]
        text = "\n".join([*lines[:at], line, *lines[at + 1 :]])
        with pytest.raises(ScenarioError) as caught:
            run(scenarios(text)[0], Path("/dev/null"))
        assert caught.value.number == at + 1, (line, str(caught.value))


@each_row(
    "line, said",
    [
        ("00 stand", "expected the number 0 without a 0 before it, got 00"),
        ("! 00 stand", "expected the number 0 without a 0 before it, got 00"),
        ("next 01", "expected the number 1 without a 0 before it, got 01"),
        ("\u0663 stand", "expected a move, an assertion or a deal, got \u0663 stand"),
        ("+1 stand", "expected a move, an assertion or a deal, got +1 stand"),
        ("1_0 stand", "expected a move, an assertion or a deal, got 1_0 stand"),
        ("next +1", "expected a number, got +1"),
        ("0\u00a0stand", "expected plain spaces between words, got U+00A0"),
        ("0\u2028stand", "expected plain spaces between words, got U+2028"),
    ],
)
def test_a_loose_spelling_is_named(line, said):
    with pytest.raises(ScenarioError) as caught:
        run(scenarios(f"scenario X\nvariant truc-french\n{line}\n")[0])
    assert (caught.value.number, str(caught.value)) == (3, said)


@each_row("line", ["0  stand ", "\t0\tstand", "0 stand\r", "0 stand # \u00a0"])
def test_spaces_tabs_and_ends_of_lines_are_free(line):
    run(scenarios(f"scenario X\nvariant truc-french\n{line}\n")[0])


def test_points_without_a_unit_stand_alone_too():
    deals = "deal 0 7s 9s 10s\ndeal 1 8h 9h 10h\n"
    run(scenarios(f"scenario X\nvariant trut\nscore 1+2 1\n{deals}0 raise trut\n1 decline\nscore 2+0 0\n")[0])
