"""Flor: what it is, who declares it when, the round of the others, contraflor and what every end pays (rules.md 8.6)."""

from dataclasses import replace
from itertools import combinations

import pytest
from rules.played import action, dealt, events, given, known, options, played

from truc_rules import (
    Card,
    Flor,
    IllegalActionError,
    Seat,
    apply,
    deciders,
    know,
    next_hand,
    preset,
    settled,
    with_options,
)
from truc_rules.events import (
    ContraflorAccepted,
    ContraflorCalled,
    FlorDeclared,
    FlorFolded,
    PointsScored,
    ValueSaid,
)
from truc_rules.values import FLOR_VALUES, flor_value, is_flor, may_be_flor

GAME = preset("truco-argentino-flor")
RUNS = replace(GAME, flor=Flor("run", claims=True))
FRENCH_RUNS = replace(
    preset("truc-french"), flor=Flor("run", claims=True), accept="explicit", remainder="none"
)
F26, F27, F29, F36 = "1o 5o 12o", "1b 2b 4b", "4e 5e 11e", "3c 6c 7c"
PLAIN, BARE, POOR = "7o 6o 1c", "3o 4c 12b", "2o 5c 11b"
"""No flores: 33, 4, 5."""
ALL = ["flor", "flor-fold", "contraflor", "contraflor-rest"]


def flores(match, seat):
    return [line for line in options(match, seat) if "flor" in line]


def score(match):
    return tuple(side.points for side in match.score)


def hand_of(variant, names):
    return [known(variant, name) for name in names.split()]


def duel():
    """Return the first duel of a hand for six: seat 0 against seat 3; seats 0, 1, 3 and 4 hold flores."""
    hands = (F27, F26, PLAIN, F36, F29, POOR)
    match = played(dealt("truco-argentino-6-flor", *hands, score=(6, 6), dealer=4), "5 concede")
    return given(next_hand(match), *hands)


# what a flor is


def test_three_cards_of_one_suit_are_a_flor():
    assert is_flor(GAME, hand_of(GAME, F27))


def test_two_suits_are_no_flor():
    assert not is_flor(GAME, hand_of(GAME, PLAIN))


def test_fewer_than_three_cards_are_no_flor():
    assert not is_flor(GAME, hand_of(GAME, "1b 2b"))


def test_480_of_9880_hands_are_flores():
    hands = list(combinations(range(40), 3))
    assert (sum(is_flor(GAME, cards) for cards in hands), len(hands)) == (480, 9880)


def test_a_flor_is_worth_20_and_its_numbers():
    assert [flor_value(GAME, hand_of(GAME, names)) for names in (F26, F27, F29, F36)] == [26, 27, 29, 36]


def test_court_cards_count_nothing_in_a_flor():
    assert flor_value(GAME, hand_of(GAME, "10o 11o 12o")) == 20


def test_flores_are_worth_20_to_38():
    found = {flor_value(GAME, cards) for cards in combinations(range(40), 3) if is_flor(GAME, cards)}
    assert found == set(range(20, 39)) == set(FLOR_VALUES)


# rules.md 13.30


@pytest.mark.parametrize("names", ["4b 5b 6b", "6o 7o 10o", "12e 10e 11e"])
def test_a_run_is_three_of_one_suit_that_follow_each_other(names):
    assert is_flor(RUNS, hand_of(RUNS, names))


@pytest.mark.parametrize("names", ["4b 5b 7b", "11o 12o 1o", "4b 5b 6o"])
def test_a_gap_the_way_round_or_another_suit_is_no_run(names):
    assert not is_flor(RUNS, hand_of(RUNS, names))


def test_ranks_that_are_no_numbers_follow_each_other_as_in_the_pack():
    assert is_flor(FRENCH_RUNS, hand_of(FRENCH_RUNS, "Kh Ah Qh"))
    assert not is_flor(FRENCH_RUNS, hand_of(FRENCH_RUNS, "7h Ah Kh"))


