"""One connection over HTTP: its bytes, in clear or encrypted, and its requests and answers, by h11.

Invariants: a request has `HEADER_BYTES` and `HEADER_S`; no more than `CHUNK_BYTES` ever wait to be sent, and whoever
takes none of it for `SEND_S` is cut.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, Protocol, TypeVar

import h11
import trio

from truc_web.serving.pages import COMMON, PageAnswer

HEADER_BYTES: Final = 8_192
HEADER_S: Final = 5.0
IDLE_S: Final = 15.0  # between two requests
CHUNK_BYTES: Final = 65_536
SEND_S: Final = 10.0
_READ_BYTES: Final = 4_096
_PART_S: Final = 1.0  # for the last answer to arrive
_REST_BYTES: Final = 65_536  # read behind the last answer, at most
_UNCHANGED: Final = HTTPStatus.NOT_MODIFIED

T = TypeVar("T")
Asked = h11.Request | h11.RemoteProtocolError
"""A request, or what is wrong with it."""


class Cipher(Protocol):
    """What a connection is encrypted with."""

    def feed(self, received: bytes, /) -> None:
        """Take what the peer has sent."""

    def read(self) -> bytes | None:
        """Return what comes next, opened; None until more is fed, empty at the end."""

    def seal(self, frames: bytes, /) -> bytes:
        """Return what is to be written for some bytes."""

    def part(self) -> bytes:
        """Return the last words."""


class HttpConnection:
    """One connection that speaks HTTP.

    Attributes:
        began: when it was accepted, or its present request began.
        is_cut: whether somebody else has got its place before it asked anything.
    """

    def __init__(self, stream: trio.SocketStream, tls: Cipher | None, began: float) -> None:
        self.stream = stream
        self.tls = tls
        self.began = began
        self._waits: trio.CancelScope | None = None  # for a request, or for the end
        self.is_cut = False
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEADER_BYTES)
        self._is_first = True

    async def request(self) -> h11.Request | None:
        """Return the next request; None if none begins in time.

        Raises:
            h11.RemoteProtocolError: It is no HTTP, too long, or does not come whole in time.
        """
        with self.waiting(HEADER_S if self._is_first else IDLE_S) as patience:
            while True:
                event = self._http.next_event()
                if isinstance(event, h11.Request):
                    self._is_first = False
                    if not announces_body(event):
                        self._http.next_event()  # its end
                    return event
                if event is not h11.NEED_DATA:
                    return None
                received = await self.receive()
                if not self._is_first and self.rest == b"":
                    self.began = trio.current_time()
                    # a connection may be kept for the next request,
                    # but a header that has begun has to come whole
                    patience.deadline = self.began + HEADER_S
                self._http.receive_data(received)
        if self.rest and patience.cancelled_caught and not self.is_cut:
            raise h11.RemoteProtocolError("too slow", error_status_hint=HTTPStatus.REQUEST_TIMEOUT)
        return None

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[trio.CancelScope]:
        """Wait at most so many seconds, less if it is cut."""
        with trio.move_on_after(seconds) as self._waits:
            yield self._waits
        self._waits = None

    @property
    def is_waiting(self) -> bool:
        """Whether it is the peer's turn, so that it may be cut."""
        return self._waits is not None

    def cut(self) -> None:
        """End it, as somebody else needs its place."""
        if self._waits is not None:
            self.is_cut = True
            self._waits.cancel()

    async def receive(self) -> bytes:
        """Return what comes next, opened; empty at the end."""
        if self.tls is None:
            return bytes(await self.stream.receive_some(_READ_BYTES))
        while (opened := self.tls.read()) is None:
            received = await self.stream.receive_some(_READ_BYTES)
            if not received:
                return b""
            self.tls.feed(received)
        return opened

    async def send(self, words: bytes) -> None:
        """Send bytes.

        Raises:
            trio.BrokenResourceError: They are not taken.
        """
        for at in range(0, len(words), CHUNK_BYTES):
            piece = words[at : at + CHUNK_BYTES]
            with trio.move_on_after(SEND_S) as patience:
                await self.stream.send_all(piece if self.tls is None else self.tls.seal(piece))
            if patience.cancelled_caught:
                raise trio.BrokenResourceError

    async def converse(self, find: Callable[[Asked], Awaitable[PageAnswer | T]]) -> T | None:
        """Answer what is asked until the connection ends, or something else than an answer is found, which is returned."""
        goes_on = True
        while goes_on:
            asked: Asked | None
            try:
                asked = await self.request()
            except h11.RemoteProtocolError as error:
                asked = error
            if asked is None:
                return None
            found = await find(asked)
            if not isinstance(found, PageAnswer):
                return found
            is_head = isinstance(asked, h11.Request) and asked.method == b"HEAD"
            goes_on = await self.answer(found, has_body=not is_head)
        await self._part()
        self.is_cut = False  # it has got its answer
        return None

    async def _part(self) -> None:
        # closed with bytes unread a socket is reset, which may take the answer back
        left = _REST_BYTES
        with self.waiting(_PART_S):
            if self.tls is not None:
                await self.send(self.tls.part())
            await self.stream.send_eof()
            async for received in self.stream:
                left -= len(received)
                if left < 0:
                    return

    async def answer(self, answer: PageAnswer, *, has_body: bool = True) -> bool:
        """Answer the request; tell whether another may follow."""
        length = [("Content-Length", str(len(answer.body)))] if answer.status is not _UNCHANGED else []
        headers = [*length, *COMMON, *answer.headers]
        head = h11.Response(status_code=answer.status, reason=answer.status.phrase, headers=headers)
        pieces = [self._http.send(head)]
        if has_body and answer.body:
            pieces.append(self._http.send(h11.Data(data=answer.body)))
        pieces.append(self._http.send(h11.EndOfMessage()))
        await self.send(b"".join(filter(None, pieces)))
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    @property
    def rest(self) -> bytes:
        """What has come after the request."""
        return self._http.trailing_data[0]


def announces_body(request: h11.Request) -> bool:
    """Tell whether a request says that more than its header comes."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0") != b"")
        for name, value in request.headers
    )
