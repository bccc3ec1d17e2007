"""Saying values: the order, higher, good and silent, and the second turns (rules.md 8.4, "Declaring"; 13b.1)."""

import pytest
from rules.played import action, dealt, events, options, played, score

from truc_rules import IllegalActionError, Score, apply, deciders, preset
from truc_rules.positions.events import KeptSilent, PointsScored, ValueSaid, ValueYielded

TWO = ("7o 1o 4b", "7e 6e 2b")
FOUR = ("6o 7o 1c", "5e 4e 10c", "7b 6b 2c", "12e 3b 4b")
"""33, 29, 33, 27."""
LATE = ("7o 6o 1c", "5e 2e 10c", "4b 2b 12c", "7c 3c 11o")
"""33, 27, 26, 30: the partner of seat 0 is beaten by seat 3."""
SIX = ("7o 6o 1c", "5e 3e 10c", "4b 1b 12c", "7c 3c 11o", "4o 2o 1e", "6b 2b 2c")
"""33, 28, 25, 30, 26, 28."""


def saying(*hands, variant="truco-argentino"):
    return played(dealt(variant, *hands), "0 envido", "1 accept")


def said(match):
    return match.hand.contests.said


def test_eldest_speaks_first():
    assert deciders(saying(*FOUR)) == (0,)


def test_the_seats_speak_in_order():
    match = played(saying(*FOUR), "0 points 33")
    assert deciders(match) == (1,)


def test_nobody_speaks_before_its_turn():
    match = saying(*FOUR)
    assert [options(match, seat) for seat in (1, 2, 3)] == [[], [], []]


def test_the_first_speaker_says_its_value_or_gives_in():
    assert options(saying(*TWO), 0) == ["points 28", "good"]


def test_a_value_is_true():
    with pytest.raises(IllegalActionError):
        apply(saying(*TWO), action(saying(*TWO), "0 points 29"))


def test_a_value_of_cards_already_played_counts():
    match = played(dealt("truco-argentino", *TWO), "0 play 7o", "1 envido", "0 accept")
    assert options(match, 0) == ["points 28", "good"]


def test_a_higher_value_is_said():
    match = played(saying(*TWO), "0 points 28")
    assert options(match, 1) == ["points 33", "good"]


def test_a_lower_value_is_not_said():
    match = played(saying(*FOUR), "0 points 33")
    assert options(match, 1) == ["good", "silent"]


def test_an_equal_value_does_not_beat():
    match = played(saying(*FOUR), "0 points 33", "1 silent")
    assert options(match, 2) == ["good", "silent"]


def test_silent_is_open_to_a_seat_whose_partner_is_still_to_speak():
    assert options(saying(*FOUR), 0) == ["points 33", "good", "silent"]


def test_silent_is_open_to_a_seat_whose_partner_is_best():
    match = played(saying(*LATE), "0 points 33", "1 silent")
    assert options(match, 2) == ["good", "silent"]


def test_the_last_seat_of_a_beaten_side_does_not_keep_silent():
    match = played(saying(*FOUR), "0 points 33", "1 silent", "2 silent")
    assert options(match, 3) == ["good"]


def test_a_silent_partner_does_not_count_as_still_to_speak():
    match = played(saying(*LATE), "0 silent", "1 silent")
    assert options(match, 2) == ["points 26", "good"]


def test_two_alone_never_keep_silent():
    assert options(saying(*TWO), 0) == ["points 28", "good"]


def test_the_last_value_wins():
    match = played(saying(*TWO), "0 points 28", "1 points 33")
    assert score(match) == (0, 2)


def test_good_gives_in_for_the_whole_side():
    match = played(saying(*FOUR), "0 points 33", "1 good")
    assert score(match) == (2, 0)


def test_good_is_open_to_the_first_speaker():
    assert score(played(saying(*TWO), "0 good")) == (0, 2)


def test_good_said_first_leaves_no_value_said():
    assert said(played(saying(*TWO), "0 good")) == ()


def test_the_winner_said_its_value():
    assert said(played(saying(*TWO), "0 points 28", "1 points 33")) == ((1, 33),)


def test_who_is_best_and_gives_in_loses_to_what_the_others_said():
    match = played(saying(*SIX), "0 silent", "1 points 28", "2 silent", "3 points 30", "4 good")
    assert score(match) == (0, 2)
    assert said(match) == ((3, 30),)


