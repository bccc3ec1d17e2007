"""How many function calls a server makes for what its players do: the same on every machine and at every hour.

A server of this process plays the mix of the benchmark with the seats of the load generator, which run in a thread of their
own. The two take turns: everybody whose turn it is acts, and the server goes on until nothing is left to be done, its commits
and signatures included. Chance and time are the same in every run, so that the figures are too.

What is counted: every call of a function in the server's main thread, in Python or C, Trio's and other libraries' included, as
`cProfile` counts them; a coroutine that goes on after a wait counts once more. Not counted are the threads that commit and check
signatures, the seats, and this module.
"""

import gc
import json
import os
import random
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from cProfile import Profile
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from threading import Condition, Semaphore, Thread, current_thread, main_thread
from time import perf_counter
from types import CodeType
from typing import Any, Final, NamedTuple

import trio
from benchmarks.boards import MIX, Board, Play, Tally
from benchmarks.generator import LoadError, Stages, come
from benchmarks.loop import Line, Loop, Wire
from server.conftest import QUICK, running
from trio import _threads
from trio._core import _run
from trio._socket import _SocketType

from truc_protocol import dealing
from truc_protocol.audit import auditor
from truc_protocol.crypto import keys
from truc_protocol.dealer import Dealer
from truc_server.matches.game import Game
from truc_server.net import connections
from truc_server.operation import logs
from truc_server.operation.worker import Worker
from truc_server.settings.settings import LogSettings
from truc_server.table_data.board import Lineup
from truc_server.tables.table import Table

ROOT: Final = Path(__file__).resolve().parents[2]
TABLES: Final = 2 * len(MIX)
WARM_ACTS: Final = 40 * TABLES  # until the tables are no longer all in their first hands
ACTS: Final = 100 * TABLES
BRIEF_ACTS: Final = 30 * TABLES
SEED: Final = 24
# Of Trio's dice, before the start: it throws so many less than when the bounds were counted, and which task
# goes first moves calls between the acts of a hand and what stands around them.
SKIPPED: Final = 3
LEAST: Final = 0.25  # calls an act, below which nothing has a line
_FOR_EVER: Final = 1e9  # seconds
_TESTS: Final = str(ROOT / "tests")

MOST: Final[Mapping[str, Mapping[str, int]]] = {
    "guests": {"act": 403, "act alone": 279, "hand": 723, "match": 2140},
    "keys": {"act": 554, "act alone": 347, "hand": 1217, "match": 4070},
    "keys, own options": {"act": 489, "act alone": 276, "hand": 1244, "match": 3963},
}
"""Bounds of what is counted: lowered with every step, and raised only by a decision (docs/decisions/0019).

An act has its share of calls, deals, closes and new matches; `act alone` has not. `hand` is what stands around the acts of a
hand, with its share of a match; `match` is everything from the first `ready` to the first options.
"""


class Count(NamedTuple):
    """What was counted while something was played; calls by the function that is called, or makes them in C."""

    acts: int
    hands: int
    matches: int
    calls: Mapping[tuple[str, str], Mapping[str, int]]

    @property
    def total(self) -> int:
        """How many calls in all."""
        return sum(sum(made.values()) for made in self.calls.values())


