"""A server's address as given to players: `truc://HOST:PORT?invite=CODE#FINGERPRINT`, with TLS `trucs://`."""

from typing import Final

from truc_protocol.wire.transport import scheme
from truc_server.identity.identity import Identity, PublicIdentity
from truc_server.settings.settings import Settings

_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def address(
    settings: Settings, port: int, identity: Identity | PublicIdentity, invite: str | None = None
) -> str:
    """Return the join string of the server, with an invite for a closed one."""
    first = settings.listen.hosts[0]
    host = settings.listen.public_host or _LOOPBACK.get(first, first)
    query = "" if invite is None else f"?invite={invite}"
    place = f"[{host}]" if ":" in host else host
    return f"{scheme(is_tls=settings.listen.tls)}{place}:{port}{query}#{identity.fingerprint}"


def is_any(host: str) -> bool:
    """Tell whether listening on a host means every address of its kind that the machine has."""
    return host in _LOOPBACK


def is_local(settings: Settings) -> bool:
    """Tell whether the address works on this machine only."""
    return not settings.listen.public_host and settings.listen.hosts[0] in _LOOPBACK
