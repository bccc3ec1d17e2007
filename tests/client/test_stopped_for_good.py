"""A match that was stopped for good stays so: that stands in the store, whatever becomes of the evidence."""

import errno
import sqlite3
from pathlib import Path

import pytest
from client.cheats import FRENCH, QuietServer, abandoned
from client.playing import my_turn, play_on
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError, StoppedError, Table, connect
from truc_client.home.account import open_account
from truc_protocol.messages import Resume, SignedAct
from truc_protocol.records import Record, body_hash


@pytest.fixture
def quiet(scripted) -> QuietServer:
    return scripted(kind=QuietServer)


async def at_turn(connection) -> Table:
    table = await connection.create(FRENCH)
    await table.ready()
    await play_on(table, until=my_turn)
    await wait_all_tasks_blocked()
    return table


async def convict(server, table: Table) -> CheckFailedError:
    """Let the server sign two histories; returns why the client stopped."""
    await server.send(abandoned(server))
    with pytest.raises(CheckFailedError) as failed:
        await play_on(table)
    return failed.value


async def assert_stopped(server, connection) -> StoppedError:
    sent = len(server.received)
    with pytest.raises(StoppedError) as stopped:
        await play_on(await connection.resume(connection.held[0]))
    assert not [message for message in server.received[sent:] if isinstance(message, SignedAct | Resume)]
    return stopped.value


async def test_store_knows_why_for_the_match_and_its_table_record(quiet, player, mock_clock) -> None:
    async with connect("host", player, dial=quiet.dial) as connection:
        failed = await convict(quiet, await at_turn(connection))
    account = open_account(player)
    th = body_hash(Record(*quiet.setup.records[0]))
    why = {account.store.stopped(quiet.setup.match), account.store.stopped(th)}
    account.store.close()
    assert why == {f"C33: {failed.message}"}


async def test_it_stays_stopped_when_the_evidence_was_moved(quiet, player, mock_clock) -> None:
    async with connect("host", player, dial=quiet.dial) as connection:
        await convict(quiet, await at_turn(connection))
    for path in player.home.evidence.iterdir():
        path.rename(player.home.root / path.name)
    async with connect("host", player, dial=quiet.dial) as connection:
        stopped = await assert_stopped(quiet, connection)
    assert stopped.evidence is None
    assert "two records for position 0" in stopped.why


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_it_stays_stopped_when_no_evidence_could_be_written(
    quiet, player, monkeypatch, mock_clock
) -> None:
    async with connect("host", player, dial=quiet.dial) as connection:
        table = await at_turn(connection)
        with monkeypatch.context() as disk:
            disk.setattr(Path, "write_bytes", full)
            disk.setattr("os.fsync", full)
            failed = await convict(quiet, table)
    assert failed.kept is None
    async with connect("host", player, dial=quiet.dial) as connection:
        await assert_stopped(quiet, connection)


class FullDatabase:
    """A database whose disk is full: it reads, and writes nothing about what was stopped."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def execute(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        if "INTO stopped" in statement:
            raise sqlite3.OperationalError("database or disk is full")
        return self._database.execute(statement, values)

    def close(self) -> None:
        self._database.close()


async def test_it_stays_stopped_for_the_process_when_the_store_takes_nothing(
    quiet, player, mock_clock
) -> None:
    async with connect("host", player, dial=quiet.dial) as connection:
        table, store = await at_turn(connection), connection.session.account.store
        store._database = FullDatabase(store._database)
        await convict(quiet, table)
        connection.session.held = quiet.held()
        await assert_stopped(quiet, connection)
