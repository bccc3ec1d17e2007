"""Every way in which a server ends a connection tells the client why, in a last `bye`."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from server.admins import host_says, hosting
from server.conftest import QUICK, changed, in_hand, running
from server.rawclient import RawClient, frame
from server.watching import Held
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_server.net.peer import TICK_S
from truc_server.requests import dispatch as reception

SETTINGS = changed(QUICK, limits={"requests_per_s": 10, "burst": 100, "outbox_bytes": 65_536})


class Ending:
    """What a way to end a connection needs."""

    def __init__(self, server, mock_clock, monkeypatch) -> None:
        self.server, self.clock, self.monkeypatch = server, mock_clock, monkeypatch

    async def new(self) -> RawClient:
        return await self.server.connect()

    async def logged_in(self) -> RawClient:
        client = await self.new()
        await client.login_guest()
        return client


async def no_login(ending: Ending) -> RawClient:
    client = await ending.new()
    await wait_all_tasks_blocked()
    ending.clock.jump(10.01)
    return client


async def silence(ending: Ending) -> RawClient:
    client = await ending.logged_in()
    ending.clock.jump(30 + TICK_S)
    await client.until("ping")
    ending.clock.jump(15 + TICK_S)
    return client


async def request_before_login(ending: Ending) -> RawClient:
    client = await ending.new()
    await client.send({"t": "tables"})
    return client


async def unknown_protocol(ending: Ending) -> RawClient:
    client = await ending.new()
    await client.hello(proto=[9])
    return client


async def signature_of_another(ending: Ending) -> RawClient:
    client = await ending.new()
    await client.hello()
    login = client.auth(keys.generate_signing_key())
    await client.send({**login, "sig": bytes(64)})
    return client


async def unknown_token(ending: Ending) -> RawClient:
    client = await ending.new()
    await client.login_token("x" * 32)
    return client


async def empty_frame(ending: Ending) -> RawClient:
    client = await ending.logged_in()
    await client.send_bytes(bytes(4))
    return client


async def long_frame(ending: Ending) -> RawClient:
    client = await ending.logged_in()
    await client.send_bytes(b"\x00\xff\xff\xff")
    return client


async def no_msgpack(ending: Ending) -> RawClient:
    client = await ending.logged_in()
    await client.send_bytes(b"\x00\x00\x00\x01\xc1")
    return client


async def flood(ending: Ending) -> RawClient:
    client = await ending.logged_in()
    await client.send_bytes(b"".join(frame({"t": "tables", "id": n}) for n in range(500)))
    return client


async def many_connections(ending: Ending) -> RawClient:
    for _ in range(ending.server.settings.limits.connections_per_address):
        await ending.new()
    return await ending.new()


async def no_reading(ending: Ending) -> RawClient:
    held, (seat, _) = Held(ending.monkeypatch), await in_hand(ending.server)
    held.hold(seat)
    for _ in range(95):
        await seat.client.send({"t": "rules", "variant": "truco-argentino"})
    await wait_all_tasks_blocked()
    held.release(seat)
    return seat.client


async def stop(ending: Ending) -> RawClient:
    client = await ending.logged_in()
    ending.server.stop()
    return client


async def failure(ending: Ending) -> RawClient:
    client = await ending.logged_in()

    def fails(*_: object) -> None:
        raise RuntimeError("a mistake of the server's own")

    ending.monkeypatch.setattr(reception.Reception, "take", fails)
    await client.send({"t": "tables"})
    return client


ENDINGS: dict[Callable[[Ending], Awaitable[RawClient]], str] = {
    no_login: "timeout",
    silence: "timeout",
    request_before_login: "auth_required",
    unknown_protocol: "unsupported",
    signature_of_another: "bad_signature",
    unknown_token: "bad_token",
    empty_frame: "bad_frame",
    long_frame: "frame_too_large",
    no_msgpack: "bad_msgpack",
    flood: "rate_limited",
    many_connections: "server_full",
    no_reading: "slow_consumer",
    stop: "shutting_down",
    failure: "internal",
}


@pytest.mark.parametrize(
    ("way", "code"), ENDINGS.items(), ids=lambda value: getattr(value, "__name__", value)
)
async def test_last_word_is_a_bye_with_its_reason(tmp_path, mock_clock, monkeypatch, way, code):
    async with running(tmp_path / "data", SETTINGS) as server:
        client = await way(Ending(server, mock_clock, monkeypatch))
        rest = await client.closed()
        goodbye = (client.log + rest)[-1]
        assert (goodbye["t"], goodbye["code"]) == ("bye", code)


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
async def test_last_word_has_its_reason_where_no_room_was_left_for_it(tmp_path, monkeypatch, end, code):
    held = Held(monkeypatch)
    async with hosting(tmp_path / "data") as server:
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
