"""Honest deals of mode blind, for two, four and six seats: whose places are whose, who locks first, what each seat reads."""

import pytest
from protocol.sealed_deals import SealedDeal
from rows import each_row

from truc_protocol.blind_mode.points import decoded, encoded
from truc_protocol.blind_mode.sealed_pack import PackStage, find_card, leaves, opens_place, turned_up
from truc_protocol.blind_mode.seat_steps import differences, read_lend
from truc_protocol.crypto import keys as crypto

TABLES = [
    {"seats": 2, "dealer": 0, "turned": 1},
    {"seats": 4, "dealer": 3, "turned": 0},
    {"seats": 6, "dealer": 1, "turned": 1},
]


@each_row("table", TABLES)
def test_every_card_is_dealt_once_redealt_from_the_rest_and_first_locked_by_the_other_side(table):
    deal = SealedDeal(**table).deal()
    seen = [card for seat in range(table["seats"]) for card in deal.cards(seat)]
    seen += turned_up(deal.pack)
    deal.redeal()
    seen += [card for seat in range(table["seats"]) for card in deal.cards(seat)]
    assert len(set(seen)) == len(seen) == 6 * table["seats"] + table["turned"]
    assert not deal.exposed()
    assert all(len(place.commitments) == table["seats"] for place in deal.pack.places)
    owned = [place for place in deal.pack.places if place.seat is not None]
    assert all(place.seat % 2 != place.commitments[0][0] % 2 for place in owned)


def test_nobody_else_can_open_a_card_without_the_owners_key():
    deal = SealedDeal(seats=4).deal()
    place, opened = deal.pack.hand(0, 2)[1], deal.hand(2)[1]
    guesses = [deal.secrets[1].lock(0), 1, decoded(opened.keys[3])]
    for guess in guesses:
        keys = (*opened.keys[:2], encoded(guess), opened.keys[3])
        assert find_card(place, keys, 40) is None
    assert find_card(place, opened.keys, 40) == opened.card


def test_a_deal_needs_a_mask_of_each_a_lock_more_than_seats_and_keys_of_each():
    deal = SealedDeal(seats=4).deal()
    kinds = [type(step).__name__.removesuffix("Step") for step in deal.pack.steps]
    assert kinds == ["Mask"] * 4 + ["Lock"] * 5 + ["Keys"] * 4
    deal.redeal()
    redealt = [type(step).__name__.removesuffix("Step") for step in deal.pack.steps[len(kinds) :]]
    assert redealt == ["GrantedRedeal"] + ["Lock"] * 5 + ["Keys"] * 4


def test_partner_reads_the_cards_lent_to_it():
    deal = SealedDeal(seats=4, turned=1).deal()
    lend = deal.lend(1, 3)
    deal.take(lend)
    assert read_lend(deal.pack, lend, deal.xs[3]) == deal.hand(1)
    assert not deal.exposed()


def test_cards_of_a_hand_played_blind_open_one_by_one():
    deal = SealedDeal(unseen=True, turned=1).deal()
    assert [keys.boxes for keys in deal.pack.dealt[0]] == [(), ()]
    seen = [*turned_up(deal.pack)]
    for seat, slot in ((0, 2), (1, 0), (1, 1)):
        place = deal.pack.places[deal.play_unseen(seat, slot)]
        keys = tuple(step.opened[0] for step in sorted(deal.pack.keyed, key=lambda step: step.seat))
        seen.append(find_card(place, keys, 40))
        assert opens_place(deal.pack, deal.plan.place(0, seat, slot), seen[-1], keys)
    assert None not in seen
    assert len(set(seen)) == 4
    assert not deal.exposed()


def test_the_next_index_shares_no_card_place_nor_point():
    one, other = SealedDeal(run=1).deal(), SealedDeal(run=2).deal()
    assert not (one.pack.points & other.pack.points) - one.pack.points.intersection(SealedDeal().pack.points)
    assert one.pack.order != other.pack.order
    assert leaves(one.pack, 0) != leaves(other.pack, 0)


class Exchanges:
    """How many exchanges of X25519 there were, without those that check a point."""

    def __init__(self, monkeypatch):
        self.made = self.checked = 0
        self._real, self._negation = crypto._exchange, crypto._NEGATION
        monkeypatch.setattr(crypto, "_exchange", self._make)
        monkeypatch.setattr(crypto, "_NEGATION", self)

    def _make(self, private, peer):
        self.made += 1
        return self._real(private, peer)

    def exchange(self, peer):
        self.checked += 1
        return self._negation.exchange(peer)


@pytest.mark.parametrize("seats", [2, 4])
def test_exchanges_of_a_deal_are_one_for_each_point_made_of_another_and_one_for_each_checked(
    seats, monkeypatch
):
    """The base point is multiplied in another way: the eldest's mask makes all its points of it."""
    deal = SealedDeal(seats=seats, turned=1)
    counted, told = Exchanges(monkeypatch), {}
    while deal.pack.stage is not PackStage.READY:
        stage = deal.pack.stage
        deal.take(deal.next_step())
        made, checked = told.get(stage, (0, 0))
        told[stage] = (made + counted.made, checked + counted.checked)
        counted.made = counted.checked = 0
    places = 3 * seats + 1
    assert told == {
        PackStage.MASK: (80 * (seats - 1), 80 * seats),
        PackStage.LOCK: (seats * places, seats * places),
        PackStage.KEYS: (seats * (seats - 1), seats),
    }


def test_seats_are_judged_without_an_exchange_but_for_boxes_once_all_links_before_theirs_are_open(
    monkeypatch,
):
    deal = SealedDeal(seats=4, dealer=3, turned=1).deal()
    links = dict(enumerate(deal.links))
    counted = Exchanges(monkeypatch)

    def judged(seats, kept):
        counted.made = 0
        assert not differences(
            deal.pack, {seat: links[seat] for seat in seats}, {seat: links[seat] for seat in kept}
        )
        return counted.made

    boxes, places = 3, 13
    assert judged(range(4), ()) == 4 * boxes
    assert judged([3], range(3)) == boxes
    assert judged([1], [0]) == boxes + places  # what it locks was masked by the seats behind it
    assert judged([1], [2, 3]) == boxes + places + 80
