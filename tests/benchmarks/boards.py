"""Tables of the load generator: who sits there, when their acts are due, and how long each takes to reach the others.

Open loop: with a pace the moments at which acts are due are drawn beforehand, as visitors come, whatever the server does; an act
that cannot be made in time, because the table is not yet as far, is made as soon as it can be, and its latency counts from the moment it was
due. So a server that halts is charged for everything that should have happened meanwhile (no coordinated omission). Without a
pace an act is due as soon as its options are there, and its latency is that of the act alone.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from benchmarks.loop import Line
from benchmarks.ruled import RuledSeat
from benchmarks.seats import GuestSeat, KeyedSeat, Map, Script, Seat, concede
from chaos.thin import choose

AN_ADDRESS: Final = 20_000  # connections that one address of loopback has ports for


class Game(NamedTuple):
    """What is played at a table, to so many points; 0 is what the game itself has."""

    variant: str
    seats: int = 2
    target: int = 0

    @property
    def has_windows(self) -> bool:
        """Whether a seat may have to act without being told so in clear."""
        return "flor" in self.variant or self.variant.startswith("truco-gauderio")


MIX: Final = tuple(
    map(
        Game,
        (
            "truc-catalan",
            "truc-french",
            "truco-argentino",
            "truco-paulista",
            "put",
            "truc-lanes",
            "truco-argentino-flor",
            "le-truc",
            "truco-mineiro",
            "trut",
        ),
    )
)
"""Tables of two, of every family of rules."""


@dataclass(frozen=True, kw_only=True)
class Play:
    """How tables are played: acts a second of each (0: as fast as it goes), by whom, to what end, and from how many addresses.

    Seats that are `is_ruled` have keys, and make their own options. All but the first of a table connect to `far_port`, if there
    is one.
    """

    pace: float = 0.0
    is_keyed: bool = False
    is_ruled: bool = False
    is_brief: bool = False
    an_address: int = AN_ADDRESS
    far_port: int = 0

    def source_of(self, number: int) -> str:
        """Return the address of loopback that a client comes from."""
        return f"127.0.4.{number // self.an_address + 1}"


class Tally:
    """What has happened at all tables, counted together; latencies in seconds."""

    def __init__(self) -> None:
        self.acts = self.records = self.hands = self.matches = 0
        self.latencies: list[float] = []
        self.lateness: list[float] = []
        self.refused: Counter[str] = Counter()
        self.faults: list[str] = []

    def blame(self, fault: str) -> None:
        """Note what should not have come."""
        self.faults.append(fault)

    def begin(self) -> None:
        """Count from now on."""
        self.acts = self.records = self.hands = self.matches = 0
        self.latencies, self.lateness, self.refused = [], [], Counter()


class Board:
    """One table.

    Attributes:
        code: the table's code; empty before it is made.
        is_moving: whether an act has come to another seat.
    """

    def __init__(self, line: Line, number: int, game: Game, play: Play, tally: Tally) -> None:
        self.code = ""
        self.game = game
        self.tally = tally
        self.is_moving = False
        self._loop = line.loop
        self._play = play
        self._dice = random.Random(number)
        self._due: float | None = None
        self._held: list[tuple[Seat, int, list[Map]]] | None = []
        self._on_begun: Callable[[], object] | None = None
        self._stamps: dict[int, tuple[float, int]] = {}
        kind = RuledSeat if play.is_ruled else KeyedSeat if play.is_keyed else GuestSeat
        first = number * game.seats
        ports = [line.port, *[play.far_port or line.port] * (game.seats - 1)]
        self.seats: list[Seat] = [
            kind(Line(line.loop, port, play.source_of(first + i)), f"p{first + i}", self, i)
            for i, port in enumerate(ports)
        ]

    def sit(self, then: Callable[[], object]) -> None:
        """Make the table, and let everybody sit down; then make a call."""
        joining = iter(self.seats[1:])

        def go_on() -> None:
            seat = next(joining, None)
            if seat is None:
                then()
            else:
                seat.follow(self._join(seat), go_on)

        self.seats[0].follow(self._create(), go_on)

    def _create(self) -> Script:
        guests = 0 if self._play.is_keyed or self._play.is_ruled else self.game.seats
        wanted = {"variant": self.game.variant, "seats": self.game.seats, "private": False}
        options = {"guests": guests} | ({"target": self.game.target} if self.game.target else {})
        made = yield self.seats[0].ask("create", options=options, **wanted)
        self.code = made["table"]

    def _join(self, seat: Seat) -> Script:
        yield seat.ask("join", table=self.code, seat=seat.index)

    def start(self, then: Callable[[], object]) -> None:
        """Let everybody be ready; make a call when the match has begun."""
        self._on_begun = then
        for seat in self.seats:
            seat.ready()

    def begin(self, index: int) -> None:
        """A match has begun for a seat."""
        self._stamps.clear()
        if index == 0 and self._on_begun is not None:
            then, self._on_begun = self._on_begun, None
            then()

    def go(self) -> None:
        """Let acts be made: until then everybody waits for the other tables to begin."""
        held, self._held = self._held or [], None
        for seat, at, options in held:
            self.offer(seat, at, options)

    @property
    def is_behind(self) -> bool:
        """Whether the next act should have been made by now."""
        return self._due is not None and self._due < time.perf_counter()

    def offer(self, seat: Seat, at: int, options: list[Map]) -> None:
        """Let a seat act, now or when the next act of this table is due."""
        if self._held is not None:
            self._held.append((seat, at, options))
            return
        option = (concede if self._play.is_brief else choose)(options, seat.dice)
        now = time.perf_counter()
        if not self._play.pace:
            self._act(seat, at, option, now)
            return
        due = now + self._pause() if self._due is None else self._due
        self._due = due + self._pause()
        if due <= now:
            self._act(seat, at, option, due)
        else:
            self._loop.at(due, partial(self._act_on_time, seat, at, option, due))

    def _pause(self) -> float:
        return self._dice.expovariate(self._play.pace)

    def _act_on_time(self, seat: Seat, at: int, option: Map, due: float) -> None:
        self.tally.lateness.append(time.perf_counter() - due)
        self._act(seat, at, option, due)

    def _act(self, seat: Seat, at: int, option: Map, due: float) -> None:
        if seat.act(at, option):
            self._stamps[at] = (due, seat.index)

    def see(self, index: int, message: Map) -> None:
        """A record has come to a seat."""
        stamp = self._stamps.get(message["k"])
        if stamp is not None and stamp[1] != index:
            self.is_moving = True
            self.tally.latencies.append(time.perf_counter() - stamp[0])
        if index == 0:
            self._count(message["means"])

    def _count(self, facts: list[Map]) -> None:
        self.tally.records += 1
        for fact in facts:
            self.tally.hands += fact["what"] == "hand_closed"
            self.tally.matches += fact["what"] == "match_ended"