@pytest.mark.parametrize(
    ("names", "may_be"), [("? ? ?", True), ("1b ? 4b", True), ("1b ? 4c", False), ("1b 2b 4b", True)]
)
def test_unknown_cards_may_make_a_flor(names, may_be):
    assert may_be_flor(GAME, hand_of(GAME, names)) == may_be


# who declares when


def test_a_holder_declares_on_its_turn():
    assert flores(dealt(GAME, F27, PLAIN), 0) == ["flor"]


def test_nobody_declares_a_flor_it_does_not_hold():
    match = dealt(GAME, PLAIN, F27)
    with pytest.raises(IllegalActionError):
        apply(match, action(match, "0 flor"))


def test_nobody_declares_on_the_turn_of_another():
    assert flores(dealt(GAME, PLAIN, F27), 1) == []


def test_nobody_declares_after_its_first_card():
    match = played(dealt(GAME, F27, "3o 4c 12c"), "0 play 1b", "1 play 3o")
    assert flores(match, 1) + flores(match, 0) == []


def test_there_is_no_flor_where_the_game_has_none():
    assert flores(dealt("truco-argentino", F27, PLAIN), 0) == []


def test_the_asked_side_declares_in_answer_to_truco():
    match = played(dealt(GAME, BARE, F27), "0 raise 2")
    assert flores(match, 1) == ["flor"]


def test_the_asking_side_does_not_declare_before_truco_is_answered():
    match = played(dealt(GAME, F27, BARE, F36, POOR), "0 raise 2")
    assert flores(match, 0) + flores(match, 2) == []


def test_truco_waits_for_its_answer_after_the_flor():
    match = played(dealt(GAME, BARE, F27), "0 raise 2", "1 flor")
    assert score(match) == (0, 3)
    assert options(match, 1) == ["accept", "decline", "raise 3"]


def test_an_accepted_truco_does_not_close_flor():
    match = played(dealt(GAME, BARE, F27), "0 raise 2", "1 accept", "0 play 3o")
    assert flores(match, 1) == ["flor"]


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_any_holder_of_either_side_declares_while_envido_waits(seat):
    match = played(dealt(GAME, F26, F27, F36, F29), "0 envido")
    assert flores(match, seat) == ["flor"]


def test_who_has_played_does_not_declare_while_envido_waits():
    match = played(dealt(GAME, F26, POOR, BARE, F29), "0 play 1o", "1 envido")
    assert [flores(match, seat) for seat in (0, 3)] == [[], ["flor"]]


def test_the_others_of_a_table_do_not_declare_in_a_duel():
    # rules.md 8.7
    match = played(duel(), "0 envido")
    assert [seat for seat in range(6) if flores(match, seat)] == [0, 3]


def test_the_others_of_a_table_do_not_declare_in_answer_to_truco_in_a_duel():
    match = played(duel(), "0 raise 2")
    assert [seat for seat in range(6) if flores(match, seat)] == [3]


def test_only_the_opponent_in_a_duel_answers_a_flor():
    assert played(duel(), "0 flor").hand.offers[-1].waiting == (3,)


def test_no_flor_is_declared_while_values_are_said():
    match = played(dealt(GAME, F26, F27), "0 envido", "1 accept")
    assert flores(match, 0) + flores(match, 1) == []


# envido: rules.md 8.2, 13.27


def test_a_flor_makes_the_envido_calls_void():
    match = played(dealt(GAME, BARE, F27), "0 envido", "1 flor")
    assert score(match) == (0, 3)
    assert match.hand.offers == ()


def test_envido_is_not_called_after_a_flor():
    match = played(dealt(GAME, F27, BARE), "0 flor")
    assert match.hand.contests.envido_closed
    assert "envido" not in options(match, 0)


def test_a_flor_leaves_the_truco_below_the_envido():
    match = played(dealt(GAME, BARE, F27), "0 raise 2", "1 envido", "1 flor")
    assert options(match, 1) == ["accept", "decline", "raise 3"]


