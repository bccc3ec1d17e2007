"""What happens at one table, or in the lobby, in order, for whoever follows it, until it ends for this client.

Nothing waits when something is told; what is not read piles up to a limit. Invariant: nothing is told after the end.
"""

from typing import Final, Generic, TypeVar

import trio

from truc_client.errors import ClientError, LostError
from truc_protocol.words import Sentence

Told = TypeVar("Told")

MAX_HAPPENINGS: Final = 65_536


class Reports(Generic[Told]):
    """The happenings of one table, or of the lobby."""

    def __init__(self) -> None:
        self._tell, self._told = trio.open_memory_channel[Told](MAX_HAPPENINGS)
        self.failure: ClientError | None = None

    def say(self, *happenings: Told) -> None:
        """Tell what happened.

        Raises:
            LostError: Nobody reads.
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
        """End for a reason; the first one counts."""
        self.failure = self.failure or error
        self.finish()

    def finish(self) -> None:
        """End: what was told can still be read."""
        self._tell.close()

    async def next(self) -> Told:
        """Return what happened next.

        Raises:
            StopAsyncIteration: It is over.
            ClientError: It has failed.
        """
        try:
            return await self._told.receive()
        except trio.EndOfChannel:
            if self.failure is not None:
                raise self.failure from None
            raise StopAsyncIteration from None
