"""What lies below the frames: the two schemes of addresses, and what both ends of an encrypted connection agree on.

docs/protocol/transport.md says the same in prose. Nothing is opened or encrypted here.
"""

from typing import Final

PLAIN: Final = "truc://"
ENCRYPTED: Final = "trucs://"
ALPN: Final = "truc/1"
HANDSHAKE_BYTE: Final = 0x16
"""The first byte of a connection that begins with a TLS handshake."""
FRAME_BYTE: Final = 0x00
"""The first byte of a connection that begins with a frame: every limit is below 2^24."""

_ACCESS_DENIED: Final = 49
_INTERNAL_ERROR: Final = 80


def _fatal_alert(description: int) -> bytes:
    """Return the TLS record that ends a connection on which nothing is encrypted yet (RFC 8446, 6.2)."""
    return bytes((0x15, 3, 3, 0, 2, 2, description))


SHUT_OUT: Final = _fatal_alert(_ACCESS_DENIED)
"""What an encrypting server says to an address that its host has shut out, before any handshake."""
COME_LATER: Final = _fatal_alert(_INTERNAL_ERROR)
"""What it says to one that may come in later: there are too many connections now, or they come too fast."""


def scheme(*, is_tls: bool) -> str:
    """Return the scheme with which a server's addresses begin."""
    return ENCRYPTED if is_tls else PLAIN
