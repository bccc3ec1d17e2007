"""When the store fails nothing false is acknowledged; what cannot be restored harms nothing else."""

import os
import socket
from functools import partial

import pytest
import trio
from chaos.faulty_store import Fault, FaultyStore, Point
from server.clocks import pass_time
from server.conftest import QUICK, changed, in_hand, running
from server.gates import Gate
from server.rawclient import RawClient
from server.stored import sql
from server.visitors import FRENCH, guest, hang_up
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from truc_protocol.wire.connection import ConnectionEnd
from truc_server.lobby.lobby import Lobby
from truc_server.net.connections import Connections
from truc_server.net.listening import accept, port_of
from truc_server.storage import Lease, StoreError
from truc_server.tables.table import Table


@pytest.fixture
def full_disk(monkeypatch):
    """Return a switch: from then on every commit fails."""

    def switch(server) -> None:
        def fail(writes):
            raise StoreError("cannot write to the database: disk full")

        monkeypatch.setattr(server.store, "commit", fail)

    return switch


async def test_nothing_is_acknowledged_that_the_store_did_not_take_and_all_are_told_goodbye(
    path, full_disk, monkeypatch
):
    async def let_in(connections):
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        async with trio.open_nursery() as accepting:
            accepting.start_soon(accept, [listener], connections._serve, connections._tasks)
            async with await trio.open_tcp_stream("127.0.0.1", port_of([listener])) as far:
                late.extend(await RawClient(far).closed())  # who was accepted at the last moment
            accepting.cancel_scope.cancel()

    heard, late = [], []
    monkeypatch.setattr(Connections, "wait_quiet", let_in)
    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="disk full"), flatten_subgroups=True):
        async with running(path) as server:
            client = await guest(server)
            full_disk(server)
            await client.send(FRENCH)
            heard += await client.closed()
    for told in (heard, late):
        assert [(message["t"], message["code"]) for message in told] == [("bye", "internal")]


async def test_match_whose_secrets_do_not_open_is_left_alone_and_the_others_go_on(path, mock_clock):
    """It does not expire either."""
    settings = changed(QUICK, limits={"idle_s": 3600}, tables={"expiry_s": 60})
    async with running(path, settings) as server:
        broken = await in_hand(server)
        whole = await server.seats(2)
    sql(path / "truc.db", "update secrets set sealed = zeroblob(60)")
    with capture_logs() as logged:
        async with running(path, settings) as server:
            client = await guest(server)
            tables = [table["table"] for table in (await client.ask({"t": "tables"}))["tables"]]
            await pass_time(mock_clock, 61)
    assert sql(path / "truc.db", "select code from tables") == [(broken[0].table,)]
    assert sql(path / "truc.db", "select count(*) from secrets") == [(1,)]
    assert tables == [whole[0].table]
    assert [entry["table"] for entry in logged if entry["event"] == "table_not_restored"] == [broken[0].table]


@pytest.mark.parametrize("broken", ["open_game", "reopen"])
async def test_table_that_fails_in_an_unforeseen_way_stays_in_the_store(
    path, monkeypatch, mock_clock, broken
):
    settings = changed(QUICK, limits={"idle_s": 3600}, tables={"expiry_s": 60})
    async with running(path, settings) as server:
        seats = await (in_hand(server) if broken == "open_game" else server.seats(2))
    with monkeypatch.context() as patched:
        patched.setattr(Table, broken, lambda *_, **__: 1 / 0)
        async with running(path, settings) as server:
            client = await guest(server)
            await pass_time(mock_clock, 61)
            assert (await client.ask({"t": "tables"}))["tables"] == []
    async with running(path, settings) as server:
        client = await guest(server)
        assert [table["table"] for table in (await client.ask({"t": "tables"}))["tables"]] == [seats[0].table]


async def test_failure_while_reading_ends_one_connection_with_an_incident(server, monkeypatch):
    first, second = await server.connect(), await server.connect()
    await first.login_guest()
    await second.login_guest()
    with monkeypatch.context() as broken, capture_logs() as logged:
        broken.setattr(ConnectionEnd, "receive", lambda *_: 1 / 0)
        await first.send({"t": "tables"})
        told, goodbye = await first.closed()
    incidents = [entry["incident"] for entry in logged if entry["event"] == "internal"]
    assert (told["code"], goodbye["t"], incidents) == ("internal", "bye", [told["detail"]["incident"]])
    assert (await second.ask({"t": "tables"}))["t"] == "ok"


async def test_failure_while_a_connection_is_left_ends_no_other(server, monkeypatch):
    first, second = await server.connect(), await server.connect()
    await second.login_guest()
    with monkeypatch.context() as broken:
        broken.setattr(Lobby, "drop_connection", lambda *_: 1 / 0)
        await hang_up(first)
    assert (await second.ask({"t": "tables"}))["t"] == "ok"


async def test_every_start_claims_the_tables_once_for_this_process(data):
    leases = []
    for _ in range(2):
        async with running(data.root) as server:
            leases.append(server.store._lease)
    owner = f"{socket.gethostname()}:{os.getpid()}"
    assert leases == [Lease(owner, 1), Lease(owner, 2)]


async def test_store_that_fails_while_the_server_ends_acknowledges_nothing(data):
    gate = Gate()

    def fail() -> None:
        gate.hold()
        raise StoreError("disk full")

    faulty = partial(FaultyStore, faults=[Fault(Point.BEFORE, "SaveTable", 1, fail)])
    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="disk full"), flatten_subgroups=True):
        async with running(data.root, wrap=faulty) as server:
            client = await guest(server)
            await client.send(FRENCH)
            await gate.reached()
            server.stop()
            await wait_all_tasks_blocked()
            gate.open()
            heard = await client.closed()
    assert [message["t"] for message in heard if message["t"] != "bye"] == []
