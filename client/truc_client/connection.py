"""A connection to a server that comes back by itself, and the tables followed on it.

`connect` opens it; losing it is told to every table, and it is opened again with growing pauses until the server is
back or patience ends. No task outlives the block; what is wrong with one table ends that table alone.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Final

import trio

from truc_client.account import Account, Player, open_account
from truc_client.address import Address, parse_address
from truc_client.dialing import Dial, dial_tcp
from truc_client.errors import ClientError, ConnectError, LostError, RefusedError, ServerKeyError
from truc_client.glance import Glance
from truc_client.link import Answer, ClientRequest, Entered, Link, enter, is_unknown_token, leaves
from truc_client.replies import Waiter
from truc_client.standing import Wish
from truc_client.table import Table
from truc_protocol.errors import REGISTRY, Code
from truc_protocol.handshake import Fingerprint, ServerIdentity, Trust
from truc_protocol.keys import fingerprint
from truc_protocol.messages import (
    Create,
    Info,
    Join,
    ListTables,
    Ok,
    SeatHeld,
    ServerMessage,
    TableState,
    Unwatch,
    Watch,
)

PATIENCE_S: Final = 120.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_TRIES: Final = 8
_MAX_UNCLAIMED: Final = 64
_RETRYABLE: Final = frozenset(code.value for code, row in REGISTRY.items() if row.retryable)
_DEFAULT_RETRY_MS: Final = 500


class Connection:
    """A player at a server; made by `connect`."""

    def __init__(self, address: Address, account: Account, dial: Dial, entered: Entered) -> None:
        self.address = address
        self.account = account
        self._dial = dial
        self._tables: dict[str, Table] = {}
        self._unclaimed: dict[str, TableState] = {}
        self._glances: dict[str, Glance] = {}
        self._waiting: set[Waiter] = set()
        self._open = trio.Event()
        self._failure: ClientError | None = None
        self._adopt(entered)

    def _adopt(self, entered: Entered) -> None:
        self._link: Link = entered.link
        self._server: ServerIdentity = entered.server
        self._keys = entered.keys
        self.name = entered.welcome.name
        self.held = entered.welcome.seats
        if entered.welcome.token is not None:
            self.account.store.keep_token(entered.server.pin.first, entered.welcome.token)
        self._open.set()

    @property
    def info(self) -> Info:
        """What the server says about itself."""
        return self._server.info

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the server's key."""
        return Fingerprint(fingerprint(self._server.spk))

    @property
    def first_spk(self) -> bytes:
        """The first key pinned for this server, which names the player's key there."""
        return self._server.pin.first

    @property
    def spk(self) -> bytes:
        """The server's present key."""
        return self._server.spk

    @property
    def keys(self) -> Collection[bytes]:
        """The server's present key, and those before it that its rotations show: a match keeps the key it began under."""
        return self._keys

    @property
    def trust(self) -> Trust:
        """How the server's key came to be accepted."""
        return self._server.trust

    @property
    def followed(self) -> tuple[Table, ...]:
        """Every table that is followed now."""
        return tuple(self._tables.values())

    async def tables(self, variant: str | None = None) -> tuple[TableState, ...]:
        """Return every public table."""
        found: list[TableState] = []
        after: str | None = None
        while True:
            page = await self.request(_page(variant, after))
            found += page.tables or ()
            if not page.more or not page.tables:
                return tuple(found)
            after = page.tables[-1].table

    async def create(
        self,
        variant: str,
        *,
        seats: int | None = None,
        options: Mapping[str, int | str] | None = None,
        private: bool = False,
    ) -> Table:
        """Open a table and sit down at it.

        Raises:
            RefusedError: The server does not open such a table.
            LostError: The connection was lost meanwhile.
        """
        chosen = dict(options or {})
        answer = await self.request(
            lambda n: Create(id=n, variant=variant, seats=seats, options=chosen, private=private)
        )
        if answer.table is None:
            raise ConnectError("the server opened a table without a code")
        return self._follow(answer.table, answer.seat)

    async def join(self, code: str, seat: int | None = None) -> Table:
        """Take a seat at a table, or come back to one's own.

        Raises:
            RefusedError: There is no such table, or no such seat free.
            LostError: The connection was lost meanwhile.
        """
        table = self._tables.get(code) or self._return_to(code, seat)
        try:
            await self.request(lambda n: Join(id=n, table=code, seat=seat), table.seated)
        except ClientError:
            self._tables.pop(code, None)
            raise
        return table

    async def watch(self, code: str) -> Table:
        """Follow a table without a seat.

        Raises:
            RefusedError: There is no such table, or it admits nobody to watch.
        """
        table = self._follow(code, None)
        try:
            await self.request(lambda n: Watch(id=n, table=code))
        except ClientError:
            self._tables.pop(code, None)
            raise
        return table

    async def glance(self, code: str) -> Glance:
        """Look at a table as one who watches does, for a moment, and take nothing there."""
        glance = self._glances[code] = Glance()
        try:
            await self.request(lambda n: Watch(id=n, table=code))
            await self.request(lambda n: Unwatch(id=n, table=code))
        except RefusedError as error:
            glance.refused = error
        finally:
            del self._glances[code]
        return glance

    async def resume(self, held: SeatHeld, *, rekey: bool = False) -> Table:
        """Come back to a seat one holds, with every record that is missing.

        A seat whose secrets are not in this home is gone on with only with `rekey`: before the next deal it begins a new
        chain, until then it does nothing, and wherever it was played before it is played no more.

        Raises:
            RefusedError: The seat is gone.
        """
        if held.match is None:
            return await self.join(held.table, held.seat)
        table = self._tables.get(held.table) or self._return_to(held.table, held.seat)
        table.come_back(held.match, Wish.REKEY if rekey else Wish.LOOK_ON)
        return table

    def _return_to(self, code: str, seat: int | None) -> Table:
        table = self._follow(code, seat)
        if any(held.table == code for held in self.held):
            table.agree_on_return()
        return table

    def _follow(self, code: str, seat: int | None) -> Table:
        table = Table(self, code, seat)
        self._tables[code] = table
        state = self._unclaimed.pop(code, None)
        if state is not None:
            table.handle(state)
        return table

    def drop(self, table: Table) -> None:
        """Follow a table no longer."""
        if self._tables.get(table.code) is table:
            del self._tables[table.code]

    def left(self, table: Table) -> None:
        """Note that a table was left, with the seat held there."""
        self.held = tuple(held for held in self.held if held.table != table.code)
        self.drop(table)

    def post(self, build: Callable[[int], ClientRequest], on_answer: Callable[[Answer], None]) -> bool:
        """Send a request without waiting; tells whether the connection was open."""
        if not self._open.is_set():
            return False
        try:
            self._link.post(build(self._link.next_id()), on_answer)
        except LostError:
            return False
        return True

    async def request(
        self, build: Callable[[int], ClientRequest], at_once: Callable[[Ok], None] | None = None
    ) -> Ok:
        """Send a request and return its reply; when there were too many it waits and asks again.

        `at_once` sees the reply before any message that comes after it.

        Raises:
            RefusedError: The server refused it.
            LostError: The connection was lost before the reply.
        """
        for _ in range(_TRIES):
            await self._wait_open()
            answer = await self._ask(build, at_once)
            if isinstance(answer, Ok):
                return answer
            if answer.code != Code.RATE_LIMITED:
                raise RefusedError(answer.code, answer.msg)
            await trio.sleep((answer.retry_after_ms or _DEFAULT_RETRY_MS) / 1000)
        raise RefusedError(Code.RATE_LIMITED, "the server takes no more requests now")

    async def _wait_open(self) -> None:
        await self._open.wait()
        if self._failure is not None:
            raise self._failure

    async def _ask(
        self, build: Callable[[int], ClientRequest], at_once: Callable[[Ok], None] | None
    ) -> Answer:
        waiter = Waiter(at_once)
        self._waiting.add(waiter)
        try:
            if not self.post(build, waiter.answer):
                raise LostError("the connection was lost")
            return await waiter.wait()
        finally:
            self._waiting.discard(waiter)

    def _handle(self, message: ServerMessage) -> None:
        code: str | None = getattr(message, "table", None)
        table = self._tables.get(code) if code is not None else None
        glance = self._glances.get(code) if code is not None else None
        if table is not None:
            table.handle(message)
        elif glance is not None:
            glance.handle(message)
        elif isinstance(message, TableState) and len(self._unclaimed) < _MAX_UNCLAIMED:
            self._unclaimed[message.table] = message  # of a table being created; its reply comes after

    def close(self) -> None:
        """Close every transcript."""
        for table in tuple(self._tables.values()):
            table.close()

    async def run(self) -> None:
        """Keep the connection until patience ends; never raises."""
        try:
            while True:
                lost = await self._run_link()
                if not lost.again:
                    raise lost
                self._interrupted(lost)
                self._adopt(await self._come_back())
                for table in tuple(self._tables.values()):
                    table.reconnected(self.held)
        except ClientError as error:
            self._fail(error)

    async def _run_link(self) -> LostError:
        try:
            await self._link.run(self._handle)
        except LostError as lost:
            return lost
        raise AssertionError("a link ends by being lost")

    def _interrupted(self, lost: LostError) -> None:
        self._open = trio.Event()
        for waiter in self._waiting:
            waiter.fail(lost)
        for table in tuple(self._tables.values()):
            table.interrupted(str(lost))

    async def _come_back(self) -> Entered:
        pause, start = _FIRST_PAUSE_S, trio.current_time()
        while True:
            await trio.sleep(pause)
            try:
                return await _open(self.address, self.account, self._dial)
            except ServerKeyError:
                raise
            except (ConnectError, RefusedError) as error:
                if not _may_retry(error) or trio.current_time() - start > PATIENCE_S:
                    raise
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _fail(self, error: ClientError) -> None:
        self._failure = error
        self._open.set()
        for waiter in self._waiting:
            waiter.fail(error)
        for table in tuple(self._tables.values()):
            table.fail(error)


