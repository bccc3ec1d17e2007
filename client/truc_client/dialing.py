"""Opening a stream to a server: TCP, with TLS where its address says so, or what a test puts in its place."""

import os
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from truc_client.address import Address
from truc_client.encryption import encrypt
from truc_client.errors import ConnectError
from truc_client.link import leaves

DIAL_S: Final = 10.0

Dial = Callable[[Address], Awaitable[trio.abc.Stream]]


async def dial_tcp(address: Address) -> trio.abc.Stream:
    """Open a TCP connection, and encrypt it where the address says so.

    Raises:
        ConnectError: Nobody answers there, or does not encrypt.
        RefusedError: Nobody is let in there now.
    """
    try:
        with trio.fail_after(DIAL_S):
            return await _open(address)
    except (OSError, trio.TooSlowError) as error:
        raise ConnectError(f"cannot reach {address.server}: {_reason(error)}") from error


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
    """Return why dialing failed: the system's own words for the first attempt that failed."""
    cause = error.__cause__
    first = leaves(cause)[0] if isinstance(cause, BaseExceptionGroup) else cause or error
    number = getattr(first, "errno", None)
    if number is None:
        return "no answer"
    return os.strerror(number) if number > 0 else getattr(first, "strerror", "no such host")
