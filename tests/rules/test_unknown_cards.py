"""Cards by slot, known or not: the same engine for a server and for an auditor."""

import pytest
from rows import each_row
from rules.played import action, dealt, known, options, played

from truc_rules import (
    Action,
    CardError,
    IllegalActionError,
    Kind,
    MatchError,
    Seat,
    apply,
    awaits_deal,
    deal,
    know,
    know_all,
    legal,
    lowest_slot,
    new_match,
    preset,
    with_known_card,
    with_options,
)

FRENCH = preset("truc-french")
HANDS = ("8h Jd 9c", "? ? ?")


def test_only_known_cards_are_legal():
    match = played(dealt(FRENCH, "? Jd ?", "? ? ?"), "0 stand")
    assert options(match, 0) == ["raise 2", "raise rest", "play Jd", "concede"]


def test_an_unknown_card_cannot_be_played_nor_none_in_its_place():
    match = played(dealt(FRENCH, *HANDS), "0 stand", "0 play 8h")
    assert lowest_slot(match, Seat(0)) == 1
    with pytest.raises(IllegalActionError, match="seat 1 cannot play 7s: it does not hold that card"):
        apply(match, action(match, "1 play 7s"))
    for none in ((None,), ()):
        with pytest.raises(IllegalActionError):
            apply(match, Action(Seat(1), Kind.PLAY, none))


def test_a_card_that_became_known_can_be_played():
    match = played(dealt(FRENCH, *HANDS), "0 stand", "0 play 8h")
    match = played(know(match, Seat(1), 2, known(FRENCH, "7s")), "1 play 7s")
    assert match.hand.row.leader == 1
    assert match.hand.row.left[1] == (0, 1)


def test_many_cards_are_learnt_at_once_as_one_by_one_and_none_twice():
    match = dealt(FRENCH, *HANDS)
    cards = [(Seat(1), slot, known(FRENCH, name)) for slot, name in enumerate(("Ac", "10s", "7s"))]
    one_by_one = match
    for seat, slot, card in cards:
        one_by_one = know(one_by_one, seat, slot, card)
    assert know_all(match, cards) == one_by_one
    assert know(match, Seat(0), 1, known(FRENCH, "Jd")) is match
    ace = known(FRENCH, "Ac")
    with pytest.raises(CardError, match="got Ac again in slot 2 of seat 1"):
        know_all(match, [(Seat(1), 0, ace), (Seat(1), 2, ace)])


@each_row(
    "seat, slot, name, said",
    [
        (0, 1, "Qd", "expected Jd in slot 1 of seat 0, got Qd"),
        (1, 1, "Jd", "expected every card once in a hand, got Jd again in slot 1 of seat 1"),
        (1, 3, "Qd", "expected a slot and a card of this deal"),
        (2, 0, "Qd", "expected a slot and a card of this deal"),
    ],
)
def test_a_card_elsewhere_is_refused(seat, slot, name, said):
    with pytest.raises(CardError, match=said):
        know(dealt(FRENCH, *HANDS), Seat(seat), slot, known(FRENCH, name))


def test_a_card_thrown_in_does_not_come_back():
    match = played(dealt(FRENCH, *HANDS), "0 redeal", "1 accept")
    assert awaits_deal(match)
    with pytest.raises(CardError, match="got 8h again"):
        deal(match, [[known(FRENCH, "8h"), None, None], [None] * 3])
    match, _ = deal(match, [[None] * 3] * 2)
    with pytest.raises(CardError, match="got 8h again"):
        know(match, Seat(0), 0, known(FRENCH, "8h"))


def test_a_hand_played_with_cards_learnt_late_ends_as_one_dealt_open():
    moves = ["0 stand", "0 play 8h", "1 play 7s", "1 play Ac", "0 play Jd"]
    openly = played(dealt(FRENCH, "8h Jd 9c", "Ac 10s 7s"), *moves)
    match = played(dealt(FRENCH, *HANDS), *moves[:2])
    match = played(know(match, Seat(1), 2, known(FRENCH, "7s")), moves[2])
    match = played(know(match, Seat(1), 0, known(FRENCH, "Ac")), *moves[3:])
    assert know(match, Seat(1), 1, known(FRENCH, "10s")) == openly


