"""Bad input, limits and goodbyes, over real sockets."""

import socket
import struct
from io import StringIO
from types import SimpleNamespace

import pytest
from rows import each_row
from server.admins import host_says, hosting
from server.conftest import holder_of, in_hand, under
from server.rawclient import RawClient, frame
from server.visitors import guest
from server.watching import Held
from trio.testing import wait_all_tasks_blocked

from truc_protocol.codec import pack
from truc_server.net import listening
from truc_server.net.connections import LOOK_S
from truc_server.operation import logs
from truc_server.settings.settings import ListenSettings, LogSettings


def length(n: int) -> bytes:
    return struct.pack(">I", n)


@each_row("raw", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"SSH-2.0-OpenSSH_9.2\r\n"])
async def test_peer_of_another_protocol_gets_one_readable_line(server, raw):
    client = await server.connect()
    await client.send_bytes(raw)
    answer = b"".join([part async for part in client.stream])
    assert answer.startswith(b"This port speaks the Truc protocol")
    assert answer.count(b"\n") == 1


@each_row(
    "raw, code",
    [(length(0), "bad_frame"), (length(8193), "frame_too_large"), (length(2) + b"\xc1\xc1", "bad_msgpack")],
)
async def test_after_login_a_broken_frame_ends_the_connection(server, raw, code):
    client = await guest(server)
    await client.send_bytes(raw)
    rest = await client.closed()
    assert [(message["t"], message["code"]) for message in rest] == [("error", code), ("bye", code)]


@each_row(
    "message, code, field",
    [
        ({"t": "join"}, "bad_message", "table"),
        ({"t": "create", "variant": "truc-french", "seats": 5}, "bad_option", "seats"),
        ({"t": "create", "variant": "truc-french", "seat": 2}, "bad_message", "seat"),
        ({"t": "resume", "table": "NOPE", "match": bytes(32), "next": 0}, "no_such_table", "table"),
        ({"t": "watch", "table": "NOPE"}, "no_such_table", "table"),
        (
            {"t": "act", "table": "NOPE", "match": bytes(32), "at": 0, "choose": "tap"},
            "no_such_table",
            "table",
        ),
    ],
)
async def test_after_login_a_wrong_request_is_refused_and_the_connection_goes_on(
    server, message, code, field
):
    client = await guest(server)
    reply = await client.ask(message)
    assert (reply["code"], reply["field"], reply["close"]) == (code, field, False)
    assert (await client.ask({"t": "tables"}))["t"] == "ok"


async def test_request_id_that_is_too_large_is_a_bad_message_and_unknown_fields_are_passed_over(server):
    client = await guest(server)
    assert (await client.ask({"t": "tables", "surprise": [1, {"a": None}]}))["t"] == "ok"
    await client.send({"t": "tables", "id": 2**32})
    assert (await client.receive())["code"] == "bad_message"


async def test_frames_in_pieces_of_one_byte_and_many_in_one_piece_are_read(server):
    client = await guest(server)
    for byte in frame({"t": "tables", "id": 77}):
        await client.send_bytes(bytes([byte]))
    await client.send_bytes(b"".join(frame({"t": "tables", "id": n}) for n in range(20, 40)))
    replies = [await client.until("ok") for _ in range(21)]
    assert [reply["re"] for reply in replies] == [77, *range(20, 40)]


async def test_ping_is_answered_with_the_same_number_and_the_clock(server):
    client = await guest(server)
    await client.send({"t": "ping", "n": 12})
    pong = await client.until("pong")
    assert (pong["n"], pong["now_ms"] > 1_600_000_000_000) == (12, True)


OF_ADDRESSES = {"connections_per_address": 3, "connects_per_min": 6, "failed_logins_per_min": 2}
OF_TABLES = {"tables_per_min": 5, "tables_per_address": 4}


@under(limits={**OF_ADDRESSES, **OF_TABLES, "tables_per_player": 9, "seats_per_player": 7})
async def test_info_lists_variants_and_limits(server):
    client = await guest(server)
    variants = {offer["name"]: offer["seats"] for offer in client.info["variants"]}
    assert variants["truc-catalan"] == [2, 4]
    told = {"frame_in": 8192, **OF_ADDRESSES, **OF_TABLES, "seats": 7, "tables": 7}
    assert client.info["limits"].items() >= told.items()


