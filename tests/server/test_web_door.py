"""The door for browsers, over real sockets: pages, headers, WebSockets, and everything that must not come in."""

import gzip
import json
import re
import socket
import ssl
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
import trio
from chaos.servers import free_port
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID
from rows import each_row
from server.admins import host_says, hosting
from server.asking import figures, telling
from server.browsers import UPGRADE, answer, door
from server.conftest import QUICK, changed
from server.rawclient import RawClient
from wsproto.connection import Connection, ConnectionType
from wsproto.frame_protocol import FrameProtocol

from truc_conform import websocket
from truc_protocol.codec import pack
from truc_protocol.crypto.certificates import make_certificate
from truc_protocol.wire.handshake import HandshakeError
from truc_protocol.wire.transport import origin_binding, websocket_header
from truc_server import web as web_port
from truc_server.identity.certificate import TlsError, open_web_tls
from truc_server.metrics import page
from truc_server.net import usage_limits
from truc_server.settings.settings import WebSettings
from truc_server.settings.subjects import Subjects
from truc_server.web import client_of
from truc_web.serving import http_connection
from truc_web.serving.sealer import WebSocketSealer
from truc_web.tree import read_tree, tree_of, without_comments

ROOT = Path(__file__).resolve().parents[2]
LOW = ' fetchpriority="low"'
MASK = b"\1\2\3\4"
PING = pack({"t": "ping", "n": 1})


def masked(opcode, payload, *, fin=True, length=None):
    """Return a frame of a client, sound or not."""
    n = len(payload) if length is None else length
    first = bytes([opcode | (0x80 if fin else 0)])
    size = (
        bytes([0x80 | n]) if n < 126 else b"\xfe" + n.to_bytes(2) if n < 65_536 else b"\xff" + n.to_bytes(8)
    )
    return first + size + MASK + bytes(byte ^ MASK[i % 4] for i, byte in enumerate(payload))


@pytest.fixture(name="web")
async def open_door(path):
    async with door(path) as web:
        yield web


