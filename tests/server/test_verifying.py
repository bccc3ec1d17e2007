"""Signatures are checked beside the main thread, and whatever happens meanwhile counts."""

import threading
from collections.abc import Iterator

import pytest
import trio
from server.acting import act
from server.admins import host_says, hosting
from server.conftest import holder_of, in_hand
from server.rawclient import RawClient
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys


class Gate:
    """Checks of signatures beside the main thread, held up until they are let go."""

    def __init__(self, monkeypatch) -> None:
        self.come = threading.Semaphore(0)
        self.go = threading.Event()
        verify = keys.verify

        def held(*signed) -> bool:
            if (
                threading.current_thread() is not threading.main_thread()
            ):  # there the players of the test check
                self.come.release()
                assert self.go.wait(20)
            return verify(*signed)

        monkeypatch.setattr(keys, "verify", held)

    async def reached(self) -> None:
        """Wait until one more check has begun."""
        assert await trio.to_thread.run_sync(lambda: self.come.acquire(timeout=20))


@pytest.fixture
def gate(monkeypatch) -> Iterator[Gate]:
    gate = Gate(monkeypatch)
    yield gate
    gate.go.set()


async def begun(server, gate, **fields):
    """Return the seat whose act is being checked, and the other; then nothing but what the test does happens."""
    gate.go.set()
    seats = holder_of(await in_hand(server, **fields))
    while gate.come.acquire(blocking=False):
        pass
    gate.go.clear()
    await seats[0].act(seats[0].sign(act(seats[0], "stand")))
    await gate.reached()
    return seats


async def test_others_go_on_while_a_signature_is_checked(server, gate):
    _, other = await begun(server, gate)
    assert (await other.ask({"t": "tables"}))["t"] == "ok"


async def until_reply(seat) -> dict:
    """Return the next reply; the seat reacts to what comes before it."""
    while (message := await seat.client.receive())["t"] not in {"ok", "error"}:
        await seat.react(message)
    return message


async def reply_to(client: RawClient) -> dict:
    """Return the next reply on a connection whose seat is elsewhere."""
    while (message := await client.receive())["t"] not in {"ok", "error"}:
        pass
    return message


async def test_act_of_a_position_that_has_passed_meanwhile_is_stale(server, gate, mock_clock):
    mover, _ = await begun(server, gate, options={"decision_ms": 1000, "bank_ms": 0})
    k = mover.ledger.k
    mock_clock.jump(1.1)
    while mover.ledger.k == k:
        await mover.react(await mover.client.receive())
    gate.go.set()
    reply = await until_reply(mover)
    assert reply["code"] == "stale_position"


async def test_act_that_was_taken_meanwhile_is_a_repeat(server, gate):
    mover, _ = await begun(server, gate)
    twin = RawClient(await trio.open_tcp_stream("127.0.0.1", server.port))
    await twin.login_key(mover.key, mover.name)
    await twin.send(mover.sent)
    gate.go.set()
    first, second = await until_reply(mover), await reply_to(twin)
    assert sorted(reply.get("dup", False) for reply in (first, second)) == [False, True]
    assert (first["t"], first["k"]) == (second["t"], second["k"]) == ("ok", first["k"])
    await trio.aclose_forcefully(twin.stream)


async def test_connection_that_is_lost_meanwhile_costs_nobody_the_match(server, gate):
    mover, other = await begun(server, gate)
    await trio.aclose_forcefully(mover.client.stream)
    gate.go.set()
    assert (await other.ask({"t": "tables"}))["t"] == "ok"
    assert (await server.seat(seed=77)).client is not None


async def test_connection_that_has_said_its_end_meanwhile_still_gets_its_answer(server, gate):
    mover, _ = await begun(server, gate)
    await mover.client.stream.send_eof()
    gate.go.set()
    assert (await until_reply(mover))["t"] == "ok"


async def test_act_counts_though_another_connection_has_the_seat_meanwhile(server, gate):
    mover, _ = await begun(server, gate)
    first = mover.client
    await mover.come_back(await server.connect())
    gate.go.set()
    reply = await reply_to(first)
    assert reply["t"] == "ok"
    while mover.next <= reply["k"]:
        await mover.react(await mover.client.receive())


async def test_act_is_not_taken_when_the_server_is_told_to_stop_meanwhile(server, gate):
    mover, _ = await begun(server, gate)
    server.stop()
    await wait_all_tasks_blocked()
    gate.go.set()
    told = [message["t"] for message in await mover.client.closed()]
    assert (told[-1], "ok" in told) == ("bye", False)


async def test_act_of_a_match_that_the_host_has_ended_meanwhile_is_stale(path, gate):
    async with hosting(path) as server:
        mover, _ = await begun(server, gate)
        assert (await host_says(server.folder, command="close", table=mover.table))["ok"]
        gate.go.set()
        assert (await until_reply(mover))["code"] == "stale_position"
