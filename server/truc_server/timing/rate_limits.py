"""Rate limits by token buckets: one for a connection, and one a minute for each address or player, kept while it is not full.

An address counts with its neighbours: of IPv6 the first 64 bits count, which one household has; of IPv4 all of it. A site
is what one customer of a network may have at most: of IPv6 the first 48 bits.
Invariants: what is refused costs nothing; no meter knows more than `MAX_SUBJECTS` subjects, however many come: whoever paid
longest ago is forgotten first.
"""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, Generic, TypeVar

MAX_SUBJECTS: Final = 16_384
_REMEMBERED: Final = 4_096  # addresses for which it is remembered what they count as
_DEEPEST: Final = 2  # times the burst that may be owed before the connection ends
_MINUTE_S: Final = 60.0
# Decision 15: one household has all addresses behind 64 bits, and a /48 costs nothing.
_NETWORK_BITS: Final = 64
_SITE_BITS: Final = 48
_SWEPT: Final = 2  # full buckets that each payment drops at most, so that they go as fast as they come
_ROUNDING_S: Final = 1e-6  # by which a sum of prices may be off

_S = TypeVar("_S", str, bytes, int)


class Bucket:
    """What one connection may still ask for."""

    __slots__ = ("_burst", "_rate", "_stamp", "_tokens")

    def __init__(self, *, rate: int, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._stamp = now

    def take(self, now: float) -> bool:
        """Pay for one request; tell whether it is taken."""
        # Below zero too: who goes on although refused owes ever more (`is_overdrawn`).
        self._tokens = min(self._burst, self._tokens + (now - self._stamp) * self._rate) - 1
        self._stamp = now
        return self._tokens >= 0

    @property
    def wait_ms(self) -> int:
        """After how many milliseconds from the newest payment the next request will be taken."""
        return int((1 - self._tokens) / self._rate * 1000) + 1

    @property
    def is_overdrawn(self) -> bool:
        """Whether requests went on so long after being refused that the connection should end."""
        return self._tokens < -_DEEPEST * self._burst


@lru_cache(maxsize=_REMEMBERED)
def network_of(address: str) -> str:
    """Return what an address counts as; anything that is no address counts as itself."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), _NETWORK_BITS), strict=False))


@lru_cache(maxsize=_REMEMBERED)
def site_of(network: str) -> str:
    """Return the site of what an address counts as; of anything but IPv6 that is itself."""
    return str(ip_network(network).supernet(new_prefix=_SITE_BITS)) if "/" in network else network


Rate = tuple[int, int]
"""How often something may be done: so many times a minute in the long run, and so many times at once."""


class Meter(Generic[_S]):
    """How often each subject does something; the rate is told each time, as it is in force then."""

    def __init__(self) -> None:
        # When each has a full burst again; the last to pay comes last.
        self._full_at: dict[_S, float] = {}

    def __len__(self) -> int:
        """The number of subjects about whom anything is kept."""
        return len(self._full_at)

    def owes(self, subject: _S, rate: Rate, now: float) -> int:
        """Return after how many milliseconds a subject could pay; 0 if it can."""
        per_minute, burst = rate
        wait_s = self._full_at.get(subject, now) - now - (burst - 1) * _MINUTE_S / per_minute
        return int(wait_s * 1000) + 1 if wait_s > _ROUNDING_S else 0

    def pay(self, subject: _S, rate: Rate, now: float) -> int:
        """Count once more; return 0, or the milliseconds to wait if it is one too many, which does not count."""
        wait_ms = self.owes(subject, rate, now)
        if not wait_ms:
            self.charge(subject, rate, now)
        return wait_ms

    def charge(self, subject: _S, rate: Rate, now: float, *, times: int = 1) -> None:
        """Count what nobody can refuse any more. Nobody owes more than a full burst."""
        price_s, burst = _MINUTE_S / rate[0], rate[1]
        # Taken out, to come last among those who have paid.
        owed_s = max(0.0, self._full_at.pop(subject, now) - now) + times * price_s
        self._full_at[subject] = now + min(owed_s, burst * price_s)
        for _ in range(_SWEPT):
            oldest = next(iter(self._full_at))
            if len(self._full_at) <= MAX_SUBJECTS and self._full_at[oldest] > now:
                return
            del self._full_at[oldest]
