"""Counts of positions and of rows of actions from fixed deals, pinned for every preset and seat count.

A count that moves means that a rule moved: change it only together with the rule, and say which.
"""

import pytest
from rules.played import dealt, played

from truc_rules import Seat, new_match, perft, preset, presets
from truc_rules.perft import positions

SPANISH = ("3o 12c 6o", "3c 7b 1o", "2e 6c 1b", "2b 10e 7c")
FRENCH = ("8h Qd 7c", "Ah 10c 9d", "Qs 8c 10h", "Ac 9s Kh")
DEPTH = 5

# by (preset, seats): positions after 0, 1 ... 5 actions
POSITIONS = {
    ("truc-catalan", 2): (1, 7, 45, 159, 475, 758),
    ("truc-catalan", 4): (1, 7, 49, 215, 870, 2711),
    ("truc-catalan-moll", 2): (1, 7, 45, 159, 475, 758),
    ("truc-catalan-moll", 4): (1, 7, 49, 215, 870, 2711),
    ("truc-french", 2): (1, 4, 9, 31, 97, 272),
    ("truc-french-8low", 2): (1, 4, 9, 31, 97, 266),
    ("truc-french-any", 2): (1, 4, 19, 81, 307, 1194),
    ("truc-sackson", 2): (1, 4, 9, 31, 97, 272),
    ("truc-lanes", 2): (1, 2, 17, 73, 259, 983),
    ("truc-lanes", 4): (1, 2, 17, 75, 285, 1219),
    ("truc-lanes-36", 2): (1, 2, 17, 73, 259, 980),
    ("truc-lanes-36", 4): (1, 2, 17, 75, 285, 1219),
    ("truc-lanes-rational", 2): (1, 2, 17, 73, 259, 983),
    ("truc-lanes-rational", 4): (1, 2, 17, 75, 285, 1219),
    ("truc-lanes-8low", 2): (1, 2, 17, 73, 259, 980),
    ("truc-lanes-8low", 4): (1, 2, 17, 75, 285, 1219),
}
# by (preset, seats): rows of 4 actions
ROWS = {
    ("truc-catalan", 2): 640,
    ("truc-catalan", 4): 1650,
    ("truc-catalan-moll", 2): 640,
    ("truc-catalan-moll", 4): 1650,
    ("truc-french", 2): 101,
    ("truc-french-8low", 2): 101,
    ("truc-french-any", 2): 351,
    ("truc-sackson", 2): 101,
    ("truc-lanes", 2): 303,
    ("truc-lanes", 4): 461,
    ("truc-lanes-36", 2): 303,
    ("truc-lanes-36", 4): 461,
    ("truc-lanes-rational", 2): 303,
    ("truc-lanes-rational", 4): 461,
    ("truc-lanes-8low", 2): 303,
    ("truc-lanes-8low", 4): 461,
}
# by (preset, seats): rows of 1, 2 ... cards to the end of a hand without betting; these depend on the order of the cards
CARDS_ALONE = {
    ("truc-catalan", 2): (3, 9, 18, 36, 18, 18),
    ("truc-catalan", 4): (3, 9, 27, 81, 162, 324, 648, 1296, 648, 648, 648, 648),
    ("truc-catalan-moll", 2): (3, 9, 18, 36, 18, 18),
    ("truc-catalan-moll", 4): (3, 9, 27, 81, 162, 324, 648, 1296, 648, 648, 648, 648),
    ("truc-french", 2): (5, 15, 36, 72, 24, 24),
    ("truc-french-8low", 2): (5, 15, 36, 72, 72, 72),
    ("truc-french-any", 2): (5, 15, 36, 72, 24, 24),
    ("truc-sackson", 2): (5, 15, 36, 72, 24, 24),
    ("truc-lanes", 2): (3, 9, 18, 36, 8, 8),
    ("truc-lanes", 4): (3, 9, 27, 81, 162, 324, 648, 1296, 448, 448, 448, 448),
    ("truc-lanes-36", 2): (3, 9, 18, 36, 24, 24),
    ("truc-lanes-36", 4): (3, 9, 27, 81, 162, 324, 648, 1296, 848, 848, 848, 848),
    ("truc-lanes-rational", 2): (3, 9, 18, 36, 8, 8),
    ("truc-lanes-rational", 4): (3, 9, 27, 81, 162, 324, 648, 1296, 448, 448, 448, 448),
    ("truc-lanes-8low", 2): (3, 9, 18, 36, 24, 24),
    ("truc-lanes-8low", 4): (3, 9, 27, 81, 162, 324, 648, 1296, 848, 848, 848, 848),
}
TABLES = [(name, seats) for name in presets() for seats in preset(name).players]


def fixed(name, seats):
    hands = (SPANISH if preset(name).short_deal else FRENCH)[:seats]
    return dealt(name, *hands, before=[f"{seats - 2} cut"] if preset(name).short_deal else [])


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_positions_within_five_actions(name, seats):
    assert positions(fixed(name, seats), DEPTH) == POSITIONS[name, seats]


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_rows_of_four_actions(name, seats):
    assert perft(fixed(name, seats), 4) == ROWS[name, seats]


def card_rows(name, seats):
    variant = preset(name)
    if variant.short_deal:
        hands = SPANISH[:seats]
        match = played(dealt(name, *hands, score=(11, 0), before=[f"{seats - 2} cut"]), "0 accept")
    else:
        taken = "1 raise rest" if variant.remainder == "counter" else "1 accept"
        match = played(fixed(name, seats), "0 stand", "0 raise rest", taken)
    return tuple(perft(match, depth) for depth in range(1, 3 * seats + 1))


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_rows_of_cards_to_the_end_of_a_hand(name, seats):
    assert card_rows(name, seats) == CARDS_ALONE[name, seats]


def test_the_cut_and_the_count_are_counted():
    match = new_match(preset("truc-catalan"), seats=4, dealer=Seat(0))
    assert [perft(match, depth) for depth in range(4)] == [1, 2, 2, 0]


def test_the_answer_to_the_last_point_is_counted_for_each_partner():
    match = dealt("truc-catalan", *SPANISH, score=(11, 0), before=["2 cut"])
    assert [perft(match, depth) for depth in range(4)] == [1, 4, 6, 18]
