"""What is done for a seat whose time is over: fairness, "Rulings", row "move"."""

from dataclasses import replace

import pytest
from rows import each_row
from rules.played import action, dealt, played

from truc_rules import (
    IllegalActionError,
    MatchError,
    Seat,
    apply,
    apply_ruled,
    deciders,
    know,
    lowest_slot,
    move_line,
    new_match,
    preset,
    ruled,
    with_options,
)

CATALAN, FRENCH = preset("truc-catalan"), preset("truc-french")
FOUR = ("3o 12c 4e", "3c 7b 5o", "2e 6c 1b", "2b 10e 4c")


def ruling(match):
    found = ruled(match)
    return found and f"{found.seat} {move_line(match.variant, found)}"


@each_row("moves, expected", [((), "2 cut"), (("2 tap",), "3 deal 3"), (("2 cut",), None)])
def test_the_pack_is_cut_three_cards_are_dealt_and_nothing_is_ruled_while_they_are_awaited(moves, expected):
    assert ruling(played(new_match(CATALAN, seats=4, dealer=Seat(3)), *moves)) == expected


def test_nothing_is_ruled_after_the_hand():
    match = played(dealt(CATALAN, *FOUR, before=["2 cut"]), "0 raise 2", "1 decline")
    assert ruling(match) is None
    with pytest.raises(MatchError):
        apply_ruled(match, action(match, "0 accept"))


def test_the_lowest_slot_is_played():
    match = dealt(CATALAN, *FOUR, before=["2 cut"])
    assert ruling(match) == "0 play 3o"
    assert ruling(played(match, "0 play 3o", "1 play 3c", "2 play 2e", "3 play 2b")) == "0 play 12c"


@each_row(
    "moves, order",
    [
        (("0 play 3o", "1 play 3c", "2 play 2e raise 2"), (3, 1)),
        (("0 play 3o raise 2", "3 raise 3"), (0, 2)),  # after who raised in the answer
    ],
)
def test_the_first_after_the_asker_declines(moves, order):
    match = played(dealt(CATALAN, *FOUR, before=["2 cut"]), *moves)
    assert deciders(match) == order
    assert ruling(match) == f"{order[0]} decline"


@each_row("dealer, order", [(0, (2, 0)), (1, (2, 0)), (2, (0, 2)), (3, (0, 2))])
def test_the_last_point_question_goes_round_from_the_dealer(dealer, order):
    match = dealt(CATALAN, *FOUR, score=(11, 0), dealer=dealer, before=[f"{(dealer - 1) % 4} cut"])
    assert deciders(match) == order
    assert ruling(match) == f"{order[0]} decline"


@each_row(
    "moves, expected",
    [((), "0 stand"), (("0 redeal",), "1 decline"), (("0 stand", "0 raise rest"), "1 decline")],
)
def test_a_redeal_is_not_proposed_and_a_redeal_or_a_remainder_is_declined(moves, expected):
    assert ruling(played(dealt(FRENCH, "8h Jd 9c", "Ks 7d 10h"), *moves)) == expected


def test_an_absent_seat_concedes_where_the_variant_says_so_without_a_right_to_it():
    match = dealt(replace(CATALAN, absent="concede"), *FOUR, before=["2 cut"])
    assert ruling(match) == "0 concede"
    with pytest.raises(IllegalActionError):
        apply(match, ruled(match))
    after, _ = apply_ruled(match, ruled(match))
    assert [side.points for side in after.score] == [0, 1]


def test_a_ruling_is_applied_like_an_action_and_nothing_but_the_ruling():
    match = dealt(CATALAN, *FOUR, before=["2 cut"])
    assert apply_ruled(match, ruled(match)) == apply(match, ruled(match))
    with pytest.raises(MatchError, match="expected the ruling on this state"):
        apply_ruled(match, action(match, "0 play 12c"))


def test_a_card_unknown_here_is_learnt_first():
    match = dealt(CATALAN, "? 12c ?", *FOUR[1:], before=["2 cut"])
    assert ruling(match) == "0 play"
    with pytest.raises(MatchError, match="with its card known"):
        apply_ruled(match, ruled(match))
    match = know(match, Seat(0), lowest_slot(match, Seat(0)), CATALAN.pack.index("3o"))
    assert ruling(match) == "0 play 3o"
    assert apply_ruled(match, ruled(match))[0].hand.row.table == (CATALAN.pack.index("3o"),)


FLORES = ("1b 2b 4b", "3c 6c 7c")
GOVERNED = dealt("truc-partnership", "8h Qd 7c", "Ah 10c 9d", "Qs 8c 10h", "Ac 9s Kh")
BLIND = with_options(preset("truco-mineiro"), {"blind": "on"})


@each_row(
    "match, moves, expected",
    [
        (dealt("truco-argentino-flor", *FLORES), ("0 flor",), "1 flor"),
        (dealt("truco-argentino", *FLORES), ("0 envido", "1 accept"), "0 good"),
        (dealt(BLIND, "3h Qd Kc", "3c Js As", score=(11, 11)), (), "0 blind 0"),
        (GOVERNED, ("0 stand", "0 play 8h", "1 play Ah", "0 order low"), "2 play 10h"),
    ],
)
def test_a_flor_is_declared_a_value_yielded_an_unseen_card_played_and_an_order_followed(
    match, moves, expected
):
    assert ruling(played(match, *moves)) == expected
