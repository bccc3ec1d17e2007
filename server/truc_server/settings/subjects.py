"""Whom the host means: fingerprints of keys, tags of guests, addresses and networks, as the host writes them.

Looking up an address costs the same however many addresses are listed. Invariant: an IPv4 address is the same when it is
written as an IPv6 one, and a link-local address whatever its zone.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

from truc_protocol.crypto.keys import fingerprint

_FINGERPRINT: Final = re.compile(r"[A-Z2-7]{26}")
_GUEST: Final = re.compile(r"guest-[A-Z2-7]{20}")
_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
_GUEST_MARK: Final = "guest-"

_ZONE: Final = re.compile("%[^/]*")  # the interface through which a neighbour came
_MAPPED_BITS: Final = 96  # in front of the IPv4 address

Network = IPv4Network | IPv6Network


class Subjects(NamedTuple):
    """What a list of players and addresses says.

    Attributes:
        networks: every network; a single address is one too.
        prefixes: IP version and prefix length of each kind of network there is.
    """

    tags: frozenset[str]
    networks: frozenset[Network]
    prefixes: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, written: Iterable[str]) -> "Subjects":
        """Return what a list says; `is_subject` holds for each of its entries."""
        entries = tuple(written)
        tags = frozenset(entry for entry in entries if is_tag(entry))
        networks = frozenset(_network(entry) for entry in entries if entry not in tags)
        return cls(tags, networks, frozenset((network.version, network.prefixlen) for network in networks))

    def has_address(self, address: str) -> bool:
        """Tell whether an address is among them."""
        if not self.networks:
            return False
        try:
            found = _unmapped(ip_address(address))
        except ValueError:  # a connection that is gone has no address
            return False
        # One look-up for each length in use, whatever the number of networks: every connection asks.
        return any(
            ip_network((found.packed, length), strict=False) in self.networks
            for version, length in self.prefixes
            if version == found.version
        )


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _network(entry: str) -> Network:
    """Return an address or network; IPv4 addresses that are written as IPv6 become IPv4."""
    network = ip_network(_ZONE.sub("", entry), strict=False)
    first = network.network_address
    mapped = first.ipv4_mapped if isinstance(first, IPv6Address) else None
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))


def is_subject(entry: str) -> bool:
    """Tell whether this is a fingerprint, the tag of a guest, an address or a network."""
    return is_tag(entry) or _is_network(entry)


def is_fingerprint(entry: str) -> bool:
    """Tell whether this is the fingerprint of a key."""
    return _FINGERPRINT.fullmatch(entry) is not None


def normal_key(written: str) -> str | None:
    """Return the fingerprint of a key, from the fingerprint in either case or from the key; None if it is neither."""
    if _KEY.fullmatch(written):
        return fingerprint(bytes.fromhex(written))
    return written.upper() if is_fingerprint(written.upper()) else None


def normal_subject(written: str) -> str | None:
    """Return a subject in its one normal form; None if it is no subject.

    A key is given by its fingerprint, an address by itself, and a network begins with its first address.
    """
    own = normal_key(written)
    if own is not None:
        return own
    tag = f"{_GUEST_MARK}{written[len(_GUEST_MARK) :].upper()}"
    if written.lower().startswith(_GUEST_MARK) and _GUEST.fullmatch(tag):
        return tag
    return _normal_network(written) if _is_network(written) else None


def _normal_network(written: str) -> str:
    network = _network(written)
    return str(network.network_address if network.num_addresses == 1 else network)


def is_tag(entry: str) -> bool:
    """Tell whether this is a fingerprint or the tag of a guest."""
    return is_fingerprint(entry) or _GUEST.fullmatch(entry) is not None


def _is_network(entry: str) -> bool:
    try:
        ip_network(entry, strict=False)
    except ValueError:
        return False
    return True
