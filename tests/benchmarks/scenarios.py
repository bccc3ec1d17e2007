"""What is measured, one section after the other: each starts what it measures, and returns the generator's figures by name.

What the figures mean beside each other, and what they should be, stands in targets.py. Every section can be run alone.
"""

import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import trio
from benchmarks import audit as auditing
from benchmarks import calls as counting
from benchmarks import clusters, floor, node, running, sealed
from benchmarks import engine as playouts
from benchmarks import growth as growing
from benchmarks.generator import Plan
from benchmarks.measuring import signatures_us
from chaos.flood import SETTINGS as HONEST
from chaos.flood import TABLES_AN_ADDRESS
from chaos.postgres import cluster, programs
from chaos.servers import free_port

from truc_rules import preset
from truc_server.web import REQUESTS_PER_MIN

Figures = dict[str, Any]

NARROW: Final = {
    **running.SETTINGS,
    "TRUC_LIMITS_OUTBOX_BYTES": "65536",
}  # the least, so that who does not read is cut soon
PLAYED: Final = ("truc-catalan", "truco-argentino-flor")
_COMPILED: Final = {"PYTHONDONTWRITEBYTECODE": ""}
COMMANDS: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]]] = {
    "version_ms": (("--version",), _COMPILED),
    "help_ms": (("--help",), _COMPILED),
    "completion_ms": (
        (),
        {**_COMPILED, "_TRUC_COMPLETE": "bash_complete", "COMP_WORDS": "truc pl", "COMP_CWORD": "1"},
    ),
}
"""Commands of `truc` that people wait for, and what stands in their environment."""


class Scale(NamedTuple):
    """How much is measured.

    Attributes:
        seconds, warm_s: how long each load is measured, and runs before.
        node_warm_s: the latter for what runs under Node, which compiles while it runs.
        few, some, many: busy tables, for the price of an act and how it grows.
        tables: of the open loop.
        paces: acts a second of each of these, ascending; the targets look at PACE.
        crowd: tables at human pace.
        honest: tables at human pace beside a flood.
        idle, idle_s: clients that do nothing, and for how long.
        rounds: of what runs in this process.
        turns: of loads that are set beside each other.
        hands: of the match that is audited.
        sealed: hands of a match in mode blind, to warm up and to measure, together fewer than its game goes to.
        matches: few and many that are verified.
        reach: how far things grow.
        cluster: how much is measured of nodes on one database.
    """

    seconds: float = 10.0
    warm_s: float = 3.0
    node_warm_s: float = 20.0
    few: int = 25
    some: int = 250
    many: int = 1_000
    tables: int = 500
    paces: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
    crowd: int = 4_000
    honest: int = 200
    idle: int = 4_000
    idle_s: float = 60.0
    rounds: int = 5
    turns: int = 3
    hands: int = auditing.HANDS
    sealed: tuple[int, int] = (1, 8)
    matches: tuple[int, int] = (100, 10_000)
    reach: growing.Reach = growing.FULL
    cluster: clusters.Reach = clusters.FULL


PACE: Final = 4.0
IN_NODE: Final = Path(__file__).with_name("verified.mjs")
RULED_PACE: Final = 30.0
"""Acts a second of each of few tables: what the generator can play where its seats make their own options."""
HUMAN: Final = 0.5
FULL: Final = Scale()
SHORT: Final = Scale(
    seconds=2.0,
    warm_s=0.5,
    node_warm_s=3.0,
    some=100,
    many=250,
    tables=100,
    paces=(PACE,),
    crowd=400,
    honest=50,
    idle=500,
    idle_s=4.0,
    rounds=1,
    turns=1,
    hands=10,
    sealed=(1, 2),
    matches=(20, 200),
    reach=growing.SHORT,
    cluster=clusters.SHORT,
)
LEAST: Final = Scale(
    seconds=0.3,  # a shorter window may see no act of an open loop at all
    warm_s=0.0,
    node_warm_s=0.0,
    few=2,
    some=3,
    many=4,
    tables=8,
    paces=(PACE,),
    crowd=3,
    honest=9,
    idle=3,
    idle_s=0.05,
    rounds=1,
    turns=1,
    hands=2,
    sealed=(0, 1),
    matches=(2, 4),
    reach=growing.LEAST,
    cluster=clusters.LEAST,
)