@each_row(
    "hands, up, said",
    [
        ([[0, 1, 2]], (), r"expected 3 cards for each of 2 seats, got \[3\]"),
        ([[0, 1, 2], [3, 4]], (), r"expected 3 cards for each of 2 seats, got \[3, 2\]"),
        ([[0, 1, 2], [3, 4, 0]], (), "expected every card once in a hand, got As again"),
        ([[0, 1, 2], [3, 4, 32]], (), "expected a card of 0 to 31, got 32"),
        ([[0, 1, 2], [3, 4, -1]], (), "expected a card of 0 to 31, got -1"),
        ([[0, 1, 2], [3, 4, 5]], (6,), "expected 0 cards to be turned up, got 1"),
    ],
)
def test_a_deal_that_cannot_be_is_refused(hands, up, said):
    with pytest.raises(CardError, match=said):
        deal(new_match(FRENCH, seats=2, dealer=Seat(0)), hands, up)


def test_cards_are_dealt_only_when_they_are_awaited():
    with pytest.raises(MatchError, match="expected a hand that waits for cards, got one in phase redeal"):
        deal(dealt(FRENCH, *HANDS), [[0, 1, 2], [3, 4, 5]])


def test_an_unseen_card_must_be_known_before_it_is_played():
    blind = with_options(preset("truco-mineiro"), {"blind": "on"})
    match = dealt(blind, "? ? ?", "? ? ?", score=(11, 11))
    with pytest.raises(CardError, match="expected the card in slot 1 of seat 0 to be known"):
        played(match, "0 blind 1")


def test_what_cannot_be_answered_is_refused_while_unknown_cards_are_waited_for():
    match = played(dealt("truco-argentino-flor", "? ? ?", "? ? ?"), "0 flor")
    with pytest.raises(IllegalActionError, match="seat 1 cannot raise to 4"):
        played(match, "1 raise 4")


def test_a_card_played_face_down_is_named_where_it_is_known():
    covered = with_options(preset("truco-mineiro"), {"cover_from_trick": 2})
    match = dealt(covered, "3h Qd Kc", "? ? ?")
    assert with_known_card(match, Action(Seat(0), Kind.COVER, (), 1)) == action(match, "0 cover Qd")


@each_row(
    "unnamed", [(1, Kind.COVER, (), 1), (0, Kind.COVER, (), 7), (5, Kind.COVER, (), 0), (0, Kind.STAND)]
)
def test_an_action_without_a_card_to_name_stays_as_it_is(unnamed):
    match = dealt("truco-mineiro", "3h Qd Kc", "? ? ?")
    assert with_known_card(match, Action(*unnamed)) == Action(*unnamed)


def test_an_unknown_card_is_offered_face_down_by_its_slot():
    covered = with_options(preset("truco-mineiro"), {"cover_from_trick": 2})
    match = played(dealt(covered, "3h ? Kc", "3c Js As"), "0 play 3h", "1 play 3c")
    found = [each for each in legal(match, Seat(0)) if each.kind is Kind.COVER]
    assert found == [Action(Seat(0), Kind.COVER, (), 1), action(match, "0 cover Kc")]
    assert apply(match, found[0])[0].hand.dealt.covered == ((0, 1),)  # and it may stay unknown


@each_row("order", ["7", "low", "high"])
def test_an_order_binds_nobody_whose_cards_are_not_all_known(order):
    hands = ("8h Qd 7c", "Ah 10c 9d", "Qs ? 10h", "Ac 9s Kh")
    match = played(dealt("truc-partnership", *hands), "0 stand", f"0 order {order}", "0 play 8h", "1 play Ah")
    assert [line for line in options(match, 2) if line.startswith("play")] == ["play Qs", "play 10h"]


def test_a_seat_that_is_not_there_has_no_options():
    match = dealt(FRENCH, *HANDS)
    assert (legal(match, Seat(-1)), legal(match, Seat(2))) == ((), ())
