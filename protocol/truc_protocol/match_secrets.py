"""The secrets of one match as a value: what the server's records of it are made from.

Invariant: no secret shows in a repr.
"""

from secrets import token_bytes
from typing import NamedTuple

from truc_protocol.codec import dec, enc

_BYTES = 32


class MatchSecrets(NamedTuple):
    """The secrets of one match; stored, sealed, before its table record leaves.

    Attributes:
        root: the last link of the server's first chain.
        x: the X25519 secret of the match.
        tn: the table nonce.
        later: the first deal and the last link of every later chain.
    """

    root: bytes
    x: bytes
    tn: bytes
    later: tuple[tuple[int, bytes], ...] = ()

    def __repr__(self) -> str:
        return "MatchSecrets(...)"

    def to_bytes(self) -> bytes:
        """Return what the store keeps, to be sealed."""
        # left out if empty, as in rows stored before a match could have a second chain
        later = [[first, root] for first, root in self.later]
        return enc([self.root, self.x, self.tn, *([later] if later else [])])

    @classmethod
    def from_bytes(cls, stored: bytes) -> "MatchSecrets":
        """Read what `to_bytes` gave."""
        root, x, tn, *rest = dec(stored)
        return cls(root, x, tn, tuple((first, later) for later_roots in rest for first, later in later_roots))


def new_secrets() -> MatchSecrets:
    """Draw the secrets of a new match."""
    # any 32 bytes are an X25519 secret; taking one from a generated key made a match begin 3 % later
    return MatchSecrets(token_bytes(_BYTES), token_bytes(_BYTES), token_bytes(_BYTES))


def new_root() -> bytes:
    """Draw the last link of a new chain."""
    return token_bytes(_BYTES)
