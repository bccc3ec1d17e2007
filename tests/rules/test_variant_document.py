"""Variants as named plain values, and the contradictions that are refused."""

from dataclasses import fields, replace

import pytest
from rows import each_row

from truc_rules import (
    LastPoint,
    Redeal,
    Scoring,
    Variant,
    VariantError,
    params,
    preset,
    presets,
    variant_from_params,
    with_options,
)

CATALAN, FRENCH = preset("truc-catalan"), preset("truc-french")
PIECES, SIX, TRUT = preset("truco-uruguayo"), preset("truco-argentino-6"), preset("trut")
LAST_POINT = LastPoint(1, 3, 1, share=False)


def rebuilt(variant, **changes):
    entries = [[name, changes.get(name, value)] for name, value in params(variant)]
    return variant_from_params(variant.name, variant.version, list(variant.pack), entries)


def as_lists(value):
    return [as_lists(item) for item in value] if isinstance(value, tuple) else value


@each_row("name", presets())
def test_a_preset_comes_back_from_lists_as_a_document_has_them(name):
    variant = preset(name)
    assert (
        variant_from_params(name, variant.version, list(variant.pack), as_lists(params(variant))) == variant
    )


def test_params_hold_every_rule_but_name_version_and_pack():
    rules = {field.name for field in fields(Variant) if field.init} - {"name", "version", "pack"}
    assert {name for name, _ in params(CATALAN)} == rules


def test_an_unknown_preset_is_answered_with_those_like_it():
    with pytest.raises(
        VariantError, match=r"expected the name of a preset, got 'put-2'; the nearest is put$"
    ):
        preset("put-2")


@each_row(
    "name, value, said",
    [
        ("players", 2, "players: expected a list, got 2"),
        ("players", [2, "4"], 'players: expected a number from 1 on, got "4"'),
        ("match", True, "match: expected a number from 0 on, got true"),
        ("match", -1, "match: expected a number from 0 on, got -1"),
        ("match", 2**64, "match: expected a number of at most 64 bits, got 65"),
        ("ladder", [1, -1], "ladder: expected a number from 1 on, got -1"),
        ("short_deal", 1, "short_deal: expected true or false, got 1"),
        ("order", ["3", 2], "order: expected text, got 2"),
        ("all_tied", "nobody", 'all_tied: expected one of "eldest", "draw", got "nobody"'),
        ("ladder", "x3", 'ladder: expected a list of stakes, or one of "x2", .*"trut", got "x3"'),
        ("ladder", None, "ladder: expected a list of stakes, or one of .*, got nil"),
        ("redeal", [["consent", "dealer"]], "redeal.max: expected this field, got none"),
        (
            "redeal",
            [["consent", "dealer"], ["max", "often"]],
            'redeal.max: expected a number from 1 on, or "pack", got "often"',
        ),
        (
            "scoring",
            [["end_check", "immediate"], ["points_per_unit", 0], ["target", 12], ["x", 1]],
            "scoring.x: expected no such field",
        ),
        ("scoring", [["target"]], "scoring.params: expected a name, once, and its value"),
        ("scoring", [["target", 12], ["target", 13]], "scoring.params: expected a name, once, and its value"),
    ],
)
def test_a_wrong_value_is_refused_by_field(name, value, said):
    with pytest.raises(VariantError, match=said):
        rebuilt(CATALAN, **{name: value})


@each_row(
    "entries, said",
    [
        (params(CATALAN)[1:], "absent: expected this field, got none"),
        ((*params(CATALAN), ("colour", True)), "colour: expected no such field in engine version 1"),
    ],
)
def test_a_field_that_is_missing_or_unknown_is_refused_by_name(entries, said):
    with pytest.raises(VariantError, match=said):
        variant_from_params("x", 1, CATALAN.pack, entries)


