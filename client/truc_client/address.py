"""Where a server is: `truc://HOST:PORT/TABLE?invite=CODE#FINGERPRINT`, or just a host, with or without a port.

A server that encrypts its connections has addresses that begin with `trucs://`.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from truc_client.errors import AddressError
from truc_protocol.handshake import Fingerprint
from truc_protocol.keys import FINGERPRINT_CHARACTERS
from truc_protocol.transport import ENCRYPTED, PLAIN, scheme

PORT: Final = 7373
_FINGERPRINT: Final = re.compile(rf"[A-Z2-7]{{{FINGERPRINT_CHARACTERS}}}")
_TABLE: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_INVITE: Final = re.compile(r"invite=(?P<code>[A-Za-z0-9_-]{8,64})")


class Address(NamedTuple):
    """A server, and what a link says beside.

    Attributes:
        host: its name or number.
        port: where it listens.
        table: the code of the table to join.
        fingerprint: what its key must have.
        invite: the host's invite, with which a key becomes a member of a closed server.
        is_tls: whether connections to it are encrypted.
    """

    host: str
    port: int = PORT
    table: str | None = None
    fingerprint: Fingerprint | None = None
    invite: str | None = None
    is_tls: bool = False

    @property
    def server(self) -> str:
        """The name under which the server's key is remembered."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def place(self) -> str:
        """The server as a person would type it."""
        return f"{ENCRYPTED}{self.server}" if self.is_tls else self.server

    def __str__(self) -> str:
        table = f"/{self.table}" if self.table else ""
        invite = f"?invite={self.invite}" if self.invite else ""
        pin = f"#{self.fingerprint}" if self.fingerprint else ""
        return f"{scheme(is_tls=self.is_tls)}{self.server}{table}{invite}{pin}"


def parse_address(text: str) -> Address:
    """Read an address.

    Raises:
        AddressError: It is none; the text says what was expected.
    """
    is_tls = text.startswith(ENCRYPTED)
    rest = text.removeprefix(ENCRYPTED if is_tls else PLAIN)
    if "://" in rest:
        raise AddressError(f"expected a link that starts with {PLAIN} or {ENCRYPTED}, got {text!r}")
    try:
        parts = urlsplit(PLAIN + rest)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressError(f"expected HOST:PORT or a link, got {text!r}: {error}") from error
    if not host or parts.username or any(sign.isspace() for sign in text):
        raise AddressError(f"expected HOST:PORT or a link, got {text!r}")
    table, pin, invite = _table(parts.path), _fingerprint(parts.fragment), _invite(parts.query)
    return Address(host, port or PORT, table, pin, invite, is_tls)


def _table(path: str) -> str | None:
    code = path.strip("/")
    if code and not _TABLE.fullmatch(code):
        raise AddressError(f"expected a table's code after the slash, got {code!r}")
    return code or None


def _fingerprint(fragment: str) -> Fingerprint | None:
    if fragment and not _FINGERPRINT.fullmatch(fragment):
        raise AddressError(
            f"expected a fingerprint of {FINGERPRINT_CHARACTERS} capital letters and digits after #, got {fragment!r}"
        )
    return Fingerprint(fragment) if fragment else None


def _invite(query: str) -> str | None:
    found = _INVITE.fullmatch(query)
    if query and found is None:
        raise AddressError(f"expected nothing but invite=CODE after ?, got {query!r}")
    return None if found is None else found["code"]