class _Clock(trio.abc.Clock):
    """Time that only passes when it is told to, and is asked for by as many calls as that of Trio's own clock."""

    def __init__(self) -> None:
        self.now = 0.0

    def start_clock(self) -> None:
        """Begin: there is nothing to be done."""

    def current_time(self) -> float:
        """Return the time."""
        perf_counter()
        return self.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Return how long to sleep: for ever, as time stands still meanwhile."""
        return 0.0 if deadline <= self.current_time() else _FOR_EVER


class _Turns(trio.abc.Instrument):
    """Lets server and seats run in turns: the seats when the server would wait for them."""

    def __init__(self, clock: _Clock) -> None:
        self.sent = 0
        self.is_counting = False
        self.profile = Profile()
        self._clock = clock
        self._begun, self._finished = 0, list[tuple[Any, ...]]()
        self._arrived = Condition()
        self._seats, self._server = Semaphore(0), Semaphore(0)
        self._play: Thread | None = None
        self._then: Callable[[], object]
        self._seen = 0
        self._came: list[Callable[[], object]] = []
        self._let_in: Callable[[trio.SocketStream], object]

    def begin(self, play: Callable[[], None], then: Callable[[], object]) -> None:
        """Let the seats play, from the server's next wait on; then make a call in the server's thread."""

        def run() -> None:
            self._seats.acquire()
            try:
                play()
            finally:
                self._play = None
                self._server.release()

        self._then = then
        self._play = Thread(target=run)
        self._play.start()

    def give(self) -> None:
        """The seats have nothing more to do: go on when the server has not either."""
        self._server.release()
        self._seats.acquire()

    def connect(self, connected: socket.socket) -> None:
        """Let a seat in, from the server's next turn on."""
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(connected))
        self._came.append(partial(self._let_in, stream))

    def before_io_wait(self, timeout: float) -> None:
        """Wait for the server's threads, or let the seats act."""
        self.profile.disable()
        if not self._wait_for_threads() and timeout and self._play is not None:
            self._seats.release()
            self._server.acquire()
            if self._play is None:
                trio.lowlevel.current_trio_token().run_sync_soon(self._then)
            elif self.sent == self._seen:
                self._pass_time()
            self._seen = self.sent
            while self._came:
                trio.lowlevel.current_trio_token().run_sync_soon(self._came.pop(0))
        if self.is_counting:
            self.profile.enable()

    def _wait_for_threads(self) -> bool:
        """Wait for what threads have begun, and hand it over in the order of every run; False if there was nothing."""
        if not self._begun:
            return False
        with self._arrived:
            self._arrived.wait_for(lambda: len(self._finished) >= self._begun)
        finished, self._begun, self._finished = self._finished, 0, []
        for call, *args in sorted(finished, key=_for_whom):
            trio.lowlevel.current_trio_token().run_sync_soon(call, *args)
        return True

    def _pass_time(self) -> None:
        left = trio.lowlevel.current_statistics().seconds_to_next_deadline
        if left == float("inf"):
            raise LoadError("neither the seats nor the server have anything left to do")
        self._clock.now += left
        trio.lowlevel.current_trio_token().run_sync_soon(int)

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """Let seats come by pairs of sockets within the block: what is sent over those has arrived at once."""

        async def accept(_listeners: object, serve: Callable[..., Any], tasks: trio.Nursery) -> None:
            self._let_in = partial(tasks.start_soon, serve)
            await trio.sleep_forever()

        with (
            _replaced(connections, "accept", accept),
            _replaced(_SocketType, "getpeername", lambda _: ("127.0.0.1", 1)),
        ):
            yield

    @contextmanager
    def watching_threads(self) -> Iterator[None]:
        """Hand over what threads do within the block only where `before_io_wait` waits for it."""
        start, run, soon = _threads.start_thread_soon, Worker.run, trio.lowlevel.TrioToken.run_sync_soon

        def begins(begin: Callable[..., Any]) -> Callable[..., Any]:
            def begin_noted(*args: Any, **fields: Any) -> Any:
                self._begun += 1
                return begin(*args, **fields)

            return begin_noted

        def run_sync_soon(token: trio.lowlevel.TrioToken, *call: Any, **fields: Any) -> None:
            if current_thread() is main_thread():
                soon(token, *call, **fields)
            else:
                with self._arrived:
                    self._finished.append(call)
                    self._arrived.notify()

        with (
            _replaced(_threads, "start_thread_soon", begins(start)),
            _replaced(Worker, "run", begins(run)),
            _replaced(trio.lowlevel.TrioToken, "run_sync_soon", run_sync_soon),
        ):
            yield


def _for_whom(finished: tuple[Any, ...]) -> tuple[str, str]:
    """Return what tells apart what several threads have finished; of one thread it is in order."""
    call, task, *_ = finished
    return call.__name__, str(getattr(task, "name", ""))


@contextmanager
def _replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class _TurnLoop(Loop):
    """The seats' sockets: where there is nothing to be read, it is the server's turn."""

    def __init__(self, turns: _Turns) -> None:
        super().__init__(partial(_NotedWire, turns))
        self._turns = turns

    def _connected(self, _line: Line, _kernel_bytes: int) -> socket.socket:
        here, there = socket.socketpair()
        self._turns.connect(there)
        return here

    def _poll(self) -> list[tuple[int, int]]:
        return sorted(super()._poll())  # a set of outboxes is written in any order

    def _sleep(self) -> list[tuple[int, int]]:
        self._turns.give()
        return self._poll()


class _NotedWire(Wire):
    __slots__ = ("_turns",)

    def __init__(self, turns: _Turns, loop: Loop, *connected: Any) -> None:
        super().__init__(loop, *connected)
        self._turns = turns
        turns.sent += 1

    def send_raw(self, raw: bytes) -> None:
        """Give bytes to the kernel."""
        self._turns.sent += 1
        super().send_raw(raw)