def _page(variant: str | None, after: str | None) -> Callable[[int], ClientRequest]:
    return lambda n: ListTables(id=n, variant=variant, after=after)


def _may_retry(error: ConnectError | RefusedError) -> bool:
    if isinstance(error, ConnectError):
        return True
    return error.code in _RETRYABLE


async def _open(address: Address, account: Account, dial: Dial) -> Entered:
    try:
        return await _enter(address, account, dial)
    except RefusedError as error:
        if not is_unknown_token(error):
            raise
    spk = account.store.pin(address.server)
    if spk is not None:
        account.store.keep_token(spk.first, None)
    return await _enter(address, account, dial)


async def _enter(address: Address, account: Account, dial: Dial) -> Entered:
    stream = await dial(address)
    try:
        return await enter(stream, address, account)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


@asynccontextmanager
async def connect(
    address: str | Address, player: Player, *, dial: Dial = dial_tcp
) -> AsyncIterator[Connection]:
    """Connect to a server as a player.

    Raises:
        AddressError: The address cannot be read.
        ConnectError: The server cannot be reached, or is not the one known.
        RefusedError: It does not let this player in.
        HomeError: The player's home cannot be used.
    """
    where = parse_address(address) if isinstance(address, str) else address
    account = open_account(player)
    try:
        connection = Connection(where, account, dial, await _open(where, account, dial))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(connection.run)
                yield connection
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise _own_error(group) from None
        finally:
            connection.close()
    finally:
        account.store.close()


def _own_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the one error of the block, which a nursery wraps; the connection's task raises none."""
    errors = [error for error in leaves(group) if not isinstance(error, trio.Cancelled)]
    return errors[0] if len(errors) == 1 else group
