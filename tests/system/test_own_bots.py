"""Bots that a server starts by one setting: real processes, which play, come back, and end with the server.

Where that can be done, server and bots run under the system call filter of the server's unit.
"""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import trio
from chaos.postgres import cluster, programs
from chaos.servers import QUICK, SERVER, ServerProcess, serving
from client.playing import homes
from system.test_service import CAN_FILTER, HERE, confined

from truc_client import YourTurn, connect
from truc_client.bots import careful, play_match
from truc_client.happenings import MoveChoice
from truc_protocol.audit import Result

pytestmark = pytest.mark.slow
PATIENCE_S = 120  # a server's bots give way to whatever else there is to do on a machine
SETTINGS = '[tables]\nbots = {bots}\ncompany_s = 1\n[access]\nmembers = "{members}"\n'


@asynccontextmanager
async def with_bots(folder, members: str = "anyone", **settings: str) -> AsyncIterator[ServerProcess]:
    """Serve with one bot, which is connected when the block begins."""
    folder.mkdir()
    (folder / "truc.toml").write_text(SETTINGS.format(bots=1, members=members))
    program = (*confined("truc.service")[2:], sys.executable, "-m", *SERVER) if CAN_FILTER else SERVER
    async with serving(folder, {**QUICK, **HERE, **settings}, level="info", program=program) as server:
        await came(server, 1)
        yield server


def events(server: ServerProcess, name: str) -> list[dict]:
    """Return the lines that a server has logged of one event."""
    logged = map(json.loads, server.log.read_text().splitlines())
    return [line for line in logged if line["event"] == name]


async def came(server: ServerProcess, times: int) -> None:
    """Wait until bots have logged in so many times."""
    with trio.fail_after(PATIENCE_S):
        while True:
            if len(events(server, "login")) >= times:
                return
            await trio.sleep(0.1)


def admin(server: ServerProcess, *words: str) -> dict:
    """Ask a running server as its host does."""
    command = [sys.executable, "-m", "truc_server", "admin", *words, "--data", str(server.data), "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


async def wait_gone(server: ServerProcess) -> None:
    """Wait until no process uses a bot's home any more."""
    (lock,) = server.data.glob("house-bots/*/bots/bot-1/lock")
    with lock.open("rb") as held, trio.fail_after(30):
        await trio.to_thread.run_sync(fcntl.flock, held, fcntl.LOCK_EX, abandon_on_cancel=True)


async def test_bot_that_is_killed_or_hangs_comes_back_to_a_closed_server_and_stops_with_it(tmp_path) -> None:
    async with with_bots(tmp_path / "data", members="keys", TRUC_LIMITS_IDLE_S="5") as server:
        for times, what in enumerate((signal.SIGKILL, signal.SIGSTOP), 2):
            os.kill(events(server, "bot_started")[-1]["pid"], what)
            await came(server, times)
        tags = {line["tag"] for line in (*events(server, "bot_started"), *events(server, "login"))}
        (row,) = admin(server, "who")["rows"]
        assert (tags, row["kind"]) == ({row["tag"]}, "bot")
        assert admin(server, "status")["bots"] == {"started": 1, "connected": 1}
        assert await server.stop() == []
        await wait_gone(server)
        killed = f"exit status {-signal.SIGKILL}"
        assert [line["reason"] for line in events(server, "bot_ended")] == [killed, killed]
        assert len(events(server, "bot_hangs")) == 1


@pytest.fixture
def stored_elsewhere() -> Iterator[dict[str, str]]:
    """Return the settings of a server that stores in a PostgreSQL, where this machine has one."""
    if programs() is None:
        yield {}
        return
    with cluster() as running:
        yield {"TRUC_STORE_URL": running.create("truc")}


async def test_guest_who_waits_plays_to_its_end_with_a_bot_that_is_no_longer_wanted_then(
    tmp_path, stored_elsewhere
) -> None:
    (guest,), choose = homes(tmp_path, True), careful(1)
    async with with_bots(tmp_path / "data", TRUC_LISTEN_TLS="true", **stored_elsewhere) as server:

        def choose_without_bots(turn: YourTurn) -> MoveChoice:
            (server.data / "truc.toml").write_text(SETTINGS.format(bots=0, members="anyone"))
            admin(server, "reload")
            return choose(turn)

        with trio.fail_after(PATIENCE_S):
            async with connect(f"trucs://{server.url}", guest) as connection:
                table = await connection.create(
                    "truc-french", seats=2, options={"guests": 1, "match": 1, "target": 4}
                )
                await table.ready()
                ended = await play_match(table, choose_without_bots)
        assert (ended.verdict.result, ended.verdict.reason) == (Result.PROVEN, "won")
        await wait_gone(server)
        assert await server.stop() == []
    assert (events(server, "bot_ended"), len(events(server, "bot_stopped"))) == ([], 1)
    (seed,) = server.data.glob("house-bots/*/bots/bot-1/master.seed")
    assert stat.S_IMODE(seed.stat().st_mode) == 0o600


async def test_bot_deals_where_the_host_sees_no_card_and_is_not_left_behind_by_a_killed_server(
    tmp_path,
) -> None:
    (player,) = homes(tmp_path, False)
    async with with_bots(tmp_path / "data") as server:
        with trio.fail_after(PATIENCE_S):
            async with connect(server.url, player) as connection:
                table = await connection.create(
                    "truc-french", options={"mode": "blind", "match": 1, "target": 3}
                )
                await table.ready()
                ended = await play_match(table, careful(1))
        assert (ended.verdict.result, ended.verdict.host_saw_no_card) == (Result.PROVEN, True)
        await server.kill()
        await wait_gone(server)