@contextmanager
def _without_chance() -> Iterator[None]:
    """Let everything that is drawn be the same in every run; as much is computed as ever."""
    seed_of, first, open_game = dealing.seed, dealing.first_dealer, Table.open_game
    numbers, played = dict[bytes, bytes](), Counter[bytes]()

    def numbered(table: Table, lineup: Lineup, dealer: Dealer) -> Game:
        name = lineup.setup.seats[
            0
        ].name  # each table has its own deals, whichever is the first to ask for one
        played[name] += 1
        numbers[lineup.setup.mid] = b"%s, match %d" % (name, played[name])
        return open_game(table, lineup, dealer)

    def seed(mid: bytes, j: int, links: Sequence[tuple[int, bytes]]) -> bytes:
        seed_of(mid, j, links)
        return sha256(b"%s, deal %d" % (numbers[mid], j)).digest()

    def first_dealer(*drawn: Any) -> int:
        first(*drawn)
        return 0

    _run._r.seed(SEED)  # by which Trio chooses which of the tasks that are ready goes first
    for _ in range(SKIPPED):
        _run._r.random()
    gc.collect()
    gc.disable()
    with (
        _replaced(auditor, "check_signature", lambda *_: None),  # the seats alone audit
        _replaced(random, "_urandom", random.Random(SEED).randbytes),
        _replaced(dealing, "seed", seed),
        _replaced(Table, "open_game", numbered),
        _replaced(dealing, "first_dealer", first_dealer),
        _replaced(keys, "generate_signing_key", lambda: keys.signing_key_from_seed(token_bytes(32))),
        _replaced(keys, "generate_box_key", lambda: keys.box_key(token_bytes(32))),
    ):
        yield


def _play(turns: _Turns, port: int, style: Play, acts: int, counts: dict[str, Count]) -> None:
    """Let all tables be played; half of their matches are begun before anything is counted."""
    loop, tally = _TurnLoop(turns), Tally()
    boards = [Board(Line(loop, port), i, MIX[i % len(MIX)], style, tally) for i in range(TABLES)]
    stages = Stages(loop, tally)
    stages.run("login", [partial(come, seat) for board in boards for seat in board.seats])
    stages.run("seat", [board.sit for board in boards])
    half = len(boards) // 2
    stages.run("begin", [board.start for board in boards[:half]])
    with _counted(turns, tally, counts, "begin"):
        stages.run("begin", [board.start for board in boards[half:]])
        turns.give()
    for board in boards:
        board.go()
    stages.wait("move", lambda: tally.acts >= WARM_ACTS)
    with _counted(turns, tally, counts, "play"):
        stages.wait("play", lambda: tally.acts >= acts)


@contextmanager
def _counted(turns: _Turns, tally: Tally, counts: dict[str, Count], name: str) -> Iterator[None]:
    tally.begin()
    turns.is_counting = True
    yield
    turns.is_counting = False
    counts[name] = Count(tally.acts, tally.hands, tally.matches, _calls(turns.profile.getstats()))
    turns.profile.clear()


def _calls(entries: Iterable[Any]) -> dict[tuple[str, str], Counter[str]]:
    """Return how often each function was called, and what it called that stands in no file."""
    calls: dict[tuple[str, str], Counter[str]] = {}
    nobody: Counter[str] = Counter()
    for entry in entries:
        place = _place(entry.code)
        if place is None:
            nobody[_name(entry.code)] += entry.callcount
        elif not _is_ours(entry.code):
            calls.setdefault(place, Counter())["itself"] += entry.callcount
        for made in entry.calls or ():
            if _place(made.code) is None:
                nobody[_name(made.code)] -= made.callcount
                if place is not None and not _is_ours(entry.code):
                    calls.setdefault(place, Counter())[_name(made.code)] += made.callcount
    calls["loop of Trio", "(under way)"] = +nobody
    return calls


def _place(code: CodeType | str) -> tuple[str, str] | None:
    """Return file and name of a function; None of one in C, or made by another."""
    if isinstance(code, str) or code.co_filename.startswith("<"):
        return None
    path = Path(code.co_filename)
    if path.is_relative_to(ROOT) and ".venv" not in path.parts:
        return str(path.relative_to(ROOT)), code.co_qualname
    _, _, library = code.co_filename.rpartition("site-packages/")
    return library.rpartition("lib/python")[2], code.co_qualname


