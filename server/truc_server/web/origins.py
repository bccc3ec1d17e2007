"""Who speaks over HTTP, and for which page: the server's own origin, and the client's address behind the host's proxies.

Functions from values to values. Invariant: nothing that a client writes is believed unless a proxy of the host's stands
right of it.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from truc_protocol.wire.transport import scheme
from truc_server.settings.settings import ListenSettings
from truc_web.serving.pages import Headers, values_of

_FORWARDED: Final = b"x-forwarded-for"


def address_beside(listen: ListenSettings, origin: str, port: int, fingerprint: str) -> str:
    """Return the address for programs of the server that browsers know by an origin."""
    host = urlsplit(origin).hostname or ""
    place = f"[{host}]" if ":" in host else host
    return f"{scheme(is_tls=listen.tls)}{place}:{port}#{fingerprint}"


def networks(texts: Iterable[str]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the networks of the settings."""
    return tuple(map(ip_network, texts))


def client_of(address: str, headers: Headers, proxies: Sequence[IPv4Network | IPv6Network]) -> str:
    """Return where a request comes from: the rightmost address of the way that is no proxy of the host's."""
    found = address
    way = [hop.strip() for value in values_of(headers, _FORWARDED) for hop in value.split(",")]
    while way and is_proxy(found, proxies):
        hop = way.pop()
        try:
            found = str(ip_address(hop))
        except ValueError:
            break  # the last that is known
    return found


def is_proxy(address: str, proxies: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Tell whether an address is a proxy's of the host."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return any(found in proxy for proxy in proxies)
