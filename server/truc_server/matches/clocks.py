"""The clocks of a match, as values: what each seat has left, and how much of the present decision is used up.

Stored beside every record, so that a restarted server goes on from them; the outage costs nobody anything. Times are
milliseconds. They run once what is to be answered is stored, and so may leave; `Starts` tells those who wait for that.
Invariants: a seat pays from its bank only what it needs beyond the time for a decision; a bank is never below zero.
"""

from collections import deque
from collections.abc import Callable

import structlog
from msgspec import Struct

from truc_protocol.codec import dec, pack
from truc_protocol.setup import Opts

log = structlog.get_logger()


class Clocks(Struct, frozen=True, array_like=True):
    """The bank of each seat, and the time used for the decision that is open."""

    banks: tuple[int, ...]
    used: int = 0

    def to_bytes(self) -> bytes:
        """Return what is stored."""
        return pack(self)

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Clocks":
        """Read what `to_bytes` gave."""
        banks, used = dec(stored)
        return cls(tuple(banks), used)


def full(opts: Opts, seats: int) -> Clocks:
    """Return the clocks at the start of a game."""
    return Clocks((opts.bank_ms,) * seats)


def decided(banks: tuple[int, ...], used: int, opts: Opts, seat: int) -> Clocks:
    """Return the clocks after the decision of `seat`, which has `used` so much time for it."""
    over = used - opts.decision_ms
    if not opts.decision_ms or over <= 0:
        return Clocks(banks)
    return Clocks((*banks[:seat], max(0, banks[seat] - over), *banks[seat + 1 :]))


def left_ms(clocks: Clocks, opts: Opts, seat: int) -> int | None:
    """Return how long `seat` still has; None without a clock."""
    if not opts.decision_ms:
        return None
    return max(0, opts.decision_ms + clocks.banks[seat] - clocks.used)


class Starts:
    """Calls to be made when a batch of the journal is durable, asked for in the order of the batches."""

    def __init__(self) -> None:
        self._calls: deque[tuple[int, Callable[[], None]]] = deque()

    def after(self, batch: int, call: Callable[[], None]) -> None:
        """Ask for a call when a batch is durable."""
        self._calls.append((batch, call))

    def release(self, durable: int) -> None:
        """Make the calls for every batch up to this one."""
        while self._calls and self._calls[0][0] <= durable:
            _make(self._calls.popleft()[1])


def _make(call: Callable[[], None]) -> None:
    """Make a call; one that fails stops neither the others nor the journal."""
    try:
        call()
    except Exception:
        log.exception("internal", incident="start")
