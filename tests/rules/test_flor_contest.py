"""How a flor contest ends and what every end pays, and who answers a contraflor (rules.md 8.6, 13b.3)."""

import pytest
from rules.played import dealt, events, flores, options, played, score

from truc_rules import deciders, preset, with_options
from truc_rules.positions.events import (
    ContraflorAccepted,
    ContraflorCalled,
    FlorDeclared,
    FlorFolded,
    PointsScored,
    ValueSaid,
)

GAME = preset("truco-argentino-flor")
F26, F27, F29, F36 = "1o 5o 12o", "1b 2b 4b", "4e 5e 11e", "3c 6c 7c"
PLAIN, BARE, POOR = "7o 6o 1c", "3o 4c 12b", "2o 5c 11b"
"""No flores: 33, 4, 5."""


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


def test_the_contest_is_closed_when_the_values_are_said():
    match = played(dealt(GAME, F27, F36), "0 flor", "1 flor", "0 points 27", "1 points 36")
    assert match.hand.contests.flor_closed


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


def test_a_holder_of_the_asked_side_who_was_not_heard_may_answer():
    match = played(dealt(GAME, F27, F36, F29, BARE), "0 flor", "1 contraflor")
    assert deciders(match) == (0, 2)
    assert options(match, 2) == ["accept", "decline", "contraflor-rest"]


def test_a_partner_without_a_flor_does_not_answer():
    match = played(dealt(GAME, F27, F36, PLAIN, BARE), "0 flor", "1 contraflor")
    assert options(match, 2) == []


def test_who_answers_a_contraflor_has_declared_a_flor():
    match = played(dealt(GAME, F27, F36, F29, BARE), "0 flor", "1 contraflor")
    assert events(match, "2 accept") == (FlorDeclared(2), ContraflorAccepted(2))


def test_who_answers_by_al_resto_has_declared_a_flor():
    match = played(
        dealt(GAME, F27, F36, F29, BARE), "0 flor", "1 contraflor", "2 contraflor-rest", "1 decline"
    )
    assert score(match) == (7, 0)


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
