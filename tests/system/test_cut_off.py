"""A node whose database stands still must end with its lease, whatever it was asking the database for."""

from collections.abc import Iterator

import pytest
import trio
from chaos.members import give_keys, make_keys
from chaos.postgres import Cluster, cluster, programs
from chaos.servers import QUICK, serving
from server.rawclient import RawClient, RawSeat

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="needs PostgreSQL (Debian's package postgresql)"),
]
LEASE_S = 2
ENDED_S = 30.0  # far more than the lease and the goodbyes take, on a busy machine


@pytest.fixture
def database() -> Iterator[Cluster]:
    with cluster() as running:
        running.create("truc")
        yield running


async def test_node_ends_with_its_lease_while_the_database_answers_nothing(tmp_path, database):
    make_keys(tmp_path)
    settings = {
        **QUICK,
        "TRUC_STORE_URL": database.url("truc", database.port),
        "TRUC_CLUSTER_NODE": "one",
        "TRUC_CLUSTER_LEASE_S": str(LEASE_S),
    }
    async with serving(give_keys(tmp_path, "one"), settings) as node:
        clients = [RawClient(await node.connect()) for _ in range(5)]
        asked = (
            {"t": "chat", "table": await enter(clients[0]), "text": "to be stored"},
            {"t": "history", "match": bytes(32), "from": 0},
            {"t": "join", "table": "ABCDE"},
            {"t": "leaderboard", "variant": "truc-french", "seats": 2},
        )
        for client in clients[1:4]:
            await enter(client)
        await clients[4].hello()
        with database.frozen():
            for client, message in zip(clients, (*asked, {"t": "login", "token": "A" * 43}), strict=True):
                await client.send(message)
            with trio.fail_after(ENDED_S):
                assert await node.wait() == 1
        for client in clients:
            await client.stream.aclose()


async def enter(client: RawClient) -> str:
    """Log in, and return the code of a table of one's own."""
    seat = RawSeat(client)
    await seat.login()
    return await seat.create("truc-french", seats=2)
