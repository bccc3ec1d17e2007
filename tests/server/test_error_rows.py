"""Every row of the error registry: the raw bytes that bring it, and the whole answer, `close` and `bye` included.

A row with `raw` needs no more than those bytes; the others are built from a map where the game stands at the time, and
are shown in hex when a test fails. `answer` is the error without its text, `goodbye` the bye without its text.
"""

import tracemalloc
from collections.abc import Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import trio
from rows import each_row
from server.acting import act, card, paused
from server.admins import host_says
from server.conftest import PATIENT, QUICK, changed, holder_of, in_hand, running, under
from server.rawclient import RawClient, RawSeat, frame
from server.substituting import standing_by, step_in, voided
from server.visitors import greeted, guest
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_protocol.errors import REGISTRY, Code
from truc_server.settings.in_force import Control
from truc_server.settings.settings import Settings

HELLO = {"t": "hello", "id": 1, "proto": [1], "want": [], "cn": bytes(32)}
LAST_FIELDS = ("refuse", "detail", "retry_after_ms", "reconnect_after_ms")
"""What an answer may have beside `answer`: only that it is there is said in a row, as `also`."""


class Sent(NamedTuple):
    """What a row has come to: who has sent what; empty bytes where the server speaks by itself."""

    client: RawClient
    raw: bytes


class Row(NamedTuple):
    """One code: how it is brought about under which settings, and what comes back."""

    code: Code
    bring: Any
    answer: dict | None
    goodbye: dict | None = None
    also: tuple[str, ...] = ()
    settings: Mapping = MappingProxyType({})


def error(code: Code, *, re=None, retryable=False, close=False, field=None) -> dict:
    """Return an error without its text."""
    told = {"t": "error", "re": re, "code": str(code), "retryable": retryable, "close": close, "field": field}
    return {name: value for name, value in told.items() if value is not None}


def bye(code: Code, *, retryable=False, **more) -> dict:
    """Return a bye without its text."""
    return {"t": "bye", "code": str(code), "retryable": retryable, **more}


def refused(code: Code, bring, *, field=None, retryable=False, also=(), **settings) -> Row:
    """Return the row of a request, always of the id 77, after which the connection goes on."""
    return Row(code, bring, error(code, re=77, field=field, retryable=retryable), None, also, settings)


def fatal(code: Code, bring, *, re=None, field=None, retryable=False, **settings) -> Row:
    """Return the row of a mistake that ends the connection."""
    told = error(code, re=re, retryable=retryable, close=True, field=field)
    return Row(code, bring, told, bye(code, retryable=retryable), (), settings)


def first_bytes(raw: str):
    """Send these bytes, in hex, on a new connection."""

    async def bring(server) -> Sent:
        return Sent(await server.connect(), bytes.fromhex(raw))

    return bring


def after_login(message: dict):
    """Send a request on a connection where a guest is logged in."""

    async def bring(server) -> Sent:
        return Sent(await guest(server), frame({"id": 77, **message}))

    return bring


async def unsigned_login(server) -> Sent:
    client = await greeted(server)
    return Sent(client, frame({**client.auth(keys.generate_signing_key()), "id": 77, "sig": bytes(64)}))


async def key_login(server) -> Sent:
    client = await greeted(server)
    return Sent(client, frame({**client.auth(OWN), "id": 77}))


OWN = keys.signing_key_from_seed(b"\x07" * 32)


async def unknown_token(server) -> Sent:
    client = await greeted(server)
    return Sent(client, frame({"t": "login", "id": 77, "token": "x" * 32}))


async def unwanted_guest(server) -> Sent:
    host = await server.seat()
    code = await host.create("truc-french", options={"guests": 0})
    return Sent(await guest(server), frame({"t": "join", "id": 77, "table": code}))


async def forgotten_guest(server) -> Sent:
    client = await guest(server)
    await client.send({"t": "forget"})
    await client.until("ok")
    return Sent(client, b"")


async def talks_in_the_lobby(server) -> Sent:
    client = await guest(server)
    await client.ask({"t": "lobby"})
    return Sent(client, frame({"t": "chat", "id": 77, "text": "hello"}))


async def phrase_at_the_table(server) -> Sent:
    seats = await server.seats(2, "truco-argentino")
    return Sent(seats[0].client, frame({"t": "say", "id": 77, "table": seats[0].table, "phrase": "come"}))


