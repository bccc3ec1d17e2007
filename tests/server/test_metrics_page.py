"""The port for figures: what it answers of figures and of health, and that nobody there harms the game or each other."""

import contextlib
import socket

import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families
from rows import each_row
from server.admins import host_says, hosting
from server.asking import LOOPBACK, connected, figures, get, parsed, replied, telling
from server.conftest import QUICK, changed, in_hand, no_more_files, play_on, running
from server.gates import Gate
from server.visitors import guest
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from truc_server.metrics import page
from truc_server.net.connections import Connections
from truc_server.storage import StoreError


@pytest.fixture
def settings():
    return telling(changed(QUICK, limits={"idle_s": 3600}))


async def test_metrics_are_text_that_prometheus_reads(server):
    reply = await get(server, "/metrics")
    assert (reply.status, reply.headers["content-type"].split(";")[0]) == (200, "text/plain")
    assert "version=" in reply.headers["content-type"]
    families = text_string_to_metric_families(reply.text)
    told = {sample.name: sample.labels for family in families for sample in family.samples}
    assert told["truc_build_info"] == {"protocol": "1", "version": "0.1.0"}


@each_row(
    "method, path, status",
    [
        ("GET", "/health?who=me", 200),
        ("HEAD", "/health", 200),
        ("HEAD", "/metrics", 200),
        ("GET", "/", 404),
        ("GET", "/metrics/", 404),
        ("GET", "/../truc.db", 404),
        ("OPTIONS", "*", 404),
        ("CONNECT", "example.org:443", 404),
        ("POST", "/health", 405),
        ("DELETE", "/metrics", 405),
    ],
)
async def test_status_of_a_request(server, method, path, status):
    reply = await get(server, path, method)
    assert (reply.status, reply.text == "") == (status, method == "HEAD")
    if status == 405:
        assert (reply.headers["allow"], reply.text) == ("GET, HEAD", "expected GET or HEAD\n")


async def test_request_with_a_body_or_of_the_older_protocol_is_answered_whole(server):
    head = b"POST /health HTTP/1.1\r\nHost: here\r\nContent-Length: 30000\r\n\r\n"
    assert (await replied(server, head + bytes(30_000))).status == 405
    assert (await replied(server, b"GET /health HTTP/1.0\r\n\r\n")).text == "ok\n"


async def test_figures_are_told_when_no_more_files_can_be_opened(server):
    async with await connected(server) as stream:
        await wait_all_tasks_blocked()  # it is let in
        with no_more_files():
            await stream.send_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
            received = b"".join([part async for part in stream])
    assert parsed(received).status == 200


GARBAGE = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "long line": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: here\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\nHost: here\r\n" + b"a: b\r\n" * 3_000 + b"\r\n",
    "endless header": b"GET /health HTTP/1.1\r\nHost: here\r\na: " + b"b" * 100_000,
    "two lengths": b"POST /health HTTP/1.1\r\nHost: here\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
}


@each_row("sent", GARBAGE.values())
async def test_garbage_is_refused(server, sent):
    async with await connected(server) as stream:
        with contextlib.suppress(trio.BrokenResourceError):
            await stream.send_all(sent)
        received = b"".join([part async for part in stream])
    assert 400 <= parsed(received).status < 500


