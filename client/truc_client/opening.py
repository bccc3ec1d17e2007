"""From an address to a connection that is logged in, also where the server has moved or a guest's token is stale.

A server that says it has moved is followed to where it says, a few times; there the same server must prove itself, by
the key that is pinned. Nothing about the player is said to anybody else.
"""

from typing import Final, NamedTuple

import trio

from truc_client.account import Account
from truc_client.address import Address, parse_address
from truc_client.dialing import Dial
from truc_client.errors import AddressError, ConnectError, LostError, RefusedError, ServerKeyError
from truc_client.link import Demands, Entered, enter, is_unknown_token
from truc_protocol.errors import REGISTRY
from truc_protocol.handshake import Pin

MAX_MOVES: Final = 3
"""How often in a row a server may send a client elsewhere."""
PATIENCE_S: Final = 120.0
"""How long a lost connection is tried again."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_RETRYABLE: Final = frozenset(code.value for code, row in REGISTRY.items() if row.retryable)


class Visit(NamedTuple):
    """Who goes where, and how; `known` is the server that has sent them there."""

    address: Address
    account: Account
    dial: Dial
    demands: Demands
    known: Pin | None = None

    def elsewhere(self, to: str) -> "Visit":
        """Return the visit to where the server says it is now.

        Raises:
            ConnectError: That is no address.
        """
        try:
            host, port, *_ = parse_address(to)
        except AddressError as error:
            raise ConnectError(f"{self.address.server} has moved, but does not say where: {error}") from error
        known = self.account.store.pin(self.address.server) or self.known
        return self._replace(address=self.address._replace(host=host, port=port), known=known)


async def come_in(visit: Visit) -> Entered:
    """Connect and log in.

    Raises:
        ServerKeyError: The server is not the one known.
        ConnectError: It cannot be reached, or moves on and on.
        RefusedError: It does not let this player in.
        HomeError: The player's home cannot be used.
    """
    for _ in range(MAX_MOVES + 1):
        try:
            return await _come_in(visit)
        except LostError as moved:
            if moved.to is None:
                raise
            visit = visit.elsewhere(moved.to)
    raise ConnectError(
        f"the server has moved more than {MAX_MOVES} times; it is at {visit.address} now, it says"
    )


async def come_back(visit: Visit, after_ms: int | None = None) -> Entered:
    """Connect again, with growing pauses, until the server is back or patience ends; raises what `come_in` does.

    `after_ms` is when the server has asked for it; a longer wait than patience is not believed.
    """
    pause, start = min(max(_FIRST_PAUSE_S, (after_ms or 0) / 1000), PATIENCE_S), trio.current_time()
    while True:
        await trio.sleep(pause)
        try:
            return await come_in(visit)
        except ServerKeyError:
            raise
        except (ConnectError, RefusedError) as error:
            if not _may_retry(error) or trio.current_time() - start > PATIENCE_S:
                raise
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def _may_retry(error: ConnectError | RefusedError) -> bool:
    return isinstance(error, ConnectError) or error.code in _RETRYABLE


async def _come_in(visit: Visit) -> Entered:
    try:
        return await _enter(visit)
    except RefusedError as error:
        if not is_unknown_token(error):
            raise
    store = visit.account.store
    pin = store.pin(visit.address.server)
    if pin is not None:
        store.keep_token(pin.first, None)
    return await _enter(visit)


async def _enter(visit: Visit) -> Entered:
    stream = await visit.dial(visit.address)
    try:
        return await enter(stream, visit.address, visit.account, visit.demands, visit.known)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