async def many_requests(server) -> Sent:
    client = await guest(server)
    for _ in range(3):
        await client.ask({"t": "tables"})
    return Sent(client, frame({"t": "tables", "id": 77}))


async def one_connection_too_many(server) -> Sent:
    await guest(server)
    return Sent(await server.connect(), b"")


async def one_table_too_many(server) -> Sent:
    seat = await server.seat()
    await seat.create("truc-french")
    return Sent(seat.client, frame({"t": "create", "id": 77, "variant": "truc-french"}))


async def never_reads(server) -> Sent:
    client = await guest(server)
    request = frame({"t": "rules", "id": 1, "variant": "truc-french"})
    await client.send_bytes(request)
    await client.until("ok")
    for _ in range(400):
        await client.send_bytes(request * 20)
        await trio.lowlevel.checkpoint()
    return Sent(client, b"")


def at_table(message: dict, *, who: str = "other", **fields):
    """Send a request about a table of two where both seats are taken; `who` is `first`, `second` or `other`."""

    async def bring(server) -> Sent:
        first, second = await server.seats(2, **fields)
        clients = {"first": first.client, "second": second.client, "other": await guest(server)}
        return Sent(clients[who], frame({"id": 77, "table": first.table, **message}))

    return bring


async def seat_where_somebody_sits(server) -> Sent:
    host = await server.seat()
    code = await host.create("truc-french")
    return Sent((await server.seat(seed=2)).client, frame({"t": "join", "id": 77, "table": code, "seat": 0}))


def in_play(make, **fields):
    """Send what `make` gives for the seat that is to move and the other, in a hand that has been dealt."""

    async def bring(server) -> Sent:
        mover, other = holder_of(await in_hand(server, **fields))
        return await make(mover, other)

    return bring


def sent(seat: RawSeat, body, **fields) -> Sent:
    return Sent(seat.client, frame({**seat.sign(body), "id": 77, **fields}))


async def leaves(mover: RawSeat, _: RawSeat) -> Sent:
    return Sent(mover.client, frame({"t": "leave", "id": 77, "table": mover.table}))


async def resumes_another(mover: RawSeat, _: RawSeat) -> Sent:
    wanted = {"t": "resume", "id": 77, "table": mover.table, "match": bytes(32), "next": 0}
    return Sent(mover.client, frame(wanted))


async def signs_for_dropped_terms(mover: RawSeat, _: RawSeat) -> Sent:
    message = {"t": "act", "id": 77, "table": mover.table, "body": b"\x90", "sig": bytes(64)}
    return Sent(mover.client, frame(message))


async def out_of_turn(_: RawSeat, other: RawSeat) -> Sent:
    return sent(other, act(other, "stand"))


async def too_late(mover: RawSeat, _: RawSeat) -> Sent:
    body = act(mover, "redeal")
    await mover.hand_in(act(mover, "stand"))
    return sent(mover, body)


async def too_early(mover: RawSeat, _: RawSeat) -> Sent:
    return sent(mover, act(mover, "stand", k=mover.next + 1))


async def against_the_rules(mover: RawSeat, _: RawSeat) -> Sent:
    return sent(mover, act(mover, "accept"))


async def ask_after_the_next_card(first: RawSeat, second: RawSeat) -> Sent:
    await first.hand_in(act(first, *card(first)))
    late = act(first, "raise", (2,))
    await second.play(until=lambda seat: seat.next == first.next)
    await second.hand_in(act(second, *card(second)))
    return sent(first, late)


async def move_in_a_pause(server) -> Sent:
    mover, _ = holder_of(await paused(server))
    return sent(mover, act(mover, "stand"))


async def kicked(server) -> Sent:
    client = await guest(server)
    await host_says(server.folder, command="kick", subject=client.welcome["player"])
    return Sent(client, b"")


async def stopped(server) -> Sent:
    client = await guest(server)
    server.stop()
    return Sent(client, b"")


async def moved(server) -> Sent:
    return Sent(await server.connect(), frame(HELLO))


async def failing(server) -> Sent:
    client = await guest(server)
    server.settings = None
    return Sent(client, frame({"t": "rules", "id": 77, "variant": "truc-french"}))


