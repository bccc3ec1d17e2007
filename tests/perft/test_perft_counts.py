"""Counts of positions and of rows of cards from fixed deals, pinned for every preset and seat count.

A count that moves means that a rule moved: change it only together with the rule, and say which.
"""

from perft.counting import positions
from perft.pinned import CARDS_ALONE, POSITIONS
from rows import each_row
from rules.played import dealt, given, played

from truc_rules import Kind, Seat, apply, legal, new_match, next_hand, preset, presets, with_options

SPANISH = ("3o 12c 6o", "3c 7b 1o", "2e 6c 1b", "2b 10e 7c", "11b 1e 4c", "12o 5e 4b")
FLORES = ("3o 12o 6o", "3c 7b 1o", "2e 6c 1b", "2b 10b 4b", "11b 1e 4c", "12c 5c 3e")
VALENCIAN = ("3o 7c 6o", "3c 7b 1e", "4e 6c 1b", "4b 7e 5c")
FRENCH = ("8h Qd 7c", "Ah 10c 9d", "Qs 8c 10h", "Ac 9s Kh")
BRAZIL = ("3h Qd Kc", "3c Js As", "2s 2c Ah", "2h Qc Kd", "Jd 3d Kh", "Qs Jh Ac")
TURNS = ("Ks", "6e")
TABLES = [(name, seats) for name in presets() for seats in preset(name).players]


def fixed(name, seats):
    variant = preset(name)
    plain = (SPANISH, VALENCIAN, BRAZIL, FRENCH)
    fitting = (FLORES, *plain) if variant.flor else plain
    hands = next(hands[:seats] for hands in fitting if {*" ".join(hands[:seats]).split()} <= {*variant.pack})
    before = [f"{seats - 2} cut"] if variant.short_deal else []
    turn = next(card for card in TURNS if card in variant.pack) if variant.turnup else ""
    return dealt(name, *hands, before=before, turn=turn)


@each_row("name, seats", TABLES)
def test_positions_by_the_number_of_actions(name, seats):
    pinned = POSITIONS[name, seats]
    assert positions(fixed(name, seats), len(pinned) - 1) == pinned


def card_rows(match, depth):
    """Return the number of rows of 1, 2 ... cards, played without a word."""
    layer, counts = [match], []
    for _ in range(depth):
        layer = [
            apply(each, action)[0]
            for each in layer
            for seat in range(match.seats)
            for action in legal(each, Seat(seat))
            if action.kind is Kind.PLAY and action.value is None
        ]
        counts.append(len(layer))
    return tuple(counts)


@each_row("name, seats", TABLES)
def test_rows_of_cards_played_without_a_word(name, seats):
    match = fixed(name, seats)
    if preset(name).redeal is not None:
        match = played(match, "0 stand")
    pinned = CARDS_ALONE[name, seats]
    assert card_rows(match, len(pinned)) == pinned


def test_the_cut_the_count_and_the_answer_to_the_last_point_are_counted():
    match = new_match(preset("truc-catalan"), seats=4, dealer=Seat(0))
    assert positions(match, 3) == (1, 2, 2, 0)
    match = dealt("truc-catalan", *SPANISH[:4], score=(11, 0), before=["2 cut"])
    assert positions(match, 3) == (1, 2, 3, 9)


@each_row(
    "name, counts",
    [("truco-argentino-6", (1, 8, 46, 178, 690)), ("truco-argentino-6-flor", (1, 8, 49, 215, 909))],
)
def test_positions_of_a_hand_of_duels(name, counts):
    hands = FLORES if preset(name).flor else SPANISH
    first = played(dealt(name, *hands, score=(5, 0)), "0 concede")
    match = given(next_hand(first), *hands)
    assert match.hand.row.stride == 3
    assert positions(match, len(counts) - 1) == counts


def test_positions_of_a_blind_hand_do_not_depend_on_its_cards():
    blind = with_options(preset("truco-mineiro"), {"blind": "on", "cover_from_trick": 2})
    match = dealt(blind, *BRAZIL[:2], score=(11, 11))
    assert positions(match, 4) == (1, 3, 9, 18, 36)


def test_positions_with_covered_cards_double_from_the_second_trick():
    covered = with_options(preset("truco-mineiro"), {"cover_from_trick": 2})
    match = played(dealt(covered, *BRAZIL[:2], score=(11, 11)), "0 play Qd", "1 play Js")
    assert positions(match, 2) == (1, 4, 16)