def test_a_beaten_value_of_the_side_that_wins_is_what_it_said():
    hands = ("5o 1o 12c", "5e 2e 10c", "7b 3b 12o", "7c 4c 11o", "1b 2o 3c", "4e 1c 2b")
    match = played(saying(*hands), "0 points 26", "1 points 27", "2 points 30", "3 silent", "4 good")
    assert said(match) == ((1, 27),)


def test_a_silent_seat_whose_side_is_beaten_speaks_again():
    match = played(saying(*LATE), "0 silent", "1 silent", "2 points 26", "3 points 30")
    assert deciders(match) == (0,)


def test_in_its_second_turn_a_seat_says_higher_or_good():
    match = played(saying(*LATE), "0 silent", "1 silent", "2 points 26", "3 points 30")
    assert options(match, 0) == ["points 33", "good"]


def test_in_its_second_turn_a_seat_leaves_nothing_to_its_partner():
    match = played(saying(*SIX), "0 silent", "1 silent", "2 silent", "3 silent", "4 points 26", "5 points 28")
    assert options(match, 0) == ["points 33", "good"]


def test_who_was_beaten_again_after_a_second_turn_does_not_speak_a_third_time():
    match = saying("7c 3c 11o", "7o 6o 1c", "4b 2b 12c", "6e 2e 10c")
    match = played(match, "0 silent", "1 silent", "2 points 26", "3 points 28", "0 points 30", "1 points 33")
    assert score(match) == (0, 2)


def test_a_value_in_a_second_turn_gives_the_other_silent_seat_one():
    match = played(saying(*LATE), "0 silent", "1 silent", "2 points 26", "3 points 30", "0 points 33")
    assert options(match, 1) == ["good"]


def test_the_best_value_of_a_second_turn_wins():
    match = played(
        saying(*LATE), "0 silent", "1 silent", "2 points 26", "3 points 30", "0 points 33", "1 good"
    )
    assert said(match) == ((0, 33),)


def test_a_silent_seat_of_the_side_that_is_best_does_not_speak_again():
    match = played(saying(*LATE), "0 points 33", "1 silent", "2 silent", "3 good")
    assert score(match) == (2, 0)


def test_who_has_said_a_value_does_not_speak_again():
    match = played(saying(*TWO), "0 points 28", "1 points 33")
    assert match.hand.offers == ()


def test_second_turns_go_from_eldest():
    match = played(saying(*SIX), "0 silent", "1 silent", "2 silent", "3 silent", "4 points 26", "5 points 28")
    assert match.hand.offers[-1].waiting == (0, 2)


def test_a_higher_value_in_a_second_turn_spares_the_partner_its_own():
    match = played(
        saying(*SIX),
        "0 silent",
        "1 silent",
        "2 silent",
        "3 silent",
        "4 points 26",
        "5 points 28",
        "0 points 33",
    )
    assert match.hand.offers[-1].waiting == (1, 3)


def test_good_ends_it_for_a_silent_partner_too():
    match = played(
        saying(*SIX), "0 silent", "1 silent", "2 silent", "3 silent", "4 points 26", "5 points 28", "0 good"
    )
    assert score(match) == (0, 2)


def test_saying_is_told():
    match = saying(*FOUR)
    assert events(match, "0 points 33") == (ValueSaid(0, 33),)
    assert events(match, "0 silent") == (KeptSilent(0),)
    assert events(match, "0 good") == (ValueYielded(0), PointsScored(1, 2, "envido"))


def test_the_play_goes_on_where_it_stopped():
    match = played(dealt("truco-argentino", *TWO), "0 play 4b", "1 envido", "0 accept", "0 good")
    assert deciders(match) == (1,)


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


def test_flor_values_are_said_like_those_of_envido():
    hands = ("1b 2b 4b", "3c 6c 7c", "1o 5o 12o", "4e 5e 11e")
    match = played(dealt("truco-argentino-flor", *hands), "0 flor", "1 flor", "2 flor", "3 flor")
    match = played(match, "0 points 27", "1 silent", "2 silent")
    assert options(match, 3) == ["points 29", "good"]


def test_the_end_of_the_game_ends_the_hand_in_the_middle():
    variant = preset("truco-argentino")
    match = played(dealt(variant, *TWO, score=(3, 28)), "0 envido", "1 accept", "0 points 28", "1 points 33")
    assert match.game_winner == 1
    assert match.score == (Score(0, 3), Score(0, 30))
