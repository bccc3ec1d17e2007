"""Table options of rules.md 14b: what each changes, and where it is refused."""

import pytest

from truc_rules import Redeal, VariantError, preset, with_options

CATALAN, FRENCH, LANES = preset("truc-catalan"), preset("truc-french"), preset("truc-lanes")


def test_options_change_their_fields_and_nothing_else():
    changed = with_options(
        FRENCH, {"match": 5, "target": 21, "reveal": "match", "end_check": "hand_end", "ladder": "any"}
    )
    assert (changed.match, changed.scoring.target, changed.scoring.end_check) == (5, 21, "hand_end")
    assert (changed.reveal, changed.ladder, changed.name, changed.order) == (
        "match",
        "any",
        FRENCH.name,
        FRENCH.order,
    )


def test_the_defaults_can_be_said():
    assert (
        with_options(
            FRENCH, {"match": 3, "target": 12, "reveal": "hand", "end_check": "immediate", "redeals": 1}
        )
        == FRENCH
    )


def test_an_order_is_one_of_the_same_pack():
    assert with_options(FRENCH, {"order": "fr32-8low"}).order == preset("truc-french-8low").order


def test_redeals_by_number_and_by_pack():
    assert with_options(LANES, {"redeals": 2}).redeal == Redeal("all", 2)
    assert with_options(FRENCH, {"redeals": "pack"}).redeal == Redeal("dealer", "pack")
    assert with_options(FRENCH, {"redeals": 0}).redeal is None


@pytest.mark.parametrize(
    ("variant", "name", "value", "said"),
    [
        (FRENCH, "colour", "red", "colour: expected one of the options reveal, .*redeals"),
        (FRENCH, "pica", "on", "pica: expected a game of six with envido, got truc-french"),
        (CATALAN, "show", "owner", "show: expected a game in which cards are shown by choice, got truc-catalan"),
        (FRENCH, "reveal", "never", "reveal: expected hand or match, got 'never'"),
        (FRENCH, "end_check", 1, "end_check: expected immediate or hand_end, got 1"),
        (FRENCH, "match", 2, "match: expected 1 or 3 or 5, got 2"),
        (FRENCH, "target", "many", "target: expected a number of points, got 'many'"),
        (FRENCH, "target", 0, "target: expected a number of points, got 0"),
        (FRENCH, "target", 1, "scoring.target: expected more than 1, got 1"),
        (FRENCH, "order", "fr36", "order: expected fr32 or .* got 'fr36'"),
        (FRENCH, "ladder", "x3", "ladder: expected x2, .2 or any, got 'x3'"),
        (CATALAN, "ladder", "x2", "ladder: expected a variant .* got truc-catalan"),
        (LANES, "ladder", "x2", "ladder: expected a variant .* got truc-lanes"),
        (CATALAN, "redeals", 1, "redeals: expected a variant that has redeals, got truc-catalan"),
        (FRENCH, "redeals", "often", "redeals: expected a number or pack, got 'often'"),
        (FRENCH, "redeals", -1, "redeal.max: expected at least 1"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_with_its_reason(variant, name, value, said):
    with pytest.raises(VariantError, match=said):
        with_options(variant, {name: value})
