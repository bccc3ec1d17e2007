"""Where cards go; figures are pinned in tests/vectors/deal.json."""

import pytest

from truc_protocol import dealing
from truc_protocol.dealing import DealError, Opening

MID, SEED = bytes([0x33] * 32), bytes(range(32))
LINKS = [(0, bytes([0x44] * 32)), (1, bytes([0x55] * 32))]
PACK = tuple(range(28))


def deal(**changes):
    where = {"d": 0, "dealer": 0, "seats": 2, "ncards": 3, "start": 0, "up": 0}
    return dealing.deal_cards(SEED, PACK, **{**where, **changes})


def cards(dealt):
    return [[opening.card for opening in hand] for hand in dealt.hands]


def test_cards_go_one_at_a_time_from_the_seat_after_the_dealer():
    assert cards(deal(seats=4, dealer=1)) == [[2, 6, 10], [3, 7, 11], [0, 4, 8], [1, 5, 9]]


def test_redeal_goes_on_where_the_deal_ended():
    first = deal()
    assert cards(deal(d=1, start=first.next_card)) == [[7, 9, 11], [6, 8, 10]]


def test_cards_are_turned_up_after_the_hands():
    assert deal(up=2).up == (6, 7)


def test_redeal_goes_on_after_the_cards_turned_up():
    assert deal(up=2).next_card == 8


def test_redeal_turns_no_card_up():
    assert (deal(d=1, up=2).up, deal(d=1, up=2).next_card) == ((), 6)


def test_one_card_each_can_be_dealt():
    assert cards(deal(ncards=1)) == [[1], [0]]


def test_whole_pack_can_be_dealt():
    assert deal(ncards=14).next_card == 28


@pytest.mark.parametrize("changes", [{"ncards": 15}, {"ncards": 14, "up": 1}, {"start": 23}], ids=str)
def test_more_cards_than_the_pack_holds_are_refused(changes):
    with pytest.raises(DealError, match="cards in the pack, got 28"):
        deal(**changes)


def test_every_card_has_a_salt_of_its_own():
    salts = {opening.salt for d in range(2) for hand in deal(d=d).hands for opening in hand}
    assert len(salts) == 12


def test_salts_have_16_bytes():
    assert {len(opening.salt) for opening in deal().hands[0]} == {16}


def test_opening_shows_neither_card_nor_salt():
    assert repr(Opening(17, b"salt")) == "Opening(hidden)"


def test_dealt_cards_show_no_hand():
    assert repr(deal(ncards=1, up=1)) == (
        "DealtCards(hands=((Opening(hidden),), (Opening(hidden),)), up=(2,), next_card=3)"
    )


def test_cut_moves_cards_from_top_to_bottom():
    whole = dealing.deck_order(SEED, size=28, cut=0)
    assert dealing.deck_order(SEED, size=28, cut=5) == whole[5:] + whole[:5]


@pytest.mark.parametrize("cut", [-1, 28])
def test_cut_outside_the_pack_is_refused(cut):
    with pytest.raises(DealError, match="0 to 27 cards"):
        dealing.deck_order(SEED, size=28, cut=cut)


@pytest.mark.parametrize(
    ("mid", "j", "links"),
    [(bytes(32), 0, LINKS), (MID, 1, LINKS), (MID, 0, LINKS[:1]), (MID, 0, [LINKS[0], (2, LINKS[1][1])])],
    ids=["match", "index", "links", "roles"],
)
def test_seed_depends_on(mid, j, links):
    assert dealing.seed(mid, j, links) != dealing.seed(MID, 0, LINKS)


def test_first_dealer_is_a_seat():
    assert all(0 <= dealing.first_dealer(MID, j, LINKS, 6) < 6 for j in range(50))


def test_every_seat_can_be_the_first_dealer():
    assert {dealing.first_dealer(MID, j, LINKS, 6) for j in range(50)} == set(range(6))


def test_leaves_stand_by_seat_and_slot():
    hands = deal().hands
    expected = dealing.leaf(MID, j=4, d=1, seat=1, slot=2, opening=hands[1][2])
    assert dealing.leaves(MID, j=4, d=1, hands=hands)[1][2] == expected


def test_hand_digest_depends_on_the_seat():
    leaves = dealing.leaves(MID, j=0, d=0, hands=deal().hands)[0]
    first, second = (dealing.hand_digest(MID, j=0, d=0, seat=seat, leaves=leaves) for seat in range(2))
    assert first != second
