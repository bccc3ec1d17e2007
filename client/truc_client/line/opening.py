"""From an address to a logged-in connection, even if the server has moved or a guest's token is stale.

A server that says it has moved is followed to where it says, a few times; there the same server must prove itself, by
the pinned key. If the other end says, whoever it is, that the server encrypts, the client connects again over TLS,
where the server must prove itself too; from TLS to clear nobody is followed. Nothing about the player is said to
anybody else. No wait is shorter than the server has asked for.
"""

from collections.abc import Awaitable, Callable
from itertools import cycle
from random import SystemRandom
from typing import Final, TypeVar

import trio

from truc_client.address import parse_address
from truc_client.errors import (
    AddressError,
    ConnectError,
    EncryptedError,
    LostError,
    RefusedError,
    ServerKeyError,
)
from truc_client.home.account import Delay
from truc_client.line.login import LoggedIn, MetServer, Visit, enter, meet
from truc_protocol.errors import REGISTRY, Code
from truc_words import Sentence

MAX_MOVES: Final = 3
"""How often in a row a server may send a client elsewhere."""
PATIENCE_S: Final = 120.0
"""For how long a lost connection is retried, unless `connect` is told otherwise."""
LONGEST_ASKED_S: Final = 120.0  # a server that asks for a longer wait does not get it
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_MOST_DOUBLINGS: Final = 5  # of the first pause, to nearly the longest
_DICE: Final = SystemRandom()
_RETRYABLE: Final = frozenset(code.value for code, row in REGISTRY.items() if row.retryable)
T = TypeVar("T")


def moved_to(visit: Visit, to: str) -> Visit:
    """Return a visit to where the server says it is now.

    Raises:
        ConnectError: That is no address.
    """
    left = visit.address
    try:
        # a goodbye is not signed: only host and port are taken from it,
        # and the scheme stays that of the player (transport.md, "TLS")
        host, port, *_ = parse_address(to)
    except AddressError as error:
        raise ConnectError(
            Sentence("failures.moved_nowhere", server=left.server, error=str(error))
        ) from error
    return visit._replace(
        address=left._replace(host=host, port=port),
        # another server that answers there is a hard stop (session.md, "Goodbye")
        known=visit.account.store.pin(left.server) or visit.known,
        first=visit.first or left,
        left=(left, *visit.left),
    )


def to_first_address(visit: Visit) -> Visit:
    """Return a visit to the address that the player gave."""
    return visit if visit.first is None else visit._replace(address=visit.first, first=None)


def _to_each_address(visit: Visit) -> tuple[Visit, ...]:
    """Return visits to every address of the server's that is known, the likeliest first."""
    tried = {visit.address, visit.first}
    others = (visit._replace(address=each) for each in dict.fromkeys(visit.left) if each not in tried)
    return visit, to_first_address(visit), *others


async def come_in(visit: Visit) -> LoggedIn:
    """Connect and log in; a server that is too busy is asked again when it says, until patience ends.

    Raises:
        ServerKeyError: The server is not the one known.
        ConnectError: It cannot be reached, or keeps moving on.
        RefusedError: It does not let this player in.
        HomeError: The player's home cannot be used.
    """
    return await _keep_trying(visit, _is_busy, since=trio.current_time())


async def come_back(visit: Visit, after_ms: int | None = None, *, losses: int = 0) -> LoggedIn:
    """Connect again, with growing pauses, until the server is back or patience ends; raises what `come_in` does.

    `after_ms` is how long the server has asked clients to wait first, `losses` how often in a row a connection was lost
    as soon as it was open: that is no success, and the pauses go on growing.
    """
    start = trio.current_time()
    await trio.sleep(_wait(_FIRST_PAUSE_S * 2 ** min(losses, _MOST_DOUBLINGS), after_ms))
    return await _keep_trying(visit, _may_retry, since=start)


async def _keep_trying(visit: Visit, may_retry: Callable[[Exception], bool], *, since: float) -> LoggedIn:
    # in turn: where one node is gone, another that is known may have its tables
    pause, places = _FIRST_PAUSE_S, cycle(_to_each_address(visit))
    while True:
        try:
            return await _follow_moves(next(places), _enter_known)
        except (ConnectError, RefusedError) as error:
            if not may_retry(error) or trio.current_time() - since > visit.patience_s:
                raise
            pause = min(2 * pause, _LONGEST_PAUSE_S)
            seconds = _told_wait(visit, error, pause)
        await trio.sleep(seconds)


def _told_wait(visit: Visit, error: ConnectError | RefusedError, pause: float) -> float:
    """Return how many seconds to wait before the next try; if the server accepts nobody, tell the player."""
    if not isinstance(error, RefusedError):
        return _wait(pause, None)
    seconds = _wait(pause, error.retry_after_ms)
    visit.account.on_delay(Delay(visit.address.server, seconds, str(error)))
    return seconds


def _wait(pause: float, asked_ms: int | None) -> float:
    """Return a pause in seconds, at random as short as half; what a server has asked for is never shortened."""
    # at random, as clients that lose a server together would all come back at one moment
    asked = min((asked_ms or 0) / 1000, LONGEST_ASKED_S)
    return max(pause * _DICE.uniform(0.5, 1.0), asked * _DICE.uniform(1.0, 1.5))


def _is_busy(error: Exception) -> bool:
    return isinstance(error, RefusedError) and error.code == Code.RATE_LIMITED


def _may_retry(error: Exception) -> bool:
    if isinstance(error, RefusedError):
        return error.code in _RETRYABLE
    # no waiting brings the known server's key back (security.md, "Keys")
    return isinstance(error, ConnectError) and not isinstance(error, ServerKeyError)


async def meet_first(visit: Visit) -> MetServer:
    """Find out who a server is, wherever it is now, and say nothing of who asks.

    Raises:
        ServerKeyError: It is not the one known.
        ConnectError: It cannot be reached, or keeps moving on.
        RefusedError: It accepts no connection now.
        HomeError: The player's home cannot be used.
    """
    return await _follow_moves(visit, _meet)


async def _meet(visit: Visit) -> MetServer:
    stream = await visit.dial(visit.address)
    try:
        return await meet(stream, visit)
    finally:
        await trio.aclose_forcefully(stream)


async def _follow_moves(visit: Visit, come: Callable[[Visit], Awaitable[T]]) -> T:
    for _ in range(MAX_MOVES + 1):
        try:
            return await come(visit)
        except EncryptedError as error:
            # TLS is there already: another try would come to the same
            if visit.address.is_tls:
                told = Sentence("failures.at", server=visit.address.server, error=str(error))
                raise ConnectError(told) from error
            visit = visit._replace(address=visit.address._replace(is_tls=True))
        except LostError as moved:
            if moved.to is None:
                raise
            visit = moved_to(visit, moved.to)
    raise ConnectError(Sentence("failures.moves_on", most=MAX_MOVES, address=visit.address))


async def _enter_known(visit: Visit) -> LoggedIn:
    """Log in; a guest whose token is no longer known comes as a new guest."""
    try:
        return await _enter(visit)
    except RefusedError as error:
        if error.code != Code.BAD_TOKEN:
            raise
    store = visit.account.store
    pin = store.pin(visit.address.server)
    if pin is not None:
        # client-guide.md, 5: after `bad_token` a guest begins anew by name
        store.keep_token(pin.first, None)
    return await _enter(visit)


async def _enter(visit: Visit) -> LoggedIn:
    stream = await visit.dial(visit.address)
    try:
        return await enter(stream, visit)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
