"""Flor where cards are unknown: who may hold one may speak, and where a hand seems to wait (rules.md 13b.3)."""

from rows import each_row
from rules.played import action, dealt, flores, learnt, options, played, score

from truc_rules import Seat, apply, as_seen_by_all, deciders, preset, waits_for_unknown, without_unknown_flor
from truc_rules.contests.flor import round_answers
from truc_rules.positions.events import PointsScored

ALL = ["flor", "flor-fold", "contraflor", "contraflor-rest"]
GAME = preset("truco-argentino-flor")
F27, F29, F36 = "1b 2b 4b", "4e 5e 11e", "3c 6c 7c"
BARE = "3o 4c 12b"
"""No flor."""


@each_row(
    "hands, moves, waiting",
    [
        ((F27, "? ? ?", BARE, "? ? ?"), ("0 flor",), (1, 3)),
        ((F27, "? ? ?", F29, "? ? ?"), ("0 flor", "2 flor"), (3,)),  # who was passed over is not waited for
        ((F27, F36, "? ? ?", BARE), ("0 flor", "1 contraflor", "0 accept"), (0, 1, 2)),
    ],
)
def test_a_round_waits_for_seats_with_unknown_cards(hands, moves, waiting):
    assert played(dealt(GAME, *hands), *moves).hand.offers[-1].waiting == waiting


@each_row(
    "hands, moves, seat, said",
    [
        (("? ? ?", BARE), (), 0, ["flor"]),  # as long as the known cards are of one suit
        (("1b ? 5c", BARE), (), 0, []),
        ((F27, "? ? ?", BARE, "? ? ?"), ("0 flor",), 3, ALL),  # the one before it may have none
        ((F27, F36, BARE, "? ? ?"), ("0 flor",), 3, []),  # the one before it surely holds one
    ],
)
def test_who_may_hold_a_flor_may_say_so_in_its_turn(hands, moves, seat, said):
    assert flores(played(dealt(GAME, *hands), *moves), seat) == said


def test_a_round_of_unknown_cards_only_is_taken_as_over_until_they_become_known():
    match = played(dealt(GAME, F27, "? ? ?"), "0 flor")
    after, told = without_unknown_flor(match)
    assert (told, after.hand.offers) == ((PointsScored(0, 3, "flor"),), ())
    assert score(played(match, "0 play 1b")) == (3, 0)
    assert round_answers(match, Seat(0), match.hand.offers[-1]) == ()
    assert flores(learnt(match, 1, BARE), 1) == []
    known_now = learnt(match, 1, F36)
    assert without_unknown_flor(known_now) == (known_now, ())


@each_row(
    "hands, moves",
    [
        ((F27, "? ? ?", F29, BARE), ("0 flor",)),
        (("? ? ?", "? ? ?"), ("0 flor", "1 flor")),
        (("? ? ?", "? ? ?"), ("0 envido", "1 accept")),  # values are said whatever is known
    ],
)
def test_a_round_goes_on_where_somebody_surely_speaks(hands, moves):
    match = played(dealt(GAME, *hands), *moves)
    assert without_unknown_flor(match) == (match, ())


def test_flores_of_both_sides_are_compared_once_the_round_is_taken_as_over():
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 flor")
    after, _ = without_unknown_flor(match)
    assert after.hand.offers[-1].waiting == (0, 1)


def test_who_may_hold_a_flor_may_answer_a_contraflor_and_a_speaker_passes_over_who_may_hold_none():
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 contraflor")
    assert deciders(match) == (0,)
    assert options(match, 2) == ["accept", "decline", "contraflor-rest"]
    match = dealt(GAME, "? ? ?", F36, F27, BARE)
    match = played(match, "0 envido", "1 flor", "2 contraflor", "1 accept")
    assert options(match, 1) == ["points 36", "good"]


SAID = ("0 accept", "0 points 27", "1 points 36")


@each_row(
    "moves, scored",
    [
        (("2 contraflor-rest", "1 decline"), (7, 0)),
        ((*SAID, "2 points 37"), (9, 0)),
        ((*SAID, "0 play 1b"), (0, 6)),
    ],
)
def test_who_answers_or_says_its_value_has_declared_a_flor_and_unknown_ones_are_not_waited_for(moves, scored):
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 contraflor")
    assert score(played(match, *moves)) == scored


def test_a_flor_that_counts_without_a_word_was_not_kept_quiet():
    # rules.md 13b.3: seat 2 had not had its turn when seat 1 gave in; that it held a flor becomes known later
    match = played(dealt(GAME, F27, F36, "? ? ?", BARE), "0 flor", "1 flor-fold")
    match = played(learnt(match, 2, F29), "0 play 1b", "1 play 6c", "2 play 5e", "3 play 3o")
    match = played(match, "0 play 4b", "1 play 3c", "2 play 4e", "3 play 4c")
    match = played(match, "1 play 7c", "2 play 11e", "3 play 12b", "0 play 2b")
    assert score(match) == (5, 0)


def test_a_flor_kept_quiet_before_another_was_declared_stays_so():
    match = played(dealt(GAME, F29, F36), "0 play 4e", "1 flor", "1 play 3c", "1 play 6c", "0 play 11e")
    match = played(match, "0 play 5e", "1 play 7c")
    assert score(match) == (0, 3 + 3 + 1)


PLAIN = "7o 6o 1c"


@each_row(
    "hands, moves, opened",
    [
        ((F27, F36), ["0 flor"], True),  # everybody waits, whether or not another has one
        ((F27, PLAIN), ["0 flor"], True),
        ((F27, PLAIN, BARE, "2o 5c 11b"), ["0 flor"], True),  # a partner of the holder is unheard
        ((F27, F36), ["0 flor", "1 flor"], False),  # the last that can be declared
        ((PLAIN, F36), ["0 play 7o", "1 flor"], False),  # after the others have played
        ((F27, F36), ["0 envido"], False),  # what anybody can do
        ((F27, F36), ["0 raise 2"], False),
    ],
)
def test_a_flor_opens_a_wait_for_unknown_cards_while_another_can_be_declared(hands, moves, opened):
    *before, line = moves
    match = played(dealt(GAME, *hands), *before)
    assert waits_for_unknown(apply(as_seen_by_all(match), action(match, line))[0]) == opened
