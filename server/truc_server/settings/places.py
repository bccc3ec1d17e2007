"""What a setting may say that names a place: a host, a host with its port, or a database.

Whether anything is there is not looked at. Invariant: what is taken here can be written into an address as it is.
"""

import ipaddress
import re
from contextlib import suppress
from typing import Final

_MAX_PORT: Final = 65_535
_PORT_DIGITS: Final = 5
_DATABASE: Final = re.compile(r"(postgresql(\+\w+)?://.*|sqlite(\+\w+)?:///.+)?")


def is_host(value: str) -> bool:
    """Tell whether a text is empty, or a name or an address alone."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(value))
    return value.isprintable() and not set(value) & set(":/@?#[] ")


def is_place(value: str) -> bool:
    """Tell whether a text is empty or host:port, an IPv6 address in brackets."""
    if not value:
        return True
    host, _, port = value.rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) <= _PORT_DIGITS and 1 <= int(port) <= _MAX_PORT
    is_name = bool(host) and host.isprintable() and not set(host) & set(" /#?@")
    return is_port and is_name and (":" not in host or (host[0], host[-1]) == ("[", "]"))


def is_database(value: str) -> bool:
    """Tell whether a text is empty, or the URL of a database of a kind that can be used."""
    return _DATABASE.fullmatch(value) is not None
