"""The stakes of games that are no preset, as house variants have them; what is told of asks and answers."""

from dataclasses import replace

import pytest
from rows import each_row
from rules.played import dealt, duel, events, options, played

from truc_rules import IllegalActionError, preset
from truc_rules.positions.events import CardPlayed, PointsScored, StakeAccepted, StakeAsked, StakeDeclined

HANDS = ("7h Kd 9c", "8s Ah 10d")
SIX = ("7o 1o 4b", "7e 6e 2b", "3o 5c 12b", "2o 6c 11b", "5e 4c 10b", "3e 1c 6b")
BRAZIL = replace(
    preset("truc-lanes"),
    ladder=(1, 3, 6, 9, 12),
    cap="no_overkill",
    raise_in_answer=True,
    remainder="none",
    redeal=None,
)


def raises(match, seat):
    return [line for line in options(match, seat) if line.startswith("raise")]


@each_row("remainder", ["accept", "last"])
def test_a_side_that_has_won_with_the_stake_may_still_ask_for_the_game(remainder):
    """rules.md 4: the remainder is for the turn on which a double is barred, too; 9 knows no remainder."""
    assert raises(dealt(replace(BRAZIL, remainder=remainder), *HANDS, score=(11, 0)), 0) == ["raise rest"]


def test_an_answer_is_not_the_offer_of_ones_own_turn():
    match = played(dealt(BRAZIL, *HANDS), "0 raise 3", "1 raise 6", "0 raise 9", "1 accept", "0 play 7h")
    assert raises(match, 1) == ["raise 12"]


def test_two_asks_of_one_turn_are_one_too_many_and_the_winner_of_a_trick_has_a_new_one():
    both = replace(preset("truc-catalan"), alternate="no")
    match = dealt(both, "3o 7e 4b", "2o 1e 5c", before=["0 cut"])
    asked = played(match, "0 raise 2", "1 accept", "0 play 4b")
    assert [raises(asked, 0), raises(asked, 1)] == [[], ["raise 3"]]
    won = played(match, "0 play 4b", "1 raise 2", "0 accept", "1 play 5c")
    assert raises(won, 1) == ["raise 3"]


def test_a_partner_cannot_accept_by_a_card_where_the_governor_answers():
    """rules.md 1.6: an ask is accepted by the other side, "or its governor", in a word or by a card."""
    governed = replace(
        preset("truc-partnership"), accept="implicit", ask_window="ba", remainder="none", redeal=None
    )
    match = dealt(governed, "7h 9h 9s", "7d 10c Ks", "Ac Jh As", "8c 9d Kd")
    match = played(match, "0 play 9h raise 2")
    assert options(match, 1) == []
    with pytest.raises(IllegalActionError, match="expected seat 3 to answer the ask for 2"):
        played(match, "1 play 10c")


TRUC = dealt("truc-catalan", "3o 7e 4b", "2o 1e 5c", before=["0 cut"])
ASKED = played(TRUC, "0 raise 2")


@each_row(
    "match, line, told",
    [
        (
            played(TRUC, "0 play 3o raise 2"),
            "1 play 5c",
            [StakeAccepted(1, 2), CardPlayed(1, TRUC.variant.pack.index("5c"))],
        ),
        (ASKED, "1 decline", [StakeDeclined(1)]),
        (ASKED, "1 raise 3", [StakeAccepted(1, 2), StakeAsked(1, 3)]),
        (
            played(dealt("truc-french", *HANDS), "0 stand", "0 raise rest"),
            "1 raise rest",
            [StakeAccepted(1, "rest")],
        ),
    ],
)
def test_answer_is_told_before_what_comes_with_it(match, line, told):
    found = events(match, line)
    assert [*found[: len(told)]] == told
    assert (found[-1] == PointsScored(0, 1, "declined")) is line.endswith("decline")


def test_in_a_duel_only_its_two_players_give_it_up():
    # rules.md 8.7: only the two duelists act
    variant = replace(preset("truco-argentino-6"), concede="any")
    match = duel(variant, *SIX)
    assert [seat for seat in range(6) if "concede" in options(match, seat)] == [0, 3]


@each_row(
    "ladder, asked",
    [
        ((1, 3, 6), ["raise 3"]),
        ((1, 3, 13), ["raise 3"]),  # the number that follows is above the target
        ("x2", ["raise 2"]),
        ("any", [f"raise {stake}" for stake in range(2, 13)]),
    ],
)
def test_the_game_is_asked_for_where_no_number_is_left(ladder, asked):
    # rules.md 18.3, 19.3
    last = replace(BRAZIL, ladder=ladder, cap="target", remainder="last")
    match = dealt(last, *HANDS)
    assert raises(match, 0) == asked
    highest = {"x2": 8, "any": 12}.get(ladder, 6 if ladder == (1, 3, 6) else 3)
    at_top = match._replace(hand=match.hand._replace(bets=match.hand.bets._replace(stake=highest)))
    assert raises(at_top, 0) == ["raise rest"]
