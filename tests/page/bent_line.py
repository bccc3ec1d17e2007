"""What `truc web` would run for a page, over a line on which a server's words are changed after it has signed its hello."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import trio
from client.serving import RealServer

from truc_client.connecting import meet
from truc_client.home.account import Player
from truc_client.home.home import open_home
from truc_protocol.codec import pack, unpack
from truc_protocol.errors import RemoteError
from truc_protocol.wire.encoding import SERVER_LIMIT, FrameSplitter, to_frame
from truc_terminal.web_carrier import WebCarrier
from truc_web.tree import read_tree

Change = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""Says what the page is told in the place of a message."""
SIGNED = ("hello", "welcome")
"""What the page answers by its hash, or puts into a record of its own."""
LOST = trio.BrokenResourceError
"""What a change raises to lose the connection instead."""
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError, RemoteError)


class _Bending(NamedTuple):
    change: Change
    gathered_s: float


@contextmanager
def bent_line(server: RealServer, home: Path, change: Change, *, gathered_s: float = 0) -> Iterator[str]:
    """Run it in a thread; returns the link that opens the page.

    What the page says within `gathered_s` comes to the server at once.
    """
    ready, found = threading.Event(), {}
    bending = _Bending(change, gathered_s)
    running = threading.Thread(target=trio.run, args=(_run, server, home, bending, found, ready))
    running.start()
    assert ready.wait(30)
    try:
        yield found["link"]
    finally:
        trio.from_thread.run_sync(found["scope"].cancel, trio_token=found["token"])
        running.join()


async def _run(
    server: RealServer, home: Path, bending: _Bending, found: dict[str, Any], ready: threading.Event
) -> None:
    met = await meet(server.address, Player(open_home(home), "north"))
    async with trio.open_nursery() as tasks:
        (line, page) = [(await trio.open_tcp_listeners(0, host="127.0.0.1"))[0] for _ in range(2)]
        place = met.address._replace(port=line.socket.getsockname()[1])
        origin = f"http://localhost:{page.socket.getsockname()[1]}"
        carrier = WebCarrier(met._replace(address=place), origin, read_tree(), "/", lambda: None)
        tasks.start_soon(trio.serve_listeners, partial(_bend, met.address.port, bending), [line])
        tasks.start_soon(trio.serve_listeners, carrier.serve, [page])
        found |= {
            "link": carrier.link,
            "scope": tasks.cancel_scope,
            "token": trio.lowlevel.current_trio_token(),
        }
        ready.set()


async def _bend(port: int, bending: _Bending, page: trio.SocketStream) -> None:
    server = await trio.open_tcp_stream("127.0.0.1", port)
    async with page, server, trio.open_nursery() as ways:
        ways.start_soon(_take_up, page, server, bending.gathered_s, ways.cancel_scope)
        try:
            frames = FrameSplitter(SERVER_LIMIT)
            async for received in server:
                frames.feed(bytes(received))
                while (frame := frames.next_frame()) is not None:
                    await page.send_all(_bent(frame, bending.change))
        except _GONE:
            pass
        ways.cancel_scope.cancel()


async def _take_up(
    page: trio.SocketStream, server: trio.SocketStream, gathered_s: float, scope: trio.CancelScope
) -> None:
    try:
        async for received in page:
            gathered = bytearray(received)
            with trio.move_on_after(gathered_s):
                async for more in page:
                    gathered += more
            await server.send_all(gathered)
    except _GONE:
        pass
    scope.cancel()


def _bent(frame: bytes, change: Change) -> bytes:
    message = unpack(frame)
    bent = [message] if message["t"] in SIGNED else change(message)
    return b"".join(to_frame(pack(each), SERVER_LIMIT) for each in bent)
