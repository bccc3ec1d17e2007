"""Hash chains: each contributor's randomness of a match, committed to before the first deal.

A chain that serves deals b to b+N-1 has links v_b (its anchor, public) to v_{b+N} (its root, random); deal j opens
v_{j+1}. Links are numbered absolutely and each step binds the contributor's key, the table's nonce and the number, so
nobody's links serve as anybody else's. Which links may be opened when is not decided here.
"""

from dataclasses import dataclass, field
from typing import Final

from truc_protocol.codec import digest
from truc_protocol.keys import same_secret

LINK_BYTES: Final = 32
MAX_LINKS: Final = 4096
_SPACING: Final = 32


@dataclass(frozen=True, slots=True)
class Chain:
    """One contributor's chain; only what is public shows.

    Every 32nd link is held, and those between two of them since one was last asked for: a chain of 1024 costs at most 65
    links of memory, and one link after the other about a hash each.

    Attributes:
        public: the contributor's signing key.
        tn: the nonce of the table.
        root: 32 random bytes, the last link.
        first: b, the first deal the chain serves and the number of its anchor.
        count: N, the number of deals it serves.
    """

    public: bytes
    tn: bytes
    root: bytes = field(repr=False)
    first: int = field(kw_only=True)
    count: int = field(kw_only=True)
    _held: tuple[bytes, ...] = field(init=False, repr=False, compare=False)
    _near: tuple[int, tuple[bytes, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_LINKS:
            raise ValueError(f"chain: expected 1 to {MAX_LINKS} links, got {self.count}")
        if self.first < 0 or len(self.root) != LINK_BYTES:
            raise ValueError(f"chain: expected a first index of 0 or more and a root of {LINK_BYTES} bytes")
        held = [self.root]
        link = self.root
        for steps in range(1, self.count + 1):
            link = step(self.public, self.tn, self.last - steps + 1, link)
            if steps % _SPACING == 0 or steps == self.count:
                held.append(link)
        object.__setattr__(self, "_held", tuple(held))
        object.__setattr__(self, "_near", (-1, ()))

    @property
    def last(self) -> int:
        """The number of the root, b+N; at this deal index the chain is exhausted."""
        return self.first + self.count

    @property
    def anchor(self) -> bytes:
        """The link v_b, which is published."""
        return self._held[-1]

    def link(self, i: int) -> bytes:
        """Return v_i.

        Raises:
            ValueError: The chain has no such link.
        """
        if not self.first <= i <= self.last:
            raise ValueError(f"chain: expected a link of {self.first} to {self.last}, got {i}")
        above, below = divmod(self.last - i, _SPACING)
        if self._near[0] != above:
            object.__setattr__(self, "_near", (above, self._block(above)))
        return self._near[1][below]

    def _block(self, above: int) -> tuple[bytes, ...]:
        """Return a link held and those below it down to the next one held, downwards."""
        highest = self.last - above * _SPACING
        links = [self._held[above]]
        for number in range(highest, max(self.first, highest - _SPACING + 1), -1):
            links.append(step(self.public, self.tn, number, links[-1]))
        return tuple(links)


def step(public: bytes, tn: bytes, i: int, v_i: bytes) -> bytes:
    """Return v_{i-1} of the link v_i."""
    return digest("chain", public, tn, i, v_i)


def _walk(public: bytes, tn: bytes, link: bytes, *, highest: int, lowest: int) -> bytes:
    for number in range(highest, lowest, -1):
        link = step(public, tn, number, link)
    return link


def descends(public: bytes, tn: bytes, *, known: tuple[int, bytes], index: int, link: bytes) -> bool:
    """Tell whether `link`, as v_index, hashes down to the link known of the same chain, (its number, its bytes).

    A link beyond the reach of any chain (4096 steps) descends from nothing.
    """
    lowest, expected = known
    if len(link) != LINK_BYTES or not lowest <= index <= lowest + MAX_LINKS:
        return False
    return same_secret(_walk(public, tn, link, highest=index, lowest=lowest), expected)
