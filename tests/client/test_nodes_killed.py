"""Nodes as processes of their own: one is killed with links open, and programs follow from one to the other."""

import shutil
from pathlib import Path

import pytest
import trio
from client.playing import eager_bot, homes
from client.running import Process, run
from client.serving import RealServer
from server.conftest import new_database

from truc_client import connect
from truc_client.bots import play_match
from truc_protocol.audit import Result
from truc_server.identity.identity import load_identity
from truc_server.settings.folder import open_folder

pytestmark = pytest.mark.slow
MANY = 30  # happenings, long before a match of this length is over


@pytest.fixture
def start_node(tmp_path: Path):
    """Return a way to start nodes on one database, under one key."""
    (tmp_path / "shared.db").write_bytes(new_database())
    load_identity(open_folder(tmp_path / "keys"))
    started: list[RealServer] = []

    def start(name: str, route: str) -> RealServer:
        shutil.copytree(tmp_path / "keys", tmp_path / name)
        environment = {
            "TRUC_STORE_URL": f"sqlite:///{tmp_path / 'shared.db'}",
            "TRUC_CLUSTER_NODE": name,
            "TRUC_CLUSTER_LEASE_S": "3",
            "TRUC_CLUSTER_INNER": str(tmp_path / f"{name}.inner"),
            "TRUC_CLUSTER_ROUTE": route,
            "TRUC_MATCH_GUESTS": "1",
        }
        node = RealServer(tmp_path / name, environment).start()
        started.append(node)
        return node

    yield start
    for node in started:
        if node.process.poll() is None:
            node.kill()


async def test_match_goes_on_when_the_process_that_has_it_is_killed(start_node, tmp_path):
    """Two players who were brought there come back by themselves, to whoever has the table then."""
    one, other = (start_node(name, "proxy") for name in ("one", "two"))
    first, second, third = homes(tmp_path, False, False, False)
    ended, told, has_begun = [], [], trio.Event()

    def see(happening) -> None:
        told.append(happening)
        if len(told) >= MANY:
            has_begun.set()

    async def play(table, seed: int) -> None:
        await table.ready()
        ended.append(await play_match(table, eager_bot(seed), see))

    async with connect(other.url, first) as north, connect(other.url, second) as south:
        async with connect(one.url, third) as opener:
            opened = await opener.create("truc-french")
            tables = [await north.join(opened.code)]
            await opened.leave()
        tables.append(await south.join(opened.code))
        with trio.fail_after(90):
            async with trio.open_nursery() as nursery:
                for seed, table in enumerate(tables, 1):
                    nursery.start_soon(play, table, seed)
                await has_begun.wait()
                assert not ended
                one.kill()
        assert {connection.address.port for connection in (north, south)} == {other.port}
    assert [each.verdict.result for each in ended] == [Result.PROVEN] * 2


def test_truc_plays_at_a_table_of_another_node(start_node, tmp_path):
    one, other = (start_node(name, "moved") for name in ("one", "two"))
    with Process(
        tmp_path / "first", "bot", one.url, "--create", "truc-french", "--option", "match=1", "--lang", "en"
    ) as opener:
        code = opener.code()
        told = run(tmp_path / "second", "bot", other.url, "--table", code, "--lang", "en")
        printed, _, status = opener.finish()
    assert (told.returncode, status) == (0, 0)
    assert told.stderr.count("first contact") == 1  # where it is sent to, the same server proves itself
    assert "proven, level A" in told.stdout
    assert "proven, level A" in printed