@each_row(
    "sent, resets",
    [
        (b"", False),
        (b"GET /hea", False),
        (b"GET /health HTTP/1.1\r\nHost: here\r\n", False),
        (b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n", True),
    ],
)
async def test_who_leaves_in_the_middle_of_a_request_or_resets_is_forgotten(server, sent, resets):
    with capture_logs() as logged:
        async with await connected(server) as stream:
            if resets:
                stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            await stream.send_all(sent)
        await wait_all_tasks_blocked()
    assert (logged, (await get(server, "/health")).text) == ([], "ok\n")


async def test_further_connections_than_the_most_are_closed_at_once(server):
    async with contextlib.AsyncExitStack() as open_ones:
        for _ in range(page.CONNECTIONS):
            await open_ones.enter_async_context(await connected(server))
        async with await connected(server) as one_more:
            with contextlib.suppress(trio.BrokenResourceError):
                assert await one_more.receive_some() == b""
        assert (await (await guest(server)).ask({"t": "tables"}))["t"] == "ok"


async def test_connection_that_asks_too_slowly_is_closed(server, mock_clock):
    async with await connected(server) as slow:
        for byte in b"GET /health HTTP/1.1\r\n"[: int(page.SECONDS)]:
            await slow.send_all(bytes([byte]))
            await wait_all_tasks_blocked()
            mock_clock.jump(1.001)
        assert await slow.receive_some() == b""


async def test_connection_that_does_not_read_is_closed(server, mock_clock, monkeypatch):
    monkeypatch.setattr(page, "text_of", lambda _: bytes(50_000_000))
    async with await connected(server) as slow:
        await slow.send_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
        await slow.receive_some(1)
        mock_clock.jump(page.SECONDS)
        with contextlib.suppress(trio.BrokenResourceError):
            received = sum([len(part) async for part in slow])
            assert received < 50_000_000


@pytest.mark.slow
async def test_match_goes_on_while_others_beat_on_the_port(server):
    async def beat() -> None:
        while True:
            with contextlib.suppress(OSError, trio.BrokenResourceError):
                async with await connected(server) as stream:
                    await stream.send_all(GARBAGE["many headers"])

    seats = await server.match(2, options={"match": 1, "target": 3})
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(beat)
        await play_on(seats)
        nursery.cancel_scope.cancel()
    assert all(seat.done for seat in seats)


async def test_failure_of_the_page_is_in_the_log_and_harms_nobody(server, monkeypatch):
    with monkeypatch.context() as broken, capture_logs() as logged:
        broken.setattr(page, "read", lambda _: 1 / 0)
        async with await connected(server) as stream:
            await stream.send_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
            assert await stream.receive_some() == b""
    assert [(entry["event"], entry["incident"]) for entry in logged] == [("internal", "metrics")]
    assert (await figures(server))["truc_healthy"] == 1


async def test_port_that_is_in_use_stops_the_start(settings):
    port = settings.metrics.port
    with socket.create_server((LOOPBACK, port)):
        told = f"metrics.port: cannot listen on {LOOPBACK} port {port}: Address already in use"
        with pytest.raises(OSError, match=told):
            await page._listeners(settings.metrics)


async def test_log_says_where_figures_are_told_which_are_not_unasked(path, settings):
    told = []
    for asked in (settings, QUICK):
        with capture_logs() as logged:
            async with running(path, asked):
                pass
        told += [(line["host"], line["port"]) for line in logged if line["event"] == "metrics_listening"]
    assert told == [(LOOPBACK, settings.metrics.port)]


FRENCH = {"t": "create", "variant": "truc-french"}


async def told(server) -> tuple[int, str, float]:
    """Return how the server says it is: status, text, and the metric."""
    reply = await get(server, "/health")
    return reply.status, reply.text, (await figures(server))["truc_healthy"]


async def test_commit_that_hangs_is_told(path, settings, mock_clock):
    gate = Gate()
    async with hosting(path, settings, wrap=gate.before_commit("SaveTable")) as server:
        await (await guest(server)).send(FRENCH)
        await gate.reached()
        before = await told(server)
        mock_clock.jump(6)
        during = await told(server)
        status = await host_says(server.folder, command="status")
        gate.open()
        await server.clients[0].until("ok")
        mock_clock.jump(1)
        after = await told(server)
    assert (before[0], after) == (200, (200, "ok\n", 1))
    assert during == (503, "behind: a commit has been under way for 6 s\n", 0)
    assert status["store"] == "behind: a commit has been under way for 6 s"


async def test_store_that_does_not_keep_up_is_told(path, settings, monkeypatch):
    gate = Gate()
    monkeypatch.setattr("truc_server.storage.journal.MAX_WAITING", 1)
    async with running(path, settings, wrap=gate.before_commit("SaveTable")) as server:
        first, second = await guest(server), await guest(server)
        await first.send(FRENCH)
        await gate.reached()
        await second.send(FRENCH)
        await wait_all_tasks_blocked()
        during = (await get(server, "/health"))[::2]
        gate.open()
        await second.until("ok")
        assert (during[0], during[1].partition(":")[0]) == (503, "behind")
        assert (await get(server, "/health")).text == "ok\n"


async def test_server_that_drains_is_told(path, settings):
    async with hosting(path, settings) as server:
        await in_hand(server)
        await host_says(server.folder, command="drain")
        await wait_all_tasks_blocked()
        status, text, figure = await told(server)
    assert (status, text.partition(":")[0], figure) == (503, "draining", 0)


@pytest.fixture
def at_the_end(monkeypatch, settings):
    """Return a list, to which it is added what the server says of its health while it says goodbye."""
    answers = []

    async def ask(net) -> None:
        server = type("Server", (), {"settings": settings})
        answers.append((await get(server, "/health"))[::2])

    monkeypatch.setattr(Connections, "wait_quiet", ask)
    return answers


async def test_server_that_stops_is_told(path, settings, at_the_end):
    async with running(path, settings):
        pass
    assert at_the_end == [(503, "stopping\n")]


async def test_store_that_has_failed_is_told(path, settings, at_the_end, monkeypatch):
    def fail(writes):
        raise StoreError("disk full")

    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="disk full"), flatten_subgroups=True):
        async with running(path, settings) as server:
            client = await guest(server)
            monkeypatch.setattr(server.store, "commit", fail)
            await client.send(FRENCH)
            await client.closed()
    assert at_the_end == [(503, "failed: the store takes no more writes\n")]
