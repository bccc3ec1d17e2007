"""Whoever asks a server over HTTP how it is: Prometheus, a script of the host, or somebody who should not."""

from collections.abc import Mapping
from typing import NamedTuple

import h11
import trio
from chaos.servers import free_port
from server.conftest import QUICK, changed

LOOPBACK = "127.0.0.1"


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str


def telling(settings=QUICK):
    """Return settings with which a server tells its figures."""
    return changed(settings, metrics={"port": free_port(), "host": LOOPBACK})


async def connected(server) -> trio.SocketStream:
    """Connect to the port for figures."""
    return await trio.open_tcp_stream(LOOPBACK, server.settings.metrics.port)


async def get(server, path: str, method: str = "GET") -> Reply:
    """Ask for something as a browser would."""
    head = f"{method} {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n"
    return await replied(server, head.encode(), method)


async def replied(server, sent: bytes, method: str = "GET") -> Reply:
    """Send bytes and return what comes until the end, which must be one answer of HTTP."""
    async with await connected(server) as stream:
        await stream.send_all(sent)
        received = b"".join([part async for part in stream])
    return parsed(received, method)


def parsed(received: bytes, method: str = "GET") -> Reply:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method=method, target="/", headers=[("Host", LOOPBACK)]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(received)
    connection.receive_data(b"")
    response, text = connection.next_event(), b""
    while isinstance(event := connection.next_event(), h11.Data):
        text += event.data
    assert isinstance(event, h11.EndOfMessage)
    headers = {name.decode(): value.decode() for name, value in response.headers}
    return Reply(response.status_code, headers, text.decode())


async def figures(server) -> dict[str, float]:
    """Return every figure, under its name as Prometheus writes it: `name` or `name{label="value"}`."""
    reply = await get(server, "/metrics")
    assert reply.status == 200
    return figures_of(reply.text)


def figures_of(text: str) -> dict[str, float]:
    told = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in told}
