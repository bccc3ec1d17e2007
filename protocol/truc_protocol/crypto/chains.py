"""Hash chains: each contributor's randomness of a match, committed to before the first deal.

A chain that serves deals b to b+N-1 has links v_b (its anchor, public) to v_{b+N} (its root, random); deal j opens
v_{j+1}. Links are numbered absolutely and each step binds the contributor's key, the table's nonce and the number, so
nobody's links serve as anybody else's. Which links may be opened when is not decided here.
"""

from dataclasses import dataclass, field
from typing import Final

from truc_protocol.codec import chained_digests, digest
from truc_protocol.crypto.keys import same_secret

LINK_BYTES: Final = 32
MAX_LINKS: Final = 4096  # bounds the work of checking a link to some 3 ms
LINKS_HELD: Final = 32  # links of 32 bytes, in one string of bytes


@dataclass(frozen=True, slots=True)
class Chain:
    """One contributor's chain; only what is public shows.

    It holds 32 links, from one that was asked for upwards: a match of that many deals hashes its chain once, a longer
    one once more for every 32 deals.

    Attributes:
        public: the contributor's signing key.
        tn: the nonce of the table.
        root: 32 random bytes, the last link.
        first: b, the first deal the chain serves and the number of its anchor.
        count: N, the number of deals it serves.
        anchor: the link v_b, which is published.
    """

    public: bytes
    tn: bytes
    root: bytes = field(repr=False)
    first: int = field(kw_only=True)
    count: int = field(kw_only=True)
    anchor: bytes = field(init=False, repr=False, compare=False)
    _near: tuple[int, bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_LINKS:
            raise ValueError(f"chain: expected 1 to {MAX_LINKS} links, got {self.count}")
        if self.first < 0 or len(self.root) != LINK_BYTES:
            raise ValueError(f"chain: expected a first index of 0 or more and a root of {LINK_BYTES} bytes")
        # the lowest links have just been hashed, and are the first to be opened
        anchor = self._hold(self.first)
        object.__setattr__(self, "anchor", anchor)

    @property
    def last(self) -> int:
        """The number of the root, b+N; at this deal index the chain is exhausted."""
        return self.first + self.count

    def link(self, i: int) -> bytes:
        """Return v_i.

        Raises:
            ValueError: The chain has no such link.
        """
        if not self.first <= i <= self.last:
            raise ValueError(f"chain: expected a link of {self.first} to {self.last}, got {i}")
        lowest, links = self._near
        start = (i - lowest) * LINK_BYTES
        return links[start : start + LINK_BYTES] if 0 <= start < len(links) else self._hold(i)

    def _hold(self, i: int) -> bytes:
        """Hold v_i and the links above it, up to the number that are held; return v_i."""
        under = links_below(self.public, self.tn, self.root, highest=self.last, lowest=i)
        # hashing runs from the root down, and the next deals open the links above this one
        nearest = [self.root, *under][-LINKS_HELD:]
        # a cache, and no part of the frozen value
        object.__setattr__(self, "_near", (i, b"".join(reversed(nearest))))
        return nearest[-1]


def links_below(public: bytes, tn: bytes, link: bytes, *, highest: int, lowest: int) -> list[bytes]:
    """Return the links that follow from `link`, which is v_highest, down to v_lowest."""
    return chained_digests("chain", public, tn, numbers=range(highest, lowest, -1), first=link)


def descends(public: bytes, tn: bytes, *, known: tuple[int, bytes], index: int, link: bytes) -> bool:
    """Tell whether `link`, as v_index, hashes down to the known link of the same chain, (its number, its bytes).

    A link beyond the reach of any chain (4096 steps) descends from nothing.
    """
    lowest, expected = known
    if len(link) != LINK_BYTES or not lowest <= index <= lowest + MAX_LINKS:
        return False
    if index == lowest + 1:  # nearly always: hashed at once, as nothing is hashed a second time
        return same_secret(digest("chain", public, tn, index, link), expected)
    under = links_below(public, tn, link, highest=index, lowest=lowest)
    return same_secret(under[-1] if under else link, expected)
