"""Makes what an older version leaves behind: run in a checkout of that version, and never by the suite.

    cd CHECKOUT
    PYTHONPATH=protocol:server:client:tests python .../tests/server/old/make.py OUT

Its own server runs as a process of its own, its own bots play there, and both are killed in the middle of a hand. README.md
says from which versions there is something. Every key in it was made for this and has never been anything else's.
"""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import trio
from server.rawclient import RawClient, RawSeat

HOST = "127.0.0.1"
SHORT = {"target": 3, "match": 1}
LONG = {"target": 12, "match": 3}
SETTINGS = {"TRUC_TABLES_BETWEEN_HANDS_MS": "0", "TRUC_MATCH_GUESTS": "2"}
A_CARD_PLAYED = 12  # records, at least: it may be in the second hand
IN_A_HAND = 26  # records of the match of the bots, at least
PYTHON = (sys.executable, "-m")


def main(out: Path) -> None:
    """Play on the server of this version, and keep in a folder what it leaves."""
    with TemporaryDirectory() as folder:
        data, home = Path(folder) / "data", Path(folder) / "home"
        with socket.create_server((HOST, 0)) as free:
            port = free.getsockname()[1]
        with ExitStack() as processes:
            start_server(processes, data, port)
            seats = trio.run(play, port)
            wait_in_a_hand(data, start_bots(processes, home, port))
        keep_all(out, data, home, {"port": port, "seats": seats})


def start(processes: ExitStack, *arguments: str, **variables: str) -> subprocess.Popen:
    """Start a process, to be killed as by a power cut at the end, the newest first."""
    environment = {**os.environ, **variables}
    process = subprocess.Popen([*PYTHON, *arguments], stdout=subprocess.PIPE, env=environment)
    processes.callback(process.wait)
    processes.callback(process.kill)
    return process


def start_server(processes: ExitStack, data: Path, port: int) -> None:
    where = ("--host", HOST, "--port", str(port), "--data", str(data))
    start(processes, "truc_server", "run", *where, **SETTINGS).stdout.readline()


async def play(port: int) -> list[dict]:
    """Play matches to their end, and one as far as the middle of a hand; return who plays that one."""
    for guests in ((), (1,)):
        seats = await seated(port, guests, SHORT)
        async with trio.open_nursery() as nursery:
            for seat in seats:
                nursery.start_soon(seat.play)
        await leave(seats)
    seats = await seated(port, (1,), LONG)
    async with trio.open_nursery() as nursery:
        for seat in seats:
            nursery.start_soon(seat.play, is_in_a_hand)
    if "chat" in seats[0].client.info.get("caps", ()) or hasattr(seats[0], "partners"):
        await seats[0].ask({"t": "chat", "table": seats[0].table, "text": "hello from before"})
    waits = await seated(port, (), SHORT, ready=1)
    for seat in (*seats, *waits):
        await seat.client.stream.aclose()
    return [secrets_of(seat) for seat in seats]


async def seated(port, guests, options, *, ready=2) -> list[RawSeat]:
    seats = []
    for i in range(2):
        seat = RawSeat(RawClient(await trio.open_tcp_stream(HOST, port)), seed=i + 1, keyed=i not in guests)
        await seat.login()
        seats.append(seat)
    table = await seats[0].create("truc-french", seats=2, options={**options, "guests": len(guests)})
    await seats[1].join(table, 1)
    for seat in seats[:ready]:
        await seat.ready()
    return seats


async def leave(seats) -> None:
    for seat in seats:
        await seat.client.ask({"t": "leave", "table": seat.table})
        await seat.client.stream.aclose()


def is_in_a_hand(seat: RawSeat) -> bool:
    """Tell whether a decision is open in a hand, and the seat has nothing to do but decide."""
    if seat.auditor is None or seat.next < A_CARD_PLAYED or not seat.ledger.hand:
        return False
    seat.chooses = lambda message, options: None
    told = seat.options or seat.waiting
    return told is not None and any(t and t["at"] == seat.next for t in (seat.options, seat.waiting))


def secrets_of(seat: RawSeat) -> dict:
    keyed = {} if seat.key is None else {"key": seat.key.seed().hex(), "root": seat.chain.root.hex()}
    token = {} if seat.key is not None else {"token": seat.token}
    return {
        "table": seat.table,
        "seat": seat.seat,
        "name": seat.name,
        "x": seat.x.secret.hex(),
        **keyed,
        **token,
    }


def start_bots(processes: ExitStack, home: Path, port: int) -> list[subprocess.Popen]:
    def bot(name: str, *sits: str) -> subprocess.Popen:
        own = (f"{HOST}:{port}", *sits, "--name", name)
        return start(processes, "truc_terminal", "bot", *own, TRUC_HOME=str(home))

    options = [word for name, value in LONG.items() for word in ("--option", f"{name}={value}")]
    first = bot("one", "--create", "truc-french", *options)
    code = first.stdout.readline().decode().split("/")[-1].split("#")[0].split()[-1]
    return [first, bot("two", "--table", code)]


def wait_in_a_hand(data: Path, bots) -> None:
    """Wait until the bots' match has some records."""
    newest = "SELECT mid, max(k) FROM records GROUP BY mid ORDER BY max(at_ms) DESC LIMIT 1"
    while True:
        with closing(sqlite3.connect(f"file:{data / 'truc.db'}?mode=ro", uri=True)) as database:
            (_, k) = database.execute(newest).fetchone()
            running = database.execute("SELECT count(*) FROM matches WHERE ended_ms IS NULL").fetchone()
        if running == (2,) and k >= IN_A_HAND:
            return
        assert all(bot.poll() is None for bot in bots)
        time.sleep(0.002)  # the bots play meanwhile, in processes of their own


def keep_all(out: Path, data: Path, home: Path, facts: dict) -> None:
    out.mkdir(parents=True)
    (out / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
    dump(data / "truc.db", out / "truc.sql")
    for name in ("identity.pem", "secrets.key"):
        shutil.copyfile(data / name, out / name)
    for bot in sorted((home / "bots").iterdir()):
        kept = out / bot.name
        kept.mkdir()
        dump(bot / "state.sqlite", kept / "state.sql")
        shutil.copyfile(bot / "master.seed", kept / "master.seed")
        for transcript in (bot / "transcripts").iterdir():
            shutil.copyfile(transcript, kept / transcript.name)


def dump(database: Path, file: Path) -> None:
    with closing(sqlite3.connect(database)) as opened:
        version = opened.execute("PRAGMA user_version").fetchone()[0]
        lines = [f"PRAGMA user_version = {version};", *opened.iterdump()]
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
