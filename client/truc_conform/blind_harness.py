"""The server against which a client is judged at a table whose host sees no card: puppets deal with it, and may cheat."""

from typing import TYPE_CHECKING

from truc_conform.blind_server import BlindServer, blind_info
from truc_conform.client_harness import FRENCH, ClientHarness, Game
from truc_conform.forging import note_cheat
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.records import Record
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable


class BlindHarness(ClientHarness, BlindServer):
    """A table of mode blind, prepared for anything from its client.

    Attributes:
        passes_on: tells which record of a puppet is passed on though a check fails; nobody of the kit does anything more.
        deals_here: the client has named what a seat at such a table takes.
        killed: the kit has ended the client, to start it again.
    """

    def __init__(self, game: Game = FRENCH, *, seed: int = 1) -> None:
        super().__init__(game, seed=seed)
        self.info = blind_info(self.info)
        self.opts = self.opts._replace(guests=0)
        self.passes_on: Callable[[Record], bool] = lambda _record: False
        self.deals_here = False
        self.killed = False

    async def greet(self, message: messages.ClientHello) -> None:
        """Prove who the server is, and keep what the client wants."""
        self.deals_here = {BLIND_TABLES, OWN_OPTIONS} <= set(message.want)
        await super().greet(message)

    async def seat(self, message: messages.Create | messages.Join) -> None:
        """Give the client the remote seat, if it deals."""
        if self.deals_here:
            await super().seat(message)
            return
        text = "here the seats deal: log in with a key, and name `blind` and `own-options` in `want`"
        await self.push(messages.refusal(Code.NOT_NOW, text, re=message.id))
        self.done.set()

    async def take(self, record: Record) -> None:
        """Add a record; one that is bad is passed on, and after it the puppets and the server do nothing."""
        if not self.passes_on(record):
            await super().take(record)
            return
        note_cheat(self, len(self.records))
        self.records.append(record)
        self.silent = frozenset(self.players)
        await self.send(self.message(len(self.records) - 1))

    def quick(self) -> None:
        """Leave all that a puppet does to `other`: its cards are not the server's."""
