"""What an act costs as things grow: busy tables, viewers of one table, the length of a match, and matches that are stored.

Each grows alone, and guests play as fast as it goes. Stored matches are copies of one that was played, under ids of their own,
put into the database while no server has it.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import trio
from benchmarks import running
from benchmarks.generator import Plan

Figures = dict[str, Any]

LONG: Final = ("truc-catalan", 2, 250)
"""A game whose matches become long; most others end at few points."""
LONG_TABLES: Final = 10
STORED: Final = ("truc-catalan", 2, 12)
"""The game of the match that is copied."""
LEFT: Final = ("tables", "seats", "terms", "secrets")
"""Where a server that was stopped has left tables that are played."""


class Reach(NamedTuple):
    """How far things grow.

    Attributes:
        seconds, warm_s: how long each load is measured, and runs before.
        few: the tables, where something else grows.
        tables, viewers, stored: how many there are, ascending; the stored matches beside none.
        stored_s: for how long the match to be stored is played, one after the other, until one is over.
        lengths: records of a match; it is measured from each to the next.
    """

    seconds: float = 3.0
    warm_s: float = 1.0
    few: int = 25
    tables: tuple[int, ...] = (25, 100, 400, 1_600, 4_000)
    viewers: tuple[int, ...] = (0, 50, 100, 200, 400)
    stored: tuple[int, ...] = (0, 1_000, 4_000, 10_000)
    stored_s: tuple[float, ...] = (2.0, 10.0, 60.0)
    lengths: tuple[int, ...] = (20, 100, 200, 400, 600, 800, 1_000)


FULL: Final = Reach()
SHORT: Final = Reach(
    seconds=1.0, warm_s=0.5, tables=(25, 250), viewers=(0, 50), stored=(0, 500), lengths=(20, 60, 100)
)
LEAST: Final = Reach(
    seconds=0.2,
    warm_s=0.0,
    few=2,
    tables=(2, 3),
    viewers=(0, 2),
    stored=(0, 3),
    stored_s=(0.3, 2.0, 10.0),
    lengths=(2, 8, 15),
)


async def growth(folder: Path, reach: Reach) -> Figures:
    """Let one thing after the other grow; return the loads of each by how far it was."""
    play = partial(running.measured, folder, seconds=reach.seconds, warm_s=reach.warm_s)
    long = {"games": [LONG], "tables": min(LONG_TABLES, reach.few), "lengths": reach.lengths, "warm_s": 0.0}
    await _play_whole(played := folder / "played", reach)
    return {
        "tables": {str(count): await play(tables=count) for count in reach.tables},
        "viewers": {
            str(count): await _viewed(await play(tables=1, viewers=count)) for count in reach.viewers
        },
        "length": await play("growing", **long),
        "stored": {str(count): await _beside(played, count, reach) for count in reach.stored},
    }


async def _viewed(load: Figures) -> Figures:
    """Return a load, all of whose records every viewer has been sent but for what is on its way."""
    if load["seen"] < load["viewers"] * (load["records"] - 2):
        raise running.BenchmarkError(
            f"{load['viewers']} viewers saw {load['seen']} frames of {load['records']} records"
        )
    return load


async def _play_whole(data: Path, reach: Reach) -> None:
    """Play in a data folder until a match is over, and leave there nothing that is not."""
    for seconds in reach.stored_s:
        async with running.server(data.parent, data=data) as server:
            wanted = {"games": [STORED], "tables": reach.few, "seconds": seconds, "warm_s": reach.warm_s}
            await running.load(Plan("play", server.port, server.pid, **wanted))
        if await trio.to_thread.run_sync(fill, data / "truc.db", 0):
            return
    raise running.BenchmarkError("no match was over that could be stored many times")


async def _beside(played: Path, count: int, reach: Reach) -> Figures:
    """Play with so many matches in the database, all but those that were played copies of one."""
    data = played.with_name(f"stored-{count}")
    shutil.copytree(played, data, ignore=shutil.ignore_patterns("*.sock"))
    await trio.to_thread.run_sync(fill, data / "truc.db", count)
    async with running.server(data.parent, data=data) as server:
        wanted = {"tables": reach.few, "seconds": reach.seconds, "warm_s": reach.warm_s}
        return await running.load(Plan("play", server.port, server.pid, **wanted))


def fill(file: Path, count: int) -> bool:
    """Put so many copies of the longest match that is over into a database, in the place of everything that is played.

    Nothing is put in if none is over, and False returned.
    """
    with closing(sqlite3.connect(file)) as database, database:
        longest = "SELECT mid FROM matches JOIN records USING (mid) WHERE reason IS NOT NULL"
        found = database.execute(f"{longest} GROUP BY mid ORDER BY count(*) DESC").fetchone()
        if found is None:
            return False
        for table in LEFT:
            database.execute(f"DELETE FROM {table}")
        database.execute("CREATE TEMP TABLE copy (mid BLOB, th BLOB)")
        database.executemany("INSERT INTO copy VALUES (?, ?)", _ids(count))
        for table in ("matches", "match_players", "records"):
            columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
            taken = [f"copy.{name}" if name in ("mid", "th") else f"{table}.{name}" for name in columns]
            copied = f"SELECT {', '.join(taken)} FROM copy CROSS JOIN {table} WHERE {table}.mid = ?"
            database.execute(f"INSERT INTO {table} ({', '.join(columns)}) {copied}", found)
    return True


def _ids(count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield ids of matches and of their tables, in order and all over the range, as an index is filled soonest."""
    for i in range(count):
        yield (i * (1 << 256) // count).to_bytes(32), sha256(b"%d" % i).digest()
