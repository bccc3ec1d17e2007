"""Envido: who calls when, the grammar of the calls and what they pay (rules.md 8.2, 8.4, 8.5)."""

from dataclasses import replace

import pytest
from rules.played import dealt, events, given, options, played, score

from truc_rules import Envido, Kind, LastPoint, deciders, next_hand, preset, with_options
from truc_rules.contests.envido import _raises, accepted_points, declined_points, fold_bonus
from truc_rules.positions.events import (
    EnvidoAccepted,
    EnvidoCalled,
    EnvidoDeclined,
    PointsScored,
    ValueSaid,
    ValueYielded,
)

ARGENTINE = preset("truco-argentino")
TWO = ("7e 6e 2b", "7o 1o 4b")
"""33 and 28."""
FOUR = ("7o 1o 4b", "7e 6e 2b", "3o 5c 12b", "2o 6c 11b")
SIX = (*FOUR, "5e 4c 10b", "3e 1c 6b")
CALLS = {"E": "envido", "R": "real-envido", "F": "falta-envido"}


def calls(match, seat):
    return [line for line in options(match, seat) if "envido" in line]


def called(match, sequence):
    """Return the match after these calls, made by seats 0 and 1 in turn, and who answers."""
    for place, letter in enumerate(sequence):
        match = played(match, f"{place % 2} {CALLS[letter]}")
    return match, len(sequence) % 2


def accepted(sequence, **table):
    match, asked = called(dealt(ARGENTINE, *TWO, **table), sequence)
    return played(match, f"{asked} accept", "0 points 33", "1 good")


def declined(sequence, **table):
    match, asked = called(dealt(ARGENTINE, *TWO, **table), sequence)
    return played(match, f"{asked} decline"), 1 - asked


def duel():
    """Return the first duel of a hand for six: seat 0 against seat 3."""
    match = dealt("truco-argentino-6", *SIX, score=(6, 6), dealer=4)
    match = played(match, "5 concede")
    return given(next_hand(match), *SIX)


# rules.md 8.4, "Who / when"


def test_a_seat_calls_on_its_turn_before_its_first_card():
    assert calls(dealt(ARGENTINE, *FOUR), 0) == ["envido", "real-envido", "falta-envido"]


@pytest.mark.parametrize("stake", [1, 3])
def test_nobody_calls_in_a_hand_at_the_last_point(stake):
    # rules.md 2, "Eleven points": no betting
    variant = replace(ARGENTINE, last_point=LastPoint(at=1, stake=stake, decline=1, share=False))
    match = played(dealt(variant, *TWO, score=(29, 3)), "0 accept")
    assert calls(match, 0) == []


def test_nobody_else_calls_on_that_turn():
    match = dealt(ARGENTINE, *FOUR)
    assert [calls(match, seat) for seat in (1, 2, 3)] == [[], [], []]


def test_the_dealer_calls_on_its_turn_too():
    match = played(dealt(ARGENTINE, *FOUR), "0 play 4b", "1 play 2b", "2 play 12b")
    assert calls(match, 3) == ["envido", "real-envido", "falta-envido"]


def test_envido_is_over_after_ones_first_card():
    match = played(dealt(ARGENTINE, *TWO), "0 play 2b", "1 play 4b")
    assert calls(match, 1) == []


def test_there_is_no_envido_where_the_game_has_none():
    assert calls(dealt("truco-paulista", "7s 6s 2d", "7d As 4c", turn="3h"), 0) == []


def test_a_real_envido_that_is_never_called_is_not_offered():
    variant = replace(ARGENTINE, envido=Envido(1, 0, "leader", 1))
    assert calls(dealt(variant, *TWO), 0) == ["envido", "falta-envido"]


def test_a_call_is_told():
    assert events(dealt(ARGENTINE, *TWO), "0 real-envido") == (EnvidoCalled(0, "real-envido"),)


# rules.md 8.2 and 8.3


def test_an_unanswered_truco_is_answered_by_envido():
    match = played(dealt(ARGENTINE, *TWO), "0 raise 2")
    assert calls(match, 1) == ["envido", "real-envido", "falta-envido"]


def test_the_side_that_asked_truco_does_not_call_then():
    match = played(dealt(ARGENTINE, *FOUR), "0 raise 2")
    assert [calls(match, seat) for seat in (0, 2)] == [[], []]


def test_any_seat_of_the_asked_side_calls():
    match = played(dealt(ARGENTINE, *FOUR), "0 raise 2")
    assert [len(calls(match, seat)) for seat in (1, 3)] == [3, 3]


def test_who_has_played_does_not_call_in_answer_to_truco():
    match = played(dealt(ARGENTINE, *FOUR), "0 play 4b", "1 raise 2")
    assert [len(calls(match, seat)) for seat in (0, 2)] == [0, 3]


def test_after_the_envido_the_same_truco_waits_for_its_answer():
    match = played(dealt(ARGENTINE, *TWO), "0 raise 2", "1 envido", "0 accept", "0 points 33", "1 good")
    assert options(match, 1) == ["accept", "decline", "raise 3"]
    assert match.hand.bets.stake == 1


