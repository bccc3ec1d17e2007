"""The calls that a server sends to its host's bots: a seat is vacant in a match, or free at an open table.

A call is an offer, not an order. A bot that joins a match stands by, as anybody may, and the first record that can
stand gets the seat; a free seat goes to whoever joins first. The server calls again when a bot comes back, so that it
misses nothing while its connection is gone; some calls come twice.
"""

from typing import Final, assert_never

from truc_client.happenings import Called
from truc_client.reports import Reports
from truc_protocol.messages import BotWanted, PlayersWanted

HOUSE_BOTS: Final = "house-bots"
"""The capability that `connect` must want for the server to call."""


class Calls:
    """The calls to this bot, to be iterated with `async for`; made by a connection's `calls`."""

    def __init__(self, reports: Reports[Called]) -> None:
        self._reports = reports

    def __aiter__(self) -> "Calls":
        return self

    async def __anext__(self) -> Called:
        """Return the next call.

        Raises:
            ClientError: The connection is gone for good.
        """
        return await self._reports.next()


def called(message: BotWanted | PlayersWanted) -> Called:
    """Return a call as the bot is told it."""
    match message:
        case BotWanted():
            return Called(message.table, message.match, message.seat, message.variant, message.left_ms)
        case PlayersWanted():
            return Called(message.table, None, message.seat, message.variant)
        case _:
            assert_never(message)
