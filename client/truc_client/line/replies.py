"""The wait for one reply: it ends with the reply or with the connection, whichever comes first."""

from collections.abc import Callable

import trio

from truc_client.errors import ClientError, LostError
from truc_client.line.link import Answer
from truc_protocol.messages import Ok
from truc_words import Sentence


class Waiter:
    """A request that waits for its reply; `at_once` sees an `Ok` before any message that comes after it."""

    def __init__(self, at_once: Callable[[Ok], None] | None) -> None:
        self._at_once = at_once
        self._done = trio.Event()
        self._answer: Answer | None = None
        self._error: ClientError | None = None

    def answer(self, answer: Answer) -> None:
        """Take the reply."""
        if self._at_once is not None and isinstance(answer, Ok):
            self._at_once(answer)
        self._answer = answer
        self._done.set()

    def fail(self, error: ClientError) -> None:
        """Note that no reply will come."""
        self._error = error
        self._done.set()

    async def wait(self) -> Answer:
        """Return the reply; raises what ended the connection."""
        await self._done.wait()
        if self._answer is None:
            raise self._error or LostError(Sentence("failures.connection_lost"))
        return self._answer
