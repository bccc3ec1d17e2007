"""Pido flor: who claims a flor that was kept quiet, and what comes of it (rules.md 8.6, 13b.4)."""

from dataclasses import replace

from rows import each_row
from rules.played import dealt, duel, events, options, played, score

from truc_rules import preset
from truc_rules.positions.events import FlorClaimed, FlorClaimSettled, HandWon, PointsScored

GAME, BY_SIX = preset("truco-argentino-flor"), preset("truco-argentino-6-flor")
LEVEL = replace(GAME, scoring=replace(GAME.scoring, end_check="hand_end"))
QUIET = ("1e 3o 4c", "5b 6b 7b")
"""Seat 1 has a flor, seat 0 wins two tricks."""
FOUR = ("1e 3o 4c", "5b 6b 7b", "2o 2c 10e", "4e 5e 11e")
SIX = ("1e 3o 4c", "5b 6b 7b", "2o 2c 10e", "4e 5e 11e", "10o 11c 12b", "1o 2e 3c")
UNSEEN = ("1e ? ?", "? ? ?", "? ? ?", "4e ? ?", "? ? ?", "? ? ?")
"""What a reader knows of six hands of which two have played a card."""


def claims(match, seat):
    return [line for line in options(match, seat) if line.startswith("claim")]


def test_a_claim_is_told_and_a_flor_kept_quiet_pays_three_before_the_hand_is_scored():
    match = played(dealt(GAME, *QUIET), "0 play 1e", "1 play 5b")
    assert events(match, "0 claim 1") == (FlorClaimed(0, 1),)
    told = events(played(match, "0 claim 1", "0 play 3o"), "1 play 6b")
    place = told.index(HandWon(0)) + 1
    assert told[place : place + 2] == (FlorClaimSettled(1, held=True), PointsScored(0, 3, "claim"))


def settled(match, line):
    """Return how the claims of a hand are settled, in order, by its last move."""
    told = (event for event in events(match, line) if isinstance(event, FlorClaimSettled))
    return [(event.target, event.held) for event in told]


def test_claims_are_settled_in_the_order_they_were_made():
    match = played(dealt(GAME, *FOUR), "0 play 1e", "1 play 5b", "2 play 2o", "3 play 4e")
    match = played(match, "2 claim 3", "1 claim 0", "0 claim 1")
    assert settled(match, "0 concede") == [(3, True), (0, False), (1, True)]


@each_row("claimed, order", [((), [1, 3]), (("0 claim 3",), [3, 1])])
def test_flores_played_in_silence_are_settled_from_eldest_after_what_was_claimed(claimed, order):
    match = played(dealt(GAME, *FOUR), "0 play 4c", "1 play 7b", "2 play 10e", "3 play 11e", *claimed)
    match = played(
        match, "3 play 5e", "0 play 3o", "1 play 5b", "2 play 2o", "0 play 1e", "1 play 6b", "2 play 2c"
    )
    assert settled(match, "3 play 4e") == [(target, True) for target in order]


@each_row(
    "hands, first, moves, then",
    [
        # docs/decisions/0003: what a reader holds never runs ahead of the truth, where side 0 may have three points more
        (UNSEEN, (8, 7), ("1 falta-envido", "4 accept", "1 points 33", "4 good"), (8, 8)),
        (UNSEEN, (8, 7), ("1 flor", "4 contraflor-rest", "1 accept", "1 points 38", "4 good"), (8, 13)),
        (SIX, (11, 7), ("1 falta-envido", "4 accept", "1 good"), (30, 7)),
    ],
)
def test_what_the_whole_game_is_worth_hangs_on_whether_a_claim_of_an_earlier_duel_is_open(
    hands, first, moves, then
):
    match = played(duel(BY_SIX, *hands), "0 play 1e", "3 play 4e", "0 claim 3", "0 concede")
    assert [claims(match, seat) for seat in range(6)] == [[]] * 6
    assert (score(match), score(played(match, *moves))) == (first, then)


@each_row(
    "variant, hand, winner",
    [
        # rules.md 8.6: the claim is settled first, and may give the game to the other side
        (GAME, "5b ? ?", None),
        (GAME, "5b 6c 7o", 1),
        (GAME, "5b 6b 7b", 0),
        # docs/decisions/0003: if seat 1 has no flor the score is level, and another hand is played
        (LEVEL, "5b ? ?", None),
        (LEVEL, "5b 6c 7o", None),
        (LEVEL, "5b 6b 7b", 0),
    ],
)
def test_nobody_has_the_game_for_a_reader_as_long_as_a_claim_is_open(variant, hand, winner):
    match = played(dealt(variant, "1e 3o 4c", hand, score=(29, 29)), "0 play 1e", "1 play 5b", "0 claim 1")
    assert played(match, "0 raise 2", "1 decline").game_winner == winner
