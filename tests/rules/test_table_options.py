"""Table options of rules.md 14b: what each changes, and where it is refused."""

from dataclasses import replace

import pytest
from rows import each_row

from truc_rules import Redeal, VariantError, preset, with_options

CATALAN, FRENCH, LANES = preset("truc-catalan"), preset("truc-french"), preset("truc-lanes")
DEFAULTS = {"match": 3, "target": 12, "reveal": "hand", "end_check": "immediate", "redeals": 1}
ARGENTINE, SIX, MINEIRO = preset("truco-argentino"), preset("truco-argentino-6"), preset("truco-mineiro")


def test_options_change_their_fields_and_nothing_else():
    options = {"match": 5, "target": 21, "reveal": "match", "end_check": "hand_end", "ladder": "any"}
    scoring = replace(FRENCH.scoring, target=21, end_check="hand_end")
    changed = replace(FRENCH, match=5, reveal="match", ladder="any", scoring=scoring)
    assert with_options(FRENCH, options) == changed


@each_row(
    "variant, option, field, value",
    [
        (FRENCH, {"order": "fr32-8low"}, "order", preset("truc-french-8low").order),
        (LANES, {"redeals": 2}, "redeal", Redeal("all", 2)),
        (FRENCH, {"redeals": "pack"}, "redeal", Redeal("dealer", "pack")),
        (FRENCH, {"redeals": 0}, "redeal", None),
        (ARGENTINE, {"flor": "on"}, "flor", preset("truco-argentino-flor").flor),
        (ARGENTINE, {"pica": "on"}, "pica", SIX.pica),
    ],
)
def test_an_option_gives_a_field_what_the_option_names(variant, option, field, value):
    assert getattr(with_options(variant, option), field) == value


@each_row(
    "variant, name, value, said",
    [
        (FRENCH, "colour", "red", "colour: expected an option: one of reveal, .*redeals"),
        (FRENCH, "targt", 3, "targt: expected an option; the nearest is target"),
        (FRENCH, "pica", "on", "pica: expected a game of six with envido, got truc-french"),
        (
            CATALAN,
            "show",
            "owner",
            "show: expected a game in which cards are shown by choice, got truc-catalan",
        ),
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
        (ARGENTINE, "falta", "all", "falta: expected leader, malas-game or malas-15, got 'all'"),
        (FRENCH, "falta", "leader", "falta: expected a game with envido, got truc-french"),
        (FRENCH, "fold_bonus", 0, "fold_bonus: expected a game with envido, got truc-french"),
        (ARGENTINE, "fold_bonus", 2, "fold_bonus: expected 0 or 1, got 2"),
        (FRENCH, "flor", "on", "flor: expected a game with envido, got truc-french"),
        (ARGENTINE, "flor", 1, "flor: expected on or off, got 1"),
        (ARGENTINE, "pica", 1, "pica: expected on or off, got 1"),
        (CATALAN, "cover_from_trick", 2, "cover_from_trick: expected a Brazilian game, got truc-catalan"),
        (MINEIRO, "cover_from_trick", 1, "cover_from_trick: expected 0 or 2, got 1"),
        (FRENCH, "blind", "on", "blind: expected a Brazilian game, got truc-french"),
        (MINEIRO, "blind", "yes", "blind: expected on or off, got 'yes'"),
        (FRENCH, "signals", "table", "signals: expected a game with signs, got truc-french"),
        (CATALAN, "signals", "all", "signals: expected off or partner or table, got 'all'"),
        (preset("le-truc"), "show", "all", "show: expected owner or none, got 'all'"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_with_its_reason(variant, name, value, said):
    with pytest.raises(VariantError, match=said):
        with_options(variant, {name: value})


@each_row(
    "variant, name, value",
    [
        (SIX, "pica", "on"),
        (preset("truco-argentino-flor"), "flor", "on"),
        (preset("truco-venezolano"), "flor", "on"),
        (ARGENTINE, "falta", "leader"),
        (ARGENTINE, "fold_bonus", 1),
        (MINEIRO, "cover_from_trick", 0),
        (MINEIRO, "blind", "off"),
        (CATALAN, "signals", "partner"),
        (preset("le-truc"), "show", "owner"),
        *((FRENCH, name, value) for name, value in DEFAULTS.items()),
    ],
)
def test_what_a_game_has_already_can_be_said(variant, name, value):
    assert with_options(variant, {name: value}) == variant


def test_signals_off_leaves_the_orders():
    signals = with_options(preset("truc-partnership"), {"signals": "off"}).signals
    assert (signals.vocabulary, signals.orders) == ((), "binding")
