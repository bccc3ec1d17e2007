"""Every row of the error registry that the conformance kit does not bring about, with the whole answer; and hostile bytes.

`answer` is the error without its text, `goodbye` the bye without its text.
"""

import re
import tracemalloc
from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import trio
from rows import each_row
from server.admins import host_says
from server.conftest import QUICK, changed, running
from server.rawclient import RawClient, frame
from server.visitors import follower, greeted, guest

from truc_conform import server_cases
from truc_protocol.crypto import keys
from truc_protocol.errors import REGISTRY, Code
from truc_server.settings.in_force import Control
from truc_server.settings.settings import Settings

HELLO = {"t": "hello", "id": 1, "proto": [1], "want": [], "cn": bytes(32)}
LAST_FIELDS = ("detail", "reconnect_after_ms")
"""What an answer may have beside `answer`: only that it is there is said in a row, as `also`."""


class Sent(NamedTuple):
    """What a row has come to: who has sent what; empty bytes where the server speaks by itself."""

    client: RawClient
    raw: bytes = b""


class Row(NamedTuple):
    """One code: how it is brought about under which settings, and what comes back."""

    code: Code
    bring: Any
    answer: dict | None = None
    goodbye: dict | None = None
    also: tuple[str, ...] = ()
    settings: Mapping = MappingProxyType({})


def error(code: Code, *, retryable=False, close=False, **more) -> dict:
    """Return an error without its text."""
    return {"t": "error", "code": str(code), "retryable": retryable, "close": close, **more}


def bye(code: Code, *, retryable=False, **more) -> dict:
    """Return a bye without its text."""
    return {"t": "bye", "code": str(code), "retryable": retryable, **more}


def refused(code: Code, bring, *, retryable=False, also=(), **settings) -> Row:
    """Return the row of a request, always of the id 77, after which the connection goes on."""
    return Row(code, bring, error(code, re=77, retryable=retryable), None, also, settings)


def fatal(code: Code, bring, *, settings, **more) -> Row:
    """Return the row of a mistake that ends the connection."""
    return Row(code, bring, error(code, close=True, **more), bye(code), (), settings)


def parted(code: Code, bring, *, also=(), settings=MappingProxyType({}), **more) -> Row:
    """Return the row of a connection that the server ends without an error."""
    return Row(code, bring, None, bye(code, **more), also, settings)


OWN = keys.signing_key_from_seed(b"\x07" * 32)


async def key_login(server) -> Sent:
    client = await greeted(server)
    return Sent(client, frame({**client.auth(OWN), "id": 77}))


async def connects(server) -> Sent:
    return Sent(await server.connect())


async def says_hello(server) -> Sent:
    return Sent(await server.connect(), frame(HELLO))


async def forgotten_guest(server) -> Sent:
    client = await guest(server)
    await client.ask({"t": "forget"})
    return Sent(client)


async def talks_in_the_lobby(server) -> Sent:
    return Sent(await follower(server), frame({"t": "chat", "id": 77, "text": "hello"}))


async def phrase_at_the_table(server) -> Sent:
    seats = await server.seats(2, "truco-argentino")
    return Sent(seats[0].client, frame({"t": "say", "id": 77, "table": seats[0].table, "phrase": "come"}))


async def kicked(server) -> Sent:
    client = await guest(server)
    await host_says(server.folder, command="kick", subject=client.welcome["player"])
    return Sent(client)


async def stopped(server) -> Sent:
    client = await guest(server)
    server.stop()
    return Sent(client)


async def failing(server) -> Sent:
    return Sent(await guest(server), frame({"t": "rules", "id": 77, "variant": "truc-french"}))


MOVED = "truc.example:7373"
ROWS = [
    fatal(Code.BANNED, key_login, re=77, settings={"access": {"banned": (keys.fingerprint(OWN.public),)}}),
    fatal(Code.BANNED, connects, settings={"access": {"banned": ("127.0.0.1",)}}),
    parted(Code.FORGOTTEN, forgotten_guest),
    refused(Code.MUTED, talks_in_the_lobby, access={"muted": ("127.0.0.1",)}),
    refused(Code.MUTED, phrase_at_the_table, access={"muted": ("127.0.0.1",)}),
    parted(Code.KICKED, kicked),
    parted(Code.SHUTTING_DOWN, stopped, retryable=True, also=("reconnect_after_ms",)),
    parted(Code.MOVED, says_hello, retryable=True, to=MOVED, settings={"access": {"moved_to": MOVED}}),
    refused(Code.INTERNAL, failing, retryable=True, also=("detail",)),
]


