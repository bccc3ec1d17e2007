"""The stakes of games that are no preset, as house variants have them; what is told of asks and answers."""

from dataclasses import replace

import pytest
from rules.played import dealt, events, given, options, played

from truc_rules import IllegalActionError, next_hand, preset
from truc_rules.positions.events import PointsScored, StakeAccepted, StakeAsked, StakeDeclined

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


def test_no_overkill_leaves_the_remainder_as_a_strict_cap_does():
    """rules.md 4: the remainder is for the turn on which a double is barred, too; 9 knows no remainder."""
    assert raises(dealt(replace(BRAZIL, remainder="accept"), *HANDS, score=(11, 0)), 0) == ["raise rest"]


def test_an_answer_is_not_the_offer_of_ones_own_turn():
    match = played(dealt(BRAZIL, *HANDS), "0 raise 3", "1 raise 6", "0 raise 9", "1 accept", "0 play 7h")
    assert raises(match, 1) == ["raise 12"]


def test_two_asks_of_one_turn_are_one_too_many_before_and_after_the_card():
    both = replace(preset("truc-catalan"), alternate="no")
    match = dealt(both, "3o 7e 4b", "2o 1e 5c", before=["0 cut"])
    match = played(match, "0 raise 2", "1 accept", "0 play 4b")
    assert raises(match, 0) == []
    assert raises(match, 1) == ["raise 3"]


def test_the_winner_of_a_trick_has_a_new_turn():
    both = replace(preset("truc-catalan"), alternate="no")
    match = dealt(both, "3o 7e 4b", "2o 1e 5c", before=["0 cut"])
    match = played(match, "0 play 4b", "1 raise 2", "0 accept", "1 play 5c")
    assert raises(match, 1) == ["raise 3"]


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


def test_implicit_acceptance_is_told_before_the_card():
    match = played(dealt("truc-catalan", "3o 7e 4b", "2o 1e 5c", before=["0 cut"]), "0 play 3o raise 2")
    accepted, card, *_ = events(match, "1 play 5c")
    assert accepted == StakeAccepted(1, 2)
    assert card == (1, match.hand.dealt.cards[1][2])


def test_a_refused_ask_tells_the_points_and_why():
    match = played(dealt("truc-catalan", "3o 7e 4b", "2o 1e 5c", before=["0 cut"]), "0 raise 2")
    told = events(match, "1 decline")
    assert told[0] == StakeDeclined(1)
    assert told[-1] == PointsScored(0, 1, "declined")


def test_a_counter_takes_the_remainder_and_asks_nothing():
    match = played(dealt("truc-french", *HANDS), "0 stand", "0 raise rest")
    assert events(match, "1 raise rest") == (StakeAccepted(1, "rest"),)


def test_a_raise_in_the_answer_accepts_first():
    match = played(dealt("truc-catalan", "3o 7e 4b", "2o 1e 5c", before=["0 cut"]), "0 raise 2")
    assert events(match, "1 raise 3") == (StakeAccepted(1, 2), StakeAsked(1, 3))


def test_in_a_duel_only_its_two_players_give_it_up():
    # rules.md 8.7: only the two duelists act
    variant = replace(preset("truco-argentino-6"), concede="any")
    match = played(dealt(variant, *SIX, score=(6, 6), dealer=4), "5 concede")
    match = given(next_hand(match), *SIX)
    assert [seat for seat in range(6) if "concede" in options(match, seat)] == [0, 3]


# rules.md 1.6, row Venezuela: 1, 3, 6, 9, game
TARGET = 24
VENEZUELA = replace(
    preset("truco-argentino"),
    name="venezuela",
    ladder=(1, 3, 6, 9, TARGET),
    envido=None,
    scoring=replace(preset("truco-argentino").scoring, target=TARGET),
)
DEALT = ("1e 4o 5c", "3o 6c 10b")
ASKS = ("0 raise 3", "1 raise 6", "0 raise 9", f"1 raise {TARGET}")


def asked(number):
    return played(dealt(VENEZUELA, *DEALT), *ASKS[:number])


@pytest.mark.parametrize(("number", "stake"), [(1, 3), (2, 6), (3, 9), (4, TARGET)])
def test_an_accepted_ask_makes_the_stake_of_its_row(number, stake):
    assert played(asked(number), f"{number % 2} accept").hand.bets.stake == stake


@pytest.mark.parametrize(("number", "points"), [(1, 1), (2, 3), (3, 6), (4, 9)])
def test_a_refused_ask_pays_the_stake_before(number, points):
    scored = [
        event for event in events(asked(number), f"{number % 2} decline") if isinstance(event, PointsScored)
    ]
    assert [(event.side, event.points) for event in scored] == [((number - 1) % 2, points)]


def test_only_the_side_that_accepted_asks_next():
    match = played(asked(1), "1 accept")
    assert not [line for line in options(match, 0) if line.startswith("raise")]
    match = played(match, "0 play 4o")
    assert [line for line in options(match, 1) if line.startswith("raise")] == ["raise 6"]


def test_the_game_is_the_last_stake():
    assert options(asked(4), 0) == ["accept", "decline"]
