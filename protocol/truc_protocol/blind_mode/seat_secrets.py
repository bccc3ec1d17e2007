"""What one seat draws from its link of a deal index: all it does in the deal follows from it, and can be repeated.

The link of index j is opened when the hand is over; from it everybody derives the same values and compares. The link of
the next index stays closed, so nothing here serves a second index.
"""

from dataclasses import dataclass, field

from truc_protocol.blind_mode.points import scalar
from truc_protocol.codec import digest
from truc_protocol.crypto.shuffle import shuffle


@dataclass(frozen=True, slots=True)
class SeatSecrets:
    """The secrets of a seat for one index; only the index shows.

    Attributes:
        link: v_{j+1} of the seat's chain.
        mid: the match.
        j: the deal index.
        deck: how many cards the pack has.
    """

    link: bytes = field(repr=False)
    mid: bytes = field(repr=False)
    j: int
    deck: int

    def mask(self) -> int:
        """Return a, the part of its mask that a seat takes off again when it locks a place."""
        # one for the whole pack: it comes off a place without anybody's knowing which card lies there
        return scalar("mask", self.link, self.mid, self.j)

    def order(self) -> list[int]:
        """Return the permutation in which the seat passes the pack on: at place k what came at place order[k]."""
        return shuffle(digest("perm", self.link, self.mid, self.j), self.deck)

    def blind(self, k: int) -> int:
        """Return r_k, which makes the pair at place k new."""
        return scalar("blind", self.link, self.mid, self.j, k)

    def nonce(self) -> bytes:
        """Return z, which puts the masked pack in its final order if the seat is the eldest."""
        return digest("nonce", self.link, self.mid, self.j)

    def lock(self, p: int) -> int:
        """Return b_p, the seat's key of place p."""
        return scalar("lock", self.link, self.mid, self.j, p)

    def box(self, d: int) -> int:
        """Return e_d, from which the boxes for keys of sub-deal d get theirs."""
        # of each sub-deal its own, as no point may come twice in an index (C45)
        return scalar("box", self.link, self.mid, self.j, d)
