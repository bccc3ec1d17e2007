"""TLS at the server: handshakes, what is said before one, limits, the end of a connection; over real sockets."""

import re
import shutil
import ssl
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest
import trio
from rows import each_row
from server.admins import host_says, hosting
from server.conftest import QUICK, changed, running, under
from server.rawclient import RawClient, frame, length
from server.test_certificate import own
from trio.testing import wait_all_tasks_blocked

from truc_protocol.codec import dec, sha256, unpack
from truc_protocol.crypto.certificates import make_certificate, read_certificate
from truc_protocol.wire.transport import ALPN, COME_LATER_ALERT, SHUT_OUT_ALERT
from truc_server.net.connections import Connections
from truc_server.net.tls import HANDSHAKE_BYTES

TLS = changed(QUICK, listen={"tls": True})
TRANSPORT = Path(__file__).parents[2] / "docs" / "protocol" / "transport.md"

SETTINGS = TLS


class TlsClient(RawClient):
    """A raw client on an encrypted connection."""

    certificate: bytes | None = None

    def _recognise(self, sent, whole) -> None:
        reply = unpack(whole)
        self.info, self.certificate = unpack(reply["info"]), dec(reply["body"])[5]


def context(*names: str) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if names:
        made.set_alpn_protocols(names)
    return made


async def encrypted(server, with_context=None) -> trio.SSLStream:
    plain = await trio.open_tcp_stream("127.0.0.1", server.port)
    stream = trio.SSLStream(plain, with_context or context(ALPN))
    try:
        await stream.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(plain)
        raise
    return stream


async def connected(server, with_context=None) -> TlsClient:
    client = TlsClient(await encrypted(server, with_context))
    server.clients.append(client)
    return client


async def ready(server) -> TlsClient:
    client = await connected(server)
    await client.login_guest("Ida")
    return client


async def everything(stream) -> bytes:
    """Return what comes up to the end."""
    received = b""
    try:
        while part := await stream.receive_some():
            received += part
    except trio.BrokenResourceError:
        pass
    return received


async def test_hello_has_the_hash_of_the_certificate_shown_and_requests_are_answered(server):
    client = await ready(server)
    assert client.certificate == sha256(client.stream.getpeercert(binary_form=True))
    assert (await client.ask({"t": "tables"}))["t"] == "ok"
    assert client.stream.version() == "TLSv1.3"
    assert client.stream.selected_alpn_protocol() == ALPN


async def test_hello_in_clear_has_no_hash(path):
    async with running(path) as server:
        client = TlsClient(await trio.open_tcp_stream("127.0.0.1", server.port))
        async with client.stream:
            await client.hello()
    assert client.certificate is None


@each_row("names", [(), ("http/1.1",), ("truc/2", "h2")])
async def test_client_that_names_another_protocol_is_told_and_closed(server, names):
    client = await connected(server, context(*names))
    rest = await client.closed()
    assert [(message["t"], message["code"]) for message in rest] == [
        ("error", "unsupported"),
        ("bye", "unsupported"),
    ]
    assert rest[0]["msg"] == "expected the protocol name truc/1 (ALPN) from TLS"


async def test_older_tls_is_refused(server, shown):
    older = context(ALPN)
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(trio.BrokenResourceError) as refused:
        await encrypted(server, older)
    assert refused.value.__cause__.reason == "TLSV1_ALERT_PROTOCOL_VERSION"
    assert "not_encrypted" in shown.getvalue()


async def test_frame_in_clear_is_answered_in_clear_with_the_right_scheme(server):
    client = await server.connect()
    await client.send({"t": "hello", "proto": [1], "cn": bytes(32)})
    error, bye = await client.closed()
    assert (error["t"], error["code"], bye["t"]) == ("error", "unsupported", "bye")
    assert error["msg"] == "expected TLS: the addresses of this server begin with trucs://, not truc://"
    assert error["detail"] == {"tls": True}


@each_row("raw", [b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"\xff"])
async def test_anything_else_in_clear_gets_one_readable_line(server, raw):
    client = await server.connect()
    await client.send_bytes(raw)
    answer = await everything(client.stream)
    assert answer == b"This port speaks the Truc protocol over TLS (trucs://), and nothing else.\r\n"


@pytest.mark.parametrize(
    ("section", "alert"),
    [
        ({"limits": {"connections_per_address": 1}}, COME_LATER_ALERT),
        ({"limits": {"connections": 1}}, COME_LATER_ALERT),
        ({"access": {"banned": ("127.0.0.1",)}}, SHUT_OUT_ALERT),
    ],
)
async def test_who_is_turned_away_gets_an_alert_without_a_handshake(path, section, alert):
    async with running(path, changed(TLS, **section)) as server:
        await server.connect()
        client = await server.connect()
        await client.stream.send_eof()
        assert await everything(client.stream) == alert


