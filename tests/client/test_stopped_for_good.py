"""A match that was stopped for good stays so: that stands in the store, whatever becomes of the evidence."""

import errno
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from client.cheats import abandoned, shown_again
from client.playing import at_turn, come_back, my_turn, pick, play_on, seated, store_of
from client.strict import QuietServer
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError, HomeError, StoppedError
from truc_client.home.transcripts import path_of
from truc_protocol.messages import Resume, SignedAct
from truc_protocol.records import Record, body_hash

KIND = QuietServer


async def assert_stopped(server, player) -> StoppedError:
    sent = len(server.received)
    with pytest.raises(StoppedError) as stopped:
        await come_back(server, player)
    assert not [message for message in server.received[sent:] if isinstance(message, SignedAct | Resume)]
    return stopped.value


async def test_store_knows_why_for_the_match_and_its_table_record(server, player, mock_clock) -> None:
    failed = await shown_again(server, player)
    th = body_hash(Record(*server.setup.records[0]))
    with store_of(player) as store:
        why = {store.stopped(server.setup.match), store.stopped(th)}
    assert why == {f"C33: {failed.message}"}


async def test_it_stays_stopped_without_its_transcript_and_when_the_evidence_was_moved(
    server, player, mock_clock
):
    failed = await shown_again(server, player)
    path_of(player.home.transcripts, server.setup.match).unlink()
    stopped = await assert_stopped(server, player)
    assert (stopped.evidence, str(failed.evidence) in str(stopped)) == (failed.evidence, True)
    for path in player.home.evidence.iterdir():
        path.rename(player.home.root / path.name)
    stopped = await assert_stopped(server, player)
    assert (stopped.evidence, "two records for position 0" in stopped.why) == (None, True)


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_it_stays_stopped_when_no_evidence_could_be_written(server, player, monkeypatch, mock_clock):
    async with at_turn(server, player) as (table, _):
        await wait_all_tasks_blocked()
        with monkeypatch.context() as disk:
            disk.setattr(Path, "write_bytes", full)
            disk.setattr("os.fsync", full)
            await server.send(abandoned(server))
            with pytest.raises(CheckFailedError) as failed:
                await play_on(table)
    assert failed.value.kept is None
    await assert_stopped(server, player)


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


async def test_it_stays_stopped_for_the_process_when_the_store_takes_nothing(server, player, mock_clock):
    async with seated(server, player) as (connection, table):
        store = connection.session.account.store
        store._database = FullDatabase(store._database)
        await play_on(table, until=my_turn)
        await wait_all_tasks_blocked()
        await server.send(abandoned(server))
        with pytest.raises(CheckFailedError):
            await play_on(table)
        connection.session.held, sent = server.held(), len(server.received)
        with pytest.raises(StoppedError):
            await play_on(await connection.resume(connection.held[0]))
    assert not [message for message in server.received[sent:] if isinstance(message, SignedAct | Resume)]


async def test_full_disk_ends_a_table_alone_and_the_match_goes_on_later(server, player, monkeypatch):
    with monkeypatch.context() as disk:
        async with seated(server, player) as (connection, table):
            turn = (await play_on(table, until=my_turn))[-1]
            disk.setattr("os.fsync", full)
            with suppress(HomeError):
                await table.choose(pick(turn))
            with pytest.raises(HomeError, match="No space left"):
                await play_on(table)
            assert await connection.tables()
    seen = await come_back(server, player)
    assert seen[-1].verdict.winner is not None
