"""What everything on one connection shares: the account, who the server is, and the line to it.

What is followed there stands above, in subscriptions.py; it is what hears the line, and renews this at each login.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import trio

from truc_client.home.account import Account
from truc_client.line.line import ServerLine, pause_of
from truc_client.line.login import LoggedIn
from truc_client.line.single_connection import Answer, Build
from truc_protocol.errors import Code
from truc_protocol.messages import Capabilities, Refusal, SeatHeld
from truc_protocol.wire.capabilities import OWN_OPTIONS

if TYPE_CHECKING:
    from truc_protocol.wire.handshake import ServerIdentity


T = TypeVar("T")


class Session:
    """One player's time at one server.

    Attributes:
        account: who plays.
        line: the way to the server.
        server: who the server is, as of the newest login.
        keys: its present key and the earlier ones that its rotations show: a match keeps the key it began under.
        name: the name by which the server shows this player.
        tag: the player's tag there, if the server gives tags.
        held: the seats that the player holds.
        capabilities: what the server has beyond the core of the protocol.
        makes_options: whether the server sends this player no options, as it is known that they are found by the rules.
    """

    def __init__(
        self,
        account: Account,
        line: ServerLine,
        entered: LoggedIn,
        nursery: trio.Nursery,
        *,
        wants_no_options: bool = False,
    ) -> None:
        self.account = account
        self.line = line
        self._wants_no_options = wants_no_options and not account.is_guest
        self._nursery = nursery
        self.adopt(entered)

    def adopt(self, entered: LoggedIn) -> None:
        """Go on with what the newest login has said."""
        self.server: ServerIdentity = entered.server
        self.keys = entered.keys
        self.name = entered.welcome.name
        self.tag = entered.welcome.player
        self.held: tuple[SeatHeld, ...] = entered.welcome.seats
        self.capabilities: Mapping[str, object] = MappingProxyType(dict(entered.server.info.caps))
        self.makes_options = self._wants_no_options and OWN_OPTIONS in self.capabilities
        # a guest is known by nothing else when the connection is lost
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

    def left(self, code: str) -> None:
        """Note that a table was left, and the seat held there given up."""
        self.held = tuple(held for held in self.held if held.table != code)

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
            # each login brings another value: on a new connection what is needed was asked for anew
            if self.server is server:
                self.line.post(build, answered)

        return self.line.post(build, answered)

    def in_thread(self, make: Callable[[], T], take: Callable[[T], None]) -> None:
        """Make something that takes a while in a thread, and take it on this one as soon as it is there."""

        async def work() -> None:
            take(await trio.to_thread.run_sync(make))

        self._nursery.start_soon(work)

    def renew(self, change: Capabilities) -> None:
        """Note what the server has and lacks from now on."""
        kept = {name: value for name, value in self.capabilities.items() if name not in change.gone}
        self.capabilities = MappingProxyType({**kept, **change.add})
