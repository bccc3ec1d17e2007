"""The calls that a server sends to the bots of its host: which seat of which match is vacant, which of an open table free.

A call is an offer, no order: who joins stands by, as anybody may, and the first record that can stand has the seat; a free
one has who joins first. The server calls again when a bot comes back, so that nothing is missed while a connection is gone, and
some come twice.
"""

from typing import Final, assert_never

from truc_client.happenings import Called
from truc_client.reports import Reports
from truc_protocol.messages import BotWanted, PlayersWanted

HOUSE_BOTS: Final = "house-bots"
"""The capability that `connect` must want, so that the server calls."""


class Calls:
    """The calls to this bot, as they come: `async for` yields each; made by a connection's `calls`."""

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
    """Return a call as it is told."""
    match message:
        case BotWanted():
            return Called(message.table, message.match, message.seat, message.variant, message.left_ms)
        case PlayersWanted():
            return Called(message.table, None, message.seat, message.variant)
        case _:
            assert_never(message)
