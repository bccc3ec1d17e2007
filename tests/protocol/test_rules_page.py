from dataclasses import replace

import pytest

from truc_protocol.rules_page import _CHAPTERS, SENTENCES, games, preset_page, rules_page, summary
from truc_rules import LastPoint, Redeal, params, preset

CATALAN = preset("truc-catalan")
LANES = preset("truc-lanes")


def test_every_rule_of_a_variant_has_its_sentence() -> None:
    assert set(SENTENCES) == {"pack", *(name for name, _ in params(CATALAN))}


def test_every_sentence_stands_in_one_chapter() -> None:
    placed = [name for names in _CHAPTERS.values() for name in names]
    assert sorted(placed) == sorted(SENTENCES)


@pytest.mark.parametrize("name", games())
def test_every_game_has_a_page_and_a_summary(name) -> None:
    assert preset_page(name).startswith(f"# {name}\n")
    assert "players" in summary(name)


def test_unknown_game_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="truc-catalan"):
        preset_page("poker")


@pytest.mark.parametrize(
    ("variant", "sentence"),
    [
        (replace(CATALAN, absent="concede"), "the hand is given up"),
        (replace(CATALAN, reveal="match"), "opened at the end of the match"),
        (replace(CATALAN, match=3), "best of 3 games"),
        (replace(CATALAN, hand_rule="put"), "by two tricks or by the only trick won"),
        (
            replace(CATALAN, last_point=LastPoint(at=1, stake=3, decline=1, share=True)),
            "see each other's cards",
        ),
        (replace(CATALAN, last_point=None), "two tricks of three"),
        (replace(CATALAN, partner_tie="leader_only"), "only if one of them led it"),
        (replace(LANES, redeal=Redeal(consent="dealer", max=2)), "if the dealer agrees, 2 time(s) a hand"),
        (replace(LANES, ladder="game"), "the only ask is for the whole game"),
        (replace(LANES, ladder="x2"), "doubles"),
    ],
)
def test_changed_rule_changes_its_sentence(variant, sentence) -> None:
    assert sentence.lower() in rules_page(variant).lower()


def test_rule_that_a_game_lacks_is_not_mentioned() -> None:
    assert "cuts or taps" not in rules_page(LANES)
