"""Encrypted connections between the real client and the real server: matches, relays, and the wrong scheme."""

import shutil
import ssl
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
import trio
from client.playing import homes, play_bots, play_on, store_of, visit
from server.conftest import QUICK, changed, running
from trio.testing import wait_all_tasks_blocked

from truc_client import (
    Address,
    ConnectError,
    MatchWaits,
    Player,
    RefusedError,
    ServerKeyError,
    YourTurn,
    connect,
    parse_address,
)
from truc_client.bots import play_match, simple_bot
from truc_client.line.dialing import dial_tcp
from truc_protocol.audit import Result
from truc_protocol.crypto.certificates import make_certificate
from truc_server.operation import logs
from truc_server.settings.settings import LogSettings

pytestmark = pytest.mark.slow
TLS = changed(QUICK, listen={"tls": True})
PAGE = Path(__file__).parents[2] / "docs" / "hosting" / "tls.md"
IN_CLEAR = "it does not encrypt its connections; if its host wants it so, come by truc://"
ANOTHER = (
    "C37: this connection is encrypted with another certificate than the server's;"
    " somebody may stand between you and the server: nothing was said to it about you"
)


@pytest.fixture
async def server(tmp_path):
    async with running(tmp_path / "data", TLS) as server:
        yield server


def link(server, scheme="trucs") -> str:
    return f"{scheme}://127.0.0.1:{server.port}"


async def test_key_and_guest_play_to_a_proven_end(server, tmp_path) -> None:
    players = homes(tmp_path, False, True)
    verdicts = await play_bots(link(server), players, "truc-french", guests=1, match=1)
    assert {(verdict.result, verdict.level) for verdict in verdicts} == {(Result.PROVEN, "B")}


async def test_connection_that_is_cut_again_and_again_comes_back_encrypted(server, player) -> None:
    opened: list[trio.abc.Stream] = []

    async def dial(address: Address) -> trio.abc.Stream:
        opened.append(await dial_tcp(address))
        return opened[-1]

    async with connect(link(server), player, dial=dial) as connection:
        for _ in range(3):
            await trio.aclose_forcefully(opened[-1])
            await wait_all_tasks_blocked()
            await connection.tables()
    assert [type(stream) for stream in opened] == [trio.SSLStream] * 4


# Who stands between


class Relay:
    """Somebody between client and server: takes what comes on one port to another, with or without TLS on either side."""

    def __init__(self, port: int, *, shown: ssl.SSLContext | None, asked: bool) -> None:
        self._port = port
        self._shown = shown
        self._asked = asked
        self.port = 0

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listener.socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._carry, [listener])

    async def _carry(self, stream: trio.SocketStream) -> None:
        near = stream if self._shown is None else trio.SSLStream(stream, self._shown, server_side=True)
        far = await dial_tcp(parse_address(f"{'trucs' if self._asked else 'truc'}://127.0.0.1:{self._port}"))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._pump, near, far, nursery.cancel_scope)
                nursery.start_soon(self._pump, far, near, nursery.cancel_scope)
        finally:
            await trio.aclose_forcefully(far)
            await trio.aclose_forcefully(near)

    async def _pump(self, source, target, scope) -> None:
        try:
            while received := await source.receive_some():
                await target.send_all(received)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()


@pytest.fixture
def forged(tmp_path) -> ssl.SSLContext:
    """Return the context of a certificate that is not the server's."""
    file = tmp_path / "forged.pem"
    file.write_bytes(make_certificate(int(time.time()), lasts_s=86_400))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["truc/1"])
    context.load_cert_chain(file)
    return context


async def stop_of(relay: Relay, player: Player, scheme: str, nursery: trio.Nursery) -> str:
    """Connect through a relay, in vain; returns why."""
    logs.configure(LogSettings(), shown := StringIO())
    await nursery.start(relay.run)
    with pytest.raises(ServerKeyError) as stopped:
        await visit(link(relay, scheme), player)
    assert "login" not in shown.getvalue()
    return str(stopped.value)


async def test_relay_with_its_own_certificate_is_refused_before_the_login(server, player, nursery, forged):
    relay = Relay(server.port, shown=forged, asked=True)
    assert await stop_of(relay, player, "trucs", nursery) == f"127.0.0.1:{relay.port}: {ANOTHER}"


async def test_relay_that_takes_the_encryption_away_is_refused_before_the_login(server, player, nursery):
    relay = Relay(server.port, shown=None, asked=True)
    told = await stop_of(relay, player, "truc", nursery)
    assert "the server has encrypted this connection, but it comes in clear" in told


async def test_encryption_that_ends_too_early_is_refused_before_the_login(tmp_path, player, nursery, forged):
    async with running(tmp_path / "data", QUICK) as server:
        relay = Relay(server.port, shown=forged, asked=False)
        told = await stop_of(relay, player, "trucs", nursery)
    assert "this connection is encrypted, but not by the server" in told