async def measure_floor(folder: Path, scale: Scale) -> Figures:
    """Measure what nobody can do without."""
    echoed = await _echoed(scale)
    paced = await _echoed(scale, clients=2 * scale.tables, pace=PACE / 2)
    commit_us = await trio.to_thread.run_sync(floor.commit_us, folder)
    sign_us, verify_us = await trio.to_thread.run_sync(signatures_us)
    return {
        "echo": echoed,
        "paced_echo": paced,
        "commit_us": commit_us,
        "sign_us": sign_us,
        "verify_us": verify_us,
    }


async def _echoed(scale: Scale, *, clients: int = 50, pace: float = 0.0) -> Figures:
    async with running.echo() as (port, pid):
        return await running.load(Plan("echo", port, pid, clients=clients, pace=pace, **_windows(scale)))


def _windows(scale: Scale) -> Mapping[str, float]:
    return {"seconds": scale.seconds, "warm_s": scale.warm_s}


Load = Callable[[], Awaitable[Figures]]


def _each_s(load: Figures) -> float:
    """Return the seconds of the main thread for an act or a message."""
    return float(load["main_s"] / (load.get("acts") or load.get("messages") or 1))


async def _in_turns(
    turns: int, loads: Mapping[str, Load], cost: Callable[[Figures], float] = _each_s
) -> Figures:
    """Run loads one after the other, several times; return of each the middle one by what it cost."""
    rounds = [{name: await load() for name, load in loads.items()} for _ in range(turns)]
    return {name: sorted((each[name] for each in rounds), key=cost)[turns // 2] for name in loads}


async def acts(folder: Path, scale: Scale) -> Figures:
    """Let guests play as fast as they can, at few tables and at many; and once with hands as short as can be."""
    play = partial(running.measured, folder, **_windows(scale))
    beside = {
        "echo": partial(_echoed, scale),
        "few": partial(play, tables=scale.few),
        "many": partial(play, tables=scale.many),
    }
    return {
        **await _in_turns(scale.turns, beside),
        "some": await play(tables=scale.some),
        "brief": await play(tables=scale.few, is_brief=True),
    }


async def calls(folder: Path, scale: Scale) -> Figures:
    """Count the function calls of each kind of players, the same on every machine."""
    del folder, scale
    found: Figures = {}
    for kind in counting.MOST:
        counted = await trio.to_thread.run_sync(counting.measured, kind)
        found[kind] = counted.calls
    return found


async def signed(folder: Path, scale: Scale) -> Figures:
    """The same with a key at every seat; and once with both cores for the server, which it shares with the generator.

    Seats that make their own options cost the generator so much that they are played at a pace, beside such as are sent them.
    """
    play = partial(running.measured, folder, is_keyed=True, **_windows(scale))
    paced = partial(play, tables=scale.few, pace=RULED_PACE)
    return {
        "few": await play(tables=scale.few),
        "own_options": await paced(is_ruled=True),
        "sent_options": await paced(),
        "some": await play(tables=scale.some),
        "two_cores": await play(tables=scale.some, is_pinned=False),
    }


async def peers(folder: Path, scale: Scale) -> Figures:
    """Play at few tables in turns with boardgame.io, in memory, and with a room server that knows no rules."""
    installed = await trio.to_thread.run_sync(node.install)
    beside = {"tables": scale.few, **_windows(scale)}
    ours = partial(running.measured, folder, **beside)
    theirs = partial(node.measured, installed, **{**beside, "warm_s": scale.node_warm_s})
    return await _in_turns(
        scale.turns,
        {
            "guests": ours,
            "boardgame.io": partial(theirs, "boardgame.io"),
            "keys": partial(ours, is_keyed=True),
            "room": partial(theirs, "room"),
        },
    )


async def latency(folder: Path, scale: Scale) -> Figures:
    """Raise the pace of the open loop, for guests and for keys, until the server does not keep up."""
    return {
        "tables": scale.tables,
        "guests": [pace async for pace in _paces(folder, scale, is_keyed=False)],
        "keys": [pace async for pace in _paces(folder, scale, is_keyed=True)],
    }


async def _paces(folder: Path, scale: Scale, *, is_keyed: bool) -> Any:
    for pace in scale.paces:
        wanted = {"tables": scale.tables, "pace": pace, "is_keyed": is_keyed}
        figures = await running.measured(folder, **wanted, **_windows(scale))
        yield {"pace": pace, "wanted": pace * scale.tables, **figures}
        if figures["behind"] > scale.tables / 2:
            return


async def crowd(folder: Path, scale: Scale) -> Figures:
    """Let very many tables play at human pace."""
    return await running.measured(folder, tables=scale.crowd, pace=HUMAN, **_windows(scale))


async def idle(folder: Path, scale: Scale) -> Figures:
    """Let clients be logged in and do nothing."""
    wanted = {"seconds": scale.idle_s, "warm_s": scale.warm_s, "clients": scale.idle}
    return await running.measured(folder, "idle", **wanted)


async def logins(folder: Path, scale: Scale) -> Figures:
    """Let keys log in and go as fast as they can."""
    return await running.measured(folder, "logins", clients=64, is_keyed=True, **_windows(scale))


async def readers(folder: Path, scale: Scale) -> Figures:
    """Play with many who watch and hardly read, and without."""
    play = partial(running.measured, folder, settings=NARROW, tables=scale.few, pace=40.0, **_windows(scale))
    return {"without": await play(), "with": await play(watchers=4 * scale.few)}


async def storm(folder: Path, scale: Scale) -> Figures:
    """Let everybody lose their connection at once, and come back at once."""
    return await running.measured(folder, tables=scale.tables, pace=1.0, storm=1.0, **_windows(scale))


async def tls(folder: Path, scale: Scale) -> Figures:
    """Play over TLS, as `acts` does without; and log in, which makes the handshake."""
    encrypted = partial(running.measured, folder, settings=running.TLS, is_tls=True, **_windows(scale))
    return {
        "few": await encrypted(tables=scale.few),
        "logins": await encrypted("logins", clients=64, is_keyed=True),
    }


async def web(folder: Path, scale: Scale) -> Figures:
    """Speak over the door for browsers and over TCP in turns; be idle there; load the page."""
    over_tcp = partial(running.measured, folder, **_windows(scale))
    at_door = partial(over_tcp, web_port=free_port())
    over_web = partial(at_door, is_web=True)
    crowd = {"clients": scale.idle, "seconds": scale.idle_s, "an_address": REQUESTS_PER_MIN // 2}
    talk = {name: partial(way, "pings", clients=50) for name, way in (("tcp", over_tcp), ("web", over_web))}
    acts = {
        f"{name}_acts": partial(way, tables=scale.few) for name, way in (("tcp", over_tcp), ("web", over_web))
    }
    return {
        **await _in_turns(scale.turns, talk),
        **await _in_turns(scale.turns, acts),
        "idle": await running.measured(
            folder, "idle", web_port=free_port(), is_web=True, warm_s=scale.warm_s, **crowd
        ),
        "pages": await at_door("pages"),
    }


async def flood(folder: Path, scale: Scale) -> Figures:
    """Play at human pace at a server with its usual limits, quiet and flooded in turns; of each the middle round by its p99.

    There is no pause between hands: an act that is due in it would be late by design.
    """
    play = partial(
        running.measured,
        folder,
        settings={**HONEST, "TRUC_TABLES_BETWEEN_HANDS_MS": "0"},
        tables=scale.honest,
        pace=HUMAN,
        an_address=2 * TABLES_AN_ADDRESS,
        **_windows(scale),
    )
    return await _in_turns(scale.turns, {"quiet": play, "flooded": partial(play, is_flooded=True)}, cost=_p99)


def _p99(load: Figures) -> float:
    return float(load["latency_ms"]["p99"])


async def postgresql(folder: Path, scale: Scale) -> Figures:
    """Play as `acts` does at some tables, on the file, and on a PostgreSQL beside the server."""
    if programs() is None:
        raise running.MissingError("needs PostgreSQL (Debian's package postgresql)")
    play = partial(running.measured, folder, tables=scale.some, **_windows(scale))
    on_file = await play()
    with cluster() as beside:
        return {
            "file": on_file,
            "beside": await play(settings={**running.SETTINGS, "TRUC_STORE_URL": beside.create("truc")}),
        }


async def nodes(folder: Path, scale: Scale) -> Figures:
    """Play on one, two and three nodes of a cluster, and miss one of them."""
    return await clusters.nodes(folder, scale.cluster)


async def engine(folder: Path, scale: Scale) -> Figures:
    """Play random hands with the rules engine alone; actions a second."""
    del folder
    return {
        name: statistics.median(
            [await trio.to_thread.run_sync(playouts.playout, preset(name), 2) for _ in range(scale.rounds)]
        )
        for name in PLAYED
    }


async def audit(folder: Path, scale: Scale) -> Figures:
    """Verify the file of a match of forty hands and two seats on all cores; milliseconds for forty, and for their signatures alone.

    Where there is Node, it verifies the same file, in one process that stays.
    """
    found: Figures = {}
    for name in ("truc-catalan", "truco-argentino"):
        table = await trio.to_thread.run_sync(partial(auditing.played, name, seats=2, hands=scale.hands))
        verified_ms, signatures_ms = await trio.to_thread.run_sync(auditing.measure_file, table, scale.rounds)
        forty = auditing.HANDS / scale.hands
        found[name] = {"verified_ms": verified_ms * forty, "signatures_ms": signatures_ms * forty}
        if shutil.which("node") is not None:
            file = folder / f"{name}.truc"
            file.write_bytes(table.file())
            command = ["node", str(IN_NODE), str(file), str(scale.rounds)]
            found[name]["node_ms"] = (await running.told_by(command, dict(os.environ)))["verified_ms"] * forty
    return found


async def blind(folder: Path, scale: Scale) -> Figures:
    """Play hands of mode blind in turns with hands of mode dealt, by how many seats there are, and measure what X25519 costs."""
    found: Figures = {"primitives": await running.told("benchmarks.sealed")}
    for count in sealed.COUNTS:
        loads = {mode: partial(_hands, folder, mode, count, scale.sealed) for mode in sealed.MODES}
        found[str(count)] = await _in_turns(scale.turns, loads, cost=_seat_ms)
    return found


async def _hands(folder: Path, mode: str, seats: int, hands: tuple[int, int]) -> Figures:
    async with running.server(folder) as server:
        plan = {"port": server.port, "pid": server.pid, "mode": mode, "seats": seats, "hands": hands}
        return await running.told("benchmarks.sealed", json.dumps(plan))


def _seat_ms(load: Figures) -> float:
    return float(load["seat_ms"])


async def verify(folder: Path, scale: Scale) -> Figures:
    """Verify few small matches and many, in a process that starts others for all cores; seconds."""
    del folder
    few, many = map(str, scale.matches)
    return await running.told("benchmarks.many", "--few", few, "--many", many)


async def growth(folder: Path, scale: Scale) -> Figures:
    """Let tables, viewers, lengths and stored matches become many, each alone."""
    return await growing.growth(folder, scale.reach)


async def start(folder: Path, scale: Scale) -> Figures:
    """Start a server whose data folder and bytecode are there already, until it listens, and `truc`; milliseconds."""
    async with running.server(folder, settings=running.COMPILED) as server:
        took = [await _start_again_ms(server) for _ in range(scale.rounds)]
    commands = {
        name: [await _command_ms(*command) for _ in range(scale.rounds + 1)]
        for name, command in COMMANDS.items()
    }
    return {
        "listening_ms": statistics.median(took),
        **{
            name: statistics.median(each[1:]) for name, each in commands.items()
        },  # the first finds files not read yet
    }


async def _command_ms(arguments: tuple[str, ...], environment: Mapping[str, str]) -> float:
    """Run `truc`; return the milliseconds until it has ended."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "truc_terminal", *arguments]
    done = await trio.run_process(command, capture_stdout=True, env={**os.environ, **environment})
    took = (time.perf_counter() - begun) * 1000
    if not done.stdout:
        raise running.BenchmarkError(f"truc {' '.join(arguments)} has said nothing")
    return took


async def _start_again_ms(server: running.ServerProcess) -> float:
    await server.kill()
    begun = time.perf_counter()
    await server.start()
    return (time.perf_counter() - begun) * 1000


SECTIONS: Final[Mapping[str, Callable[[Path, Scale], Awaitable[Figures]]]] = {
    "calls": calls,
    "acts": acts,
    "signed": signed,
    "peers": peers,
    "latency": latency,
    "crowd": crowd,
    "idle": idle,
    "logins": logins,
    "readers": readers,
    "storm": storm,
    "tls": tls,
    "web": web,
    "flood": flood,
    "postgresql": postgresql,
    "nodes": nodes,
    "engine": engine,
    "audit": audit,
    "blind": blind,
    "verify": verify,
    "growth": growth,
    "start": start,
}
