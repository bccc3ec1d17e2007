"""What /health answers while the server is well, behind, draining, stopping or failed, and that the metric says the same."""

import threading
from functools import partial

import pytest
import trio
from chaos.faulty_store import Fault, FaultyStore, Point
from server.admins import host_says, hosting
from server.asking import figures, get, telling
from server.conftest import QUICK, changed, in_hand, running
from server.visitors import guest
from trio.testing import wait_all_tasks_blocked

from truc_server.net.connections import Connections
from truc_server.storage import StoreError

FRENCH = {"t": "create", "variant": "truc-french"}


@pytest.fixture
def settings():
    return telling(changed(QUICK, limits={"idle_s": 3600}))


class Gate:
    """Holds the first commit of a table, until it is opened."""

    def __init__(self) -> None:
        self.opened, self.entered = threading.Event(), threading.Event()
        self.wrap = partial(FaultyStore, faults=[Fault(Point.BEFORE, "SaveTable", 1, self._hold)])

    def _hold(self) -> None:
        self.entered.set()
        assert self.opened.wait(10)

    async def closed_behind(self, client) -> None:
        """Let a client make a table, and wait until its commit is under way."""
        await client.send(FRENCH)
        await trio.to_thread.run_sync(self.entered.wait)


async def told(server) -> tuple[int, str, float]:
    """Return how the server says it is: status, text, and the metric."""
    reply = await get(server, "/health")
    return reply.status, reply.text, (await figures(server))["truc_healthy"]


async def test_server_that_runs_is_well(server):
    assert await told(server) == (200, "ok\n", 1)


async def test_commit_that_hangs_is_told(path, settings, mock_clock):
    gate = Gate()
    async with hosting(path, settings, wrap=gate.wrap) as server:
        await gate.closed_behind(await guest(server))
        before = await told(server)
        mock_clock.jump(6)
        during = await told(server)
        status = await host_says(server.folder, command="status")
        gate.opened.set()
        await server.clients[0].until("ok")
        mock_clock.jump(1)
        after = await told(server)
    assert (before[0], after) == (200, (200, "ok\n", 1))
    assert during == (503, "behind: a commit has been under way for 6 s\n", 0)
    assert status["store"] == "behind: a commit has been under way for 6 s"


async def test_store_that_does_not_keep_up_is_told(path, settings, monkeypatch):
    gate = Gate()
    monkeypatch.setattr("truc_server.storage.journal.MAX_WAITING", 1)
    async with running(path, settings, wrap=gate.wrap) as server:
        first, second = await guest(server), await guest(server)
        await gate.closed_behind(first)
        await second.send(FRENCH)
        await wait_all_tasks_blocked()
        during = (await get(server, "/health"))[::2]
        gate.opened.set()
        await second.until("ok")
        assert (during[0], during[1].partition(":")[0]) == (503, "behind")
        assert (await get(server, "/health")).text == "ok\n"


async def test_server_that_drains_is_told(path, settings):
    async with hosting(path, settings) as server:
        await in_hand(server)
        await host_says(server.folder, command="drain")
        await wait_all_tasks_blocked()
        status, text, figure = await told(server)
    assert (status, text.partition(":")[0], figure) == (503, "draining", 0)


@pytest.fixture
def server_of(path, settings):
    """Run a server when the test is ready for it."""
    return lambda **named: running(path, settings, **named)


@pytest.fixture
def at_the_end(monkeypatch, settings):
    """Return a list, to which it is added what the server says of its health while it says goodbye."""
    answers = []

    async def ask(net) -> None:
        server = type("Server", (), {"settings": settings})
        answers.append((await get(server, "/health"))[::2])

    monkeypatch.setattr(Connections, "wait_quiet", ask)
    return answers


async def test_server_that_stops_is_told(server_of, at_the_end):
    async with server_of():
        pass
    assert at_the_end == [(503, "stopping\n")]


async def test_store_that_has_failed_is_told(server_of, at_the_end, monkeypatch):
    def fail(writes):
        raise StoreError("disk full")

    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="disk full"), flatten_subgroups=True):
        async with server_of() as server:
            client = await guest(server)
            monkeypatch.setattr(server.store, "commit", fail)
            await client.send(FRENCH)
            await client.closed()
    assert at_the_end == [(503, "failed: the store takes no more writes\n")]