async def test_a_page_has_one_policy_and_whoever_has_it_is_told_so(web):
    for path in ("/", "/t/K7PQ2", "/w/K7PQ2", "/m/ab", "/play", "/history", "/best", "/settings", "/learn"):
        status, headers, body = await web.ask(path)
        assert status == 200
        assert "default-src 'none'" in headers["content-security-policy"]
        assert f"connect-src 'self' ws://{web.host}" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-cache"
        assert "screen-wake-lock=(self)" in headers["permissions-policy"]
        rest = ("cross-origin-opener-policy", "cross-origin-resource-policy", "referrer-policy")
        assert [headers[name] for name in rest] == ["same-origin", "same-origin", "no-referrer"]
        assert (
            "require-trusted-types-for 'script'; trusted-types worker" in headers["content-security-policy"]
        )
        assert f"truc play truc://localhost:{web.server.port}#".encode() in body
    status, _, body = await web.ask("/", If_None_Match=headers["etag"])
    assert (status, body) == (304, b"")
    _, packed, body = await web.ask("/", Accept_Encoding="br, gzip")
    assert (packed["content-encoding"], packed["etag"]) == ("gzip", headers["etag"])
    assert b"<!doctype html>" in gzip.decompress(body)
    for path, has_field in (("/t/K7PQ2", True), ("/", False)):
        _, headers, body = await web.ask(path, Accept_Language="xx, fr-CA;q=0.8, en")
        assert (b'<html lang="fr"' in body, b'name="name"' in body) == (True, has_field)
        assert "Accept-Language" in headers["vary"]
    status, headers, body = await web.ask("/", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 1_000


async def import_map(web):
    _, _, body = await web.ask("/")
    return re.search(rb'<script type="importmap">(.*?)</script>', body)[1]


async def test_the_inline_import_map_is_what_the_policy_names_and_names_what_is_served(tmp_path):
    from base64 import b64encode
    from hashlib import sha256

    async with door(tmp_path / "data") as web:
        _, headers, _ = await web.ask("/")
        imports = await import_map(web)
        assert (
            f"'sha256-{b64encode(sha256(imports).digest()).decode()}'" in headers["content-security-policy"]
        )
        modules = json.loads(imports)["integrity"]
        path, integrity = next(iter(modules.items()))
        status, headers, body = await web.ask(path)
        assert status == 200
        assert integrity == f"sha256-{b64encode(sha256(body).digest()).decode()}"
        assert headers["content-type"].startswith("text/javascript")
        assert headers["cache-control"].endswith("immutable")
        old = re.sub(r"/a/\w+/", "/a/0000000000000000/", path)
        for other in (old, path.replace("/lib/", "/lib/../lib/"), path.replace("lib", "%6cib"), "/a/" + path):
            assert (await web.ask(other))[0] == 404


def test_all_modules_of_the_page_are_fetched_at_once_and_those_of_node_are_not():
    first, rest = (
        f'<link rel="modulepreload" href="/a/@TREE@/{path}">'
        for path in ("lib/two.mjs", 'page/main.mjs" fetchpriority="low')
    )
    page = f'<script type="importmap">@IMPORTS@</script>{first}{rest}'
    main = "import { a,\n  b } from '../lib/one.mjs'\nimport \"./side.mjs\"\nconst it = './no.mjs'\nawait import('./late.mjs')"
    modules = {
        "page/main.mjs": main,
        "lib/one.mjs": "export * from './two.mjs'\nexport const x = 'from ./no.mjs'",
        "lib/two.mjs": "import { r } from './one.mjs'\nimport fs from 'node:fs'",
        **dict.fromkeys(("page/side.mjs", "page/late.mjs", "page/no.mjs", "lib/no.mjs"), ""),
    }
    tree = tree_of({path: text.encode() for path, text in {**modules, "page/page.html": page}.items()})
    loaded = re.findall(
        r'<link rel="modulepreload" href="/a/(\w+)/([^"]+)" integrity="sha256-[^"]+"([^>]*)>',
        tree.page({}).decode(),
    )
    wanted = [("lib/two.mjs", ""), ("lib/one.mjs", ""), ("page/main.mjs", LOW), ("page/side.mjs", LOW)]
    assert loaded == [(tree.name, *each) for each in wanted]
    assert tree.page({}).index(b"importmap") < tree.page({}).index(b"modulepreload")


def test_modules_are_sent_without_the_comments_on_lines_of_their_own():
    module = b"// why\nconst a = '// no' // stays\n/** @type {x} */\nconst b = /** @type {y} */ (a)\n  /**\n   * long\n   */\nf()\n"
    bare = b"\nconst a = '// no' // stays\n\nconst b = /** @type {y} */ (a)\n\n\n\nf()\n"
    assert without_comments(module) == bare
    served = read_tree().files["lib/seat.mjs"]
    whole = (ROOT / "client" / "truc_web" / "lib" / "seat.mjs").read_bytes()
    assert served.count(b"\n") == whole.count(b"\n")
    assert len(served) < len(whole)


async def test_what_is_told_before_a_login(web):
    north = await web.server.seat(seed=1)
    public, private = await north.create("truc-french"), await north.create("truc-french", private=True)
    for code in (public, private, private.lower()):
        status, _, body = await web.ask(f"/t/{code}.json")
        assert (status, json.loads(body)["table"]) == (200, code.upper())
    status, _, body = await web.ask(f"/t/{private[:4]}.json")
    assert (status, body) == (200, b"null")
    status, _, body = await web.ask("/status.json")
    told = json.loads(body)
    assert (status, told["players"], told["tables"], told["draining"]) == (200, 1, 2, False)
    assert "north" not in body.decode()
    assert (await web.ask("/status"))[0] == 200
    assert json.loads((await web.ask("/door"))[2]) == {"code": None, "retry_after_ms": None}
    status, _, body = await web.ask("/report/ab.truc")
    assert (status, b"/m/ab" in body) == (404, True)


async def test_who_comes_over_the_door_is_told_where_pages_are(web):
    client = await web.client()
    await client.hello()
    assert (client.info["caps"]["websocket"], client.info["web"]) == (True, web.origin)


@each_row(
    "test",
    [
        ("another host", {"Host": "evil.example"}, 421),
        ("no port", {"Host": "localhost"}, 421),
        ("rebound", {"Host": "127.0.0.1"}, 421),
        ("another origin", {"Origin": "https://evil.example"}, 403),
        ("null origin", {"Origin": "null"}, 403),
        ("no subprotocol", {"Sec-WebSocket-Protocol": None}, 400),
        ("another subprotocol", {"Sec-WebSocket-Protocol": "truc.2, chat"}, 400),
        ("another version", {"Sec-WebSocket-Version": "8"}, 400),
        ("no key", {"Sec-WebSocket-Key": None}, 400),
        ("a body", {"Content-Length": "5"}, 400),
        ("two lengths", {"Content-Length": "5, 6"}, 400),
        ("chunks", {"Transfer-Encoding": "chunked"}, 400),
        ("both", {"Transfer-Encoding": "chunked", "Content-Length": "3"}, 400),
        ("a long header", {"X-Long": "x" * 20_000}, 431),
    ],
)
async def test_no_websocket_for(web, test):
    _, headers, expected = test
    stream, status, _ = await web.upgrade(**headers)
    async with stream:
        assert status == expected


def has_two_addresses():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_two_addresses(), reason="needs IPv6 on loopback")
async def test_nobody_else_answers_as_localhost(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with (
        socket.create_server(("::1", port), family=socket.AF_INET6),
        pytest.raises(OSError, match="cannot listen"),
    ):
        await web_port.open_listeners(WebSettings(listen=f"127.0.0.1:{port}"))
    listeners = await web_port.open_listeners(WebSettings(listen=f"127.0.0.1:{port}"))
    assert {one.socket.getsockname()[0] for one in listeners} == {"127.0.0.1", "::1"}
    for one in listeners:
        await one.aclose()


async def test_this_machine_in_other_words_leads_to_the_page_and_to_nothing_else(tmp_path):
    async with door(tmp_path / "data") as web:
        for host in (f"127.0.0.1:{web.port}", f"[::1]:{web.port}"):
            status, headers, _ = await web.ask("/t/K7PQ2", Host=host)
            assert (status, headers["location"]) == (308, f"{web.origin}/t/K7PQ2")
            for path in (
                "/ws",
                "/door",
                "/status",
                "/t/K7PQ2.json",
                "//evil.example/",
                "/a/x/page/page.html",
            ):
                assert (await web.ask(path, Host=host))[0] == 421
        assert (await web.ask("/", Host="127.0.0.1:1"))[0] == 421
    async with door(tmp_path / "data", origin="https://truc.example") as web:
        assert (await web.ask("/", Host=f"127.0.0.1:{web.port}"))[0] == 421


async def test_the_own_origin_and_no_origin_come_in_and_a_plain_get_is_told_how(web):
    for origin in (web.origin, None):
        stream, status, (_, headers, _) = await web.upgrade(Origin=origin)
        async with stream:
            assert (status, headers["sec-websocket-protocol"]) == (101, "truc.1")
            assert "sec-websocket-extensions" not in headers
    assert (await web.ask("/ws"))[0] == 426
    assert (await web.ask("/", "POST"))[0] == 405


@each_row(
    "test",
    [
        ("text", [masked(1, b"hello")], "bad_frame", 1003),
        ("unmasked", [b"\x82\x02\x81\xa1"], "bad_frame", 1002),
        ("empty", [masked(2, b"")], "bad_frame", 1002),
        ("no msgpack", [masked(2, b"\xc1")], "bad_msgpack", 1002),
        ("too long", [masked(2, b"\0" * 9_000)], "frame_too_large", 1009),
        (
            "too long in pieces",
            [masked(2, b"\0" * 5_000, fin=False), masked(0, b"\0" * 5_000)],
            "frame_too_large",
            1009,
        ),
        ("a huge length", [masked(2, b"\0" * 9_000, length=1 << 40)], "frame_too_large", 1009),
        ("a reserved bit", [b"\xc2" + masked(2, PING)[1:]], "bad_frame", 1002),
        ("a reserved opcode", [masked(3, b"")], "bad_frame", 1002),
        ("a control frame in pieces", [masked(9, b"", fin=False)], "bad_frame", 1002),
        ("a long ping", [masked(9, b"\0" * 126)], "bad_frame", 1002),
        ("a piece of nothing", [masked(0, PING)], "bad_frame", 1002),
        ("a message in another", [masked(2, PING, fin=False), masked(2, PING)], "bad_frame", 1002),
        ("crumbs", [masked(2, b"\x81", fin=False) + masked(0, b"", fin=False) * 100], "rate_limited", 1013),
        ("pings for ever", [masked(9, b"x") * 200], "rate_limited", 1013),
    ],
)
async def test_a_websocket_ends_by(web, test):
    _, pieces, code, status = test
    client = await web.client()
    assert (await client.login_guest())["t"] == "welcome"
    for piece in pieces:
        await client.stream.stream.send_all(piece)
    with trio.fail_after(20):
        rest = await client.closed()
    assert [message["code"] for message in rest if message["t"] in ("error", "bye")] == [code, code]
    assert client.stream.status == status


async def test_a_message_may_come_in_pieces_with_control_frames_between(web):
    client = await web.client()
    await client.login_guest()
    raw = masked(2, PING[:3], fin=False) + masked(9, b"are you there") + masked(0, PING[3:])
    for i in range(len(raw)):
        await client.stream.stream.send_all(raw[i : i + 1])
    assert (await client.until("pong"))["n"] == 1


async def test_pings_and_close_frames_are_answered(web):
    stream, _, _ = await web.upgrade()
    async with stream:
        await stream.send_all(masked(9, b"are you there"))
        assert await stream.receive_some(100) == b"\x8a\x0dare you there"
        await stream.send_all(masked(8, (1000).to_bytes(2)))
        assert await stream.receive_some(100) == b"\x88\x02\x03\xe8"
        assert await stream.receive_some(100) == b""


async def test_the_last_message_is_bye_and_then_the_close_frame_has_its_status(web):
    client = await web.client()
    await client.login_guest()
    web.server.stop()
    rest = await client.closed()
    assert (rest[-1]["t"], rest[-1]["code"], client.stream.status) == ("bye", "shutting_down", 1001)


@pytest.mark.slow
async def test_half_upgrades_and_slow_headers_are_bounded_and_harm_nobody(path, monkeypatch):
    monkeypatch.setattr(http_connection, "HEADER_S", 0.3)
    monkeypatch.setattr(page, "FRESH_S", 0)
    async with door(path, telling(QUICK)) as web:
        client = await web.client()
        await client.login_guest()
        half = web.request("/ws", **UPGRADE)[:-2]
        sockets = deque()
        for i in range(480):
            sockets.append(
                socket.create_connection(("127.0.0.1", web.port), None, (f"127.0.0.{2 + i % 50}", 0))
            )
            with suppress(OSError):
                sockets[-1].sendall(half)
            if len(sockets) > 5 * web_port.CONNECTIONS:
                await ended(sockets.popleft())  # the server has made room already
            if i % 160 == 0:
                told = await figures(web.server)  # two may be on their way out
                assert told['truc_web_connections{kind="http"}'] <= web_port.CONNECTIONS + 2
                assert (await client.ask({"t": "tables"}))["t"] == "ok"
        for one in sockets:
            await ended(one)
        told = await figures(web.server)
        refused = {why: told[f'truc_web_refused_total{{why="{why}"}}'] for why in ("busy", "slow")}
        assert (sum(refused.values()), refused["slow"] > 0) == (480, True)
        assert (await client.ask({"t": "tables"}))["t"] == "ok"
        assert (await web.ask("/"))[0] == 200


async def ended(one):
    """Read a connection to its end."""
    with one, suppress(ConnectionError), trio.fail_after(20):
        while True:
            await trio.lowlevel.wait_readable(one)
            if not one.recv(1_000):
                break


async def test_whoever_reads_no_page_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(http_connection, "SEND_S", 0.2)
    async with door(tmp_path / "data") as web:
        path = next(iter(json.loads(await import_map(web))["integrity"]))
        with trio.socket.socket() as deaf:
            deaf.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4_096)
            await deaf.connect(("127.0.0.1", web.port))
            with trio.fail_after(20), suppress(ConnectionError):
                while True:
                    await deaf.send(web.request(path))
        assert (await web.ask("/"))[0] == 200


