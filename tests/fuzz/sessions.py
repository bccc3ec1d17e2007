"""The session fuzzer: mischievous sessions against a live server, beside a table of honest players.

Each session plays a match as it should be, but for what mischief changes on the way. After each the server must still
answer whoever is honest, have answered everything once, and have logged no fault of its own; the honest table plays on, and
its auditors find nothing. A session is drawn from the seed and its own number, so that it can be played again.
"""

import itertools
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.reporting import report
from chaos.servers import QUICK, ServerProcess, serving
from chaos.stored import ViolationError
from fuzz.mischief import Booty, Mischief
from fuzz.rogues import Rogue, RogueSeat

from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_protocol.audit import Result
from truc_rules import preset, presets

STEPS: Final = 60
RATES: Final = (0.05, 0.15, 0.4)
CONNECTIONS: Final = 3
HONEST: Final = "put"
PATIENCE_S: Final = 30.0
SETTINGS: Final = {**QUICK, "TRUC_MATCH_GUESTS": "4"}
"""What a server is run with: no limit that one address would run into, and nobody need have a key."""


class Figures(NamedTuple):
    """What came of a run."""

    sessions: int
    steps: int
    refusals: int
    matches: int

    def plus(self, seats: Sequence[RogueSeat]) -> "Figures":
        """Return the figures after another session."""
        steps = sum(len(seat.client.mischief.steps) for seat in seats)
        refusals = sum(message["t"] == "error" for seat in seats for message in seat.client.log)
        return self._replace(
            sessions=self.sessions + 1, steps=self.steps + steps, refusals=self.refusals + refusals
        )


class Fuzzer:
    """Sessions against the server at a port."""

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.seed = seed
        self.booty = Booty()
        self.figures = Figures(0, 0, 0, 0)
        self._is_over = False
        self._streams: list[trio.SocketStream] = []

    async def run(self, *, seconds: float, count: int | None, first: int = 0) -> None:
        """Play sessions until the time or the count is over.

        Raises:
            ViolationError: The server did what it must not do; the text names the session.
        """
        try:
            with alone():
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._play_honestly)
                    await play_numbered(self._play, self.seed, seconds=seconds, count=count, first=first)
                    self._is_over = True
        finally:
            for stream in self._streams:
                await trio.aclose_forcefully(stream)

    async def _play(self, number: int) -> None:
        await self._session(number)
        await self._look()

    async def _play_honestly(self) -> None:
        """Play one match after the other, and audit each."""
        while not self._is_over:
            honest = await self._honest_table()
            async with trio.open_nursery() as nursery:
                for seat in honest:
                    nursery.start_soon(self._play_to_the_end, seat)
            for seat in honest:
                verdict = seat.auditor and seat.auditor.verdict()
                if verdict is None or verdict.result is not Result.PROVEN:
                    raise ViolationError(f"the honest table comes to {verdict}")
            self.figures = self.figures._replace(matches=self.figures.matches + 1)

    async def _connect(self) -> trio.SocketStream:
        self._streams = [stream for stream in self._streams if stream.socket.fileno() >= 0]
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        self._streams.append(stream)
        return stream

    async def _honest_table(self) -> list[RawSeat]:
        """Return two players with keys, both ready; their table becomes known to the others."""
        seats = [
            RawSeat(RawClient(await self._connect()), seed=2 * self.figures.matches + i) for i in range(2)
        ]
        for seat in seats:
            await seat.login()
        table = await seats[0].create(HONEST, seats=2, private=True)
        await seats[1].join(table, 1)
        for seat in seats:
            await seat.ready()
        self.booty.learn({"table": table, "player": seats[0].client.welcome["player"]})
        return seats

    async def _play_to_the_end(self, seat: RawSeat) -> None:
        try:
            with trio.fail_after(PATIENCE_S):
                await seat.play()
        except Exception as error:
            raise ViolationError(f"an honest player was disturbed: {error!r}") from error
        finally:
            await trio.aclose_forcefully(seat.client.stream)

    async def _look(self) -> None:
        """Check that the server answers somebody new."""
        client = RawClient(await self._connect())
        try:
            welcome = await client.login_guest("Looker")
            reply = await client.ask({"t": "tables"})
        except Exception as error:
            raise ViolationError(f"somebody new was not answered: {error!r}") from error
        finally:
            await trio.aclose_forcefully(client.stream)
        if (welcome["t"], reply["t"]) != ("welcome", "ok"):
            raise ViolationError(f"expected a welcome and the tables, got {welcome}, {reply}")

    async def _session(self, number: int) -> None:
        """Play one match with mischief on every connection."""
        chance = random.Random(f"{self.seed}/{number}")
        game = chance.choice(presets())
        count = min(preset(game).players)
        rate = chance.choice(RATES)
        seats = [await self._rogue(chance, rate, seed=number * 10 + i) for i in range(count)]
        for seat in seats:
            await seat.try_to(seat.login)
        host, *others = seats
        await host.try_to(lambda: host.create(game, seats=count, options={"guests": count}))
        for i, seat in enumerate(others, 1):
            await seat.try_to(lambda seat=seat, i=i: seat.join(host.table, i))
        for seat in seats:
            await seat.try_to(seat.ready)
        await _together(lambda seat=seat: self._misbehave(seat, chance, rate) for seat in seats)
        self.figures = self.figures.plus(seats)

    async def _rogue(self, chance: random.Random, rate: float, *, seed: int) -> RogueSeat:
        own = random.Random(chance.random())
        mischief = Mischief(own, self.booty, rate)
        client = Rogue(await self._connect(), mischief, self.booty)
        return RogueSeat(client, own, seed=seed, keyed=chance.random() < 0.5)

    async def _misbehave(self, seat: RogueSeat, chance: random.Random, rate: float) -> None:
        """Let a seat play over some connections, and settle each."""
        for _ in range(CONNECTIONS):
            try:
                await seat.misbehave(STEPS)
                await seat.client.settle()
            finally:
                await trio.aclose_forcefully(seat.client.stream)
            if not seat.client.is_gone or not (seat.key or seat.token):
                return
            await self._come_back(seat, rate)
        await trio.aclose_forcefully(seat.client.stream)

    async def _come_back(self, seat: RogueSeat, rate: float) -> None:
        mischief = Mischief(seat.random, self.booty, rate)
        mischief.steps += seat.client.mischief.steps
        client = Rogue(await self._connect(), mischief, self.booty)
        seat.client = client
        await seat.try_to(lambda: seat.come_back(client))