def test_a_flor_may_be_declared_after_the_envido_which_stands():
    match = played(dealt(GAME, BARE, F27), "0 envido", "1 decline", "0 play 3o", "1 flor")
    assert score(match) == (1, 3)


# the round


def test_the_other_holders_declare_in_order_of_play_after_the_first():
    match = played(dealt(GAME, F26, POOR, F36, F29), "0 envido", "2 flor")
    assert match.hand.offers[-1].waiting == (3, 0)


def test_play_waits_for_the_round():
    match = played(dealt(GAME, F27, F36), "0 flor")
    assert deciders(match) == (1,)
    assert options(match, 0) == []


def test_who_has_played_is_not_waited_for():
    match = played(dealt(GAME, F26, F36), "0 play 1o", "1 flor")
    assert score(match) == (0, 3)


def test_a_partner_of_all_who_declared_says_flor_only():
    match = played(dealt(GAME, F27, POOR, F36, BARE), "0 flor")
    assert options(match, 2) == ["flor"]


def test_an_opponent_of_a_flor_may_give_in_or_challenge():
    match = played(dealt(GAME, F27, F36), "0 flor")
    assert options(match, 1) == ALL


def test_a_partner_may_challenge_once_an_opponent_has_declared():
    match = played(dealt(GAME, F27, F36, F29, BARE), "0 flor", "1 flor")
    assert options(match, 2) == ALL


def test_a_flor_is_told():
    told = events(dealt(GAME, F27, BARE), "0 flor")
    assert told == (FlorDeclared(0), PointsScored(0, 3, "flor"))


# the table of 8.6


def test_flores_of_one_side_pay_three_each():
    match = played(dealt(GAME, F27, POOR, F36, "3o 4c 12e"), "0 flor", "2 flor")
    assert score(match) == (6, 0)


def test_nothing_is_said_when_only_one_side_has_flores():
    match = played(dealt(GAME, F27, BARE), "0 flor")
    assert match.hand.offers == ()


def test_flores_of_both_sides_pay_three_for_each_to_the_best():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 flor", "0 points 27", "1 points 36")
    assert score(match) == (0, 6)


def test_four_flores_pay_twelve():
    match = played(dealt(GAME, F26, F27, F36, F29), "0 flor", "1 flor", "2 flor", "3 flor")
    match = played(match, "0 silent", "1 points 27", "2 points 36", "3 good")
    assert score(match) == (12, 0)


def test_of_equal_flores_the_earlier_wins():
    match = played(dealt(GAME, "6e 7e 10e", "6c 7c 10c"), "0 flor", "1 flor", "0 points 33")
    assert options(match, 1) == ["good"]
    assert score(played(match, "1 good")) == (6, 0)


def test_flor_values_are_said_from_eldest_by_the_holders_only():
    match = played(dealt(GAME, BARE, F36, F29, POOR), "0 play 3o", "1 flor", "2 flor")
    assert match.hand.offers[-1].waiting == (1, 2)


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        (("1 flor-fold",), (4, 0)),
        (("1 contraflor", "0 decline"), (0, 4)),
        (("1 contraflor-rest", "0 decline"), (0, 4)),
        (("1 contraflor", "0 contraflor-rest", "1 decline"), (4, 0)),
    ],
)
def test_giving_in_pays_the_flores_of_the_other_side_and_one(lines, points):
    assert score(played(dealt(GAME, F27, F36), "0 flor", *lines)) == points


def test_giving_in_pays_for_each_flor_of_the_other_side():
    match = played(dealt(GAME, F27, F36, F29, BARE), "0 flor", "1 flor", "2 contraflor", "1 decline")
    assert score(match) == (7, 0)


def test_giving_in_does_not_pay_for_ones_own_flores():
    match = played(dealt(GAME, BARE, F36, F29, F26), "0 play 3o", "1 flor", "2 flor", "3 flor-fold")
    assert score(match) == (0 + 4, 0)


def test_giving_in_is_told():
    match = played(dealt(GAME, F27, F36), "0 flor")
    assert events(match, "1 flor-fold") == (FlorFolded(1), PointsScored(0, 4, "flor"))