async def test_tables_are_told_at_a_pace_and_the_status_only_if_the_host_wants(tmp_path, monkeypatch):
    monkeypatch.setattr(web_port, "PACE_S", 0.05)
    monkeypatch.setattr(usage_limits, "BURST", 3)
    settings = changed(QUICK, limits={"connections_per_address": 1})
    async with door(tmp_path / "data", settings, status=False) as web:
        found = [await web.ask("/t/K7PQ2.json") for _ in range(4)]
        assert [code for code, _, _ in found] == [200, 200, 200, 429]
        assert found[3][1]["retry-after"] == "1"
        assert [(await web.ask(path))[0] for path in ("/status", "/status.json")] == [404, 404]


async def test_whoever_waits_longest_makes_room_when_all_places_are_taken(web):
    waiting = [await web.connect(f"127.0.0.{2 + i // 10}") for i in range(web_port.CONNECTIONS)]
    assert (await answer(waiting[-1], web.request("/door")))[0] == 200  # all have been accepted
    assert (await web.ask("/"))[0] == 200
    assert await waiting[0].receive_some(10) == b""
    for stream in waiting:
        await trio.aclose_forcefully(stream)


async def test_whoever_comes_from_a_crowded_network_gets_the_place_of_one_that_waits_there(web):
    elsewhere = await web.connect()
    crowd = [await web.connect("127.0.0.2") for _ in range(web_port.NETWORK_CONNECTIONS)]
    assert (await answer(crowd[-1], web.request("/door")))[0] == 200  # all have been accepted
    another = await web.connect("127.0.0.2")
    assert (await answer(another, web.request("/")))[0] == 200
    assert await crowd[0].receive_some(10) == b""
    assert (await answer(elsewhere, web.request("/door")))[0] == 200
    for stream in (*crowd, another, elsewhere):
        await trio.aclose_forcefully(stream)