async def play_numbered(
    play: Callable[[int], Awaitable[None]],
    seed: int,
    *,
    seconds: float,
    count: int | None,
    first: int = 0,
    at_once: int = 1,
) -> None:
    """Play sessions by their numbers, some at a time, until the time or the count is over.

    Raises:
        ViolationError: Something was violated; the text names the session.
    """
    end = time.monotonic() + seconds
    numbers = itertools.count(first) if count is None else iter(range(first, first + count))

    async def go_on() -> None:
        while time.monotonic() < end and (number := next(numbers, None)) is not None:
            try:
                with alone():
                    await play(number)
            except ViolationError as error:
                raise ViolationError(f"seed {seed}, session {number}: {error}") from error

    with alone():
        async with trio.open_nursery() as nursery:
            for _ in range(at_once):
                nursery.start_soon(go_on)


async def found_at(server: ServerProcess, run: Callable[[], Awaitable[None]]) -> list[str]:
    """Return what a run of sessions at a server has violated, and what the server has logged or ended with."""
    found: list[str] = []
    try:
        await run()
    except ViolationError as error:
        found.append(str(error))
    return found + await server.stop()


def told(found: Sequence[str]) -> str:
    """Return how much was found, in words."""
    return f"{len(found)} FOUND" if found else "nothing found"


@contextmanager
def alone() -> Iterator[None]:
    """Let the first violation of a nursery through by itself."""
    try:
        yield
    except BaseExceptionGroup as group:
        violations = group.subgroup(ViolationError)
        if violations is None:
            raise
        raise _leaf(violations) from None


def _leaf(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _leaf(first) if isinstance(first, BaseExceptionGroup) else first


async def _together(doings: Iterator[Callable[[], Awaitable[None]]]) -> None:
    async with trio.open_nursery() as nursery:
        for doing in doings:
            nursery.start_soon(doing)


async def run(*, seconds: float, count: int | None, seed: int, first: int) -> int:
    """Fuzz a server in a process of its own; return the exit status."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder) / "data", SETTINGS, level="info") as server:
            fuzzer = Fuzzer(server.port, seed)
            found = await found_at(server, partial(fuzzer.run, seconds=seconds, count=count, first=first))
    sessions, steps, refusals, matches = fuzzer.figures
    line = (
        f"sessions: seed {seed}, {sessions} sessions, {steps} frames, {refusals} refusals, {matches} honest matches proven "
        f"in {time.monotonic() - began:.0f} s: {told(found)}"
    )
    return report(line, found)