@each_row(
    "changes, said",
    [
        ({"ladder": (1, 2, 2)}, "ladder: expected two or more rising stakes"),
        ({"ladder": (3, 2)}, "ladder: expected two or more rising stakes"),
        ({"ladder": (1,)}, "ladder: expected two or more rising stakes"),
        ({"ladder": ()}, "ladder: expected two or more rising stakes"),
        ({"ladder": "game", "raise_in_answer": False}, "remainder: expected accept or counter"),
        (
            {"ladder": "game", "remainder": "accept", "accept": "explicit"},
            "ladder: expected stakes that an answer can raise",
        ),
        ({"remainder": "accept"}, "accept: expected explicit"),
        ({"players": ()}, "players: expected some of 2, 4, 6"),
        ({"players": (4, 2)}, "players: expected some of 2, 4, 6"),
        ({"players": (3,)}, "players: expected some of 2, 4, 6"),
        ({"pack": CATALAN.pack[:10]}, "pack: expected at least 12 cards for 4 seats, got 10"),
        ({"pack": (*CATALAN.pack, "7e")}, "pack: expected no card twice"),
        ({"order": (*CATALAN.order, "7")}, "order: expected every rank and card once, got '7' twice"),
        ({"order": CATALAN.order[1:]}, "order: expected a place for every card of the pack, got none for 3o"),
        ({"order": (*CATALAN.order, "8")}, "order: expected ranks or cards of the pack, got '8'"),
        ({"order": (*CATALAN.order, "")}, "order: expected ranks or cards of the pack, got ''"),
        ({"redeal": Redeal("dealer", 0)}, "redeal.max: expected at least 1"),
        ({"match": 2}, "match: expected an odd number of games, got 2"),
        ({"version": 0}, "version: expected at least 1, got 0"),
        ({"scoring": Scoring(1, 0, "immediate")}, "scoring.target: expected more than 1, got 1"),
        (
            {"last_point": LastPoint(12, 3, 1, share=False)},
            "last_point.at: expected 1 to 11 points short, got 12",
        ),
        (
            {"last_point": LastPoint(1, 0, 1, share=False)},
            "last_point.stake: expected at least the first stake",
        ),
        (
            {"last_point": LastPoint(1, 3, 0, share=False)},
            "last_point.stake: expected at least the first stake",
        ),
        # beyond all games
        ({"match": 1001}, "match: expected at most 1000, got 1001"),
        ({"last_point": LastPoint(1, 1001, 1, share=False)}, "last_point.stake: expected at most 1000"),
        ({"last_point": LastPoint(1, 3, 1001, share=False)}, "last_point.decline: expected at most 1000"),
    ],
)
def test_a_contradiction_is_refused_with_its_reason(changes, said):
    with pytest.raises(VariantError, match=said):
        replace(CATALAN, **changes)


def test_duels_leave_no_room_for_the_question_at_the_last_point():
    """rules.md 1.3: the question comes once a deal, before the play; 8.7: only the two duelists act and answer."""
    asks = replace(SIX, pica=None, last_point=LAST_POINT)
    said = "^pica: expected no rule for the last point, where a deal is played as three games"
    with pytest.raises(VariantError, match=said):
        replace(SIX, last_point=asks.last_point)
    with pytest.raises(VariantError, match=said):
        with_options(asks, {"pica": "on"})


@each_row(
    "variant, changes, said",
    [
        # rules.md 2, "Cut and deal": what bars it is a side one point short of the target, 11 of 12; truts are none
        (TRUT, {"short_deal": True}, "^short_deal: expected three cards each, where points make units"),
        # rules.md 6.4: an order is for cards of a rank, the lowest or the highest; 9: blind cards nobody has seen
        (
            preset("truc-partnership"),
            {"blind": True, "last_point": LAST_POINT},
            "^signals.orders: expected none, where hands are blind",
        ),
        (
            TRUT,
            {"scoring": replace(TRUT.scoring, points_per_unit=1001)},
            "scoring.points_per_unit: expected at most 1000, got 1001",
        ),
        *(
            (
                FRENCH,
                {"pack": (*FRENCH.pack, name), "order": (*FRENCH.order, name)},
                "pack: expected cards of a",
            )
            for name in ("s", "0s", "01s", "1S", "as", "AAs", "1 s", "1!")
        ),
        (
            PIECES,
            {"flor": replace(PIECES.flor, kind="run")},
            "flor.kind: expected suit, where pieces are of any suit",
        ),
        (
            SIX,
            {"envido": replace(SIX.envido, settle="hand_end")},
            "envido.settle: expected said, where a deal is played as three games",
        ),
    ],
)
def test_a_rule_that_does_not_fit_its_game_is_refused_with_its_reason(variant, changes, said):
    with pytest.raises(VariantError, match=said):
        replace(variant, **changes)


