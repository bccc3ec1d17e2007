"""Move lines, read and written."""

import random

import pytest
from rows import each_row
from rules.chance import random_match, random_steps

from truc_rules import KINDS, Action, ArgShape, Kind, MoveError, Seat, move_line, parse_move, preset, presets

CATALAN = preset("truc-catalan")
LINES = (
    "play 7e", "play 7e raise 2", "play 7e raise rest", "play 7e raise trut", "cover 4b", "cover", "blind 0",
    "raise 3", "raise rest", "raise trut", "accept", "decline", "concede", "cut", "tap", "deal 3", "deal 1",
    "redeal", "stand", "envido", "real-envido", "falta-envido", "points 28", "good", "silent", "flor", "flor-fold",
    "contraflor", "contraflor-rest", "claim 3", "show 7e 6e", "pause", "resume", "resign", "order 7", "order low",
    "order high", "order leave",
)  # fmt: skip


@each_row("line", LINES)
def test_every_move_of_the_notation_is_read_and_written_back(line):
    assert move_line(CATALAN, parse_move(CATALAN, Seat(1), line)) == line


def test_every_kind_has_a_line_here_and_its_shape_in_the_one_table():
    assert {line.split()[0] for line in LINES} == set(KINDS) == set(Kind)
    assert set(KINDS.values()) == set(ArgShape)


def test_a_line_gives_seat_kind_cards_and_value_whatever_the_spaces():
    card = CATALAN.pack.index("7e")
    assert parse_move(CATALAN, Seat(3), " play  7e raise 2 ") == Action(Seat(3), Kind.PLAY, (card,), 2)


@each_row("name", presets())
def test_every_action_of_a_match_goes_into_a_line_and_back(name):
    variant, chance = preset(name), random.Random(3)
    for step in random_steps(random_match(variant, variant.players[-1], chance), chance):
        if step.action is not None:
            line = move_line(variant, step.action)
            assert parse_move(variant, step.action.seat, line) == step.action


@each_row(
    "line, said",
    [
        ("", "expected one of play, .* got ''"),
        ("sing", "expected one of play, .* got 'sing'"),
        ("play", "expected a card, and perhaps"),
        ("play 7e 6e", "expected a card, and perhaps"),
        ("play 7e ask 2", "expected a card, and perhaps"),
        ("play 7e raise", "expected a card, and perhaps"),
        ("play 7E", "expected a card of the pack, such as 1o, got '7E'"),
        ("play 8o", "expected a card of the pack, such as 1o, got '8o'"),
        ("play 7e raise two", "expected a number"),
        ("raise", "expected one further word"),
        ("raise 2 3", "expected one further word"),
        ("raise 02", "expected a number"),
        ("raise -2", "expected a number"),
        ("raise \u0663", "expected a number"),
        ("raise " + "9" * 5000, "expected a number of at most 6 digits"),
        ("accept it", "expected no further word"),
        ("cut 3", "expected no further word"),
        ("cover 4b 5b", "expected a card or nothing"),
        ("show", "expected one or more cards"),
        ("order 8", "expected a rank of the pack or low, high, leave, got '8'"),
        ("deal three", "expected a number"),
    ],
)
def test_what_is_no_move_is_refused_with_what_was_expected(line, said):
    with pytest.raises(MoveError, match=said):
        parse_move(CATALAN, Seat(0), line)