def test_nothing_is_sent_behind_the_answer_to_a_close_frame():
    sealer = WebSocketSealer(b"", None, Connection(ConnectionType.SERVER))
    frame = (5).to_bytes(4) + b"hello"
    assert sealer.seal(frame) == b"\x82\x05hello"
    sealer.feed(masked(0x8, (1000).to_bytes(2)))
    assert sealer.read() == b""
    assert [sealer.seal(frame), sealer.seal(frame)] == [b"\x88\x02\x03\xe8", b""]


async def test_requests_of_one_network_have_a_pace(path, monkeypatch):
    monkeypatch.setattr(web_port, "REQUESTS_PER_MIN", 3)
    async with door(path) as web:
        assert [(await web.ask("/door"))[0] for _ in range(3)] == [200] * 3
        status, headers, _ = await web.ask("/door")
        assert (status, int(headers["retry-after"]) > 0) == (429, True)


async def test_a_websocket_is_counted_as_a_connection_and_a_page_is_told_why_not(path):
    settings = changed(QUICK, limits={"connections_per_address": 1})
    async with door(path, settings) as web:
        first = await web.client()
        stream, status, (_, headers, _) = await web.upgrade()
        async with stream:
            assert (status, int(headers["retry-after"]) > 0) == (503, True)
        assert json.loads((await web.ask("/door"))[2])["code"] == "server_full"
        await first.stream.aclose()
        second = await web.server.connect()  # the first has been counted out when this is let in
        assert (await second.hello())["t"] in ("hello", "error")


