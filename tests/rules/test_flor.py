"""Flor: who declares one and when, what it does to envido and truco, and the round of the others (rules.md 8.2, 8.6)."""

import pytest
from rules.played import action, dealt, events, flores, given, options, played, score

from truc_rules import IllegalActionError, apply, deciders, next_hand, preset
from truc_rules.positions.events import FlorDeclared, PointsScored

GAME = preset("truco-argentino-flor")
F26, F27, F29, F36 = "1o 5o 12o", "1b 2b 4b", "4e 5e 11e", "3c 6c 7c"
PLAIN, BARE, POOR = "7o 6o 1c", "3o 4c 12b", "2o 5c 11b"
"""No flores: 33, 4, 5."""
ALL = ["flor", "flor-fold", "contraflor", "contraflor-rest"]


def duel():
    """Return the first duel of a hand for six: seat 0 against seat 3; seats 0, 1, 3 and 4 hold flores."""
    hands = (F27, F26, PLAIN, F36, F29, POOR)
    match = played(dealt("truco-argentino-6-flor", *hands, score=(6, 6), dealer=4), "5 concede")
    return given(next_hand(match), *hands)


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