def test_truco_declined_after_the_envido_pays_both():
    # rules.md 15, test vector 9
    match = played(dealt(ARGENTINE, *TWO), "0 raise 2", "1 envido", "0 accept", "0 points 33", "1 good")
    assert score(played(match, "1 decline")) == (3, 0)


def test_truco_accepted_leaves_no_envido():
    match = played(dealt(ARGENTINE, *TWO), "0 raise 2", "1 accept", "0 play 2b")
    assert calls(match, 1) == []


def test_retruco_in_the_answer_has_accepted_truco():
    match = played(dealt(ARGENTINE, *TWO), "0 raise 2", "1 raise 3")
    assert calls(match, 0) == []


def test_an_accepted_remainder_leaves_no_envido():
    variant = replace(ARGENTINE, remainder="accept")
    match = played(dealt(variant, *TWO), "0 raise rest", "1 accept")
    assert calls(match, 0) == []


def test_an_envido_that_was_answered_is_not_called_again():
    match = played(dealt(ARGENTINE, *TWO), "0 envido", "1 decline", "0 raise 2")
    assert calls(match, 1) == []


def test_in_a_duel_only_the_two_of_it_answer_truco_by_envido():
    # rules.md 8.7
    match = played(duel(), "0 raise 2")
    assert [seat for seat in range(6) if calls(match, seat)] == [3]


def test_in_a_duel_the_opponent_answers_envido():
    match = played(duel(), "0 envido")
    assert deciders(match) == (3,)


def test_in_a_duel_two_say_their_values():
    match = played(duel(), "0 envido", "3 accept")
    assert match.hand.offers[-1].waiting == (0, 3)


# rules.md 8.4, "Calls and answers" and "Limits"; 13.24


@pytest.mark.parametrize(
    ("sequence", "answers"),
    [
        ("E", ["envido", "real-envido", "falta-envido"]),
        ("R", ["falta-envido"]),
        ("F", []),
        ("EE", ["real-envido", "falta-envido"]),
        ("ER", ["falta-envido"]),
        ("EER", ["falta-envido"]),
        ("EERF", []),
    ],
)
def test_a_call_is_answered_by_a_higher_one_only(sequence, answers):
    match, asked = called(dealt(ARGENTINE, *TWO), sequence)
    assert options(match, asked) == ["accept", "decline", *answers]


def test_real_envido_is_called_twice_where_the_game_says_so():
    variant = replace(ARGENTINE, envido=Envido(2, 2, "leader", 1))
    match = played(dealt(variant, *TWO), "0 real-envido")
    assert calls(match, 1) == ["real-envido", "falta-envido"]


def test_any_seat_of_the_asked_side_answers_the_one_after_the_caller_first():
    match = played(dealt(ARGENTINE, *SIX), "0 play 4b", "1 envido")
    assert deciders(match) == (2, 4, 0)


def test_the_callers_side_does_not_answer():
    match = played(dealt(ARGENTINE, *FOUR), "0 envido")
    assert [options(match, seat) for seat in (0, 2)] == [[], []]


def test_whoever_answers_hands_the_next_answer_to_the_other_side():
    match = played(dealt(ARGENTINE, *FOUR), "0 envido", "3 real-envido")
    assert deciders(match) == (0, 2)


# rules.md 8.4, the table


@pytest.mark.parametrize(("sequence", "quiero"), [("E", 2), ("R", 3), ("EE", 4), ("ER", 5), ("EER", 7)])
def test_accepted_calls_pay_their_sum(sequence, quiero):
    assert score(accepted(sequence)) == (quiero, 0)


@pytest.mark.parametrize("sequence", ["F", "EF", "RF", "EEF", "ERF", "EERF"])
def test_an_accepted_falta_pays_the_falta_instead(sequence):
    assert score(accepted(sequence, score=(5, 22))) == (5 + 8, 22)


@pytest.mark.parametrize(
    ("sequence", "no_quiero"),
    [
        ("E", 1),
        ("R", 1),
        ("F", 1),
        ("EE", 2),
        ("ER", 2),
        ("EF", 2),
        ("RF", 3),
        ("EER", 4),
        ("EEF", 4),
        ("ERF", 5),
        ("EERF", 7),
    ],
)
def test_a_declined_call_pays_the_calls_before_it_or_one(sequence, no_quiero):
    match, caller = declined(sequence)
    assert score(match)[caller] == no_quiero
    assert sum(score(match)) == no_quiero


def test_an_answer_closes_envido():
    match, _ = declined("E")
    assert match.hand.contests.envido_closed


def test_a_declined_call_leaves_the_turn_where_it_was():
    match = played(dealt(ARGENTINE, *TWO), "0 envido", "1 decline")
    assert deciders(match) == (0,)


def test_accepting_is_told_with_the_points():
    match = played(dealt(ARGENTINE, *TWO), "0 envido", "1 real-envido")
    assert events(match, "0 accept") == (EnvidoAccepted(0, 5),)