def test_alerts_are_those_of_the_chapter():
    told = re.findall(r"^\| \w+ \| `(15[0-9 ]+)` \|", TRANSPORT.read_text(encoding="utf-8"), re.MULTILINE)
    assert list(map(bytes.fromhex, told)) == [SHUT_OUT_ALERT, COME_LATER_ALERT]


@under(TLS, limits={"connections_per_address": 1})
async def test_handshake_that_is_not_begun_is_cut_in_time_and_counted_out(server, mock_clock, shown):
    client = await server.connect()
    await wait_all_tasks_blocked()
    tasks = trio.lowlevel.current_statistics().tasks_living
    mock_clock.jump(10.01)
    assert await everything(client.stream) == b""
    await wait_all_tasks_blocked()
    assert trio.lowlevel.current_statistics().tasks_living == tasks - 1
    assert "expected a handshake within 10 s" in shown.getvalue()
    assert (await (await ready(server)).ask({"t": "tables"}))["t"] == "ok"


async def test_handshake_is_part_of_the_time_for_a_login(server, mock_clock):
    plain = await trio.open_tcp_stream("127.0.0.1", server.port)
    await wait_all_tasks_blocked()
    mock_clock.jump(6)
    stream = trio.SSLStream(plain, context(ALPN))
    await stream.do_handshake()
    client = TlsClient(stream)
    server.clients.append(client)
    await wait_all_tasks_blocked()
    mock_clock.jump(4.01)
    (goodbye,) = await client.closed()
    assert (goodbye["t"], goodbye["code"]) == ("bye", "timeout")


async def test_handshake_without_end_is_cut(server, shown):
    client = await server.connect()
    hello = b"\x01" + (100_000).to_bytes(3, "big") + bytes(100_000)  # of the length it says it has
    records = b"".join(
        b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part
        for part in (hello[at : at + 4_000] for at in range(0, len(hello), 4_000))
    )
    with suppress(trio.BrokenResourceError):
        await client.send_bytes(records)
    await everything(client.stream)
    assert len(records) > HANDSHAKE_BYTES
    assert "not_encrypted" in shown.getvalue()


async def test_what_nobody_has_sealed_ends_the_connection_alone(server):
    client, other = await ready(server), await ready(server)
    await client.stream.transport_stream.send_all(b"\x17\x03\x03\x00\x20" + bytes(32))
    assert await everything(client.stream) == b""
    assert (await other.ask({"t": "tables"}))["t"] == "ok"


@under(TLS, limits={"outbox_bytes": 65_536})
async def test_client_that_never_reads_is_cut(server, shown):
    client = await ready(server)
    with trio.fail_after(20):
        while "slow_consumer" not in shown.getvalue():
            await client.send_bytes(frame({"t": "ping", "n": 1}) * 500)
        await everything(client.stream)
    assert (await (await ready(server)).ask({"t": "tables"}))["t"] == "ok"


async def test_much_that_waits_for_a_slow_reader_comes_whole_and_in_order(server):
    client = await ready(server)
    for n in range(500):
        await client.send_bytes(frame({"t": "ping", "n": n}))
    assert [(await client.until("pong"))["n"] for _ in range(500)] == list(range(500))


async def test_requests_a_byte_a_record_are_read(server):
    client = await ready(server)
    for byte in frame({"t": "tables", "id": 77}):
        await client.send_bytes(bytes([byte]))
    assert (await client.until("ok"))["re"] == 77


async def test_goodbye_comes_with_a_proper_end(server):
    client = await ready(server)
    server.stop()
    (goodbye,) = await client.closed()  # a stream that ends without the word of TLS for it breaks
    assert goodbye["code"] == "shutting_down"
    assert await client.stream.receive_some() == b""


@under(TLS, limits={"requests_per_s": 10, "burst": 5})
async def test_last_words_are_not_lost_when_more_is_sent_than_is_read(server, mock_clock):
    client = await ready(server)
    await client.send_bytes(b"".join(frame({"t": "tables", "id": n}) for n in range(3_000)))
    rest = await client.closed()
    assert (rest[-1]["t"], rest[-1]["code"]) == ("bye", "rate_limited")


async def test_client_that_has_said_its_end_still_gets_its_answers(server):
    client = await ready(server)
    await client.send({"t": "tables", "id": 5})
    await client.stream.transport_stream.send_eof()
    rest = await client.closed()
    assert [message["re"] for message in rest] == [5]


async def test_every_listener_encrypts(path):
    settings = changed(TLS, listen={"hosts": ("127.0.0.1", "127.0.0.2")})
    async with running(path, settings) as server:
        for host in settings.listen.hosts:
            stream = trio.SSLStream(await trio.open_tcp_stream(host, server.port), context(ALPN))
            async with stream:
                await stream.do_handshake()


