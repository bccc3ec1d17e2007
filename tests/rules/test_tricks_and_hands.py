"""Who wins a trick and a hand, where presets differ: partners' ties, the spoiler, Put's rule."""

from dataclasses import replace
from itertools import product

from rows import each_row

from truc_rules import preset
from truc_rules.tricks import hand_result

STANDARD = preset("truc-lanes")
PUT = replace(STANDARD, hand_rule="put")

PUT_ROWS = {
    "AA": "A", "ABA": "A", "ABB": "B", "AB=": "tied", "A=A": "A", "A=B": "tied", "A==": "A",
    "=AA": "A", "=AB": "tied", "=A=": "A", "==A": "A", "===": "tied",
}  # fmt: skip


def outcome(variant, row, each=3):
    winners = tuple({"A": 0, "B": 1, "=": None}[trick] for trick in row)
    found = hand_result(variant.hand_rule, winners, each)
    return {0: "A", 1: "B"}.get(found, found)


@each_row("row, winner", PUT_ROWS.items())
def test_put_rule_as_in_the_table(row, winner):
    assert outcome(PUT, row) == winner


@each_row("row, winner", PUT_ROWS.items())
def test_put_rule_leaves_the_hand_open_until_the_last_trick(row, winner):
    assert all(outcome(PUT, row[:length]) == "open" for length in range(1, len(row)))


@each_row("variant", [STANDARD, PUT])
def test_both_sides_are_treated_alike(variant):
    mirror = str.maketrans("AB", "BA")
    for row in ("".join(tricks) for length in (1, 2, 3) for tricks in product("AB=", repeat=length)):
        assert outcome(variant, row).translate(mirror) == outcome(variant, row.translate(mirror))


@each_row("variant", [STANDARD, PUT])
def test_one_trick_decides_a_hand_of_one_card(variant):
    assert [outcome(variant, trick, each=1) for trick in "AB="] == ["A", "B", "tied"]
