"""Nodes on one database, in this process, each with a folder of its own and the keys of all."""

from collections.abc import Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import trio
from chaos.members import give_keys, make_keys
from server.conftest import QUICK, changed, running
from server.stored import new_database
from sqlalchemy import text

from truc_protocol.codec import pack, unpack
from truc_protocol.wire.encoding import CLIENT_LIMIT, SERVER_LIMIT, FrameSplitter, to_frame
from truc_server.cluster.inner_door import open_inner
from truc_server.cluster.inner_protocol import DoorAnswer, accept_link, answer_preface
from truc_server.settings.folder import Folder
from truc_server.storage import NodePlace, SaveTable
from truc_server.storage.sql import Store, open_store

LONG_S = 60


class Ghost:
    """A node that answers nothing by itself; `links` are those that were brought to it."""

    def __init__(self, at_rest: bytes) -> None:
        self._at_rest = at_rest
        self.links: list[GhostLink] = []
        self.answers = DoorAnswer()
        self._came = trio.Event()

    async def serve(self, stream: trio.SocketStream) -> None:
        sealer, preface = await accept_link(stream, self._at_rest)
        await answer_preface(stream, sealer, self.answers)
        self.links.append(GhostLink(stream, sealer, preface))
        self._came.set()
        await trio.sleep_forever()

    async def link(self) -> "GhostLink":
        """Return the newest link, once there is one."""
        with trio.fail_after(20):
            await self._came.wait()
        return self.links[-1]


class GhostLink:
    """One client at a ghost."""

    def __init__(self, stream, sealer, preface) -> None:
        self.stream = stream
        self.sealer = sealer
        self.preface = preface
        self._frames = FrameSplitter(CLIENT_LIMIT)

    async def receive(self) -> dict:
        """Return the next message that is passed on."""
        with trio.fail_after(20):
            while (frame := self._frames.next_frame()) is None:
                if (opened := self.sealer.read()) is not None:
                    self._frames.feed(opened)
                    continue
                received = await self.stream.receive_some(4_096)
                assert received, "the link was closed"
                self.sealer.feed(received)
        return unpack(frame)

    async def say(self, *messages: bytes | dict) -> None:
        """Send messages, or their bytes as they are."""
        encoded = [pack(one) if isinstance(one, dict) else one for one in messages]
        frames = b"".join(to_frame(one, SERVER_LIMIT) for one in encoded)
        await self.stream.send_all(self.sealer.seal(frames))


class Nodes:
    """Where the nodes of a test are; on PostgreSQL, if a `url` is given."""

    def __init__(self, root: Path, url: str | None = None) -> None:
        self._root = root
        if url is None:
            (root / "shared.db").write_bytes(new_database())
        self.url = url or f"sqlite:///{root / 'shared.db'}"
        self._identity = make_keys(root)

    def run(self, name: str, settings=QUICK, *, lease_s: int = LONG_S, control=None, **cluster):
        """Run a node."""
        folder = give_keys(self._root, name)

        def replace(store: Store) -> Store:
            store.close()
            return open_store(self.url)

        member = changed(settings, cluster={"node": name, "lease_s": lease_s, **cluster})
        return running(folder, member, wrap=replace, control=control)

    @property
    def keys(self) -> Folder:
        """The folder whose keys a node is given when it is run."""
        return Folder(self._root / "keys")

    def change(self, statement: str) -> None:
        """Change the database as another program would."""
        with closing(open_store(self.url)) as store, store._engine.begin() as connection:
            connection.execute(text(statement))

    def rows(self, query: str) -> list[tuple]:
        """Return what a query finds in the database."""
        with closing(open_store(self.url)) as store, store._reading.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]

    def owners(self) -> dict[str, str]:
        """Return which node owns each table."""
        return dict(self.rows("SELECT code, owner FROM tables"))

    def inner(self, name: str) -> str:
        """Return the path at which other nodes reach one."""
        return str(self._root / f"{name}.inner")

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something is in the database."""
        with trio.fail_after(20):
            while True:
                if holds():
                    return
                await trio.sleep(0.02)

    async def known(self, *names: str) -> None:
        """Wait until every one of these nodes has said where players reach it."""
        wanted = {(name,) for name in names}
        await self.until(lambda: wanted <= {*self.rows("SELECT name FROM nodes WHERE public <> ''")})

    @asynccontextmanager
    async def ghost(self, name: str, table: str, *, public: str = ""):
        """Run a node of the test's own that owns a table, and says what the test wants."""
        inner = self.inner(name)
        self.own(name, table, public=public, inner=inner)
        async with trio.open_nursery() as nursery:
            (listener,) = await open_inner(inner)
            ghost = Ghost(self._identity.at_rest)
            nursery.start_soon(trio.serve_listeners, ghost.serve, [listener])
            yield ghost
            nursery.cancel_scope.cancel()

    def own(self, name: str, table: str, *, public: str = "", inner: str = "") -> None:
        """Let a node that does not run own a table; it says nothing of itself if it does not listen yet."""
        with closing(open_store(self.url)) as store:
            store.join(name, NodePlace(public, inner, "test"), lease_ms=LONG_S * 1_000)
            store.commit([SaveTable(table, "truc-french", {}, 2, False, b"", 0, None, "open", None)])

    async def owned_by(self, name: str) -> None:
        """Wait until a node owns every table there is."""
        await self.until(lambda: {*self.owners().values()} == {name})

    def epochs(self) -> list[tuple[bytes, int, int, str]]:
        """Return for every record its match, its position, its epoch and whose epoch that is, in order."""
        return self.rows(
            "SELECT mid, k, records.epoch, node FROM records JOIN claims ON claims.epoch = records.epoch"
            " ORDER BY mid, k"
        )
