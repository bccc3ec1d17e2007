"""Who is shut out: fingerprints of keys, tags of guests, addresses and networks, as the host writes them."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

_TAG: Final = re.compile(r"[A-Z2-7]{26}|guest-[A-Z2-7]{20}")

_MAPPED_BITS: Final = 96  # before the IPv4 address


class Bans(NamedTuple):
    """What a list of bans says."""

    tags: frozenset[str]
    networks: tuple[IPv4Network | IPv6Network, ...]

    @classmethod
    def of(cls, banned: Iterable[str]) -> "Bans":
        """Return the bans of a list whose entries `is_ban`."""
        entries = tuple(banned)
        tags = frozenset(entry for entry in entries if _TAG.fullmatch(entry))
        return cls(tags, tuple(_network(entry) for entry in entries if entry not in tags))

    def has_address(self, address: str) -> bool:
        """Tell whether connections from an address are refused."""
        try:
            found = ip_address(address)
        except ValueError:  # a connection that is gone has no address
            return False
        mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
        return any((mapped or found) in network for network in self.networks)


def _network(entry: str) -> IPv4Network | IPv6Network:
    """Return an address or network; one of IPv4 addresses that are written as IPv6 as what they are."""
    network = ip_network(entry, strict=False)
    first = network.network_address
    mapped = first.ipv4_mapped if isinstance(first, IPv6Address) else None
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))


def is_ban(entry: str) -> bool:
    """Tell whether this is a fingerprint, the tag of a guest, an address or a network."""
    if _TAG.fullmatch(entry):
        return True
    try:
        ip_network(entry, strict=False)
    except ValueError:
        return False
    return True