def test_declining_is_told_with_the_points():
    match = played(dealt(ARGENTINE, *TWO), "0 envido", "1 real-envido")
    assert events(match, "0 decline") == (EnvidoDeclined(0), PointsScored(1, 2, "envido"))


def test_the_best_value_wins_the_points_of_the_calls():
    match = played(dealt(ARGENTINE, *reversed(TWO)), "0 envido", "1 accept", "0 points 28")
    assert events(match, "1 points 33") == (ValueSaid(1, 33), PointsScored(1, 2, "envido"))


def test_who_gives_in_loses_the_points_of_the_calls():
    match = played(dealt(ARGENTINE, *TWO), "0 real-envido", "1 accept", "0 points 33")
    assert events(match, "1 good") == (ValueYielded(1), PointsScored(0, 3, "envido"))


# rules.md 8.4, "Falta"; 13.25; 14b


def test_falta_is_what_the_leader_lacks():
    # rules.md 15, test vector 10
    match = dealt(ARGENTINE, *TWO, score=(24, 10))
    assert accepted_points(match, (Kind.FALTA_ENVIDO,)) == (6, 6)


def test_falta_is_one_with_the_leader_at_29():
    match = accepted("EERF", score=(3, 29))
    assert score(match) == (4, 29)


def test_falta_is_at_least_one_beyond_the_target():
    variant = with_options(ARGENTINE, {"end_check": "hand_end"})
    match = dealt(variant, *TWO, score=(31, 31))
    assert accepted_points(match, (Kind.FALTA_ENVIDO,)) == (1, 1)


def test_falta_is_measured_to_the_target_of_the_game():
    # rules.md 13b.10
    match = dealt("truco-gauderio", *TWO, score=(4, 10))
    assert accepted_points(match, (Kind.FALTA_ENVIDO,)) == (14, 14)


@pytest.mark.parametrize(
    ("falta", "at", "points"),
    [
        ("malas-game", (15, 4), (15, 26)),
        ("malas-game", (16, 4), (14, 14)),
        ("malas-15", (4, 9), (6, 6)),
        ("malas-15", (15, 15), (1, 1)),
        ("malas-15", (16, 9), (14, 14)),
        ("leader", (4, 9), (21, 21)),
    ],
)
def test_falta_has_local_forms_while_both_sides_are_in_malas(falta, at, points):
    variant = with_options(ARGENTINE, {"falta": falta})
    assert accepted_points(dealt(variant, *TWO, score=at), (Kind.FALTA_ENVIDO,)) == points


@pytest.mark.parametrize(("line", "winner"), [("1 good", 0), ("1 points 33", 1)])
def test_falta_of_malas_wins_the_game_for_either_side(line, winner):
    variant = with_options(ARGENTINE, {"falta": "malas-game"})
    hands = TWO if winner == 0 else tuple(reversed(TWO))
    match = played(dealt(variant, *hands, score=(15, 4)), "0 falta-envido", "1 accept")
    value = 33 if winner == 0 else 28
    assert played(match, f"0 points {value}", line).game_winner == winner


def test_a_first_call_declined_pays_one():
    assert declined_points((Kind.FALTA_ENVIDO,)) == 1


# rules.md 8.5, 13b.2


def test_conceding_pays_one_more_while_envido_could_be_called():
    assert score(played(dealt(ARGENTINE, *TWO), "0 concede")) == (0, 2)


def test_conceding_after_ones_first_card_pays_the_stake_alone():
    match = played(dealt(ARGENTINE, *TWO), "0 play 2b", "1 play 7o", "1 play 1o")
    assert score(played(match, "0 concede")) == (0, 1)


def test_conceding_after_the_envido_pays_the_stake_alone():
    match = played(dealt(ARGENTINE, *TWO), "0 envido", "1 decline")
    assert score(played(match, "0 concede")) == (1, 1)


def test_conceding_after_an_accepted_truco_pays_the_stake_alone():
    match = played(dealt(ARGENTINE, *TWO), "0 raise 2", "1 accept")
    assert score(played(match, "0 concede")) == (0, 2)


def test_the_bonus_is_switched_off():
    variant = with_options(ARGENTINE, {"fold_bonus": 0})
    assert score(played(dealt(variant, *TWO), "0 concede")) == (0, 1)


def test_there_is_no_bonus_where_there_is_no_envido():
    assert fold_bonus(dealt("truc-french", "7s 8s 9s", "7d 8d 9d"), 0) == 0


def test_a_seat_that_is_not_to_act_pays_no_bonus():
    assert fold_bonus(dealt(ARGENTINE, *TWO), 1) == 0


def test_nobody_concedes_while_envido_waits_for_an_answer():
    match = played(dealt(ARGENTINE, *TWO), "0 envido")
    assert "concede" not in options(match, 0) + options(match, 1)


def test_rows_of_calls_are_not_kept_without_end():
    assert _raises.cache_info().maxsize == 1024
