"""The deal as a function of the contributors' links: seed, order of the pack, hands, salts and leaves.

The server deals with it, a seat checks its cards with it, and the audit recomputes everything with it. Nothing is
sealed or signed here. A leaf commits to one card in one place of one deal; its salt reveals nothing about the seed.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from truc_protocol.codec import digest
from truc_protocol.crypto.shuffle import pick, shuffle

# without a salt anybody could open a leaf by trying every card, of which there are 128 at most
SALT_BYTES: Final = 16


class DealError(ValueError):
    """The pack cannot give such a deal; the text says what was expected and what came."""


class Opening(NamedTuple):
    """What opens a leaf. It is secret until then, so its repr hides it."""

    card: int
    salt: bytes

    def __repr__(self) -> str:
        return "Opening(hidden)"


class DealtCards(NamedTuple):
    """One deal or redeal.

    Attributes:
        hands: the openings, by seat and slot.
        up: the cards turned up.
        next_card: where in the order a redeal continues.
    """

    hands: tuple[tuple[Opening, ...], ...]
    up: tuple[int, ...]
    next_card: int


def seed(mid: bytes, j: int, links: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the seed of deal `j`; `links` are (role, link j+1) of the call's roles, ascending."""
    return digest("seed", mid, j, links)


def first_dealer(mid: bytes, j: int, links: Sequence[tuple[int, bytes]], seats: int) -> int:
    """Return the seat that the draw at index `j` makes the first dealer."""
    return pick(digest("drawseed", mid, j, links), seats)


def deck_order(seed: bytes, *, size: int, cut: int) -> tuple[int, ...]:
    """Return the pack, shuffled and then cut: `cut` cards moved from the top to the bottom.

    Raises:
        DealError: The cut is not within the pack.
    """
    if not 0 <= cut < size:
        raise DealError(f"cut: expected 0 to {size - 1} cards, got {cut}")
    # the cut is part of the call, before any link is open: nobody cuts a pack whose order they know (C13)
    order = tuple(shuffle(seed, size))
    return order[cut:] + order[:cut]


def deal_cards(
    seed: bytes,
    order: Sequence[int],
    *,
    before: Sequence[DealtCards] = (),
    dealer: int,
    seats: int,
    ncards: int,
    up: int,
) -> DealtCards:
    """Deal `ncards` to each seat behind the deals `before`, one at a time from the seat after the dealer.

    The first deal (d = 0) then turns up `up` cards; redeals turn up none.

    Raises:
        DealError: The order does not hold that many cards.
    """
    d = len(before)
    # a redeal continues behind what was dealt and turned up; nothing is shuffled again (specification.md 6)
    start = before[-1].next_card if before else 0
    dealt = start + seats * ncards
    next_card = dealt + (up if d == 0 else 0)
    if next_card > len(order):
        raise DealError(f"deal {d}: expected at least {next_card} cards in the pack, got {len(order)}")
    slots = range(ncards)
    # lists, because a generator costs a call for each item, and the calls of an act are counted
    hands = tuple(
        [
            tuple(
                [
                    Opening(
                        order[start + slot * seats + (seat - dealer - 1) % seats],
                        # from the seed, so that everybody can make every leaf again once it is open (C25)
                        digest("salt", seed, d, seat, slot)[:SALT_BYTES],
                    )
                    for slot in slots
                ]
            )
            for seat in range(seats)
        ]
    )
    return DealtCards(hands, tuple(order[dealt:next_card]), next_card)


def leaf(mid: bytes, *, j: int, d: int, seat: int, slot: int, opening: Opening) -> bytes:
    """Return the commitment to one card in its place."""
    # one hash for each card and no Merkle tree: 660 bytes instead of 1,068 for a played hand of four
    return digest("leaf", mid, j, d, seat, slot, *opening)


def leaves(
    mid: bytes, *, j: int, d: int, hands: Sequence[Sequence[Opening]]
) -> tuple[tuple[bytes, ...], ...]:
    """Return the commitments to every card of a deal, by seat and slot."""
    return tuple(
        [
            # `leaf`, without its call
            tuple([digest("leaf", mid, j, d, seat, slot, *opening) for slot, opening in enumerate(hand)])
            for seat, hand in enumerate(hands)
        ]
    )


def hand_digest(mid: bytes, *, j: int, d: int, seat: int, leaves: Sequence[bytes]) -> bytes:
    """Return the digest shown to people for one seat's cards; `leaves` are that seat's, by slot."""
    return digest("hand", mid, j, d, seat, leaves)
