"""What the server and all seats but one guess of the last hand, by statistics: no more than whoever has only seen their own cards.

They keep to the protocol, and put together all they have: every point, digest and box, the links of their seats, and those that the
last seat has opened in earlier hands. Seeds are fixed, so nothing here fails by chance. `TRUC_DEALS` plays as many deals as
one likes.
"""

import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from math import comb

import pytest
from protocol.sealed_deals import MID, SealedDeal

from truc_protocol.blind_mode.points import card_times, inverse, product, times
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import cards_of
from truc_protocol.codec import digest
from truc_protocol.crypto.chains import Chain

DECK, HELD = 24, 3
DEALS = {seats: int(os.environ.get("TRUC_DEALS", usual)) for seats, usual in ((2, 40), (4, 16))}
LIMIT = 1e-6

Guess = Callable[[SealedDeal, int, Sequence[bytes]], list[int]]
"""All cards, the likeliest to be in the last seat's hand first: by the deal, that seat, and a link of every seat."""


def by_orders(deal: SealedDeal, last: int, links: Sequence[bytes]) -> list[int]:
    """Follow the places back through every seat's order."""
    lying = cards_of(deal.pack, links)
    told = [lying[deal.plan.place(0, last, slot)] for slot in range(HELD)]
    return told + [card for card in range(DECK) if card not in told]


def by_points(deal: SealedDeal, last: int, links: Sequence[bytes]) -> list[int]:
    """Put every number that the links give on the points of the hand, and see which card's point comes nearest."""
    secrets = [SeatSecrets(link, MID, deal.plan.j, DECK) for link in links]
    others = [each for seat, each in enumerate(secrets) if seat != last]
    distance = [256] * DECK
    for slot in range(HELD):
        p = deal.plan.place(0, last, slot)
        place = deal.pack.places[p]
        numbers = [
            product([each.lock(p) for each in some] + [each.mask() for each in some if is_masked])
            for some in (others, secrets)
            for is_masked in (False, True)
        ]
        shown = [int.from_bytes(times(inverse(number)).times(place.locked)) for number in numbers]
        for card in range(DECK):
            point = int.from_bytes(card_times(card).times(place.point))
            distance[card] = min(distance[card], *((point ^ each).bit_count() for each in shown))
    return sorted(range(DECK), key=distance.__getitem__)


@cache
def of_run(seats: int, run: int) -> tuple[SealedDeal, int]:
    """Return a deal and its last seat: each seat in turn."""
    return SealedDeal(deck=DECK, seats=seats, run=run).deal(), run % seats


def earlier(link: bytes) -> bytes:
    """Return the link before one, which was opened in an earlier hand: every step down a chain is public."""
    return Chain(digest("test/key"), digest("test/tn"), link, first=0, count=2).link(1)


def right(guess: Guess, deal: SealedDeal, last: int, links: Sequence[bytes]) -> int:
    """Return how many cards of the last hand are among as many guessed, of those that the others do not hold."""
    seen = {card for seat in range(deal.plan.seats) if seat != last for card in deal.cards(seat)}
    guessed = [card for card in guess(deal, last, links) if card not in seen][:HELD]
    return len(set(guessed) & set(deal.cards(last)))


def tails(unseen: int, deals: int, came: int) -> tuple[float, float]:
    """Return how likely so few, and so many, right cards are by chance: exactly, by the hypergeometric distribution of each hand."""
    hand = [comb(HELD, n) * comb(unseen - HELD, HELD - n) / comb(unseen, HELD) for n in range(HELD + 1)]
    chances = [1.0]
    for _ in range(deals):
        longer = [0.0] * (len(chances) + HELD)
        for at, chance in enumerate(chances):
            for n, of_hand in enumerate(hand):
                longer[at + n] += chance * of_hand
        chances = longer
    return sum(chances[: came + 1]), sum(chances[came:])


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 4])
def test_best_guess_of_all_but_one_is_no_better_than_chance(seats):
    """Whoever knows nothing fails here with a probability of 4e-6 for each number of seats, whatever they guess by."""
    came = dict.fromkeys((by_orders, by_points), 0)
    for run in range(DEALS[seats]):
        deal, last = of_run(seats, run)
        links = [earlier(link) if seat == last else link for seat, link in enumerate(deal.links)]
        for guess in came:
            came[guess] += right(guess, deal, last, links)
    unseen = DECK - (seats - 1) * HELD
    assert {
        guess.__name__: found
        for guess, found in came.items()
        if min(tails(unseen, DEALS[seats], found)) < LIMIT
    } == {}


@pytest.mark.parametrize("guess", [by_orders, by_points])
@pytest.mark.parametrize("seats", [2, 4])
def test_same_guess_is_right_in_every_card_with_the_last_seats_link(guess, seats):
    for deal, last in map(partial(of_run, seats), range(4)):
        assert right(guess, deal, last, deal.links) == HELD


def test_tails_tell_a_guess_that_is_somewhat_better_than_chance():
    """With 60 hands of three cards among 21 unseen, 25.7 are right by chance; twice as many are never taken for it."""
    assert min(tails(21, 60, 26)) > 0.4
    assert tails(21, 60, 51)[1] < LIMIT
    assert tails(21, 60, 4)[0] < LIMIT
    assert sum(tails(21, 1, 1)) - 1 == pytest.approx(comb(3, 1) * comb(18, 2) / comb(21, 3))
