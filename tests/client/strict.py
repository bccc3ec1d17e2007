"""Scripted servers in memory that let nothing pass: what a client of ours does wrong ends the test."""

from typing import TYPE_CHECKING, Any

import trio
from trio.testing import memory_stream_pair

from truc_conform.blind_server import BlindHarness
from truc_conform.client_harness import ClientHarness
from truc_conform.playing import quiet, secret
from truc_conform.scripted import PlayedGame

if TYPE_CHECKING:
    from collections.abc import Callable

    from truc_protocol.messages import ClientMessage, ServerMessage


class Strict(ClientHarness):
    """A server that a client reaches by `dial`; `stop_after` tells after which message the connection is lost, once."""

    def __init__(
        self, variant: str = "truc-french", *, seats: int = 2, seed: int = 1, **options: Any
    ) -> None:
        super().__init__(PlayedGame(variant, seats, options), seed=seed)
        self.stop_after: Callable[[ServerMessage | bytes], bool] = lambda _piece: False

    @property
    def received(self) -> "list[ClientMessage]":
        return [heard.message for heard in self.heard]

    async def dial(self, _address: object) -> trio.abc.Stream:
        client, server = memory_stream_pair()
        self.nursery.start_soon(self.serve, server)
        return client

    async def push(self, piece: "ServerMessage | bytes") -> None:
        await super().push(piece)
        if self.stop_after(piece):
            self.stop_after = lambda _piece: False
            await self.drop()

    def blame(self, code: str, message: str) -> None:
        raise RuntimeError(f"{code}: {message}")

    def nonce(self) -> bytes:
        """Return the same nonce in each run: every home is new."""
        return secret(f"tn {self.match}", self.seed)


class QuietServer(Strict):
    """A strict server whose own seats let the cards be played, so that a match is long."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pick = lambda _ledger: quiet


class StrictBlind(Strict, BlindHarness):
    """The same, at a table whose host sees no card."""
