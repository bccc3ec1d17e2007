"""The load generator, a process of its own: `python -m benchmarks.generator PLAN`, a plan in JSON; it prints what came of it in JSON.

What a plan may ask for stands in `Plan`. Everybody logs in, then sits down, then all matches begin, then they are played, and only when all
tables move does the measuring begin. Invariant: its own share of its core is in the report, as figures of a generator that has no time left tell nothing of a server.
"""

import gc
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.boards import AN_ADDRESS, MIX, Board, Game, Play, Tally
from benchmarks.crowds import Echo, Entrant, Pinger, Viewer, Watcher
from benchmarks.loop import Line, Loop, Wire
from benchmarks.proc import Usage, cores, pin, raise_file_limit, rss_kib, usage
from benchmarks.seats import Seat
from benchmarks.secured import SecuredWire
from benchmarks.web import WebWire, load_pages
from chaos.attacks import BEGUN

AT_ONCE: Final = 64
FIRST: Final = 8  # the first eighth pays for what is loaded and kept when anybody comes
FEW: Final = 5  # acts and hands, without which there is nothing to tell
LAST: Final = 19  # the lowest priority
RUN_ON_S: Final = 30.0
READ_OUT_S: Final = 1.0
PATIENCE_S: Final = 600.0


@dataclass(frozen=True)
class Plan(Play):
    """How tables are played, and what the generator does to a server.

    Attributes:
        kind: play, growing (matches that become long), idle (logged in, no more), logins (one after the other), pings (signs of
            life, as fast as they are answered), pages (as browsers load them), echo (frames, no game).
        port, pid: where the server listens, and its process.
        clients: how many, where nobody plays; an echo's each send frames at the pace.
        tables, games: how many tables, and what is played there, in turns.
        first: the number of the first table: no other generator at the same servers may have the same.
        far_pid: the process of the other node of the server's cluster; 0: none.
        watchers: who watches and hardly reads, at tables in turns.
        viewers: who watches and reads everything, at tables in turns.
        lengths: of matches, in records; it is measured from each to the next.
        storm: the share of seats that lose their connections at once, in the middle of the measuring.
        is_tls, is_web: whether the connections are encrypted, or WebSockets.
        is_flooded: whether garbage floods the server while it is measured.
        at_once: who comes in, sits down or begins at the same time.
    """

    kind: str
    port: int
    pid: int
    seconds: float
    warm_s: float = 1.0
    clients: int = 0
    tables: int = 0
    games: Sequence[Sequence[Any]] = MIX
    first: int = 0
    far_pid: int = 0
    watchers: int = 0
    viewers: int = 0
    lengths: Sequence[int] = ()
    storm: float = 0.0
    is_tls: bool = False
    is_web: bool = False
    is_flooded: bool = False
    at_once: int = AT_ONCE


class LoadError(Exception):
    """The load could not be brought about; what was measured means nothing."""


class Window:
    """A stretch of time in which everything is counted."""

    def __init__(self, plan: Plan, loop: Loop) -> None:
        self._plan = plan
        self._loop = loop

    def warm_up(self) -> None:
        """Let the load run for a while before anything counts.

        The generator collects its garbage first, and never again: a round of it takes a tenth of a second where there are
        thousands of seats, and would be taken for a halt of the server.
        """
        gc.collect()
        gc.freeze()
        gc.disable()
        self._loop.run_for(self._plan.warm_s)

    def measure(self, tally: Tally | None = None) -> dict[str, float]:
        """Go on for as long as the plan says, and until a few acts are through; return what server and generator took for it."""

        def go_on() -> float:
            seconds = self._loop.run_for(self._plan.seconds)
            if tally is not None and not self._tells(tally):
                seconds += self._run_on(lambda: self._tells(tally))
            return seconds

        return self._measured(go_on)

    def measure_until(self, holds: Callable[[], bool]) -> dict[str, float]:
        """Go on until something holds, or for half a minute; return the same."""
        return self._measured(lambda: self._run_on(holds))

    def _measured(self, go_on: Callable[[], float]) -> dict[str, float]:
        pids = [pid for pid in (self._plan.pid, self._plan.far_pid) if pid]
        before, own = [usage(pid) for pid in pids], time.process_time()
        seconds = go_on()
        own_share = (time.process_time() - own) / seconds
        spent, *far = [usage(pid) - earlier for pid, earlier in zip(pids, before, strict=True)]
        told = {"far_main_s": sum(each.main_s for each in far)}
        return {"seconds": seconds, "own_share": own_share, **_shares(spent, seconds), **told}

    def _tells(self, tally: Tally) -> bool:
        """Tell whether enough has happened: a few acts, and whole hands where nothing holds them up."""
        return len(tally.latencies) >= FEW and (bool(self._plan.pace) or tally.hands >= FEW)

    def _run_on(self, holds: Callable[[], bool]) -> float:
        begun = time.perf_counter()
        self._loop.run(until=lambda: holds() or time.perf_counter() > begun + RUN_ON_S)
        return time.perf_counter() - begun


