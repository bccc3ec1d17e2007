"""What cards are worth in envido, what a flor is, and what it is worth (rules.md 8.4, 8.6, 13.30)."""

from dataclasses import replace
from itertools import combinations

from rows import each_row
from rules.played import known

from truc_rules import Flor, preset
from truc_rules.cards import pack_of
from truc_rules.contests.values import envido_cards, envido_value, flor_value, is_flor, may_be_flor

ARGENTINE = preset("truco-argentino")
GAME = preset("truco-argentino-flor")
RUNS = replace(GAME, flor=Flor("run", claims=True))
FRENCH_RUNS = replace(
    preset("truc-french"), flor=Flor("run", claims=True), accept="explicit", remainder="none"
)


def hand_of(variant, names):
    return [known(variant, name) for name in names.split()]


# rules.md 8.4, "Value of a hand"


def test_values_are_0_to_7_and_20_to_33():
    found = {envido_value(ARGENTINE, cards) for cards in combinations(range(40), 3)}
    assert found == {*range(8), *range(20, 34)} == set(ARGENTINE.envido_values)


@each_row(
    "hand, making",
    [
        ("2b 7e 6e", "7e 6e"),
        ("4o 5c 12b", "5c"),
        ("7e 12e 10e", "7e 12e"),  # of equal pairs the one given first
        ("5c 5o 12b", "5c"),
    ],
)
def test_two_cards_make_a_value_of_twenty_or_more_and_one_a_lower_value(hand, making):
    assert envido_cards(ARGENTINE, hand_of(ARGENTINE, hand)) == tuple(hand_of(ARGENTINE, making))


# what a flor is


def test_480_of_9880_hands_are_flores():
    hands = list(combinations(range(40), 3))
    assert (sum(is_flor(GAME, cards) for cards in hands), len(hands)) == (480, 9880)


def test_flores_are_worth_20_to_38():
    found = {flor_value(GAME, cards) for cards in combinations(range(40), 3) if is_flor(GAME, cards)}
    assert found == set(range(20, 39)) == set(GAME.flor_values)


# rules.md 17.4, 17.5


def dealt_hands(variant):
    """Yield the card turned up and every hand beside it, for every card that may be turned up."""
    for up in range(len(variant.pack)):
        rest = [card for card in range(len(variant.pack)) if card != up]
        yield from (((up,), cards) for cards in combinations(rest, 3))


@each_row(
    "name, plain, flores, share",
    [
        ("truco-uruguayo", {*range(8), *range(20, 38)}, set(range(20, 48)), 1419),
        ("truco-venezolano", {*range(8), *range(20, 38)}, {*range(20, 44), *range(59, 67)}, 744),
    ],
)
def test_values_with_pieces_are_those_that_may_be_said_and_of_the_sources(name, plain, flores, share):
    variant, envidos, found, count = preset(name), set(), set(), 0
    for up, cards in dealt_hands(variant):
        if is_flor(variant, cards, up):
            found.add(flor_value(variant, cards, up))
            count += 1
        else:
            envidos.add(envido_value(variant, cards, up))
    assert (envidos, found, count) == (plain, flores, 40 * share)
    assert envidos < set(variant.envido_values)
    assert found <= set(variant.flor_values)


def test_the_values_of_the_valencian_pack_are_3_to_7_and_24_to_33():
    # rules.md 18.4
    variant = preset("truc-valencia")
    found = {envido_value(variant, cards) for cards in combinations(range(22), 3)}
    assert found == {*range(3, 8), *range(24, 34)}


@each_row("turned", ["6c", "2c"])
def test_the_card_that_stands_in_counts_as_the_piece_and_else_nothing(turned):
    variant = preset("truco-uruguayo")
    up = (known(variant, turned),)
    assert envido_value(variant, hand_of(variant, "12c 7o 4e"), up) == (37 if turned == "2c" else 7)


# rules.md 13.30


@each_row(
    "names, is_run",
    [
        *((names, True) for names in ("4b 5b 6b", "6o 7o 10o", "12e 10e 11e")),
        *((names, False) for names in ("4b 5b 7b", "11o 12o 1o", "4b 5b 6o")),
    ],
)
def test_a_run_is_three_of_one_suit_that_follow_each_other(names, is_run):
    assert is_flor(RUNS, hand_of(RUNS, names)) is is_run


def test_numbers_follow_each_other_wherever_they_stand_in_the_pack():
    variant = replace(RUNS, pack=pack_of("3 2 1 12 11 10 7 6 5 4", "oceb"))
    assert not is_flor(variant, hand_of(variant, "1o 12o 11o"))


def test_ranks_that_are_no_numbers_follow_each_other_as_in_the_pack():
    assert is_flor(FRENCH_RUNS, hand_of(FRENCH_RUNS, "Kh Ah Qh"))
    assert not is_flor(FRENCH_RUNS, hand_of(FRENCH_RUNS, "7h Ah Kh"))


@each_row("names, may_be", [("? ? ?", True), ("1b ? 4b", True), ("1b ? 4c", False), ("1b 2b 4b", True)])
def test_unknown_cards_may_make_a_flor(names, may_be):
    assert may_be_flor(GAME, hand_of(GAME, names)) == may_be