async def test_server_shows_the_host_s_own_certificate(tmp_path):
    pem = make_certificate(int(time.time()), lasts_s=86_400)
    (tmp_path / "own.pem").write_bytes(pem)
    settings = changed(TLS, listen={"certificate": str(tmp_path / "own.pem")})
    async with running(tmp_path / "data", settings) as server:
        client = await ready(server)
        shown = client.stream.getpeercert(binary_form=True)
    assert client.certificate == sha256(shown) == read_certificate(pem, pem).digest


async def ask_for_keys(openssl) -> None:
    """Let openssl ask for new keys 360 times, and send a byte of a frame that does not end in between."""
    await openssl.send_all(length(2_000))
    for n in range(400):
        await trio.sleep(0.006)  # a line that begins with K is a command only if it is read alone
        await openssl.send_all(b"K\n" if n % 10 else b"a\n")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="the program openssl is not installed")
async def test_client_that_asks_for_new_keys_again_and_again_is_cut(server):
    place = f"127.0.0.1:{server.port}"
    command = ["openssl", "s_client", "-connect", place, "-alpn", ALPN, "-tls1_3", "-brief"]
    pipes = {"stdin": PIPE, "stdout": DEVNULL, "stderr": DEVNULL}
    async with trio.open_nursery() as nursery:
        process = await nursery.start(partial(trio.run_process, command, check=False, **pipes))
        with trio.fail_after(30), pytest.raises(trio.BrokenResourceError):
            await ask_for_keys(process.stdin)
    assert (await (await ready(server)).ask({"t": "tables"}))["t"] == "ok"


DAY_S = 86_400


@pytest.fixture
async def with_own(tmp_path):
    """Return a server that somebody has in hand, with a certificate of the host's own; `renew` replaces its files, `mix` one of them."""
    make = partial(make_certificate, int(time.time()))
    chain, key = own(tmp_path, make(lasts_s=30 * DAY_S))
    files = {"certificate": str(chain), "certificate_key": str(key)}
    async with hosting(tmp_path / "data", changed(TLS, listen=files)) as server:
        server.renew = lambda: own(tmp_path, make(lasts_s=90 * DAY_S))
        server.mix = lambda: key.write_bytes(make(lasts_s=90 * DAY_S).partition(b"-----BEGIN CERT")[0])
        yield server


async def test_renewed_certificate_is_told_shown_and_vouched_for_and_the_same_one_is_not_told(with_own):
    before = await ready(with_own)
    assert (await host_says(with_own.folder, command="reload"))["certificate_until_ms"] is None
    with_own.renew()
    answer = await host_says(with_own.folder, command="reload")
    after = await ready(with_own)
    shown = after.stream.getpeercert(binary_form=True)
    assert answer["certificate_until_ms"] > (time.time() + 80 * DAY_S) * 1_000
    assert after.certificate == sha256(shown)
    assert after.certificate != before.certificate
    assert (await before.ask({"t": "tables"}))["t"] == "ok"


async def test_pair_that_does_not_fit_leaves_everything_as_it_was_and_says_why(with_own):
    before = await ready(with_own)
    with_own.mix()
    with_own.host.settings = changed(with_own.host.settings, name="La Penya")
    answer = await host_says(with_own.folder, command="reload")
    assert "expected the key of the certificate, got another one; nothing has changed" in answer["error"]
    assert (await ready(with_own)).certificate == before.certificate
    assert (await host_says(with_own.folder, command="status"))["name"] == "Truc"


async def test_other_files_can_be_named(with_own, tmp_path):
    (tmp_path / "other").mkdir()
    before = await ready(with_own)
    chain, key = own(tmp_path / "other", make_certificate(int(time.time()), lasts_s=90 * DAY_S))
    listen = {"certificate": str(chain), "certificate_key": str(key)}
    with_own.host.settings = changed(with_own.host.settings, listen=listen)
    answer = await host_says(with_own.folder, command="reload")
    assert answer["changed"] == ["listen.certificate", "listen.certificate_key"]
    assert (await ready(with_own)).certificate != before.certificate


async def test_certificate_that_was_made_and_is_gone_is_made_again(path):
    async with hosting(path, TLS) as server:
        before = await ready(server)
        server.folder.certificate.unlink()
        await host_says(server.folder, command="reload")
        assert (await ready(server)).certificate != before.certificate


async def test_failure_after_the_handshake_harms_nobody_else(server, monkeypatch):
    other = await ready(server)
    with monkeypatch.context() as broken:
        broken.setattr(Connections, "attend", lambda *_, **__: 1 / 0)
        lost = await connected(server)
        assert await everything(lost.stream) == b""
    assert (await other.ask({"t": "tables"}))["t"] == "ok"
    assert (await ready(server)).welcome["t"] == "welcome"
