"""The clients of docs/clients at one of several nodes: what they are sent from, and brought to, and come back from."""

import subprocess
from functools import partial

import pytest
import trio
from client.playing import eager_bot, homes
from clients_elsewhere.programs import Place, keyed, needs_node
from server.nodes import Nodes
from server.test_routing import QUICK_S, two

from truc_client import connect
from truc_client.bots import play_match
from truc_protocol.audit import Result, verify

pytestmark = [pytest.mark.slow, needs_node]
MANY = 30  # happenings, long before a match of this length is over


@pytest.fixture
def nodes(tmp_path) -> Nodes:
    return Nodes(tmp_path)


async def finish(table, ended: list) -> None:
    await table.ready()
    ended.append(await play_match(table, eager_bot(1)))


async def test_program_is_sent_to_a_table_of_another_node_and_plays_there(nodes, tmp_path) -> None:
    """Guests do so at the tables of the kit; where a node brings a client there instead, it sees nothing of that."""
    (player,), ended = homes(tmp_path, False), []
    async with (
        two(nodes, "moved") as (one, other),
        connect(f"truc://127.0.0.1:{one.port}", player) as opponent,
    ):
        table = await opponent.create("truc-french", options={"match": 1})
        place = Place(other.port, table.code, opponent.fingerprint)
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(finish, table, ended)
                run = partial(trio.run_process, capture_stdout=True, capture_stderr=True, check=False)
                played = await run([*keyed(tmp_path), str(place)])
    assert (played.returncode, played.stderr) == (0, b"")
    assert "by side" in played.stdout.decode().splitlines()[-1]
    assert ended[0].verdict.result is Result.PROVEN
    assert verify((tmp_path / "match.truc").read_bytes()).result is Result.PROVEN


async def test_program_comes_back_by_the_first_address_when_the_node_it_was_sent_to_is_gone(nodes, tmp_path):
    first, opener = homes(tmp_path, False, False)
    told, ended, has_begun = [], [], trio.Event()

    def see(happening) -> None:
        told.append(happening)
        if len(told) >= MANY:
            has_begun.set()

    async def begin(nursery: trio.Nursery) -> trio.Process:
        """Play a little at the other node, which ends then."""
        async with nodes.run("one", inner=nodes.inner("one")) as one:
            await nodes.known("one", "two")
            async with connect(f"truc://127.0.0.1:{one.port}", opener) as away:
                opened = await away.create("truc-french")
                table = await opponent.join(opened.code)
                await opened.leave()
            place = Place(other.port, table.code, opponent.fingerprint)
            run = partial(trio.run_process, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            program = await nursery.start(run, [*keyed(tmp_path), str(place)])
            nursery.start_soon(play, table)
            await has_begun.wait()
            assert not ended
            return program

    async def play(table) -> None:
        await table.ready()
        ended.append(await play_match(table, eager_bot(1), see))

    async with (
        nodes.run("two", inner=nodes.inner("two"), lease_s=QUICK_S) as other,
        connect(f"truc://127.0.0.1:{other.port}", first) as opponent,
    ):
        with trio.fail_after(90):
            async with trio.open_nursery() as nursery:
                program = await begin(nursery)
    assert program.returncode == 0
    assert ended[0].verdict.result is Result.PROVEN
    assert verify((tmp_path / "match.truc").read_bytes()).result is Result.PROVEN