LIST = {"t": "tables", "id": 1}
ROWS = [
    fatal(Code.BAD_FRAME, first_bytes("00000000")),
    fatal(Code.FRAME_TOO_LARGE, first_bytes("00000801")),
    fatal(Code.BAD_MSGPACK, first_bytes("00000001 c1")),
    fatal(Code.BAD_MESSAGE, first_bytes("00000001 80"), field="t"),
    refused(Code.BAD_MESSAGE, after_login({"t": "join", "table": 7}), field="table"),
    fatal(Code.UNKNOWN_REQUEST, first_bytes("00000008 81a174a46e6f6e65"), field="t"),
    refused(Code.UNKNOWN_REQUEST, after_login({"t": "dance"}), field="t"),
    fatal(Code.UNSUPPORTED, first_bytes(frame({**HELLO, "proto": [9]}).hex()), re=1, field="proto"),
    refused(Code.NOT_NOW, after_login({**HELLO, "id": 77}), field="t"),
    fatal(Code.NOT_NOW, first_bytes(frame({"t": "login", "id": 1, "name": "Ida"}).hex()), re=1, field="t"),
    fatal(Code.AUTH_REQUIRED, first_bytes(frame(LIST).hex()), re=1, field="t"),
    fatal(Code.BAD_SIGNATURE, unsigned_login, re=77),
    fatal(Code.KEY_NOT_ALLOWED, key_login, re=77, access={"members": "keys"}),
    fatal(Code.BAD_TOKEN, unknown_token, re=77, field="token"),
    refused(Code.GUESTS_NOT_ALLOWED, unwanted_guest),
    fatal(Code.BANNED, key_login, re=77, access={"banned": (keys.fingerprint(OWN.public),)}),
    fatal(Code.BANNED, first_bytes(""), access={"banned": ("127.0.0.1",)}),
    Row(Code.FORGOTTEN, forgotten_guest, None, bye(Code.FORGOTTEN)),
    refused(Code.MUTED, talks_in_the_lobby, access={"muted": ("127.0.0.1",)}),
    refused(Code.MUTED, phrase_at_the_table, access={"muted": ("127.0.0.1",)}),
    refused(
        Code.RATE_LIMITED,
        many_requests,
        retryable=True,
        also=("retry_after_ms",),
        limits={"requests_per_s": 1, "burst": 5},
    ),
    fatal(Code.SERVER_FULL, one_connection_too_many, retryable=True, limits={"connections": 1}),
    refused(Code.TOO_MANY_TABLES, one_table_too_many, retryable=True, limits={"tables_per_player": 1}),
    Row(
        Code.SLOW_CONSUMER,
        never_reads,
        None,
        bye(Code.SLOW_CONSUMER, retryable=True),
        (),
        {"limits": {"outbox_bytes": 65_536}},
    ),
    refused(Code.NO_SUCH_TABLE, after_login({"t": "join", "table": "NOPE"}), field="table"),
    refused(Code.NO_SUCH_VARIANT, after_login({"t": "create", "variant": "whist"}), field="variant"),
    refused(Code.NO_SUCH_MATCH, in_play(resumes_another), field="match"),
    refused(
        Code.BAD_OPTION,
        after_login({"t": "create", "variant": "truc-french", "options": {"flying": 1}}),
        field="options/flying",
    ),
    refused(Code.PRIVATE_TABLE, at_table({"t": "watch"}, options={"spectators": 0})),
    refused(Code.TABLE_FULL, at_table({"t": "join"}), retryable=True),
    refused(Code.TABLE_NOT_OPEN, in_play(leaves)),
    refused(Code.SEAT_TAKEN, seat_where_somebody_sits, retryable=True),
    refused(Code.NOT_SEATED, at_table({"t": "ready"})),
    refused(Code.TERMS_REFUSED, in_play(signs_for_dropped_terms)),
    refused(Code.NOT_YOUR_TURN, in_play(out_of_turn), also=("refuse",)),
    refused(Code.STALE_POSITION, in_play(too_late)),
    refused(Code.BAD_POSITION, in_play(too_early)),
    refused(Code.ILLEGAL_ACTION, in_play(against_the_rules), also=("refuse",)),
    refused(Code.VOID_BET, in_play(ask_after_the_next_card, variant="truc-catalan")),
    refused(Code.PAUSED, move_in_a_pause, also=("refuse",)),
    Row(Code.KICKED, kicked, None, bye(Code.KICKED)),
    Row(Code.SHUTTING_DOWN, stopped, None, bye(Code.SHUTTING_DOWN, retryable=True), ("reconnect_after_ms",)),
    Row(
        Code.MOVED,
        moved,
        None,
        bye(Code.MOVED, retryable=True, to="truc.example:7373"),
        (),
        {"access": {"moved_to": "truc.example:7373"}},
    ),
    refused(Code.INTERNAL, failing, retryable=True, also=("detail",)),
]
TIMED = [Code.TIMEOUT, Code.SEAT_GONE]
"""Rows that need a clock of their own; their tests stand below."""


