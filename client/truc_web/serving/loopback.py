"""Listening where browsers look for `localhost`.

Invariant: nobody else on this machine answers there: who did would be the same origin, and could read the keys that a
browser keeps for it.
"""

import errno
from typing import Final

import trio

_MISSING: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


async def open_loopback(port: int) -> list[trio.SocketListener]:
    """Listen on this machine alone, at both of its addresses if it has two; port 0 takes a free one.

    Raises:
        OSError: The port is taken at one of them.
    """
    listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
    port = int(listeners[0].socket.getsockname()[1])
    try:
        return listeners + await trio.open_tcp_listeners(port, host="::1")
    except OSError as error:
        if error.errno in _MISSING:
            return listeners
        for listener in listeners:
            listener.socket.close()
        raise
