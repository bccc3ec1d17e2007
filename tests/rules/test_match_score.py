"""Games and matches around the hands."""

from dataclasses import replace

import pytest
from rows import each_row
from rules.played import dealt, duel, events, played

from truc_rules import LastPoint, MatchError, Score, Scoring, Seat, new_match, next_hand, owed_shares, preset
from truc_rules.positions.events import Conceded, GameWon, HandWon, MatchWon, PointsScored

ARGENTINE, CATALAN, FRENCH = preset("truco-argentino"), preset("truc-catalan"), preset("truc-french")
HANDS = ("8h Jd 9c", "Ks 7d 10h")
SIX = ("7o 1o 4b", "7e 6e 2b", "3o 5c 12b", "2o 6c 11b", "5e 4c 10b", "3e 1c 6b")


def points(match):
    return [side.points for side in match.score]


def test_the_end_of_a_match_is_told_in_order():
    match = dealt(FRENCH, *HANDS, score=(11, 4), games=(1, 0))
    assert events(match, "1 concede") == (
        Conceded(1), HandWon(0), PointsScored(0, 1, "conceded"), GameWon(0), MatchWon(0),
    )  # fmt: skip


def test_no_hand_follows_a_match_nor_a_hand_that_is_open():
    match = dealt(FRENCH, *HANDS, score=(11, 4), games=(1, 0))
    with pytest.raises(MatchError, match="after a hand that is over"):
        next_hand(match)
    with pytest.raises(MatchError, match="expected a match that goes on"):
        next_hand(played(match, "1 concede"))


DRAWN = ("0 play 8h", "1 play 8s", "0 play Jd", "1 play Js", "0 play 9c", "1 play 9s")


@each_row(
    "hands, moves, winner",
    [
        (HANDS, ("1 concede",), 0),
        (("8h Jd 9c", "8s Js 9s"), ("0 stand", *DRAWN), None),
        (HANDS, ("0 stand", "0 raise rest", "1 raise rest", "0 concede"), 1),
    ],
)
def test_at_hand_end_equal_scores_beyond_the_target_go_on_until_a_hand_or_the_remainder_is_won(
    hands, moves, winner
):
    level = replace(FRENCH, scoring=Scoring(12, 0, "hand_end"))
    match = played(dealt(level, *hands, score=(12, 12)), *moves)
    assert (points(match), match.game_winner) == ([13 if winner == 0 else 12, 12], winner)


@each_row(
    "changes, said",
    [
        ({"seats": 4}, r"seats: expected one of \(2,\) for truc-french, got 4"),
        ({"dealer": 2}, "dealer: expected a seat of 0 to 1, got 2"),
        ({"dealer": -1}, "dealer: expected a seat of 0 to 1, got -1"),
        ({"games": (2, 0)}, "games: expected less than 2 each"),
        ({"games": (-1, 0)}, "games: expected less than 2 each"),
        ({"score": (Score(0, 12), Score(0, 0))}, "score: expected less than 12 each"),
        ({"score": (Score(0, 0), Score(0, -1))}, "score: expected less than 12 each"),
    ],
)
def test_a_match_that_cannot_begin_is_refused(changes, said):
    with pytest.raises(MatchError, match=said):
        new_match(FRENCH, **{"seats": 2, "dealer": Seat(0), **changes})


def test_partners_at_their_last_point_are_owed_each_others_cards_where_the_variant_says_so():
    shared = replace(CATALAN, last_point=LastPoint(1, 3, 1, share=True))
    hands = ("3o 12c 4e", "3c 7b 5o", "2e 6c 1b", "2b 10e 4c")
    match = dealt(shared, *hands, score=(0, 11), before=["2 cut"])
    assert owed_shares(match) == ((1, 3), (3, 1))
    assert owed_shares(played(match, "1 accept")) == ()


def test_cards_shown_after_the_end_change_neither_game_nor_match():
    match = played(dealt("le-truc", *HANDS, score=(11, 4)), "0 stand", "0 raise rest", "1 decline")
    shown = played(match, "1 show Ks")
    assert (shown.games, shown.game_winner, shown.winner) == ((1, 0), 0, 0)


def test_at_hand_end_a_drawn_remainder_leaves_the_game_to_the_side_that_has_the_target():
    # rules.md 1.7: a drawn hand decides no game; 8.1: points above the target do
    level = replace(ARGENTINE, remainder="accept", all_tied="draw", scoring=Scoring(30, 0, "hand_end"))
    match = dealt(level, "4o 5o 6c", "4c 5e 6b", score=(29, 0))
    match = played(match, "0 envido", "1 accept", "0 points 29", "1 good", "0 raise rest", "1 accept")
    match = played(match, "0 play 4o", "1 play 4c", "0 play 5o", "1 play 5e", "0 play 6c", "1 play 6b")
    assert (match.hand.winner, points(match), match.game_winner) == (None, [31, 0], 0)


def test_a_remainder_won_in_a_duel_ends_the_game():
    level = replace(preset("truco-argentino-6"), remainder="accept", scoring=Scoring(30, 0, "hand_end"))
    match = played(
        duel(level, *SIX), "0 raise rest", "3 accept", "0 play 7o", "3 play 6c", "0 play 1o", "3 play 11b"
    )
    assert (points(match), match.game_winner) == ([30, 6], 0)