def test_an_accepted_contraflor_pays_three_for_each_to_the_best():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 contraflor", "0 accept", "0 points 27", "1 points 36")
    assert score(match) == (0, 6)


def test_al_resto_pays_what_the_leader_lacks_besides():
    match = played(dealt(GAME, F27, F36, score=(12, 8)), "0 flor", "1 contraflor-rest", "0 accept")
    told = events(played(match, "0 points 27"), "1 points 36")
    assert told[:2] == (ValueSaid(1, 36), PointsScored(1, 18 + 6, "flor"))


def test_al_resto_at_20_to_12_with_two_flores_is_16():
    # rules.md 15, test vector 11
    match = played(dealt(GAME, F27, F36, score=(12, 20)), "0 flor", "1 contraflor-rest", "0 accept")
    assert score(played(match, "0 good")) == (12, 36)


def test_al_resto_is_at_least_nothing():
    variant = with_options(GAME, {"end_check": "hand_end"})
    match = played(dealt(variant, F27, F36, score=(31, 31)), "0 flor", "1 contraflor-rest", "0 accept")
    assert match.hand.offers[-1].points == (0, 0)


# contraflor


def test_a_contraflor_is_answered_by_yes_no_or_al_resto():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 contraflor")
    assert options(match, 0) == ["accept", "decline", "contraflor-rest"]


def test_al_resto_is_answered_by_yes_or_no():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 contraflor-rest")
    assert options(match, 0) == ["accept", "decline"]


def test_al_resto_in_answer_goes_back_to_the_other_side():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 contraflor", "0 contraflor-rest")
    assert options(match, 1) == ["accept", "decline"]


def test_who_declared_on_the_asked_side_answers_in_order_after_the_asker():
    match = dealt(GAME, BARE, F36, F29, F26)
    match = played(match, "0 play 3o", "1 flor", "2 flor", "3 contraflor")
    assert deciders(match) == (2,)


def test_two_holders_of_the_asked_side_may_answer():
    match = dealt(GAME, F27, "3c 6c 10c", "1o 5o 12o", "4e 5e 11e")
    match = played(match, "0 flor", "1 flor", "2 flor", "3 contraflor")
    assert deciders(match) == (0, 2)


def test_the_asking_side_does_not_answer_its_own_contraflor():
    match = played(dealt(GAME, F27, F36, BARE, F29), "0 flor", "1 contraflor")
    assert options(match, 3) == []


def test_a_contraflor_is_told():
    match = played(dealt(GAME, F27, F36), "0 flor")
    assert events(match, "1 contraflor") == (ContraflorCalled(1, "contraflor"),)


def test_an_accepted_contraflor_is_told():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 contraflor")
    assert events(match, "0 accept") == (ContraflorAccepted(0),)


# rules.md 13b.3


def test_who_was_not_heard_counts_when_the_other_side_gives_in():
    match = played(dealt(GAME, F27, F36, F29, BARE), "0 flor", "1 flor-fold")
    assert score(match) == (7, 0)


def test_who_was_not_heard_counts_when_a_contraflor_is_accepted():
    match = played(dealt(GAME, F27, F36, F29, F26), "0 flor", "1 contraflor", "0 accept")
    match = played(match, "0 points 27", "1 points 36", "2 good")
    assert score(match) == (0, 12)


def test_who_was_not_heard_speaks_when_values_are_compared():
    match = played(dealt(GAME, F27, F36, F29, F26), "0 flor", "1 contraflor", "0 accept")
    assert match.hand.offers[-1].waiting == (0, 1, 2, 3)


def test_who_counts_as_having_declared_is_told():
    match = played(dealt(GAME, F27, F36, F29, BARE), "0 flor")
    told = events(match, "1 flor-fold")
    assert told == (FlorFolded(1), FlorDeclared(2), PointsScored(0, 7, "flor"))


def test_who_has_played_in_silence_does_not_count():
    match = played(dealt(GAME, F29, F27, BARE, F36), "0 play 4e", "1 flor", "3 flor")
    assert score(match) == (0, 6)


