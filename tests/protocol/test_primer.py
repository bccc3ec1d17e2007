"""What a game's lessons are made from."""

from rows import each_row

from truc_rules import preset
from truc_words.primer import Primer

CATALAN = Primer(preset("truc-catalan"))


@each_row(
    "game, stronger",
    [
        ("truc-catalan", {"3o": 0, "2c": 4, "4b": 36}),
        ("truco-argentino", {"1e": 0, "7o": 3, "7c": 26}),  # cards named by themselves, beside their rank
    ],
)
def test_cards_are_counted_by_how_many_are_stronger(game, stronger) -> None:
    assert Primer(preset(game)).stronger().items() >= stronger.items()


def test_turned_up_card_makes_the_next_rank_the_strongest() -> None:
    paulista = Primer(preset("truco-paulista")).stronger("Ks")
    assert [paulista[card] for card in ("Ac", "Ah", "As", "Ad", "3c")] == [0, 1, 2, 3, 4]


def test_order_is_told_from_strong_to_weak() -> None:
    assert CATALAN.order == "3, 2, 1, 12, 11, 10, 7, 6, 5, 4"


@each_row(
    "bet, cards, value, beats",
    [
        ("envido", "7e 6e 1b", 33, 99),
        ("envido", "12e 11e 4b", 20, 40),
        ("envido", "12e 7o 4b", 7, 32),
        ("flor", "7e 6e 5e", 38, 99),
        ("flor", "12e 1e 4e", 25, 15),
    ],
)
def test_cards_count_in_a_bet_and_beat_some_of_the_other_hands(bet, cards, value, beats) -> None:
    argentine, held = Primer(preset("truco-argentino-flor")), cards.split()
    assert (argentine.value(bet, held), argentine.beats_of_100(bet, held)) == (value, beats)
