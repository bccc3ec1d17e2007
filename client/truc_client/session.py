"""What everything on one connection shares: the account, who the server is, the line to it, and what is followed there.

The loss of the connection is passed to everything followed, and all of it goes on once the line is open again. A fault
at one table ends that table alone.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import trio

from truc_client.errors import ClientError
from truc_client.followed import Followed
from truc_client.home.account import Account
from truc_client.line.entering import Entered
from truc_client.line.line import Line, pause_of
from truc_client.line.link import Answer, Build
from truc_client.table_session import Following
from truc_protocol.errors import Code
from truc_protocol.messages import Capabilities, Ok, Refusal, SeatHeld, ServerMessage

if TYPE_CHECKING:
    from truc_protocol.wire.handshake import ServerIdentity


class Session:
    """One player's time at one server.

    Attributes:
        account: who plays.
        line: the way to the server.
        followed: the tables and the lobby.
        server: who the server is, as of the newest login.
        keys: its present key and the earlier ones that its rotations show: a match keeps the key it began under.
        name: the name by which the server shows this player.
        tag: the player's tag there, if the server gives tags.
        held: the seats that the player holds.
        capabilities: what the server has beyond the core of the protocol.
    """

    def __init__(
        self, account: Account, line: Line, entered: Entered, nursery: trio.Nursery, *, is_called: bool
    ) -> None:
        self.account = account
        self.line = line
        self.followed = Followed(is_called=is_called)
        self._nursery = nursery
        self._adopt(entered)

    def _adopt(self, entered: Entered) -> None:
        self.server: ServerIdentity = entered.server
        self.keys = entered.keys
        self.name = entered.welcome.name
        self.tag = entered.welcome.player
        self.held: tuple[SeatHeld, ...] = entered.welcome.seats
        self.capabilities: Mapping[str, object] = MappingProxyType(dict(entered.server.info.caps))
        if entered.welcome.token is not None:
            self.account.store.keep_token(self.first_spk, entered.welcome.token)

    @property
    def first_spk(self) -> bytes:
        """The first key pinned for the server, from which the player's key there is derived."""
        return self.server.pin.first

    @property
    def spk(self) -> bytes:
        """The server's present key."""
        return self.server.spk

    def follow(self, code: str, seat: int | None) -> Following:
        """Follow a table from scratch."""
        following = self.followed.tables[code] = Following(self, code, seat)
        return following

    def return_to(self, code: str, seat: int | None) -> Following:
        """Follow a table, or keep following it; a player who holds a seat there goes on with it."""
        following = self.followed.tables.get(code)
        if following is None:
            following = self.follow(code, seat)
            if any(held.table == code for held in self.held):
                following.agreement.agree_on_return()
        return following

    def drop(self, code: str) -> None:
        """Stop following a table."""
        self.followed.tables.pop(code, None)

    def left(self, code: str) -> None:
        """Note that a table was left, and the seat held there given up."""
        self.held = tuple(held for held in self.held if held.table != code)
        self.drop(code)

    def forgotten(self) -> None:
        """Note that the server has forgotten the player."""
        self.held = ()
        if self.account.is_guest:
            self.account.store.keep_token(self.first_spk, None)

    def post(self, build: Build, on_answer: Callable[[Answer], None]) -> bool:
        """Send a request without waiting, and again after a pause if there were too many; tell whether the connection was open.

        Once the connection is lost it is not sent again: what is needed on the next is asked there anew.
        """
        server = self.server

        def answered(answer: Answer) -> None:
            if isinstance(answer, Refusal) and answer.code == Code.RATE_LIMITED:
                self._nursery.start_soon(again, pause_of(answer.retry_after_ms))
            else:
                on_answer(answer)

        async def again(pause: float) -> None:
            await trio.sleep(pause)
            if self.server is server:
                self.line.post(build, answered)

        return self.line.post(build, answered)

    async def request(self, build: Build, at_once: Callable[[Ok], None] | None = None) -> Ok:
        """Send a request and return its reply; `at_once` sees it before any message that comes after it.

        Raises:
            RefusedError: The server refused it.
            LostError: The connection was lost before the reply.
        """
        return await self.line.request(build, at_once)

    def handle(self, message: ServerMessage) -> None:
        """Take a message that is not a reply."""
        if isinstance(message, Capabilities):
            kept = {name: value for name, value in self.capabilities.items() if name not in message.gone}
            self.capabilities = MappingProxyType({**kept, **message.add})
        self.followed.handle(message)

    def ask_again(self) -> None:
        """Ask at each table for what may be lost."""
        for following in tuple(self.followed.tables.values()):
            following.ask_again()

    def interrupted(self, reason: str) -> None:
        """Note that the connection is gone for now."""
        self.followed.interrupted(reason)

    def returned(self, entered: Entered) -> None:
        """Note that the connection is back; everything followed goes on."""
        self._adopt(entered)
        if self.followed.lobby is not None:
            self.followed.lobby.reconnected(self)
        self.followed.reconnected(self.held)

    def fail(self, error: ClientError) -> None:
        """Note that the connection is gone for good."""
        self.followed.fail(error)

    def close(self) -> None:
        """Close every transcript."""
        self.followed.close()
