"""The shuffle: bytes from a seed, and numbers and orders from the bytes, without bias.

Every byte that would favour a residue is skipped, so an order of n cards is as uniform as the seed. Nothing here
knows of deals, dealers or where a seed comes from.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, count
from typing import Final

from truc_protocol.codec import digest

MAX_BOUND: Final = 256  # a number is drawn from one byte


def stream(seed: bytes) -> Iterator[int]:
    """Return the bytes of H("deck", seed, 0), H("deck", seed, 1), and so on without end."""
    return chain.from_iterable(digest("deck", seed, block) for block in count())


@cache
def accepted_below(bound: int) -> int:
    """Return the L below which a byte is used: the largest multiple of `bound` up to 256.

    Raises:
        ValueError: `bound` is not within 1 to 256.
    """
    if not 1 <= bound <= MAX_BOUND:
        raise ValueError(f"expected a bound of 1 to {MAX_BOUND}, got {bound}")
    # otherwise a byte mod 40 would give each of the first 16 numbers 9.4 % too often
    return MAX_BOUND - MAX_BOUND % bound


def draw(octets: Iterable[int], bound: int) -> int:
    """Take from `octets`, which do not end, a number of 0 to bound-1, each equally likely."""
    limit = accepted_below(bound)
    return next(octet for octet in octets if octet < limit) % bound


def shuffle(seed: bytes, size: int) -> list[int]:
    """Return the numbers 0 to size-1 in the order the seed gives; the first is the top card.

    Raises:
        ValueError: `size` is not within 1 to 256.
    """
    accepted_below(size)
    order = list(range(size))
    # Fisher-Yates from the last place down (specification.md 6); upwards is as fair but gives other cards
    last = size - 1
    # a draw for each card, without a call for each: the bytes that one does not accept are passed over
    for octet in stream(seed) if last else ():
        if octet < accepted_below(last + 1):
            other = octet % (last + 1)
            order[last], order[other] = order[other], order[last]
            last -= 1
            if not last:
                break
    return order


def pick(seed: bytes, bound: int) -> int:
    """Return the number of 0 to bound-1 that the seed gives.

    Raises:
        ValueError: `bound` is not within 1 to 256.
    """
    return draw(stream(seed), bound)
