"""Players: the client library as a program uses it, in processes of their own, and dice that choose for them."""

import random
import traceback
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import outcome
import trio
from simulation.machine import Machine

from truc_client.address import Address
from truc_client.bots import Chooser, careful, careless, play_match, simple_bot
from truc_client.connecting import connect
from truc_client.connection import Connection
from truc_client.errors import ClientError, ConnectError, LostError, RefusedError
from truc_client.happenings import MatchEnded, MoveChoice, YourTurn
from truc_client.home.account import Player
from truc_client.home.home import open_home
from truc_client.table import Table
from truc_protocol.audit import Result
from truc_protocol.errors import REGISTRY, Code
from truc_words import Sentence

if TYPE_CHECKING:
    from simulation.network import Network
    from simulation.world import World

STYLES: Final[tuple[Callable[[int], Chooser], ...]] = (careful, careless, simple_bot)
_AGAIN_S: Final = 0.3
_AGAIN: Final = frozenset(
    {Code.NO_SUCH_TABLE, Code.NO_SUCH_MATCH, *(code for code, row in REGISTRY.items() if row.retryable)}
)
"""What a node says of a table that another has, and what any says while it does not serve."""


class Game(NamedTuple):
    """What is played at one table: `thinks_s` is the longest that a decision takes."""

    variant: str
    seats: int
    guests: frozenset[int]
    options: dict[str, int | str]
    thinks_s: float


class Party:
    """Those who meet at one table, and what they tell each other beside the server.

    Attributes:
        code: the table's, once it was made.
    """

    def __init__(self, number: int, game: Game) -> None:
        self.number = number
        self.game = game
        self.code: str | None = None


class _Slow:
    """A bot that takes its time."""

    def __init__(self, seed: int, choose: Chooser, thinks_s: float) -> None:
        self._choose = choose
        self._dice = random.Random(f"time {seed}")
        self._thinks_s = thinks_s

    @property
    def takes_s(self) -> float:
        """How long the next decision takes."""
        return self._dice.uniform(0, self._thinks_s)

    def __call__(self, turn: YourTurn) -> MoveChoice:
        return self._choose(turn)


class Participant:
    """One player of a party, who plays one match.

    Attributes:
        machine: the process.
        is_done: whether they have seen the end of the match, and its verdict.
        excused_until: what is held against them before this moment may be by the fault of their own network.
    """

    def __init__(
        self, world: "World", party: Party, seat: int, *, home: Path, seed: int, dial: "Dialing"
    ) -> None:
        self.party = party
        self.seat = seat
        self.is_done = False
        self.excused_until = 0.0
        self._world = world
        self._home = home
        self._dial = dial
        self._choose = _Slow(seed, STYLES[seed % len(STYLES)](seed), party.game.thinks_s)
        self.machine = Machine(world, f"p{party.number}.{seat}", f"10.1.{party.number}.{seat + 1}")

    def start(self) -> None:
        """Begin to play."""
        self.machine.start(self._run, self._ended)

    async def _run(self) -> None:
        is_guest = self.seat in self.party.game.guests
        player = Player(open_home(self._home), self.machine.name, is_guest=is_guest)
        while not self.is_done:
            try:
                async with connect(
                    self._dial.address, player, dial=self._dial.stream, patience_s=inf
                ) as connection:
                    await self._play(connection)
            except (ConnectError, LostError):
                await trio.sleep(_AGAIN_S)
            except RefusedError as error:
                if error.code not in _AGAIN:
                    raise
                await trio.sleep(_AGAIN_S)

    async def _play(self, connection: Connection) -> None:
        table = await self._sit_down(connection)
        ended = await play_match(table, self._choose)
        if ended is None:
            raise ClientError(f"{self.machine.name} has lost table or seat")
        self._see(ended)

    def _see(self, ended: MatchEnded) -> None:
        verdict = ended.verdict
        self._world.note(self.machine.name, f"sees the end: {verdict.result} {verdict.reason}")
        if verdict.result is not Result.PROVEN:
            self._world.fail(f"{self.machine.name} has another verdict than proven: {verdict}")
        self.is_done = True

    async def _sit_down(self, connection: Connection) -> Table:
        for held in connection.held:
            if self.party.code in (None, held.table):
                self.party.code = held.table
                table = await connection.resume(held)
                if held.match is None:
                    await table.ready()
                return table
        game = self.party.game
        if self.seat == 0 and self.party.code is None:
            table = await connection.create(
                game.variant, seats=game.seats, options=game.options, private=True
            )
            self.party.code = table.code
        else:
            while self.party.code is None:  # noqa: ASYNC110 - an event belongs to one run of Trio
                await trio.sleep(_AGAIN_S)
            table = await connection.join(self.party.code, self.seat)
        await table.ready()
        return table

    def _ended(self, how: outcome.Outcome[object]) -> None:
        if isinstance(how, outcome.Error):
            self._world.tell(self.machine.name, "".join(traceback.format_exception(how.error)))
            self._world.fail(f"{self.machine.name} gives up: {how.error!r}")
        self._world.note(self.machine.name, "ends")


class Dialing:
    """How a player reaches the servers: by a name that leads to any of them, or by that of one; `find` tells where."""

    def __init__(
        self, network: "Network", host: str, port: int, find: Callable[[str], tuple[str, int]]
    ) -> None:
        self.address = Address(host, port, None, None, None, False)
        self._network = network
        self._find = find

    async def stream(self, address: Address) -> trio.abc.Stream:
        """Open a connection.

        Raises:
            ConnectError: Nobody listens there.
        """
        machine = self._network.world.acting
        assert machine is not None
        try:
            return await self._network.connect(machine, *self._find(address.host))
        except OSError as error:
            refused = Sentence("failures.connection_refused")
            said = Sentence("failures.cannot_reach", server=address.server, reason=refused)
            raise ConnectError(said) from error
