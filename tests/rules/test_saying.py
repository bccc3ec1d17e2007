"""Saying values, where scenarios do not reach: what is told, and cards that are not known (rules.md 8.4, "Declaring"; 13b.1)."""

from rules.played import dealt, events, options, played

from truc_rules.positions.events import KeptSilent, PointsScored, ValueSaid, ValueYielded

TWO = ("7o 1o 4b", "7e 6e 2b")
FOUR = ("6o 7o 1c", "5e 4e 10c", "7b 6b 2c", "12e 3b 4b")
"""33, 29, 33, 27."""


def saying(*hands, variant="truco-argentino"):
    return played(dealt(variant, *hands), "0 envido", "1 accept")


def test_saying_is_told():
    match = saying(*FOUR)
    assert events(match, "0 points 33") == (ValueSaid(0, 33),)
    assert events(match, "0 silent") == (KeptSilent(0),)
    assert events(match, "0 good") == (ValueYielded(0), PointsScored(1, 2, "envido"))


def test_a_seat_with_unknown_cards_may_say_any_value():
    match = saying("? ? ?", "7e 6e 2b")
    values = [*range(8), *range(20, 34)]
    assert options(match, 0) == [*(f"points {value}" for value in values), "good"]


def test_a_seat_with_an_unknown_card_may_say_any_higher_value():
    match = played(saying("7o 1o 4b", "7e ? 2b"), "0 points 28")
    assert options(match, 1) == [*(f"points {value}" for value in range(29, 34)), "good"]


def test_a_flor_of_unknown_cards_may_have_any_value():
    match = played(dealt("truco-argentino-flor", "? ? ?", "1b 2b 4b"), "0 flor", "1 flor")
    assert options(match, 0) == [*(f"points {value}" for value in range(20, 39)), "good"]
