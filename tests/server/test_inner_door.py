"""The door for other nodes: whoever has not the keys of the server is cut, and a player who is brought has no more rights than at the front."""

from secrets import token_bytes

import pytest
import trio
from server.asking import figures, telling
from server.conftest import QUICK, changed
from server.rawclient import RawSeat

from truc_protocol.codec import pack
from truc_protocol.crypto import keys
from truc_server.cluster import inner_door, inner_protocol
from truc_server.cluster.inner_door import open_inner
from truc_server.cluster.inner_protocol import (
    LINK_NONCE_BYTES,
    OPENING,
    PROOF_BYTES,
    LinkSealer,
    Preface,
    StrangerError,
    accept_link,
    link_keys,
    open_link,
)
from truc_server.metrics import page
from truc_server.storage import PlayerKind

BROUGHT = Preface(
    node="two",
    kind=PlayerKind.GUEST,
    player=bytes(16),
    name="Gus",
    address="192.0.2.7",
    wanted=(),
    ignored=(),
)


@pytest.fixture
async def one(nodes, monkeypatch):
    """A node with an inner door that tells its figures."""
    monkeypatch.setattr(page, "FRESH_S", 0.0)
    async with nodes.run("one", telling(), inner=nodes.inner("one")) as server:
        await nodes.known("one")
        yield server


async def rest_of(stream: trio.SocketStream) -> bytes:
    """Return what comes until the other end hangs up."""
    came = b""
    with trio.fail_after(20):
        try:
            while received := await stream.receive_some(4_096):
                came += received
        except trio.BrokenResourceError:
            pass
    return came


async def cut_with(nodes, server, said: bytes) -> tuple[bytes, dict[str, float]]:
    """Say something at the inner door; return what came before it hung up, and how often it has cut somebody, by the reason."""
    async with await trio.open_unix_socket(nodes.inner("one")) as stream:
        await stream.send_all(said)
        came = await rest_of(stream)
    return came, await cuts(server)


async def cuts(server) -> dict[str, float]:
    told = await figures(server)
    names = ("in", "stranger", "version", "forged", "slow", "gone", "crowded")
    counted = {name: told[f'truc_inner_total{{reason="{name}"}}'] for name in names}
    return {name: count for name, count in counted.items() if count}


async def test_whoever_is_no_node_is_cut_without_a_byte(nodes, one):
    assert await cut_with(nodes, one, b"GET / HTTP/1.1\r\n\r\n") == (b"", {"stranger": 1})


async def test_node_of_another_version_is_cut_without_a_byte(nodes, one):
    said = OPENING.replace(b"1", b"2") + bytes(LINK_NONCE_BYTES)
    assert await cut_with(nodes, one, said) == (b"", {"version": 1})


async def test_preface_under_another_key_is_cut(nodes, one):
    nonce = token_bytes(LINK_NONCE_BYTES)
    async with await trio.open_unix_socket(nodes.inner("one")) as stream:
        await stream.send_all(OPENING + nonce)
        door = b""
        while len(door) < LINK_NONCE_BYTES + PROOF_BYTES:
            door += await stream.receive_some(4_096)
        forged = link_keys(bytes(32), nonce, door[:LINK_NONCE_BYTES])
        await stream.send_all(
            LinkSealer(seals=forged.to_owner, opens=forged.to_client).seal(pack({"node": "two"}))
        )
        assert await rest_of(stream) == b""
    assert await cuts(one) == {"forged": 1}


async def test_preface_that_was_said_before_is_cut(nodes, one):
    """Whoever has recorded a link can bring nobody with it: the door has another nonce."""
    said = bytearray()

    class Recorded:
        def __init__(self, stream) -> None:
            self.stream = stream

        async def send_all(self, sent: bytes) -> None:
            said.extend(sent)
            await self.stream.send_all(sent)

        async def receive_some(self, count: int) -> bytes:
            return await self.stream.receive_some(count)

    stream = await trio.open_unix_socket(nodes.inner("one"))
    _, answer = await open_link(Recorded(stream), one_key(nodes), BROUGHT)
    await stream.aclose()
    assert answer.code is None
    came, counted = await cut_with(nodes, one, bytes(said))
    assert (len(came), counted) == (LINK_NONCE_BYTES + PROOF_BYTES, {"in": 1, "forged": 1})


