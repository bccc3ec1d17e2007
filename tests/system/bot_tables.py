"""Tables of the client's own bots at a server process, which may stop meanwhile, and the host's commands beside it."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import trio
from chaos.servers import ServerProcess
from client.playing import eager_bot

from truc_client import MatchEnded, Player, RefusedError, ServerKeyError, Table, TableGone, YourTurn, connect


class BotTable:
    """Bots at one table, each on a connection that comes back by itself; they play while the gate is open.

    Attributes:
        last: set when it is time for the last of the matches.
        seen: the newest position that each has come to.
        ends: what came to each: the end of a match or table, or the error that it stopped with.
    """

    def __init__(
        self,
        players: Sequence[Player],
        *,
        seed: int,
        variant: str = "truc-french",
        bot=eager_bot,
        matches: int = 1,
        **options: int,
    ) -> None:
        self.players = players
        self.seed, self.variant, self.bot, self.matches = seed, variant, bot, matches
        self.options = {**options, "guests": sum(player.is_guest for player in players)}
        self.gate, self.last, self.waits, self.over = (trio.Event() for _ in range(4))
        self.gate.set()
        self.seen = [0 for _ in players]
        self.choices = 0
        self.ends: list[MatchEnded | TableGone | RefusedError | ServerKeyError] = []
        self.mid = b""
        self._more = trio.Event()

    @property
    def ended(self) -> list[MatchEnded]:
        return [end for end in self.ends if isinstance(end, MatchEnded)]

    async def play(self, server: ServerProcess) -> None:
        """Play the matches, to their end or the table's."""
        code, codes = trio.open_memory_channel[str](len(self.players))
        async with trio.open_nursery() as nursery:
            for seat in range(len(self.players)):
                nursery.start_soon(self._sit, server, seat, code, codes)
        self.over.set()

    async def _sit(self, server, seat: int, code, codes) -> None:
        try:
            async with connect(server.url, self.players[seat]) as connection:
                if seat == 0:
                    table = await connection.create(
                        self.variant, seats=len(self.players), options=self.options, private=True
                    )
                    for _ in self.players[1:]:
                        await code.send(table.code)
                else:
                    table = await connection.join(await codes.receive())
                for n in range(self.matches):
                    if n == self.matches - 1:
                        await self.last.wait()
                    await be_ready(table)
                    await self._play(table, seat)
        except (RefusedError, ServerKeyError) as error:
            self.ends.append(error)

    async def _play(self, table: Table, seat: int) -> None:
        choose = self.bot(self.seed + seat)
        async for happening in table:
            if table.match is not None:
                self.mid, self.seen[seat] = table.match.mid, table.match.next
            match happening:
                case YourTurn(must=True):
                    if not self.gate.is_set():
                        self.waits.set()
                        await self.gate.wait()
                    await table.choose(choose(happening))
                    self.choices += 1
                case MatchEnded() | TableGone():
                    self.ends.append(happening)
                    self._note()
                    return
                case _:
                    pass
            self._note()
        raise AssertionError("a table told nothing more before its match was over")

    def _note(self) -> None:
        more, self._more = self._more, trio.Event()
        more.set()

    async def come_to(self, k: int) -> None:
        """Wait until everybody has seen so many records."""
        while min(self.seen) < k:
            await self._more.wait()

    async def choose_more(self, count: int) -> None:
        """Wait until they have chosen so often from now on, or have played all that it is time for."""
        enough = self.choices + count
        matches = self.matches if self.last.is_set() else self.matches - 1
        while self.choices < enough and len(self.ended) < matches * len(self.players):
            await self._more.wait()

    async def stand_still(self) -> None:
        """Let nobody decide any more, and wait until somebody would."""
        self.gate = trio.Event()
        await self.waits.wait()


async def be_ready(table: Table) -> None:
    """Say ready; a server that is about to stop may say no, and is asked again."""
    while True:
        try:
            await table.ready()
        except RefusedError:
            await trio.sleep(0.2)
        else:
            return


async def ran(
    *command: str, data: Path, arguments: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> str:
    """Run a command of the host on a data folder, and return what it prints."""
    line = [sys.executable, "-m", "truc_server", *command, "--data", str(data), *arguments]
    run = partial(subprocess.run, line, capture_output=True, text=True, check=True, timeout=60, env=env)
    return (await trio.to_thread.run_sync(run)).stdout
