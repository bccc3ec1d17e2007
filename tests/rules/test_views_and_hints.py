"""What a seat may see, and the figures beside its options."""

import pytest
from rules.played import action, dealt, played

from truc_rules import Seat, deciders, hints, new_match, preset, view

CATALAN, FRENCH, LANES = (preset(name) for name in ("truc-catalan", "truc-french", "truc-lanes"))
HANDS = ("8h Jd 9c", "Ks 7d 10h")


def hinted(match, line):
    return dict(hints(match, action(match, line)))


def test_a_seat_sees_its_cards_and_the_number_of_the_others():
    match = played(dealt(FRENCH, *HANDS), "0 stand", "0 play Jd")
    seen = view(match, Seat(0))
    assert seen.cards == match.hand.dealt.cards[0]
    assert seen.row.left == ((0, 2), (0, 1, 2))


def test_a_spectator_sees_no_cards_but_the_table():
    match = played(dealt(FRENCH, *HANDS), "0 stand", "0 play Jd")
    seen = view(match, None)
    assert (seen.cards, seen.row.table) == ((), (FRENCH.pack.index("Jd"),))


def test_before_the_deal_there_is_nothing_to_see():
    seen = view(new_match(FRENCH, seats=2, dealer=Seat(0)), Seat(0))
    assert (seen.cards, seen.row.left, seen.deciders) == ((), (), ())


def test_a_view_says_whose_decision_it_is():
    match = dealt(FRENCH, *HANDS)
    assert view(match, None).deciders == deciders(match)


def test_the_redealt_cards_of_others_are_nowhere_in_a_view():
    match = played(dealt(FRENCH, *HANDS), "0 redeal", "1 accept")
    assert view(match, Seat(0)) == view(
        played(dealt(FRENCH, "8h Jd 9c", "? ? ?"), "0 redeal", "1 accept"), Seat(0)
    )


CUT = {"before": ["0 cut"]}
SPANISH = ("3o 7e 4b", "2o 1e 5c")


@pytest.mark.parametrize(
    ("match", "line", "figures"),
    [
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 raise 2", {"stake": 2, "declined": 1}),
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 raise rest", {"stake": "game", "declined": 1}),
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 play 8h", {}),
        (played(dealt(FRENCH, *HANDS), "0 stand"), "0 concede", {"loses": 1}),
        (dealt(FRENCH, *HANDS), "0 stand", {}),
        (played(dealt(FRENCH, *HANDS), "0 redeal"), "1 accept", {}),
        (played(dealt(FRENCH, *HANDS), "0 redeal"), "1 decline", {}),
        (played(dealt(FRENCH, *HANDS), "0 stand", "0 raise 2"), "1 accept", {"stake": 2}),
        (played(dealt(FRENCH, *HANDS), "0 stand", "0 raise 2"), "1 decline", {"loses": 1}),
        (played(dealt(FRENCH, *HANDS), "0 stand", "0 raise rest"), "1 raise rest", {"stake": "game"}),
        (
            played(dealt(FRENCH, *HANDS), "0 stand", "0 raise rest", "1 raise rest"),
            "1 concede",
            {"loses": "game"},
        ),
        (played(dealt(LANES, *HANDS), "0 stand", "0 raise rest"), "1 accept", {"stake": "game"}),
        (dealt(CATALAN, *SPANISH, **CUT), "0 play 3o raise 2", {"stake": 2, "declined": 1}),
        (played(dealt(CATALAN, *SPANISH, **CUT), "0 raise 2"), "1 raise 3", {"stake": 3, "declined": 2}),
        (played(dealt(CATALAN, *SPANISH, **CUT), "0 play 3o raise 2"), "1 play 2o", {"stake": 2}),
        (dealt(CATALAN, *SPANISH, score=(11, 0), **CUT), "0 accept", {"stake": 3}),
        (dealt(CATALAN, *SPANISH, score=(11, 0), **CUT), "0 decline", {"loses": 1}),
        (played(new_match(CATALAN, seats=2, dealer=Seat(1)), "0 tap"), "1 deal 1", {"cards": 1}),
        (played(new_match(CATALAN, seats=2, dealer=Seat(1)), "0 tap"), "1 deal 3", {"cards": 3}),
        (new_match(CATALAN, seats=2, dealer=Seat(1)), "0 tap", {}),
    ],
)
def test_an_option_comes_with_its_figures(match, line, figures):
    assert hinted(match, line) == figures
