"""What keys and lent cards are sealed in, from seat to seat: the server passes it on and cannot read it.

The key of a box comes from an exchange of the giver's e_d, which follows from its link, with the receiver's X25519 key.
So once the link is open everybody makes the box again, and nobody's X25519 secret is needed for that. The same values
give the same bytes.
"""

from collections.abc import Sequence

from truc_protocol.blind_mode.points import SCALAR_BYTES, is_scalar
from truc_protocol.boxes import BoxError, open_once, seal_once
from truc_protocol.crypto.keys import TAG_BYTES

# 0xc4 and the length, before the bytes of each scalar
_BIN8_HEAD = 2


def key_box_bytes(scalars: int) -> int:
    """Return how long a box with so many scalars is."""
    # a head of one byte holds up to 15 scalars, and a hand has three
    return 1 + scalars * (_BIN8_HEAD + SCALAR_BYTES) + TAG_BYTES


def seal_keys(
    shared: bytes, mid: bytes, *, j: int, d: int, giver: int, receiver: int, scalars: Sequence[bytes]
) -> bytes:
    """Seal the giver's keys of the receiver's places, by slot; `shared` is e_d times the receiver's X25519 key."""
    return seal_once(shared, mid, ["truc/1/keybox", j, d, giver, receiver], scalars)


def open_keys(
    shared: bytes, mid: bytes, *, j: int, d: int, giver: int, receiver: int, count: int, box: bytes
) -> tuple[bytes, ...]:
    """Return the keys in a box, by slot: `count` scalars, each in its only encoding.

    Raises:
        BoxError: The box was not made for this place, or holds something else.
    """
    what = f"the keys of seat {giver}"
    keys = _scalars(open_once(what, shared, mid, ["truc/1/keybox", j, d, giver, receiver], box))
    if keys is None or len(keys) != count:
        raise BoxError(f"{what}: expected {count} scalars, got something else")
    return keys


def _scalars(items: Sequence[object]) -> tuple[bytes, ...] | None:
    keys = tuple(item for item in items if isinstance(item, bytes) and is_scalar(item))
    return keys if len(keys) == len(items) else None


Lent = tuple[int, tuple[bytes, ...]]
"""A card of the giver's and the keys of its place, by seat."""


def seal_lent(
    shared: bytes, mid: bytes, *, j: int, d: int, giver: int, receiver: int, cards: Sequence[Lent]
) -> bytes:
    """Seal the giver's cards, by slot, each with the keys that open its place."""
    return seal_once(shared, mid, ["truc/1/lendbox", j, d, giver, receiver], cards)


def open_lent(
    shared: bytes, mid: bytes, *, j: int, d: int, giver: int, receiver: int, seats: int, box: bytes
) -> tuple[Lent, ...]:
    """Return the cards in a box with their keys, by slot; whether they open its places is not known here.

    Raises:
        BoxError: The box was not made for this place, or holds something else.
    """
    what = f"the cards of seat {giver}"
    items = open_once(what, shared, mid, ["truc/1/lendbox", j, d, giver, receiver], box)
    return tuple(_lent(what, seats, item) for item in items)


def _lent(what: str, seats: int, item: object) -> Lent:
    match item:
        # `int` takes a truth value as well, which is never an integer (specification.md 1)
        case [int(card), [*items]] if type(card) is int and len(items) == seats:
            keys = _scalars(items)
            if keys is not None:
                return card, keys
    raise BoxError(f"{what}: expected a card and {seats} scalars for each slot")
