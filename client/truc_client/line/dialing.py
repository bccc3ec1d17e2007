"""Opening a stream to a server: TCP, with TLS if the address says so. A test may put another `Dial` in its place."""

import errno
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from truc_client.address import Address
from truc_client.errors import ConnectError
from truc_client.line.encryption import encrypt
from truc_client.line.link import leaves
from truc_words import Sentence

DIAL_S: Final = 10.0
_SAID: Final = {
    errno.ECONNREFUSED: "failures.connection_refused",
    errno.EHOSTUNREACH: "failures.no_route",
    errno.ENETUNREACH: "failures.no_route",
    socket.EAI_NONAME: "failures.no_such_host",
}
"""The commonest reasons, by number; for the others the system's own words are shown."""

Dial = Callable[[Address], Awaitable[trio.abc.Stream]]


async def dial_tcp(address: Address) -> trio.abc.Stream:
    """Open a TCP connection, and encrypt it if the address says so.

    Raises:
        ConnectError: Nobody answers there, or the server does not encrypt.
        RefusedError: The server accepts no connection now.
    """
    try:
        with trio.fail_after(DIAL_S):
            return await _open(address)
    except (OSError, trio.TooSlowError) as error:
        raise ConnectError(
            Sentence("failures.cannot_reach", server=address.server, reason=_reason(error))
        ) from error


async def _open(address: Address) -> trio.abc.Stream:
    stream = await trio.open_tcp_stream(address.host, address.port)
    if not address.is_tls:
        return stream
    try:
        return await encrypt(stream, address)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


def _reason(error: BaseException) -> str:
    """Return why the first of the attempts failed."""
    cause = error.__cause__
    first = leaves(cause)[0] if isinstance(cause, BaseExceptionGroup) else cause or error
    number = getattr(first, "errno", None)
    if number is None:
        return Sentence("failures.nothing_answers")
    if number in _SAID:
        return Sentence(_SAID[number])
    return str(getattr(first, "strerror", None) or os.strerror(number))