async def test_connection_that_answers_pings_stays(server, mock_clock):
    client = await guest(server)
    for _ in range(3):
        mock_clock.jump(30 + LOOK_S)
        ping = await client.until("ping")
        await client.send({"t": "pong", "n": ping["n"]})
        await wait_all_tasks_blocked()
    assert (await client.ask({"t": "tables"}))["t"] == "ok"


@under(limits={"requests_per_s": 10, "burst": 5})
async def test_requests_beyond_the_burst_are_refused_until_the_time_told(server, mock_clock):
    client = await guest(server)
    replies = [await client.ask({"t": "tables"}) for _ in range(4)]
    assert (replies[-1]["code"], replies[-1]["retry_after_ms"]) == ("rate_limited", 201)
    mock_clock.jump(0.201)
    assert (await client.ask({"t": "tables"}))["t"] == "ok"


async def test_kernel_keeps_little_for_who_does_not_read():
    (listener,) = await listening.open_listeners(ListenSettings(hosts=("127.0.0.1",), port=0))
    async with listener:
        with socket.create_connection(("127.0.0.1", listening.port_of([listener]))):
            async with await listener.accept() as accepted:
                kept = accepted.socket.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    assert kept <= 2 * listening.KERNEL_BYTES


async def test_half_closed_connection_still_gets_its_answers(server):
    client = await guest(server)
    await client.send({"t": "tables", "id": 5})
    await client.stream.send_eof()
    rest = await client.closed()
    assert [message["re"] for message in rest] == [5]


async def test_token_is_unknown_before_its_guest_has_sat_down_and_in_no_log(server):
    logs.configure(LogSettings(level="debug"), shown := StringIO())
    client = await guest(server)
    token, other = client.welcome["token"], await server.connect()
    assert (await other.login_token(token))["code"] == "bad_token"
    assert f"tag='{client.welcome['player']}'" in shown.getvalue()  # which bans take
    assert token not in shown.getvalue()


@each_row("seat", ["create", "join"])
async def test_token_is_good_once_its_guest_has_sat_down(server, seat):
    first, second = await guest(server), await guest(server)
    code = (await first.ask({"t": "create", "variant": "truc-french"}))["table"]
    await second.ask({"t": "join", "table": code})
    token = (first if seat == "create" else second).welcome["token"]
    assert (await (await server.connect()).login_token(token))["t"] == "welcome"


async def last_act(server) -> tuple[RawClient, dict]:
    mover, _ = holder_of(await in_hand(server))
    return mover.client, mover.stored["release", 1]


async def seat_record(server) -> tuple[RawClient, dict]:
    seat = (await server.match(2))[0]
    await seat.play(until=lambda seat: seat.sent is not None)
    return seat.client, seat.sent


@under(limits={"requests_per_s": 1, "burst": 20})
@pytest.mark.parametrize("sent", [last_act, seat_record])
async def test_repeats_of_one_act_or_seat_record_without_end_end_the_connection(server, mock_clock, sent):
    client, message = await sent(server)
    for _ in range(80):
        await client.send_bytes(frame({**message, "id": 5_000}))
        await wait_all_tasks_blocked()
    rest = await client.closed()
    assert (rest[-1]["t"], rest[-1]["code"]) == ("bye", "rate_limited")


def test_frames_of_the_tests_are_what_the_codec_packs():
    assert frame({"t": "ping", "n": 1})[4:] == pack({"t": "ping", "n": 1})


async def kick(server, subject) -> None:
    await host_says(server.folder, command="kick", subject=subject)


async def ban(server, subject) -> None:
    await host_says(server.folder, command="ban", subject=subject)


async def drain(server, _subject) -> None:
    server.host.drain.set()


@pytest.mark.parametrize(
    ("end", "code"),
    [(kick, "kicked"), (ban, "banned"), (drain, "shutting_down")],
    ids=["kick", "ban", "drain"],
)
async def test_last_word_has_its_reason_where_no_room_was_left_for_it(path, monkeypatch, end, code):
    held = Held(monkeypatch)
    async with hosting(path) as server:
        client = await server.connect()
        welcome = await client.login_guest()
        held.hold(SimpleNamespace(client=client))
        await client.send({"t": "rules", "variant": "truco-argentino"})
        await wait_all_tasks_blocked()
        held.leave_no_room(SimpleNamespace(client=client))
        await end(server, welcome["player"])
        await wait_all_tasks_blocked()
        held.release(SimpleNamespace(client=client))
        assert [(last["t"], last["code"]) for last in (await client.closed())[-1:]] == [("bye", code)]
