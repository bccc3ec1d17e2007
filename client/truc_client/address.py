"""Addresses of servers: `truc://HOST:PORT/TABLE?invite=CODE#FINGERPRINT`, or just a host, with or without a port.

The address of a server that encrypts its connections begins with `trucs://`.
"""

import re
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from truc_client.errors import AddressError
from truc_protocol.crypto.keys import FINGERPRINT_CHARACTERS
from truc_protocol.wire.handshake import Fingerprint
from truc_protocol.wire.transport import ENCRYPTED, PLAIN, scheme
from truc_words import Sentence

PORT: Final = 7373
# what each part may be: transport.md, "Addresses"
_FINGERPRINT: Final = re.compile(rf"[A-Z2-7]{{{FINGERPRINT_CHARACTERS}}}")
_TABLE: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_INVITE: Final = re.compile(r"invite=(?P<code>[A-Za-z0-9_-]{8,64})")


class Address(NamedTuple):
    """A server, and what else a link says.

    Attributes:
        host: its name or IP address.
        port: where it listens.
        table: the code of the table to join.
        fingerprint: the fingerprint its key must have.
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
        AddressError: The text is no address; the message says what was expected.
    """
    is_tls = text.startswith(ENCRYPTED)
    rest = text.removeprefix(ENCRYPTED if is_tls else PLAIN)
    if "://" in rest:
        raise AddressError(
            Sentence("failures.scheme_expected", plain=PLAIN, encrypted=ENCRYPTED, got=repr(text))
        )
    try:
        parts = urlsplit(PLAIN + rest)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressError(Sentence("failures.address_expected", got=repr(text))) from error
    # transport.md, "Addresses": no user before `@`, and no white space
    if not host or parts.username or any(sign.isspace() for sign in text):
        raise AddressError(Sentence("failures.address_expected", got=repr(text)))
    table, pin, invite = _table(parts.path), _fingerprint(parts.fragment), _invite(parts.query)
    return Address(host, port or PORT, table, pin, invite, is_tls)


def _table(path: str) -> str | None:
    code = path.strip("/")
    if code and not _TABLE.fullmatch(code):
        raise AddressError(Sentence("failures.code_expected", got=repr(code)))
    return code or None


def _fingerprint(fragment: str) -> Fingerprint | None:
    if fragment and not _FINGERPRINT.fullmatch(fragment):
        raise AddressError(
            Sentence("failures.fingerprint_expected", n=FINGERPRINT_CHARACTERS, got=repr(fragment))
        )
    return Fingerprint(fragment) if fragment else None


def _invite(query: str) -> str | None:
    found = _INVITE.fullmatch(query)
    if query and found is None:
        raise AddressError(Sentence("failures.invite_expected", got=repr(query)))
    return None if found is None else found["code"]
