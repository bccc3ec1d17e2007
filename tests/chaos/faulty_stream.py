"""A stream with faults: what a bad network, a broken client or a hostile one does to the bytes.

The plan is a value, so that a test names its fault and a run with a seed finds it again. Deliberately not here: the
choice of faults. Invariant: what arrives is a beginning of what was sent, in its order.
"""

from collections.abc import Iterator
from itertools import cycle
from typing import NamedTuple

import trio


class Faults(NamedTuple):
    """What goes wrong with a stream; nothing by itself.

    Attributes:
        pieces: sizes of the writes that what is sent is split into, over and over; none leaves it whole.
        delay_s: seconds before each of them.
        breaks_after: bytes sent, after which the connection breaks without a word.
        ends_after: bytes sent, after which the sending half is closed; what is sent later goes nowhere.
        is_deaf: nothing is ever read.
    """

    pieces: tuple[int, ...] = ()
    delay_s: float = 0.0
    breaks_after: int | None = None
    ends_after: int | None = None
    is_deaf: bool = False


class FaultyStream(trio.abc.HalfCloseableStream):
    """A socket's stream under a plan."""

    def __init__(self, stream: trio.SocketStream, faults: Faults) -> None:
        self.stream = stream
        self.faults = faults
        self.sent = 0
        self._has_ended = False
        self._sizes = cycle(faults.pieces or (0,))

    @property
    def socket(self) -> trio.socket.SocketType:
        """The socket below."""
        return self.stream.socket

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send as the plan wants it.

        Raises:
            trio.BrokenResourceError: The plan has broken the connection.
        """
        for piece in self._pieces(bytes(data)):
            if self._has_ended:
                await trio.lowlevel.checkpoint()
                return
            await self._send(piece)

    async def _send(self, piece: bytes) -> None:
        if self.faults.delay_s:
            await trio.sleep(self.faults.delay_s)
        allowed = piece[: self._left()]
        if allowed:
            await self.stream.send_all(allowed)
            self.sent += len(allowed)
        if self.sent == self.faults.breaks_after:
            await trio.aclose_forcefully(self.stream)
            raise trio.BrokenResourceError(f"broken by plan after {self.sent} bytes")
        if self.sent == self.faults.ends_after:
            await self.send_eof()

    def _left(self) -> int | None:
        limits = [limit for limit in (self.faults.breaks_after, self.faults.ends_after) if limit is not None]
        return min(limits) - self.sent if limits else None

    def _pieces(self, whole: bytes) -> Iterator[bytes]:
        while whole:
            size = next(self._sizes) or len(whole)
            yield whole[:size]
            whole = whole[size:]

    async def wait_send_all_might_not_block(self) -> None:
        """Wait as the socket does."""
        await self.stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        """Close the sending half, once."""
        if not self._has_ended:
            self._has_ended = True
            await self.stream.send_eof()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Receive, unless the plan is deaf: then wait for ever."""
        if self.faults.is_deaf:
            await trio.sleep_forever()
        return bytes(await self.stream.receive_some(max_bytes))

    async def aclose(self) -> None:
        """Close the socket."""
        await self.stream.aclose()
