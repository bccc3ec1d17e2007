"""Opening and closing a connection: `connect`.

A lost connection is reopened automatically, with growing pauses, until the server is back or patience ends. No task
outlives the block.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import trio

from truc_client.address import Address, parse_address
from truc_client.connection import Connection
from truc_client.home.account import Player, open_account
from truc_client.line.dialing import Dial, dial_tcp
from truc_client.line.line import ServerLine
from truc_client.line.login import MetServer, Visit, WantedCapabilities
from truc_client.line.opening import PATIENCE_S, come_in, meet_first
from truc_client.line.single_connection import leaf_errors
from truc_client.reports import HOUSE_BOTS
from truc_client.session import Session
from truc_client.subscriptions import Subscriptions
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS

WANT: Final = ("snapshot", OWN_OPTIONS, BLIND_TABLES)
"""The capabilities this library can use.

It goes on from a snapshot, finds out by the rules what its seat may do, and deals with the other seats where the server
sees no card.
"""


@asynccontextmanager
async def connect(
    address: str | Address,
    player: Player,
    *,
    want: Collection[str] = WANT,
    require: Collection[str] = (),
    dial: Dial = dial_tcp,
    patience_s: float = PATIENCE_S,
) -> AsyncIterator[Connection]:
    """Connect to a server as a player.

    Args:
        address: HOST, HOST:PORT, or a truc:// or trucs:// link; an invite in it is used.
        player: who connects.
        want: the capabilities to use if the server has them.
        require: the capabilities that it must have; if one is missing, RefusedError with the code `unsupported`.
        dial: opens a stream to an address.
        patience_s: for how long a lost connection is retried; `math.inf` is for ever.

    Raises:
        AddressError: The address cannot be read.
        ConnectError: The server cannot be reached, or is not the one this client knows.
        RefusedError: It does not let this player in.
        HomeError: The player's home cannot be used.
    """
    where = parse_address(address) if isinstance(address, str) else address
    account = open_account(player)
    try:
        wanted = WantedCapabilities(tuple(want), tuple(require))
        visit = Visit(where, account, dial, wanted, patience_s=patience_s)
        entered = await come_in(visit)
        async with tasks_beside() as nursery:
            line = ServerLine(visit, entered)
            session = Session(account, line, entered, nursery, wants_no_options=OWN_OPTIONS in want)
            subscriptions = Subscriptions(session, is_called=HOUSE_BOTS in want)
            nursery.start_soon(line.run, subscriptions)
            try:
                yield Connection(session, subscriptions)
            finally:
                subscriptions.close()
    finally:
        account.store.close()


async def meet(address: Address, player: Player) -> MetServer:
    """Find out who a server is, remember its key, and tell the player if that is new; raises what `connect` does."""
    account = open_account(player)
    try:
        return await meet_first(Visit(address, account, dial_tcp))
    finally:
        account.store.close()


@asynccontextmanager
async def tasks_beside() -> AsyncIterator[trio.Nursery]:
    """Let tasks run beside the block, which end with it; the only error is raised as it was, and not in a nursery's group."""
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        errors = [error for error in leaf_errors(group) if not isinstance(error, trio.Cancelled)]
        raise (errors[0] if len(errors) == 1 else group) from None
