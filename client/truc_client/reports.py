"""What happens at one table or in the lobby, in order, for whoever follows it, until it ends for this client; and calls to bots.

Reporting never waits; what is not read piles up, to a limit. Invariant: nothing is reported after the end.
"""

from typing import Final, Generic, TypeVar, assert_never

import trio

from truc_client.errors import ClientError, LostError
from truc_client.happenings import BotCalled, ChatSaid
from truc_protocol.messages import BotWanted, ChatLine, PlayersWanted
from truc_words import Sentence

Told = TypeVar("Told")

MAX_HAPPENINGS: Final = 65_536

HOUSE_BOTS: Final = "house-bots"
"""The capability that `connect` must want for the server to call."""


class Reports(Generic[Told]):
    """The happenings of one table or of the lobby."""

    def __init__(self) -> None:
        self._tell, self._told = trio.open_memory_channel[Told](MAX_HAPPENINGS)
        self.failure: ClientError | None = None

    def say(self, *happenings: Told) -> None:
        """Report what happened; after the end, do nothing.

        Raises:
            LostError: Nobody reads, and too much has piled up.
        """
        try:
            for happening in happenings:
                self._tell.send_nowait(happening)
        except trio.WouldBlock as error:
            raise LostError(
                Sentence("failures.unread_happenings", most=MAX_HAPPENINGS), again=False
            ) from error
        except trio.ClosedResourceError:
            return

    def fail(self, error: ClientError) -> None:
        """End with an error; the first one counts."""
        self.failure = self.failure or error
        self.finish()

    def finish(self) -> None:
        """End: what was reported can still be read."""
        self._tell.close()

    async def next(self) -> Told:
        """Return what happened next.

        Raises:
            StopAsyncIteration: It has ended.
            ClientError: It has ended with this error.
        """
        try:
            return await self._told.receive()
        except trio.EndOfChannel:
            if self.failure is not None:
                raise self.failure from None
            raise StopAsyncIteration from None


class Calls:
    """The calls to this bot, to be iterated with `async for`; made by a connection's `calls`."""

    # A call is an offer, not an order. A bot that joins a match stands by, as anybody may, and the first record that can
    # stand gets the seat; a free seat goes to whoever joins first. The server calls again when a bot comes back, so that it
    # misses nothing while its connection is gone; some calls come twice.

    def __init__(self, reports: Reports[BotCalled]) -> None:
        self._reports = reports

    def __aiter__(self) -> "Calls":
        return self

    async def __anext__(self) -> BotCalled:
        """Return the next call.

        Raises:
            ClientError: The connection is gone for good.
        """
        return await self._reports.next()


def called(message: BotWanted | PlayersWanted) -> BotCalled:
    """Return a call as the bot is told it."""
    match message:
        case BotWanted():
            return BotCalled(message.table, message.match, message.seat, message.variant, message.left_ms)
        case PlayersWanted():
            return BotCalled(message.table, None, message.seat, message.variant)
        case _:
            assert_never(message)


def chat_said(line: ChatLine) -> ChatSaid:
    """Return a line of chat as a happening."""
    return ChatSaid(line.player, line.name, line.text, line.table, line.seat, line.n, line.ago_ms)
