"""A browser's end of the door, as far as a socket has one: requests over HTTP, and a WebSocket that speaks frames."""

import gzip
from collections.abc import Mapping
from contextlib import asynccontextmanager
from functools import cache
from html import escape
from types import SimpleNamespace

import pytest
import trio
from chaos.servers import free_port
from server.conftest import QUICK, changed, running
from server.rawclient import RawClient

from truc_conform import websocket
from truc_conform.server_visit import read_address
from truc_server import web as web_port
from truc_web.serving import pages
from truc_web.tree import Tree, read_tree

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "truc.1",
}


class Door:
    """Where a server serves browsers."""

    def __init__(self, server, port, origin):
        self.server, self.port, self.origin = server, port, origin
        self.host = origin.partition("://")[2]

    async def connect(self, source=None):
        return await trio.open_tcp_stream("127.0.0.1", self.port, local_address=source)

    def request(self, path, method="GET", **headers):
        given = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()

    async def ask(self, path, method="GET", **headers):
        stream = await self.connect()
        async with stream:
            return await answer(stream, self.request(path, method, **headers), has_body=method != "HEAD")

    async def upgrade(self, **headers):
        """Return the stream of a WebSocket, and what the server has answered."""
        stream = await self.connect()
        status, _, _ = got = await answer(
            stream, self.request("/ws", **{**UPGRADE, **headers}), has_body=False
        )
        return stream, status, got

    async def client(self):
        stream = await websocket.connect(read_address(self.origin.replace("http", "ws", 1)).origin)
        client = RawClient(stream)
        self.server.clients.append(client)
        return client


async def answer(stream, request, *, has_body=True):
    """Send a request; return status, headers by their small names, and body."""
    await stream.send_all(request)
    received = b""
    while b"\r\n\r\n" not in received:
        more = await stream.receive_some(65_536)
        if not more:
            break
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(first.split()[1]) if first else 0
    while has_body and (
        len(body) < int(headers.get("content-length", 0))
        or ("transfer-encoding" in headers and not body.endswith(b"0\r\n\r\n"))
    ):
        body += await stream.receive_some(65_536)
    return status, headers, body


class MadeOnce(Tree):
    """A tree of which every door is given the same: only what a server says of itself is put into its page anew."""

    @property
    def import_map(self) -> str:
        return _import_map()

    def page(self, values: Mapping[str, str], lang: str = "en", *, is_link: bool = False) -> bytes:
        made = _page(lang, is_link=is_link, names=tuple(values))
        for name, value in values.items():
            made = made.replace(f"@{name}@".encode(), escape(value).encode())
        return made


@cache
def _read() -> Tree:
    return read_tree()


@cache
def _import_map() -> str:
    return _read().import_map


@cache
def _page(lang: str, *, is_link: bool, names: tuple[str, ...]) -> bytes:
    return _read().page({name: f"@{name}@" for name in names}, lang, is_link=is_link)


packed = cache(gzip.compress)


@asynccontextmanager
async def door(path, settings=QUICK, *, run=running, **web):
    """Run a server with a door for browsers."""
    port = free_port()
    settings = changed(settings, web={"listen": f"127.0.0.1:{port}", **web})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(web_port, "read_tree", lambda: MadeOnce(*_read()))
        patched.setattr(pages, "gzip", SimpleNamespace(compress=packed))
        async with run(path, settings) as server:
            yield Door(server, port, settings.web.origin or f"http://localhost:{port}")