@each_row("field, most", [("max_envido", 16), ("max_real", 16), ("fold_bonus", 1000)])
def test_envido_has_bounds(field, most):
    argentine = preset("truco-argentino")
    assert replace(argentine, envido=replace(argentine.envido, **{field: most}))
    with pytest.raises(VariantError, match=f"envido.{field}: expected at most {most}, got {most + 1}"):
        replace(argentine, envido=replace(argentine.envido, **{field: most + 1}))


def test_one_unit_may_be_the_target_where_points_make_units():
    assert replace(TRUT, scoring=replace(TRUT.scoring, target=1)).scoring.target == 1
    with pytest.raises(VariantError, match=r"scoring.target: expected more than 0, got 0"):
        replace(TRUT, scoring=replace(TRUT.scoring, target=0))


def test_cards_named_in_the_order_stand_above_their_rank_and_entries_may_tie():
    order = ("1e", "1b", "7e", "7o", "3", "2", "1o 1c", "12", "11", "10", "7", "6", "5", "4")
    variant = replace(CATALAN, order=order)
    strength = dict(zip(variant.pack, variant.strengths[:-1], strict=True))
    assert strength["1e"] > strength["1b"] > strength["7e"] > strength["7o"] > strength["3c"]
    assert (
        strength["2b"] > strength["1o"] == strength["1c"] > strength["12o"] > strength["7c"] == strength["7b"]
    )


def test_only_plain_values_go_into_a_document():
    with pytest.raises(VariantError, match="expected a plain value, got float"):
        params(replace(CATALAN, match=3.0))


@each_row(
    "changes, said",
    [
        ({"cycle": ("1",)}, "turnup.cycle: expected no cycle beside pieces"),
        ({"suits": ("o",)}, "turnup.cycle: expected no cycle beside pieces"),
        ({"pieces": ("2", "2", "5", "11", "10")}, "turnup.pieces: expected ranks of the pack, each once"),
        ({"pieces": ("2", "4", "5", "11", "9")}, "turnup.pieces: expected ranks of the pack, each once"),
        ({"pieces": ()}, "turnup.pieces: expected ranks, where numbers or a stand-in are given"),
        ({"numbers": (10, 9, 8, 7)}, "turnup.numbers: expected a number of at most 20 for each piece"),
        ({"numbers": (21, 9, 8, 7, 7)}, "turnup.numbers: expected a number of at most 20 for each piece"),
        ({"stand_in": "10"}, "turnup.stand_in: expected a rank of the pack that is no piece, or nothing"),
        ({"stand_in": "13"}, "turnup.stand_in: expected a rank of the pack that is no piece, or nothing"),
    ],
)
def test_pieces_must_fit_together(changes, said):
    with pytest.raises(VariantError, match=said):
        replace(PIECES, turnup=replace(PIECES.turnup, **changes))


def test_a_piece_without_a_stand_in_is_missing_when_it_is_turned_up():
    alone = replace(PIECES, turnup=replace(PIECES.turnup, stand_in=""))
    cards = {name: card for card, name in enumerate(alone.pack)}
    turned = alone.strengths_by_turn_up[cards["2c"]]
    assert turned[cards["12c"]] == alone.strengths[cards["12c"]]
    assert max(turned) == turned[cards["4c"]]


def test_a_document_has_what_is_not_the_default_and_nothing_else():
    assert [name for name, _ in dict(params(PIECES))["turnup"]] == ["numbers", "pieces", "stand_in"]
    assert [name for name, _ in dict(params(preset("truco-paulista")))["turnup"]] == ["cycle", "suits"]
    assert [name for name, _ in dict(params(PIECES))["flor"]] == ["claims", "kind"]
    venezuelan = dict(params(preset("truco-venezolano")))["flor"]
    assert [name for name, _ in venezuelan] == ["challenge", "claims", "kind", "pays", "reserved"]
    assert dict(dict(params(preset("truc-valencia")))["envido"])["settle"] == "hand_end"


@each_row("name", ["truco-argentino-flor", "truco-paulista"])
def test_cards_are_not_shown_by_choice_where_a_reader_could_not_follow(name):
    blind = preset(name).last_point is not None
    with pytest.raises(VariantError, match="show: expected none, where flor is played or hands are blind"):
        replace(preset(name), show="owner", blind=blind)
