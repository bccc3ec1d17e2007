"""`truc-server run --nodes`: nodes of one machine on a real PostgreSQL, one of which is killed, and the process that watches them."""

import json
import os
import signal
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
import trio
from chaos.postgres import cluster, programs
from chaos.seating import all_ready, entrance, playing
from chaos.servers import PATIENCE_S, QUICK, SERVER, serving
from click.testing import CliRunner
from server.admins import cluster_of, host_says
from server.conftest import asked, is_to_move, only_cut, play_on, play_out, together
from server.rawclient import RawSeat, bodies
from server.restarting import LOSSES, come_back, play_until_gone

from truc_conform.expectations import UnexpectedError
from truc_protocol.audit import Result
from truc_protocol.bodies import Close
from truc_protocol.errors import Code
from truc_protocol.records import Phase
from truc_server.main import main
from truc_server.settings.folder import Folder, FolderLockedError, locked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="needs PostgreSQL (Debian's package postgresql)"),
]
NAMES = ("node-1", "node-2")


@pytest.fixture(scope="module")
def database():
    with cluster() as running:
        yield running


class Machine:
    """The nodes of one machine, and the process that watches them."""

    def __init__(self, process, connect) -> None:
        self.process = process
        self.connect = connect

    def folder(self, name: str) -> Folder:
        return Folder(self.process.data / "nodes" / name)

    def pid(self, name: str) -> int:
        """Return the number of the process of a node."""
        return int(self.folder(name).lock.read_text())

    async def nodes(self, name: str) -> dict[str, dict]:
        """Return what a node says of all."""
        return await cluster_of(self.folder(name))

    async def owner(self) -> str:
        """Return the node that has the one table there is."""
        (name,) = [name for name, row in (await self.nodes(NAMES[0])).items() if row["tables"]]
        return name

    async def until_new(self, name: str, before: int) -> None:
        """Wait until another process than before runs as a node, and answers."""
        with trio.fail_after(PATIENCE_S):
            while True:
                with suppress(OSError, ValueError):  # its folder may be new, or its lock empty yet
                    if self.pid(name) != before:
                        await self.nodes(name)
                        return
                await trio.sleep(0.05)

    async def until_free(self, name: str) -> None:
        """Wait until no process runs on a node's folder."""
        with trio.fail_after(PATIENCE_S):
            while True:
                with suppress(FolderLockedError), locked(self.folder(name)):
                    return
                await trio.sleep(0.05)


@asynccontextmanager
async def machine(tmp_path: Path, database, **settings: str):
    url = database.create(f"of_{tmp_path.name}")
    set_ = {**QUICK, "TRUC_STORE_URL": url, "TRUC_CLUSTER_LEASE_S": "2", "TRUC_MATCH_GUESTS": "4", **settings}
    program = (*SERVER, "--nodes", str(len(NAMES)))
    async with (
        serving(tmp_path / "n", set_, program=program) as process,
        entrance(process.connect) as players,
    ):
        yield Machine(process, players.connect)


async def return_to(running: Machine, seat: RawSeat) -> None:
    """Come back to the match, again where the connection still came to a node that ends."""
    with trio.fail_after(PATIENCE_S):
        while True:
            with suppress(*LOSSES):
                await come_back(running, seat)
                return
            await trio.sleep(0.1)


async def told(running: Machine, *command: str) -> tuple[int, str]:
    """Return what a command says that is given the host's folder, and its exit status."""
    arguments = ["admin", *command, "--data", str(running.process.data)]
    result = await trio.to_thread.run_sync(CliRunner().invoke, main, arguments)
    return result.exit_code, result.output


async def test_restored_match_goes_on_when_its_node_is_killed_and_no_node_outlives_who_watches_them(
    tmp_path, database, monkeypatch
):
    async with machine(tmp_path, database) as running:
        status, cluster = await told(running, "cluster")
        assert (status, [name for name in NAMES if name in cluster]) == (0, list(NAMES))
        status, refused = await told(running, "status")
        assert (status, f"name one with --data {running.folder(NAMES[0]).root}" in refused) == (1, True)
        seats = await playing(running.connect)
        assert await running.process.stop() == []
        monkeypatch.setenv("TRUC_STORE_URL", database.url(f"of_{tmp_path.name}", database.port))
        arguments = ["restore", "--dump", "--data", str(running.process.data)]
        result = await trio.to_thread.run_sync(CliRunner().invoke, main, arguments)
        assert result.output.startswith("matches under way: 1, each goes on when all of its players are back")
        await running.process.start()
        held = [json.loads(line)["event"] for line in running.process.warnings()]
        assert held.count("match_held") == 1
        for seat in seats:
            await return_to(running, seat)
        await play_on(seats, lambda seat: seat.next >= 12)
        name = await running.owner()
        pid = running.pid(name)
        os.kill(pid, signal.SIGKILL)
        await play_until_gone(*seats)
        for seat in seats:
            await return_to(running, seat)
        await play_out(seats)
        await running.until_new(name, pid)
        assert running.process.faults() == []
        await running.process.kill()
        for each in NAMES:
            await running.until_free(each)


