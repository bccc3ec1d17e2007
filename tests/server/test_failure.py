"""When the store fails nothing false is acknowledged; what cannot be restored harms nothing else."""

import sqlite3

import pytest
from server.conftest import in_hand, running
from structlog.testing import capture_logs

from truc_server import server as server_module
from truc_server.store import StoreError

FRENCH = {"t": "create", "variant": "truc-french"}


@pytest.fixture
def full_disk(monkeypatch):
    """Return a switch: from then on every commit fails."""

    def switch(server) -> None:
        def fail(writes):
            raise StoreError("cannot write to the database: disk full")

        monkeypatch.setattr(server.store, "commit", fail)

    return switch


async def test_nothing_is_acknowledged_that_the_store_did_not_take(tmp_path, full_disk):
    heard = []
    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="disk full"), flatten_subgroups=True):
        async with running(tmp_path / "data") as server:
            client = await server.connect()
            await client.login_guest()
            full_disk(server)
            await client.send(FRENCH)
            heard += await client.closed()
    assert [(message["t"], message["code"]) for message in heard] == [("bye", "internal")]


async def test_match_whose_secrets_do_not_open_is_left_alone_and_the_others_go_on(tmp_path):
    path = tmp_path / "data"
    async with running(path) as server:
        broken = await in_hand(server)
        whole = await server.seats(2)
    with sqlite3.connect(path / "truc.db") as database:
        database.execute("update secrets set sealed = zeroblob(60)")
    database.close()
    with capture_logs() as logged:
        async with running(path) as server:
            client = await server.connect()
            await client.login_guest()
            tables = [table["table"] for table in (await client.ask({"t": "tables"}))["tables"]]
    assert tables == [whole[0].table]
    assert [entry["table"] for entry in logged if entry["event"] == "table_not_restored"] == [broken[0].table]


async def test_failure_inside_a_request_is_answered_with_an_incident_and_logged(server, monkeypatch):
    client = await server.connect()
    await client.login_guest()
    monkeypatch.setattr(server_module.Lobby, "page", lambda *_, **__: 1 / 0)
    with capture_logs() as logged:
        reply = await client.ask({"t": "tables"})
    incidents = [entry["incident"] for entry in logged if entry["event"] == "internal"]
    assert (reply["code"], incidents) == ("internal", [reply["detail"]["incident"]])


async def test_a_request_after_a_failure_is_served(server, monkeypatch):
    client = await server.connect()
    await client.login_guest()
    with monkeypatch.context() as broken:
        broken.setattr(server_module.Lobby, "page", lambda *_, **__: 1 / 0)
        await client.ask({"t": "tables"})
    assert (await client.ask({"t": "tables"}))["t"] == "ok"
