"""A man in the middle for tests: what a server says passes through a function on its way to the client."""

from contextlib import asynccontextmanager
from functools import partial

import trio

from truc_conform.raw_client import frame
from truc_protocol.codec import unpack


@asynccontextmanager
async def altered(port: int, alter, *, gathered_s: float = 0):
    """Serve on a port of its own; `alter(message, asked)` gives the messages to send on for one of the server's; `asked`
    are the tags of what the client has said over the connection.

    What the client says within `gathered_s` comes to the server at once. An `alter` that raises BrokenResourceError
    loses the connection.
    """
    async with trio.open_nursery() as nursery:
        serve = partial(_pass_on, port=port, alter=alter, gathered_s=gathered_s)
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield listeners[0].socket.getsockname()[1]
        nursery.cancel_scope.cancel()


async def _pass_on(client, *, port, alter, gathered_s) -> None:
    asked: list[str] = []
    server = await trio.open_tcp_stream("127.0.0.1", port)
    try:
        async with server, client, trio.open_nursery() as nursery:
            nursery.start_soon(_upward, client, server, asked, gathered_s)
            await _downward(server, client, partial(alter, asked=asked))
            nursery.cancel_scope.cancel()
    except* (trio.BrokenResourceError, trio.ClosedResourceError):
        pass


async def _upward(client, server, asked, gathered_s) -> None:
    unread = bytearray()
    async for received in client:
        part = bytearray(received)
        with trio.move_on_after(gathered_s):
            async for more in client:
                part += more
        unread += part
        for whole in _frames(unread):
            asked.append(_tag(whole))
        await server.send_all(part)
    await server.send_eof()


async def _downward(server, client, alter) -> None:
    unread = bytearray()
    async for part in server:
        unread += part
        for whole in _frames(unread):
            for message in alter(unpack(whole)):
                await client.send_all(frame(message))
    await client.send_all(bytes(unread))


def _frames(unread: bytearray):
    """Take whole frames off what was received."""
    while len(unread) >= 4 and len(unread) >= (end := 4 + int.from_bytes(unread[:4], "big")):
        whole = bytes(unread[4:end])
        del unread[:end]
        yield whole


def _tag(whole: bytes) -> str:
    try:
        return str(unpack(whole).get("t"))
    except ValueError:
        return ""