def _name(code: CodeType | str) -> str:
    return code if isinstance(code, str) else code.co_qualname


def _is_ours(code: CodeType | str) -> bool:
    return not isinstance(code, str) and code.co_filename.endswith(("_instrumentation.py", __file__))


def _played(style: Play, acts: int) -> dict[str, Count]:
    """Play so many acts at a server of this process; return what was counted of beginnings, and while playing."""
    clock = _Clock()
    turns, counts = _Turns(clock), dict[str, Count]()

    async def run() -> None:
        done = trio.Event()
        with TemporaryDirectory() as folder:
            async with running(Path(folder) / "data", QUICK) as server:
                turns.begin(lambda: _play(turns, server.port, style, acts, counts), done.set)
                await done.wait()

    with _without_chance(), turns.watching_threads(), turns.accepting():
        trio.run(run, clock=clock, instruments=[turns])
    return counts


class Measured(NamedTuple):
    """What was counted of players of one kind: calls by what they are for (see MOST), and the load they were counted in."""

    calls: dict[str, float]
    load: Count


def measured(kind: str) -> Measured:
    """Count the calls for players of a kind, one of `MOST`.

    Raises:
        LoadError: It could not be done.
    """
    whole, brief = _counts(kind, "whole"), _counts(kind, "brief")["play"]
    begun, load = whole["begin"], whole["play"]
    both = load.acts * brief.hands - brief.acts * load.hands
    return Measured(
        {
            "act": load.total / load.acts,
            "act alone": (load.total * brief.hands - brief.total * load.hands) / both,
            "hand": (load.acts * brief.total - brief.acts * load.total) / both,
            "match": begun.total / (TABLES // 2),
        },
        load,
    )


def _counts(kind: str, length: str) -> dict[str, Count]:
    """Count in a process of its own, in which sets are ordered as in every run."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join([_TESTS, *sys.path])}
    command = [sys.executable, "-m", "benchmarks.calls", kind, length]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise LoadError(done.stderr)
    return {
        name: Count(*shares, {(file, function): each for file, function, each in made})
        for name, (*shares, made) in json.loads(done.stdout).items()
    }


def tree(load: Count) -> Iterator[str]:
    """Yield where the calls of an act go, as lines: folders, modules and functions, the costly first."""
    root: dict[str, Any] = {}
    for (file, name), made in load.calls.items():
        here = root
        for part in (*Path(file).parts, name):
            here = here.setdefault(part, {})
        here[""] = made
    yield from _branches(root, load.acts, 0)


def _branches(here: Mapping[str, Any], acts: int, depth: int) -> Iterator[str]:
    sums = {name: _sum(below) / acts for name, below in here.items()}
    for name, calls in sorted(sums.items(), key=lambda named: -named[1]):
        if calls >= LEAST:
            made = here[name].get("")
            yield f"{calls:8.2f}  {'  ' * depth}{name}{'' if made is None else _made(made, acts)}"
            if made is None:
                yield from _branches(here[name], acts, depth + 1)


def _sum(below: Mapping[str, Any]) -> int:
    return sum(_sum(each) if isinstance(each, Mapping) else each for each in below.values())


def _made(made: Mapping[str, int], acts: int) -> str:
    """Return what a function's calls are: its own, and those that it makes in C."""
    many = sorted(((n / acts, name) for name, n in made.items() if n >= LEAST * acts), reverse=True)
    return f"  ({', '.join(f'{n:.2f} {name}' for n, name in many)})" if many else ""


def told() -> Iterator[str]:
    """Count, and yield the lines of a report: what each thing takes beside its bound, and the tree of an act."""
    for kind, most in MOST.items():
        found = measured(kind)
        yield f"{kind}: {found.load.acts} acts, {found.load.hands} hands, {found.load.matches} matches"
        yield from (f"  {found.calls[what]:8.1f}  {what}, at most {bound}" for what, bound in most.items())
        yield from tree(found.load)


def main() -> None:
    """Print what was counted of a kind of players in hands of some length, in JSON."""
    kind, length = sys.argv[1:]
    with Path(os.devnull).open("w") as nowhere:
        logs.configure(LogSettings(), nowhere)
        is_ruled = kind == "keys, own options"
        style = Play(is_keyed=kind == "keys", is_ruled=is_ruled, is_brief=length == "brief")
        counts = _played(style, BRIEF_ACTS if style.is_brief else ACTS)
    told = {
        name: [*shares, [[*place, each] for place, each in made.items()]]
        for name, (*shares, made) in counts.items()
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
