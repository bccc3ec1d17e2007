"""Where cards go; figures are pinned in tests/vectors/deal.json."""

import pytest
from rows import each_row

from truc_protocol import dealing
from truc_protocol.dealing import DealError, Opening

MID, SEED = bytes([0x33] * 32), bytes(range(32))
LINKS = [(0, bytes([0x44] * 32)), (1, bytes([0x55] * 32))]
PACK = tuple(range(28))


def deal(**changes):
    where = {"dealer": 0, "seats": 2, "ncards": 3, "up": 0}
    return dealing.deal_cards(SEED, PACK, **{**where, **changes})


def cards(dealt):
    return [[opening.card for opening in hand] for hand in dealt.hands]


def test_cards_go_one_at_a_time_from_the_seat_after_the_dealer():
    assert cards(deal(seats=4, dealer=1)) == [[2, 6, 10], [3, 7, 11], [0, 4, 8], [1, 5, 9]]


def test_whole_pack_can_be_dealt():
    assert deal(ncards=14).next_card == 28


@each_row("changes", [{"ncards": 15}, {"ncards": 14, "up": 1}, {"before": [dealing.DealtCards((), (), 23)]}])
def test_more_cards_than_the_pack_holds_are_refused(changes):
    with pytest.raises(DealError, match="cards in the pack, got 28"):
        deal(**changes)


def test_opening_shows_neither_card_nor_salt():
    assert repr(Opening(17, b"salt")) == "Opening(hidden)"


def test_dealt_cards_show_no_hand():
    assert repr(deal(ncards=1, up=1)) == (
        "DealtCards(hands=((Opening(hidden),), (Opening(hidden),)), up=(2,), next_card=3)"
    )


@each_row("cut", [-1, 28])
def test_cut_outside_the_pack_is_refused(cut):
    with pytest.raises(DealError, match="0 to 27 cards"):
        dealing.deck_order(SEED, size=28, cut=cut)


def test_every_seat_can_be_the_first_dealer():
    assert {dealing.first_dealer(MID, j, LINKS, 6) for j in range(50)} == set(range(6))
