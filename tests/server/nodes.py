"""Nodes on one database, in this process, each with a folder of its own and the keys of all."""

import shutil
from contextlib import closing
from pathlib import Path

import trio
from server.conftest import QUICK, changed, new_database, running
from sqlalchemy import text

from truc_server.identity.identity import load_identity
from truc_server.settings.folder import open_folder
from truc_server.storage.sql import Store, open_store

SHORT_S = 1
LONG_S = 60
_KEYS = ("identity.pem", "secrets.key")


class Nodes:
    """Where the nodes of a test are; on PostgreSQL, if a `url` is given."""

    def __init__(self, root: Path, url: str | None = None) -> None:
        self._root = root
        if url is None:
            (root / "shared.db").write_bytes(new_database())
        self.url = url or f"sqlite:///{root / 'shared.db'}"
        load_identity(open_folder(root / "keys"))

    def run(self, name: str, settings=QUICK, *, lease_s: int = LONG_S, control=None):
        """Run a node."""
        folder = self._root / name
        folder.mkdir(mode=0o700, exist_ok=True)
        for key in _KEYS:
            shutil.copy2(self._root / "keys" / key, folder / key)

        def replace(store: Store) -> Store:
            store.close()
            return open_store(self.url)

        member = changed(settings, cluster={"node": name, "lease_s": lease_s})
        return running(folder, member, wrap=replace, control=control)

    def change(self, statement: str) -> None:
        """Change the database as another program would."""
        with closing(open_store(self.url)) as store, store._engine.begin() as connection:
            connection.execute(text(statement))

    def owners(self) -> dict[str, str]:
        """Return which node owns each table."""
        with closing(open_store(self.url)) as store, store._reading.connect() as connection:
            return dict(tuple(row) for row in connection.execute(text("SELECT code, owner FROM tables")))

    async def owned_by(self, name: str) -> None:
        """Wait until a node owns every table there is."""
        with trio.fail_after(20):
            while True:
                if set(self.owners().values()) == {name}:
                    return
                await trio.sleep(0.05)

    def epochs(self) -> list[tuple[bytes, int, int, str]]:
        """Return for every record its match, its position, its epoch and whose epoch that is, in order."""
        query = (
            "SELECT mid, k, records.epoch, node FROM records JOIN claims ON claims.epoch = records.epoch"
            " ORDER BY mid, k"
        )
        with closing(open_store(self.url)) as store, store._reading.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]
