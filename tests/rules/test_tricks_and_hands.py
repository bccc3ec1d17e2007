"""Who wins a trick and a hand, where presets differ: partners' ties, the spoiler, Put's rule."""

from dataclasses import replace
from itertools import product

import pytest
from rows import each_row
from rules.played import dealt, played

from truc_rules import preset
from truc_rules.tricks.play import verdict

STANDARD = preset("truc-lanes")
PUT = replace(STANDARD, hand_rule="put")
LANES = replace(STANDARD, redeal=None)

PUT_ROWS = {
    "AA": "A", "ABA": "A", "ABB": "B", "AB=": "tied", "A=A": "A", "A=B": "tied", "A==": "A",
    "=AA": "A", "=AB": "tied", "=A=": "A", "==A": "A", "===": "tied",
}  # fmt: skip


def outcome(variant, row, each=3):
    winners = tuple({"A": 0, "B": 1, "=": None}[trick] for trick in row)
    found = verdict(variant.hand_rule, winners, each)
    return {0: "A", 1: "B"}.get(found, found)


@each_row("row, winner", PUT_ROWS.items())
def test_put_rule_as_in_the_table(row, winner):
    assert outcome(PUT, row) == winner


@each_row("row, winner", PUT_ROWS.items())
def test_put_rule_leaves_the_hand_open_until_the_last_trick(row, winner):
    assert all(outcome(PUT, row[:length]) == "open" for length in range(1, len(row)))


@pytest.mark.parametrize("variant", [STANDARD, PUT])
def test_both_sides_are_treated_alike(variant):
    mirror = str.maketrans("AB", "BA")
    for row in ("".join(tricks) for length in (1, 2, 3) for tricks in product("AB=", repeat=length)):
        assert outcome(variant, row).translate(mirror) == outcome(variant, row.translate(mirror))


@pytest.mark.parametrize("variant", [STANDARD, PUT])
def test_one_trick_decides_a_hand_of_one_card(variant):
    assert [outcome(variant, trick, each=1) for trick in "AB="] == ["A", "B", "tied"]


def four(variant, *cards):
    match = dealt(
        variant,
        *(
            f"{card} {rest}"
            for card, rest in zip(cards, ("10s Js", "10h Jh", "10d Jd", "10c Jc"), strict=True)
        ),
    )
    for seat, card in enumerate(cards):
        match = played(match, f"{seat} play {card}")
    return match.hand.row


def test_partners_who_tie_win_the_trick_and_the_earlier_leads():
    row = four(LANES, "9h", "As", "Kh", "Ac")
    assert (row.tricks[0].side, row.leader) == (1, 1)


def test_partners_who_tie_without_having_led_spoil_it_under_leader_only():
    row = four(replace(LANES, partner_tie="leader_only"), "9h", "As", "Kh", "Ac")
    assert (row.tricks[0].side, row.leader) == (None, 0)


def test_partners_who_tie_win_under_leader_only_if_one_led():
    row = four(replace(LANES, partner_tie="leader_only"), "As", "9h", "Ac", "Kh")
    assert (row.tricks[0].side, row.leader) == (0, 0)


def test_after_a_tie_the_same_leader_leads():
    assert four(LANES, "As", "9h", "Kh", "Ac").leader == 0


def test_after_a_tie_the_spoiler_leads_where_the_variant_says_so():
    assert four(replace(LANES, tie_leader="spoiler"), "As", "9h", "Kh", "Ac").leader == 3
