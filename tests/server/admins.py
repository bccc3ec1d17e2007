"""The host's side of the admin socket, and a host who has a server in hand."""

import json
from contextlib import asynccontextmanager

import trio
from click.testing import Result
from server.commands import call
from server.conftest import QUICK, running

from truc_server.settings.in_force import Control
from truc_server.settings.settings import SettingsError


class Caller:
    """A connection to the admin socket."""

    def __init__(self, stream) -> None:
        self.stream = stream
        self._received = bytearray()

    async def line(self) -> dict:
        """Return the next answer."""
        while b"\n" not in self._received:
            chunk = await self.stream.receive_some(65_536)
            assert chunk, "the server has hung up"
            self._received += chunk
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received[:] = rest
        return json.loads(line)

    async def ask(self, **request) -> dict:
        await self.stream.send_all(json.dumps(request).encode() + b"\n")
        return await self.line()


@asynccontextmanager
async def calling(folder):
    with trio.fail_after(20):
        async with await trio.open_unix_socket(str(folder.admin_socket)) as stream:
            yield Caller(stream)


async def host_says(folder, **request) -> dict:
    """Return the answer to one command."""
    async with calling(folder) as caller:
        return await caller.ask(**request)


async def host_types(folder, command: str, *arguments: str) -> Result:
    """Call a command of `truc-server admin` in a thread, beside the server."""
    return await trio.to_thread.run_sync(call, folder, f"admin {command}", *arguments)


async def cluster_of(folder) -> dict[str, dict]:
    """Return what a node says of all that it knows, by name."""
    return {row["node"]: row for row in (await host_says(folder, command="cluster"))["nodes"]}


class Host:
    """A host: the settings that they would have the server read again, and the order to drain."""

    def __init__(self, settings=QUICK) -> None:
        self.settings = settings
        self.wrong: str | None = None
        self.drain = trio.Event()
        self.heard_of_end = trio.Event()

    def reread(self):
        if self.wrong is not None:
            raise SettingsError(self.wrong)
        return self.settings


@asynccontextmanager
async def hosting(path, settings=QUICK, *, run=running, **more):
    """Run a server that somebody has in hand, or a node, by its name: hosting("one", run=nodes.run)."""
    host = Host(settings)
    control = Control(host.drain, host.reread, host.heard_of_end.set)
    async with run(path, settings, control=control, **more) as server:
        server.host = host
        yield server
