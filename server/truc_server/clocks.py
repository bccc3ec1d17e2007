"""The clocks of a match, as values: what each seat has left, and how much of the present decision is used up.

Stored beside every record, so that a restarted server goes on from them; the outage costs nobody anything. Times are
milliseconds. Invariant: a seat pays from its bank only what it needs beyond the time for a decision.
"""

from typing import NamedTuple

from truc_protocol.codec import dec, enc
from truc_protocol.setup import Opts


class Clocks(NamedTuple):
    """The bank of each seat, and the time used for the decision that is open."""

    banks: tuple[int, ...]
    used: int = 0

    def to_bytes(self) -> bytes:
        """Return what is stored."""
        return enc([list(self.banks), self.used])

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Clocks":
        """Read what `to_bytes` gave."""
        banks, used = dec(stored)
        return cls(tuple(banks), used)


def full(opts: Opts, seats: int) -> Clocks:
    """Return the clocks at the start of a game."""
    return Clocks((opts.bank_ms,) * seats)


def decided(clocks: Clocks, opts: Opts, seat: int) -> Clocks:
    """Return the clocks after the decision of `seat`, whose time is `clocks.used`."""
    over = max(0, clocks.used - opts.decision_ms) if opts.decision_ms else 0
    left = max(0, clocks.banks[seat] - over)
    return Clocks((*clocks.banks[:seat], left, *clocks.banks[seat + 1 :]))


def left_ms(clocks: Clocks, opts: Opts, seat: int) -> int | None:
    """Return how long `seat` still has; None without a clock."""
    if not opts.decision_ms:
        return None
    return max(0, opts.decision_ms + clocks.banks[seat] - clocks.used)
