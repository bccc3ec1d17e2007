"""Parties of players who meet at one table for some matches, and what all of them together have done.

What they play, and what they tell each other beside the server: which table is theirs, which matches have ended.
"""

import random
from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trio
from chaos.servers import ServerProcess
from server.rawclient import Map

from truc_protocol.records import DEALT

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.stepping_in import Leaver
    from chaos.surviving import Survivor


class Tally:
    """What the players have done so far, and whoever waits for more of it."""

    def __init__(self) -> None:
        self.figures: Counter[str] = Counter()
        self._more = trio.lowlevel.ParkingLot()

    def count(self, **more: int) -> None:
        """Add to the figures."""
        self.figures.update(more)
        self._more.unpark_all()

    async def wait_more(self, figure: str, n: int) -> None:
        """Wait until a figure is so much higher than now."""
        wanted = self.figures[figure] + n
        while self.figures[figure] < wanted:
            await self._more.park()


class Party:
    """Players who meet at one table for some matches, and then leave it.

    Attributes:
        data: the folder of the server's database, or the URL of a PostgreSQL.
        code: the table's, once it was made.
        goal: the number of matches to be played; `begun` of them have somebody ready for them.
        send_in: brings somebody for the seat of a player who has left.
    """

    def __init__(self, server: ServerProcess | None, data: Path | str, tally: Tally, *, goal: int) -> None:
        self.server = server
        self.data = data
        self.tally = tally
        self.goal = goal
        self.begun = 0
        self.code = ""
        self.made = trio.Event()
        self.send_in: Callable[[Leaver], None] = lambda _: None
        self._ended: set[bytes] = set()
        self._end = trio.lowlevel.ParkingLot()

    def hasten(self) -> None:
        """Begin no further match."""
        self.goal = min(self.goal, max(self.begun, 1))

    def note_end(self, mid: bytes) -> None:
        """Note that a match has ended, whether or not everybody knows."""
        self._ended.add(mid)
        self._end.unpark_all()

    def has_ended(self, mid: bytes) -> bool:
        """Tell whether somebody has seen the end of a match."""
        return mid in self._ended

    async def wait_ended(self, mid: bytes) -> None:
        """Wait until somebody has seen the end of a match."""
        while mid not in self._ended:
            await self._end.park()


class Parties:
    """The parties at so many tables: at each one plays after the other, until it is enough.

    A run says what a party is, and who plays in it.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        self._tally = Tally()
        self._players: dict[Party, list[Survivor]] = {}
        self._is_ending = False

    async def _keep_playing(self, table: int, game: "Game", party_of: "Callable[[], Party]") -> None:
        """Let one party after another play the same game."""
        for seed in count((self._seed * 1_000 + table) * 1_000, 10):
            if self._is_ending:
                return
            party = party_of()
            self._players[party] = []
            async with trio.open_nursery() as nursery:
                party.send_in = partial(nursery.start_soon, self._step_in, game)
                for seat in range(game.seats):
                    nursery.start_soon(self._play, party, game, seat, seed + seat)
            del self._players[party]

    async def _play(self, party: Party, game: "Game", seat: int, seed: int) -> None:
        """Let somebody play for a seat of a party, to its end."""
        raise NotImplementedError  # each run has players of its own

    async def _step_in(self, game: "Game", left: "Leaver") -> None:
        """Bring somebody for the seat of a player who has left."""
        raise NotImplementedError  # only where players leave for good: nobody does in faults of nodes

    async def _live_on(self, player: "Survivor") -> None:
        self._players[player.party].append(player)
        await player.live()

    def _end(self) -> None:
        """Begin no further match at any table."""
        self._is_ending = True
        for party in self._players:
            party.hasten()

    def _whereabouts(self) -> str:
        return "; ".join(str(player) for players in self._players.values() for player in players)


class Game(NamedTuple):
    """What a party plays.

    Attributes:
        guests: the seats that have no key.
        options: of the table.
        is_left: the player of the last seat goes away in a match, and somebody else may step in.
        deal: the mode of the table: the server deals, or sees no card.
    """

    variant: str
    seats: int
    guests: tuple[int, ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    is_left: bool = False
    deal: str = DEALT

    def create(self) -> Map:
        """Return the request for a table."""
        options = {"match": 1, "guests": len(self.guests), **dict(self.options)}
        if self.deal != DEALT:
            options["mode"] = self.deal
        return {
            "t": "create",
            "variant": self.variant,
            "seats": self.seats,
            "options": options,
            "private": True,
        }