async def test_a_banned_address_behind_a_proxy_gets_no_websocket_and_one_that_says_so_itself_does(path):
    settings = changed(QUICK, access={"banned": ("203.0.113.7",)})
    for proxies, expected in ((("127.0.0.0/8",), 403), ((), 101)):
        async with door(path, settings, proxies=proxies) as web:
            stream, status, _ = await web.upgrade(**{"X-Forwarded-For": "198.51.100.1, 203.0.113.7"})
            async with stream:
                assert status == expected


def test_the_rightmost_address_outside_the_proxies_is_the_clients():
    proxies = Subjects.of(("10.0.0.0/8", "127.0.0.1"))
    for address, given, expected in (
        ("127.0.0.1", "192.0.2.1, 198.51.100.2, 10.1.1.1", "198.51.100.2"),
        ("127.0.0.1", "192.0.2.1, nonsense", "127.0.0.1"),
        ("192.0.2.9", "198.51.100.2", "192.0.2.9"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("::ffff:10.0.0.1", "2001:db8::1", "2001:db8::1"),
    ):
        assert client_of(address, [(b"x-forwarded-for", given.encode())], proxies) == expected


@each_row("length", [1, 125, 126, 65_535, 65_536])
def test_an_own_header_is_what_wsproto_would_write(length):
    proto = FrameProtocol(client=False, extensions=[])
    proto_bytes = proto.send_data(b"\0" * length)
    assert websocket_header(length) == proto_bytes[: len(proto_bytes) - length]


async def test_the_figures_tell_of_browsers(tmp_path):
    async with door(tmp_path / "data", telling(QUICK)) as web:
        await web.client()
        await web.ask("/")
        await web.ask("/", Host="evil.example")
        told = await figures(web.server)
        assert told['truc_web_requests_total{path="page",status="200"}'] == 1
        assert told['truc_web_requests_total{path="ws",status="101"}'] == 1
        assert told['truc_web_refused_total{why="host"}'] == 1
        assert told['truc_web_connections{kind="websocket"}'] == 1
        assert sum(value for name, value in told.items() if name.startswith("truc_web_tree_info")) == 1


async def test_relay_under_another_name_fails_c37(web):
    client = await web.client()
    client.cert = origin_binding("https://relay.example")
    with pytest.raises(HandshakeError, match="C37"):
        await client.hello()


def authority(folder):
    """Return a context that trusts a new authority, and the files of a certificate it has given for localhost."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("authority", "localhost")
    ]
    now = datetime.now(UTC)
    chain = []
    for i, (key, name) in enumerate(zip(keys, names, strict=True)):
        builder = x509.CertificateBuilder(names[0], name, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=90))
        builder = builder.add_extension(x509.BasicConstraints(ca=not i, path_length=None), critical=True)
        names_it = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        chain.append(builder.add_extension(names_it, critical=False).sign(keys[0], SHA256()))
    pems = [one.public_bytes(serialization.Encoding.PEM) for one in chain]
    private = keys[1].private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "web.pem").write_bytes(pems[1] + private)
    return ssl.create_default_context(cadata=pems[0].decode()), str(folder / "web.pem")


async def test_an_authoritys_certificate_encrypts_pages_and_websockets(tmp_path, monkeypatch):
    trusting, file = authority(tmp_path)
    port = free_port()
    web = {"origin": f"https://localhost:{port}", "listen": f"127.0.0.1:{port}", "certificate": file}
    async with door(tmp_path / "data", run=hosting, **web) as running:
        status, headers, body = await page_of(port, trusting)
        assert (status, b"<h1>" in body) == (200, True)
        assert headers["strict-transport-security"] == "max-age=31536000"
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
        client = RawClient(await websocket.connect(websocket.Origin("localhost", port, is_secure=True)))
        assert (await client.login_guest())["t"] == "welcome"
        await client.send({"t": "ping", "n": 1})
        assert (await client.until("pong"))["n"] == 1
        await trio.aclose_forcefully(client.stream)
        monkeypatch.undo()
        renewed, _ = authority(tmp_path)
        assert (await page_of(port, trusting))[0] == 200
        assert "error" not in await host_says(running.server.folder, command="reload")
        assert (await page_of(port, renewed))[0] == 200
        with pytest.raises(trio.BrokenResourceError):
            await page_of(port, trusting)


async def test_page_has_the_name_that_the_host_has_changed(path):
    async with door(path, run=hosting) as web:
        assert b"<title>Truc</title>" in (await web.ask("/"))[2]
        host = web.server.host
        host.settings = changed(web.server.settings, name="La Penya")
        assert (await host_says(web.server.folder, command="reload"))["changed"] == ["name"]
        assert b"<title>La Penya</title>" in (await web.ask("/"))[2]


async def page_of(port, trusting):
    """Ask for the page whoever has a certificate that is trusted."""
    plain = await trio.open_tcp_stream("127.0.0.1", port)
    async with plain:
        stream = trio.SSLStream(plain, trusting, server_hostname="localhost")
        return await answer(stream, f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())


def test_a_self_made_certificate_is_refused_as_browsers_would(tmp_path):
    made = tmp_path / "made.pem"
    made.write_bytes(make_certificate(int(time.time()), lasts_s=86_400))
    with pytest.raises(TlsError, match="self-made"):
        open_web_tls(WebSettings(certificate=str(made)), int(time.time()))


def test_an_authoritys_certificate_that_has_ended_is_to_be_renewed_as_none_is_made_for_browsers(tmp_path):
    _, file = authority(tmp_path)
    with pytest.raises(TlsError, match=r"was good until [0-9-]+: renew it$"):
        open_web_tls(WebSettings(certificate=str(file)), int(time.time()) + 400 * 86_400)


async def test_random_bytes_end_a_websocket_or_wait_and_nothing_fails(path, capfd):
    chance = Random(7)
    async with door(path) as web:
        for _ in range(25):
            stream, _, _ = await web.upgrade()
            async with stream:
                with suppress(trio.BrokenResourceError):
                    for _ in range(chance.randrange(1, 5)):
                        kind = chance.choice((0, 1, 2, 2, 2, 8, 9, 10, chance.randrange(16)))
                        piece = masked(kind, chance.randbytes(chance.choice((0, 1, 2, 125, 126, 300))))
                        at = chance.randrange(len(piece))
                        await stream.send_all(chance.choice((piece, piece[:at], chance.randbytes(at))))
        for _ in range(25):
            head = bytearray(web.request("/ws", **UPGRADE))
            for _ in range(chance.randrange(1, 4)):
                head[chance.randrange(len(head))] = chance.randrange(256)
            stream = await web.connect()
            async with stream:
                await stream.send_all(head)
        assert (await (await web.client()).login_guest())["t"] == "welcome"
    assert "internal" not in capfd.readouterr().err


STARTED = """
import sys
import truc_server.server, truc_server.commands.checking
from truc_server.lobby import names
print([m for m in ("h11", "wsproto", "truc_web", "prometheus_client") if m in sys.modules])
print(names._prototypes.cache_info().misses)
"""


def test_a_start_imports_nothing_of_browsers_and_figures_and_reads_no_tables_of_names():
    found = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n0\n"
