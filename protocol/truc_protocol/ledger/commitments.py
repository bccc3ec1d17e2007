"""What a match has used up: every key and every chain of a match is new."""

from collections.abc import Iterable

import msgspec

Commitment = tuple[str, bytes]
"""A key, an anchor or a box key, after its name."""


class Commitments(msgspec.Struct, frozen=True):
    """What nobody may bring again: keys, anchors and box keys.

    They lie in layers of which each is at least twice as large as the next, so that one that is added is copied as often as
    such a number has digits, not once for each that comes later: every deal of a match may bring some.
    """

    layers: tuple[frozenset[Commitment], ...] = ()

    def __contains__(self, one: Commitment) -> bool:
        return any(one in layer for layer in self.layers)

    def __or__(self, new: Iterable[Commitment]) -> "Commitments":
        """Return these with some new ones."""
        added = frozenset(new)
        kept, size = len(self.layers), len(added)
        while kept and len(self.layers[kept - 1]) < 2 * size:
            kept -= 1
            size += len(self.layers[kept])
        return Commitments((*self.layers[:kept], added.union(*self.layers[kept:])))