ALONE = (Code.INTERNAL, Code.KICKED, Code.SHUTTING_DOWN)
"""Rows that need a server of their own without settings of their own."""


@asynccontextmanager
async def a_server(path, row, monkeypatch):
    if row.code is Code.INTERNAL:
        monkeypatch.setattr("truc_server.requests.dispatch.rule_document", lambda variant: 1 // 0)
    control = Control(trio.Event(), Settings, trio.Event().set) if row.code is Code.KICKED else None
    async with running(path, changed(QUICK, **row.settings), control=control) as server:
        yield server


def is_alone(row) -> bool:
    return bool(row.settings) or row.code in ALONE


@pytest.mark.parametrize("row", [*filter(is_alone, ROWS)], ids=lambda row: str(row.code))
async def test_row_about_the_server_is_answered_with_what_the_registry_says(path, monkeypatch, row):
    async with a_server(path, row, monkeypatch) as server:
        await is_answered(server, row)


@each_row("row", [row for row in ROWS if not is_alone(row)])
async def test_row_is_answered_with_what_the_registry_says(server, row):
    await is_answered(server, row)


async def is_answered(server, row) -> None:
    client, raw = await row.bring(server)
    await client.send_bytes(raw)
    came = await answered(client, row)
    assert came == (row.answer, row.goodbye, set(row.also)), f"{row.code} to {raw.hex()}"


async def answered(client: RawClient, row: Row) -> tuple[dict | None, dict | None, set[str]]:
    """Return the error, the bye, and which other fields were told; a connection that goes on is tried."""
    answer = None if row.answer is None else await client.until("error")
    goodbye = None
    if row.goodbye is not None:
        rest = await client.closed()
        goodbye = rest[-1]
        assert [message["t"] for message in rest].count("bye") == 1
    elif answer is not None:
        assert await is_open(client)
    told = [message for message in (answer, goodbye) if message is not None]
    assert all(message.pop("msg") for message in told)
    also = {name for message in told for name in LAST_FIELDS if message.pop(name, None)}
    return answer, goodbye, also


async def is_open(client: RawClient) -> bool:
    """Tell whether a connection is still answered."""
    await client.send({"t": "ping", "n": 12})
    return (await client.until("pong"))["n"] == 12


async def test_connection_that_stays_silent_is_told_timeout(path, mock_clock):
    async with running(path) as server:
        client = await server.connect()
        await wait_all_tasks_blocked()
        mock_clock.jump(10.01)
        (goodbye,) = await client.closed()
    assert goodbye.pop("msg")
    assert goodbye == bye(Code.TIMEOUT, retryable=True)


@under(PATIENT)
async def test_player_whose_seat_is_taken_over_is_told_seat_gone(server, mock_clock):
    seats = await voided(server, mock_clock)
    await step_in(await standing_by(server, seats))
    wanted = {"table": seats[1].table, "match": seats[1].ledger.setup.mid, "next": 0}
    reply = await seats[1].client.ask({"t": "resume", "id": 77, **wanted})
    assert reply.pop("msg")
    assert reply == error(Code.SEAT_GONE, re=77)
    assert await is_open(seats[1].client)


def test_no_row_of_the_registry_is_missing():
    assert {row.code for row in ROWS} | set(TIMED) == set(REGISTRY)


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


@each_row("raw", BOMBS.values())
async def test_hostile_bytes_get_a_named_error_and_one_line_in_the_log(server, shown, raw):
    client = await server.connect()
    before = shown.getvalue().count("\n")
    await client.send_bytes(bytes.fromhex(raw))
    rest = await client.closed()
    assert [message["t"] for message in rest] == ["error", "bye"]
    assert rest[0]["code"] in ("bad_frame", "frame_too_large", "bad_msgpack")
    assert shown.getvalue().count("\n") == before + 1


async def test_hostile_bytes_cost_less_than_a_megabyte(server):
    tracemalloc.start()
    try:
        for raw in BOMBS.values():
            client = await server.connect()
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            await client.send_bytes(bytes.fromhex(raw))
            await client.closed()
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < 1_000_000
    finally:
        tracemalloc.stop()