async def play_through(running: Machine, seat: RawSeat) -> None:
    """Play to the end, and come back whenever the connection ends, or the table is between two nodes."""
    while True:
        try:
            await play_until_gone(seat)
        except UnexpectedError as error:
            if Code.RATE_LIMITED not in str(error):
                raise
            await trio.aclose_forcefully(seat.client.stream)
        if seat.done:
            return
        await return_to(running, seat)


async def front_of(running: Machine, seat: RawSeat) -> str:
    """Return the node that a player has come in at; they must be at no table yet."""
    for name in NAMES:
        rows = (await host_says(running.folder(name), command="who", text=seat.name))["rows"]
        if rows:
            return name
    raise AssertionError("nobody has let the player in")


async def at_two_nodes(running: Machine) -> list[RawSeat]:
    """Return two players who have come in at different nodes."""
    first = RawSeat(await running.connect(), seed=1)
    await first.login()
    here = await front_of(running, first)
    with trio.fail_after(PATIENCE_S):
        while True:
            second = RawSeat(await running.connect(), seed=2)
            await second.login()
            if await front_of(running, second) != here:
                return [first, second]
            await trio.aclose_forcefully(second.client.stream)
            await gone(running, here, second.name)


async def gone(running: Machine, name: str, player: str) -> None:
    """Wait until a node has no connection of a player."""
    while True:
        if not (await host_says(running.folder(name), command="who", text=player))["rows"]:
            return
        await trio.sleep(0.02)


async def test_nodes_are_renewed_one_after_the_other_and_hands_of_both_end_before_all_stop(
    tmp_path, database
):
    async with machine(tmp_path, database, TRUC_TABLES_DRAIN_S="30") as running:
        seats = await playing(running.connect)
        before = {name: running.pid(name) for name in NAMES}
        running.process.signal(signal.SIGUSR1)
        await together(*(partial(play_through, running, seat) for seat in seats))
        assert {seat.auditor.verdict().result for seat in seats} == {Result.PROVEN}
        for name in NAMES:
            await running.until_new(name, before[name])
        seats = await at_two_nodes(running)
        table = await seats[0].create("truc-french", seats=2, options={"match": 1})
        await seats[1].join(table, 1)
        for seat in await all_ready(seats):
            seat.chooses = only_cut
        await play_on(seats, asked)
        assert seats[0].ledger.phase is Phase.HAND
        running.process.signal(signal.SIGTERM)
        await together(*(partial(to_the_end, seat) for seat in seats))
        assert await running.process.wait() == 0
    assert isinstance(bodies(seats[0].records)[-1], Close)


async def to_the_end(seat: RawSeat) -> None:
    """Play on until the server is gone."""
    seat.chooses = seat.pick
    if is_to_move(seat):
        await seat.act(seat.act_message(seat.options, seat.pick(seat.options, seat.offered)))
    await play_until_gone(seat)


def lose_a_variant(data: Path, _node: Path) -> Path:
    """Leave a lock as an editor does, and a link to nothing where a file should be; return what is in the way."""
    (data / "variants").mkdir()
    (data / "variants" / ".#house.toml").symlink_to("host@machine.1:1")
    (data / "variants" / "house.toml").symlink_to("nowhere")
    return data / "variants" / "house.toml"


def put_a_file_in_place_of(_data: Path, node: Path) -> Path:
    """Put a file where a node's folder was."""
    node.rename(node.with_name("moved"))
    node.touch()
    return node


async def test_node_that_cannot_be_prepared_is_tried_again_and_ends_no_other(tmp_path, database):
    async with machine(tmp_path, database) as running:
        data, log = running.process.data, running.process.log
        for hinder in (lose_a_variant, put_a_file_in_place_of):
            pid, said = running.pid(NAMES[0]), log.read_text().count("not started")
            in_the_way = hinder(data, data / "nodes" / NAMES[0])
            os.kill(pid, signal.SIGKILL)
            with trio.fail_after(PATIENCE_S):
                while True:
                    if running.process.status is not None or log.read_text().count("not started") > said:
                        break
                    await trio.sleep(0.05)
            assert NAMES[1] in await running.nodes(NAMES[1])
            in_the_way.unlink()
            await running.until_new(NAMES[0], pid)
            assert running.process.status is None