def one_key(nodes) -> bytes:
    return (nodes._root / "keys" / "secrets.key").read_bytes()


async def test_who_says_nothing_is_cut(nodes, one, monkeypatch):
    monkeypatch.setattr(inner_protocol, "GREETING_S", 0.01)
    assert await cut_with(nodes, one, OPENING) == (b"", {"slow": 1})


async def test_few_may_try_at_once(nodes, one, monkeypatch):
    monkeypatch.setattr(inner_door, "MAX_STRANGERS", 1)
    async with await trio.open_unix_socket(nodes.inner("one")) as waiting:
        await waiting.send_all(OPENING + bytes(LINK_NONCE_BYTES))
        assert await waiting.receive_some(1)
        assert await cut_with(nodes, one, OPENING) == (b"", {"crowded": 1})


async def test_door_that_has_not_the_key_learns_of_no_player(tmp_path):
    """A node tells whom it brings only to one that has proved itself."""
    heard, is_heard = [], trio.Event()

    async def serve(stream) -> None:
        with pytest.raises(StrangerError, match="gone"):
            heard.append(await accept_link(stream, bytes(32)))
        is_heard.set()

    (listener,) = await open_inner(str(tmp_path / "false"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        async with await trio.open_unix_socket(str(tmp_path / "false")) as stream:
            with pytest.raises(StrangerError, match="forged"):
                await open_link(stream, token_bytes(32), BROUGHT)
        with trio.fail_after(20):
            await is_heard.wait()
        nursery.cancel_scope.cancel()
    assert heard == []


def test_piece_out_of_its_order_does_not_open():
    pair = link_keys(bytes(32), bytes(LINK_NONCE_BYTES), bytes(LINK_NONCE_BYTES))
    sealing, opening = LinkSealer(seals=pair.to_owner, opens=b""), LinkSealer(seals=b"", opens=pair.to_owner)
    first, second = sealing.seal(b"first"), sealing.seal(b"second")
    opening.feed(first)
    assert opening.read() == b"first"
    opening.feed(first)
    with pytest.raises(Exception, match="expected a sealed piece"):
        opening.read()
    fresh = LinkSealer(seals=b"", opens=pair.to_owner)
    fresh.feed(second)
    with pytest.raises(Exception, match="expected a sealed piece"):
        fresh.read()


def test_keys_of_a_link_show_in_no_text():
    pair = link_keys(bytes(32), bytes(LINK_NONCE_BYTES), bytes(LINK_NONCE_BYTES))
    assert repr(pair) == "LinkKeys(...)"


async def test_player_who_is_brought_counts_once_at_the_node_they_came_to(nodes):
    tight = changed(QUICK, limits={"connections_per_address": 2})
    async with (
        nodes.run("one", tight, inner=nodes.inner("one"), route="proxy") as one,
        nodes.run("two", tight, inner=nodes.inner("two"), route="proxy") as two,
    ):
        await nodes.known("one", "two")
        first = await one.seat(seed=1)
        table = await first.create("truc-french", seats=2)
        second = await two.seat(seed=2)  # from the same address, which has all its connections with that
        with trio.fail_after(20):
            while True:
                if len((await first.client.ask({"t": "players"}))["players"]) == 2:
                    break
                await trio.sleep(0.05)
        assert (await second.client.ask_patiently({"t": "join", "table": table}))["t"] == "ok"
        third = await one.connect()
        assert (await third.receive())["code"] == "server_full"


async def test_player_whom_the_owner_has_shut_out_is_not_let_in_there(nodes):
    key = keys.generate_signing_key()
    banned = changed(QUICK, access={"banned": (keys.fingerprint(key.public),)})
    async with (
        nodes.run("one", banned, inner=nodes.inner("one"), route="proxy") as one,
        nodes.run("two", inner=nodes.inner("two"), route="proxy") as two,
    ):
        await nodes.known("one", "two")
        table = await (await one.seat(seed=1)).create("truc-french", seats=2)
        second = RawSeat(await two.connect(), seed=2)
        second.key = key
        assert (await second.login())["t"] == "welcome"
        refused = await second.client.ask({"t": "join", "table": table})
        assert (refused["code"], "has shut" in refused["msg"]) == ("rate_limited", True)
