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


@each_row(
    "message",
    [
        {"t": "resume", "table": "NOPE", "match": bytes(32), "next": 0},
        {"t": "act", "table": "NOPE", "match": bytes(32), "at": 0, "choose": "tap"},
    ],
)
async def test_request_about_a_match_at_no_table_is_refused(server, message):
    await (await guest(server)).refused(message, "no_such_table", field="table")


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