async def test_relay_that_carries_what_is_encrypted_is_none_of_anybodys_business(server, player, nursery):
    relay = Relay(server.port, shown=None, asked=False)
    await nursery.start(relay.run)
    async with connect(link(relay), player) as connection:
        assert connection.address.is_tls


# The wrong scheme, and the door


async def test_address_in_clear_of_a_server_that_encrypts_leads_to_an_encrypted_connection(server, player):
    async with connect(link(server, "truc"), player) as connection:
        assert connection.address == parse_address(link(server))
        assert await connection.tables() == ()
    with store_of(player) as store:
        assert store.encrypts(f"127.0.0.1:{server.port}")


async def test_whoever_says_that_a_server_encrypts_must_be_it(server, player) -> None:
    with pytest.raises(ServerKeyError):
        await visit(f"{link(server, 'truc')}#{'A' * 26}", player)


async def test_address_with_encryption_of_a_server_in_clear_names_the_right_one(tmp_path, player) -> None:
    logs.configure(LogSettings(), shown := StringIO())
    async with running(tmp_path / "data", QUICK) as server:
        with pytest.raises(ConnectError) as refused:
            await visit(link(server), player)
    place = f"127.0.0.1:{server.port}"
    assert str(refused.value) == f"{place}: {IN_CLEAR}{place}"
    assert "expected a frame, got TLS" in shown.getvalue()


async def test_client_that_is_shut_out_before_the_handshake_is_told_why(tmp_path, player) -> None:
    async with running(tmp_path / "data", changed(TLS, access={"banned": ("127.0.0.1",)})) as server:
        with pytest.raises(ConnectError, match="the host has shut this address out"):
            await visit(link(server), player)


@pytest.mark.parametrize("scheme", ["trucs", "truc"])
async def test_client_that_finds_no_room_at_first_is_let_in_when_there_is(tmp_path, player, scheme):
    told = []
    settings = changed(TLS, limits={"connections_per_address": 1})
    async with running(tmp_path / "data", settings) as server:
        occupier = await trio.open_tcp_stream("127.0.0.1", server.port)

        def make_room(delay) -> None:
            told.append(str(delay))
            occupier.socket.close()

        waiting = replace(player, on_delay=make_room)
        async with connect(link(server, scheme), waiting) as connection:
            assert connection.address.is_tls
    assert "it accepts no connection from here now" in told[0]


async def test_client_that_finds_no_room_for_long_gives_up(tmp_path, player) -> None:
    settings = changed(TLS, limits={"connections_per_address": 1})
    async with running(tmp_path / "data", settings) as server:
        occupier = await trio.open_tcp_stream("127.0.0.1", server.port)
        with pytest.raises(RefusedError, match="accepts no connection"):
            await visit(link(server), player, patience_s=0)
        await occupier.aclose()


async def test_server_that_has_moved_is_followed_encrypted(tmp_path, player) -> None:
    async with running(tmp_path / "new", TLS) as new:
        shutil.copytree(tmp_path / "new", tmp_path / "old")
        moved = changed(TLS, access={"moved_to": f"127.0.0.1:{new.port}"})
        async with running(tmp_path / "old", moved) as old, connect(link(old), player) as connection:
            assert connection.address == parse_address(link(new))
            assert connection.name == "north"


# Turning it on


async def test_match_goes_on_when_encryption_is_turned_on(tmp_path) -> None:
    players = homes(tmp_path, False, False)
    data, ended, codes = tmp_path / "data", [], []

    async def begin(player: Player, sat: trio.MemorySendChannel[str]) -> None:
        async with connect(url, player) as connection:
            table = await (
                connection.join(codes[0]) if codes else connection.create("truc-french", options={"match": 1})
            )
            await sat.send(table.code)
            await table.ready()
            await play_on(table, until=YourTurn | MatchWaits)

    async def go_on(player: Player) -> None:
        async with connect(url, player) as connection:
            ended.append(await play_match(await connection.join(codes[0]), simple_bot(1)))

    async with running(data, QUICK) as server, trio.open_nursery() as nursery:
        url = link(server, "truc")
        sat, told = trio.open_memory_channel(2)
        for player in players:
            nursery.start_soon(begin, player, sat)
            codes.append(await told.receive())
    settings = changed(TLS, listen={"port": server.port})
    async with running(data, settings) as server, trio.open_nursery() as nursery:
        url = link(server)
        for player in players:
            nursery.start_soon(go_on, player)
    assert [match.verdict.result for match in ended] == [Result.PROVEN, Result.PROVEN]


def test_page_has_the_lines_that_players_are_shown() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"truc: truc.example.org:7373: {IN_CLEAR}truc.example.org:7373\n" in page
    assert f"truc: truc.example.org:7373: {ANOTHER}\n" in page