def test_the_contest_is_closed_for_good():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 flor-fold")
    assert match.hand.contests.flor_closed
    assert flores(match, 0) + flores(match, 1) == []


# unknown cards


def learnt(match, seat, names):
    for slot, name in enumerate(names.split()):
        match = know(match, Seat(seat), slot, Card(known(GAME, name)))
    return match


def test_a_seat_with_unknown_cards_may_declare():
    assert flores(dealt(GAME, "? ? ?", BARE), 0) == ["flor"]


def test_a_seat_whose_known_cards_differ_in_suit_does_not():
    assert flores(dealt(GAME, "1b ? 5c", BARE), 0) == []


def test_a_round_waits_for_seats_with_unknown_cards():
    match = played(dealt(GAME, F27, "? ? ?", BARE, "? ? ?"), "0 flor")
    assert match.hand.offers[-1].waiting == (1, 3)


def test_a_later_seat_may_answer_where_the_one_before_it_may_have_none():
    match = played(dealt(GAME, F27, "? ? ?", BARE, "? ? ?"), "0 flor")
    assert options(match, 3) == ALL


def test_a_later_seat_does_not_answer_before_one_that_surely_holds_a_flor():
    match = played(dealt(GAME, F27, F36, BARE, "? ? ?"), "0 flor")
    assert flores(match, 3) == []


def test_a_seat_that_was_passed_over_is_not_waited_for():
    match = played(dealt(GAME, F27, "? ? ?", F29, "? ? ?"), "0 flor", "2 flor")
    assert match.hand.offers[-1].waiting == (3,)


def test_a_seat_whose_cards_became_known_does_not_answer_without_a_flor():
    match = played(dealt(GAME, F27, "? ? ?"), "0 flor")
    assert flores(learnt(match, 1, BARE), 1) == []


def test_a_round_of_unknown_cards_only_is_taken_as_over():
    match = played(dealt(GAME, F27, "? ? ?"), "0 flor")
    after, told = settled(match)
    assert told == (PointsScored(0, 3, "flor"),)
    assert after.hand.offers == ()


def test_a_round_goes_on_if_somebody_surely_holds_a_flor():
    match = played(dealt(GAME, F27, "? ? ?", F29, BARE), "0 flor")
    assert settled(match) == (match, ())


def test_a_flor_that_became_known_is_waited_for():
    match = played(dealt(GAME, F27, "? ? ?"), "0 flor")
    known_now = learnt(match, 1, F36)
    assert settled(known_now) == (known_now, ())


def test_play_goes_on_over_a_round_of_unknown_cards():
    match = played(dealt(GAME, F27, "? ? ?"), "0 flor", "0 play 1b")
    assert score(match) == (3, 0)


def test_flores_of_both_sides_are_compared_once_the_round_is_taken_as_over():
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 flor")
    after, _ = settled(match)
    assert after.hand.offers[-1].waiting == (0, 1)


def test_who_may_hold_a_flor_may_speak_after_a_contraflor():
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 contraflor", "0 accept")
    assert match.hand.offers[-1].waiting == (0, 1, 2)


def test_who_says_its_flor_value_has_declared_one():
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 contraflor", "0 accept")
    match = played(match, "0 points 27", "1 points 36", "2 points 37")
    assert score(match) == (9, 0)


def test_values_of_unknown_flores_are_not_waited_for():
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 contraflor", "0 accept")
    match = played(match, "0 points 27", "1 points 36", "0 play 1b")
    assert score(match) == (0, 6)


def test_a_speaker_passes_over_who_may_hold_no_flor():
    match = dealt(GAME, "? ? ?", F36, F27, BARE)
    match = played(match, "0 envido", "1 flor", "2 contraflor", "1 accept")
    assert options(match, 1) == ["points 36", "good"]


def test_envido_values_are_waited_for_whatever_is_known():
    match = played(dealt(GAME, "? ? ?", "? ? ?"), "0 envido", "1 accept")
    assert settled(match) == (match, ())
