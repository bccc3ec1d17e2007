"""Opening a stream to a server: TCP, with TLS if the address says so. A test may put another `Dial` in its place."""

import errno
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Final

import trio

from truc_client.address import Address
from truc_client.errors import ConnectError, RefusedError
from truc_client.line.single_connection import leaf_errors
from truc_protocol.codec import sha256
from truc_protocol.errors import Code
from truc_protocol.wire.transport import ALPN
from truc_words import Sentence

# what OpenSSL calls the answer of somebody who speaks in clear
_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
# a server that lets nobody in says so by an alert before any handshake (transport.md, "TLS")
_SHUT_OUT: Final = "TLSV1_ALERT_ACCESS_DENIED"
_COME_LATER: Final = "TLSV1_ALERT_INTERNAL_ERROR"


async def encrypt(stream: trio.abc.Stream, address: Address) -> trio.abc.Stream:
    """Agree on encryption with a server.

    Raises:
        ConnectError: It does not encrypt, does not speak this protocol, or has shut this address out.
        RefusedError: It accepts no connection from here now.
    """
    # the end of a stream without close_notify is a lost connection like any other (transport.md, "TLS")
    encrypted = trio.SSLStream(stream, _context(), server_hostname=address.host, https_compatible=True)
    try:
        await encrypted.do_handshake()
    except trio.BrokenResourceError as error:
        raise _failure(address, getattr(error.__cause__, "reason", None)) from error
    # a client goes on only if the server has chosen the name (transport.md, "TLS")
    if encrypted.selected_alpn_protocol() != ALPN:
        raise ConnectError(Sentence("failures.other_protocol", server=address.server))
    return encrypted


def certificate_of(stream: trio.abc.Stream) -> bytes | None:
    """Return the hash of the certificate that a server shows; None on a connection in clear."""
    if not isinstance(stream, trio.SSLStream):
        return None
    return sha256(stream.getpeercert(binary_form=True))


@cache
def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # any certificate will do: the server's key signs its hash in the
    # hello, and whoever stands in between fails C37 (decision 16)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([ALPN])
    return context


def _failure(address: Address, reason: str | None) -> ConnectError | RefusedError:
    """Return why there is no encrypted connection, by the reason that TLS gives."""
    if reason == _COME_LATER:
        why = Sentence("failures.no_room_now")
        return RefusedError(Code.RATE_LIMITED, Sentence("failures.at", server=address.server, error=why))
    if reason in _NOT_TLS:
        why = Sentence("failures.not_tls", address=address._replace(is_tls=False))
    elif reason == _SHUT_OUT:
        why = Sentence("failures.address_shut_out")
    else:
        why = Sentence("failures.not_encrypted", reason=reason or Sentence("failures.connection_lost"))
    return ConnectError(Sentence("failures.at", server=address.server, error=why))


DIAL_S: Final = 10.0
_REASONS: Final = {
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
    # UnicodeError: what stands there cannot be the name of a host
    except (OSError, UnicodeError, trio.TooSlowError) as error:
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
    if isinstance(error, UnicodeError):
        return Sentence("failures.no_such_host")
    cause = error.__cause__
    # trio tries every address of a host, and raises what all of them failed by
    first = leaf_errors(cause)[0] if isinstance(cause, BaseExceptionGroup) else cause or error
    number = getattr(first, "errno", None)
    if number is None:
        return Sentence("failures.nothing_answers")
    if number in _REASONS:
        return Sentence(_REASONS[number])
    return str(getattr(first, "strerror", None) or os.strerror(number))