def _shares(spent: Usage, seconds: float) -> dict[str, float]:
    return {
        "main_s": spent.main_s,
        "others_s": spent.others_s,
        "main_share": spent.main_s / seconds,
        "others_share": spent.others_s / seconds,
    }


class Stages:
    """Brings many through a stage, a few at the same time."""

    def __init__(self, loop: Loop, tally: Tally, at_once: int = AT_ONCE) -> None:
        self._loop = loop
        self._tally = tally
        self._at_once = at_once

    def run(self, what: str, starts: Sequence[Callable[[Callable[[], object]], object]]) -> float:
        """Begin each of them, and wait until all are through; return how long it took."""
        begun, left, waiting = time.perf_counter(), len(starts), iter(starts)

        def go_on() -> None:
            nonlocal left
            left -= 1
            begin_next()

        def begin_next() -> None:
            start = next(waiting, None)
            if start is not None:
                start(go_on)

        for _ in range(self._at_once):
            begin_next()
        self.wait(what, lambda: left == 0)
        return time.perf_counter() - begun

    def wait(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait until something holds.

        Raises:
            LoadError: It never will, or not soon.
        """
        end = time.perf_counter() + PATIENCE_S
        self._loop.run(until=lambda: holds() or bool(self._tally.faults) or time.perf_counter() > end)
        if self._tally.faults:
            raise LoadError(f"{what}: {self._tally.faults[0]}")
        if not holds():
            raise LoadError(f"{what}: not within {PATIENCE_S:.0f} s")


def come(seat: Seat, then: Callable[[], object]) -> None:
    """Let somebody log in."""
    seat.follow(seat.enter(), then)


def return_(seat: Seat, then: Callable[[], object]) -> None:
    """Let somebody come back on a new connection."""
    seat.follow(seat.come_back(), then)


class Begun(NamedTuple):
    """Tables whose matches have begun; nobody has acted yet."""

    tally: Tally
    boards: Sequence[Board]
    stages: Stages
    told: dict[str, Any]

    @property
    def seats(self) -> list[Seat]:
        """Everybody who sits somewhere."""
        return [seat for board in self.boards for seat in board.seats]

    def go(self) -> None:
        """Let them be played, until all tables move."""
        for board in self.boards:
            board.go()
        self.stages.wait("move", lambda: all(board.is_moving for board in self.boards))


def begin(plan: Plan, loop: Loop) -> Begun:
    """Let everybody log in and sit down, and all matches begin."""
    tally, games = Tally(), [Game(*game) for game in plan.games]
    boards = [
        Board(Line(loop, plan.port), plan.first + i, games[i % len(games)], plan, tally)
        for i in range(plan.tables)
    ]
    begun = Begun(
        tally, boards, stages := Stages(loop, tally, plan.at_once), told := {"rss_begun": rss_kib(plan.pid)}
    )
    told["login_s"] = stages.run("login", [partial(come, seat) for seat in begun.seats])
    told["rss_connected"] = rss_kib(plan.pid)
    stages.run("seat", [board.sit for board in boards])
    told["rss_seated"] = rss_kib(plan.pid)
    told["begin_s"] = stages.run("begin", [board.start for board in boards])
    return begun


def play(plan: Plan, loop: Loop) -> dict[str, Any]:
    """Let tables be played."""
    begun = begin(plan, loop)
    watchers = [Watcher(*at) for at in _places(plan.watchers, plan, loop, begun)]
    viewers = [Viewer(*at) for at in _places(plan.viewers, plan, loop, begun)]
    begun.stages.run("watch", [each.begin for each in (*watchers, *viewers)])
    begun.go()
    window = Window(plan, loop)
    with _flooding(plan, loop):
        window.warm_up()
        begun.told["rss_playing"] = rss_kib(plan.pid)
        begun.tally.begin()
        storm, seen = Storm(plan, loop, begun.seats), _seen(viewers)
        measured = window.measure(begun.tally)
    told = _told(begun) | storm.told() | {"viewers": len(viewers), "seen": _seen(viewers) - seen}
    return {**measured, **told, "watchers": len(watchers), "watchers_cut": _cut(watchers, loop)}


def growing(plan: Plan, loop: Loop) -> dict[str, Any]:
    """Let matches become long, and measure between lengths; return what came of each stretch, by the middle of it.

    Raises:
        LoadError: They were as long as a stretch ends before it was measured.
    """
    begun, found = begin(plan, loop), {}
    begun.go()
    window = Window(plan, loop)
    window.warm_up()

    def is_long(records: int) -> bool:
        return statistics.median(board.seats[0].next for board in begun.boards) >= records

    for least, most in pairwise(plan.lengths):
        begun.stages.wait(f"a match of {least} records", partial(is_long, least))
        if is_long(most):
            raise LoadError(f"the matches had {most} records before they were measured from {least} on")
        begun.tally.begin()
        measured = window.measure_until(partial(is_long, most))
        found[(least + most) // 2] = {**measured, **_told(begun)}
    return found


@contextmanager
def _flooding(plan: Plan, loop: Loop) -> Iterator[None]:
    """Flood the server, if the plan says so, from a process on this core which goes last there: what is measured is the server."""
    if not plan.is_flooded:
        yield
        return
    command = [sys.executable, "-m", "chaos.attacks", str(plan.port), "--seconds", "3600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as flood:
        os.setpriority(os.PRIO_PROCESS, flood.pid, LAST)
        try:
            loop.run(until=lambda: bool(select.select([flood.stdout], [], [], 0)[0]))
            if flood.stdout is None or flood.stdout.readline().strip() != BEGUN:
                raise LoadError("the flood has ended before it began")
            yield
        finally:
            flood.kill()


def _places(count: int, plan: Plan, loop: Loop, begun: Begun) -> Iterator[tuple[Line, Board, int]]:
    """Yield what somebody needs who watches: so many, at all tables in turns."""
    for i in range(count):
        yield Line(loop, plan.port), begun.boards[i % len(begun.boards)], i


def _seen(viewers: Sequence[Viewer]) -> int:
    return sum(viewer.seen for viewer in viewers)


def _cut(watchers: Sequence[Watcher], loop: Loop) -> int:
    """Return how many of those who watch were cut, once they have read what was sent to them."""
    for watcher in watchers:
        watcher.hurry()
    loop.run_for(READ_OUT_S if watchers else 0.0)
    return sum(watcher.is_cut for watcher in watchers)


def _told(begun: Begun) -> dict[str, Any]:
    tally = begun.tally
    return {
        **begun.told,
        "clients": len(begun.seats),
        "acts": tally.acts,
        "records": tally.records,
        "hands": tally.hands,
        "matches": tally.matches,
        "latency_ms": spread([1000 * each for each in tally.latencies]),
        "lateness_ms": spread([1000 * each for each in tally.lateness]),
        "refused": dict(tally.refused),
        "faults": tally.faults[:5],
        "behind": sum(board.is_behind for board in begun.boards),
    }


class Storm:
    """A share of the seats loses its connections at once, a quarter through the measuring, and comes back at once."""

    def __init__(self, plan: Plan, loop: Loop, seats: Sequence[Seat]) -> None:
        self._lost = seats[: int(len(seats) * plan.storm)]
        self._back: list[float] = []
        self._begun = 0.0
        if self._lost:
            loop.at(time.perf_counter() + plan.seconds / 4, self._break_out)

    def _break_out(self) -> None:
        self._begun = time.perf_counter()
        for seat in self._lost:
            seat.drop()
        for seat in self._lost:
            return_(seat, self._note)

    def _note(self) -> None:
        self._back.append(time.perf_counter() - self._begun)

    def told(self) -> dict[str, Any]:
        """Return how many lost their connections, how many are back, and when the last one was."""
        return {
            "storm_lost": len(self._lost),
            "storm_back": len(self._back),
            "storm_s": max(self._back, default=0.0),
        }


def idle(plan: Plan, loop: Loop) -> dict[str, Any]:
    """Let clients be logged in, and no more."""
    tally, first = Tally(), plan.clients // FIRST
    clients = [Entrant(Line(loop, plan.port), i, tally, plan) for i in range(plan.clients)]
    stages, coming = Stages(loop, tally), [partial(come, client.seat) for client in clients]
    stages.run("first logins", coming[:first])
    before = rss_kib(plan.pid)
    login_s = stages.run("login", coming[first:])
    window = Window(plan, loop)
    window.warm_up()
    after = rss_kib(plan.pid)
    measured = window.measure()
    told = {"clients": plan.clients - first, "rss_begun": before, "rss_connected": after}
    return {**measured, **told, "faults": tally.faults[:5], "login_s": login_s}


def logins(plan: Plan, loop: Loop) -> dict[str, Any]:
    """Let clients log in and go, one after the other, on each of so many connections.

    Each line has an address of its own: of one the kernel has ports for some 500 connections a second, as it keeps each for a minute.
    """
    tally = Tally()
    line, numbers = Line(loop, plan.port), range(0, plan.clients * AN_ADDRESS, AN_ADDRESS)
    clients = [Entrant(line, number, tally, plan) for number in numbers]
    for client in clients:
        client.begin()
    measured = _counted(plan, loop, "logins", clients)
    if tally.faults:
        raise LoadError(f"logins: {tally.faults[0]}")
    return {**measured, "refused": dict(tally.refused), "faults": []}


def pings(plan: Plan, loop: Loop) -> dict[str, Any]:
    """Let clients be logged in, and ask for a sign of life as soon as they have got one."""
    tally = Tally()
    clients = [Pinger(Line(loop, plan.port), i, tally) for i in range(plan.clients)]
    Stages(loop, tally).run("login", [partial(come, client.seat) for client in clients])
    for client in clients:
        client.begin()
    return {**_counted(plan, loop, "messages", clients), "faults": tally.faults[:5]}


def pages(plan: Plan, _loop: Loop) -> dict[str, Any]:
    """Load pages one after the other."""
    return {**load_pages(plan.port, plan.pid, plan.seconds), "faults": []}


def echo(plan: Plan, loop: Loop) -> dict[str, Any]:
    """Send frames that come back, as fast as they do or at a pace."""
    clients = [Echo(Line(loop, plan.port), plan.pace) for _ in range(plan.clients)]
    return {**_counted(plan, loop, "messages", clients), "faults": []}


def _counted(plan: Plan, loop: Loop, what: str, clients: Sequence[Entrant | Echo | Pinger]) -> dict[str, Any]:
    """Measure how often clients do what they do."""
    window = Window(plan, loop)
    window.warm_up()
    before = sum(client.times for client in clients)
    measured = window.measure()
    return {**measured, what: sum(client.times for client in clients) - before}


def spread(figures: Sequence[float]) -> dict[str, float]:
    """Return how figures are spread; nothing where there are too few."""
    if len(figures) < 2:
        return {"n": len(figures)}
    hundredths = statistics.quantiles(figures, n=1000, method="inclusive")
    middle = {"p50": hundredths[499], "p90": hundredths[899], "p99": hundredths[989], "p999": hundredths[998]}
    return {"n": len(figures), **middle, "max": max(figures)}


KINDS: Final = {
    "play": play,
    "growing": growing,
    "idle": idle,
    "logins": logins,
    "pings": pings,
    "pages": pages,
    "echo": echo,
}


def main() -> None:
    """Carry out the plan on the command line, on the last core."""
    pin(os.getpid(), cores()[1])
    raise_file_limit()
    plan = Plan(**json.loads(sys.argv[1]))
    wires = SecuredWire if plan.is_tls else WebWire if plan.is_web else Wire
    try:
        told = KINDS[plan.kind](plan, Loop(wires))
    except LoadError as error:
        told = {"error": str(error)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
