"""How many connections of one client are still open."""

import trio


class Endings:
    """The connections of one client to a scripted server."""

    def __init__(self) -> None:
        self._open = 0
        self._change = trio.Event()

    def begin(self) -> None:
        """Count a connection that has begun."""
        self._open += 1

    def end(self) -> None:
        """Count a connection that has ended."""
        self._open -= 1
        self._change.set()
        self._change = trio.Event()

    async def wait_all(self, seconds: float) -> None:
        """Wait, so long at most, until every connection has ended: what a client sent before exiting may still come."""
        with trio.move_on_after(seconds):
            while self._open:
                await self._change.wait()