@asynccontextmanager
async def a_server(path, row, monkeypatch):
    if row.code is Code.INTERNAL:
        monkeypatch.setattr("truc_server.requests.dispatch.rule_document", lambda variant: 1 // 0)
    control = Control(trio.Event(), Settings, trio.Event().set) if row.code is Code.KICKED else None
    async with running(path, changed(QUICK, **row.settings), control=control) as server:
        yield server


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.code))
async def test_row_is_answered_with_what_the_registry_says(path, monkeypatch, row):
    async with a_server(path, row, monkeypatch) as server:
        client, raw = await row.bring(server)
        await client.send_bytes(raw)
        assert await answered(client, row) == (row.answer, row.goodbye, set(row.also))


async def answered(client: RawClient, row: Row) -> tuple[dict | None, dict | None, set[str]]:
    """Return the error, the bye, and which other fields were told; a connection that goes on is tried."""
    answer = None if row.answer is None else await client.until("error")
    goodbye = None
    if row.goodbye is not None:
        rest = await client.closed()
        goodbye = rest[-1]
        assert [message["t"] for message in rest].count("bye") == 1
    else:
        await client.check_alive()
    told = [message for message in (answer, goodbye) if message is not None]
    assert all(message.pop("msg") for message in told)
    also = {name for message in told for name in LAST_FIELDS if message.pop(name, None)}
    return answer, goodbye, also


def test_every_row_of_the_registry_is_brought_about_here_or_by_the_kit():
    files = Path(server_cases.__file__).parent.glob("*.py")
    judged = {
        Code[name] for file in files for name in re.findall(r"Code\.([A-Z_]+)", file.read_text("utf-8"))
    }
    assert {row.code for row in ROWS} | judged == set(REGISTRY)


@each_row("row", ROWS)
def test_row_has_the_flags_of_the_registry(row):
    told = row.answer or row.goodbye
    assert told["retryable"] is REGISTRY[row.code].retryable
    assert REGISTRY[row.code].closes <= (row.goodbye is not None)


def framed(payload: str) -> str:
    """Return a frame in hex, its length before it."""
    return f"{len(bytes.fromhex(payload)):08x} {payload}"


PING = "a174 a470696e67"
BOMBS = {
    "length 0": "00000000",
    "length 2^32-1": "ffffffff",
    "duplicate keys": framed(f"82 {PING} {PING}"),
    "NaN": framed(f"82 {PING} a16e cb7ff8000000000000"),
    "extension type": framed(f"82 {PING} a16e d40500"),
    "nested 200 deep": framed(f"82 {PING} a16e {'91' * 200} c0"),
    "array of 2^32-1": framed("81 a174 ddffffffff"),
    "map of 2^32-1": framed("dfffffffff"),
    "string of 2^32-1": framed("dbffffffff"),
    "trailing bytes": framed("80 80"),
    "2,000 empty maps and no more": framed(f"82 {PING} a16e dc07d0 {'80' * 1_999}"),
}
"""Bytes that a careless decoder pays for, in hex."""


@pytest.fixture
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


@each_row("raw", BOMBS.values())
async def test_hostile_bytes_get_a_named_error_and_one_line_in_the_log_and_cost_less_than_a_megabyte(
    server, shown, traced, raw
):
    client, lines = await server.connect(), shown.getvalue().count("\n")
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    await client.send_bytes(bytes.fromhex(raw))
    rest = await client.closed()
    _, peak = tracemalloc.get_traced_memory()
    assert [message["t"] for message in rest] == ["error", "bye"]
    assert rest[0]["code"] in ("bad_frame", "frame_too_large", "bad_msgpack")
    assert (shown.getvalue().count("\n") - lines, peak - before < 1_000_000) == (1, True)
