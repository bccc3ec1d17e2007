"""The client fuzzer: whole clients at a real server, over lines that bend what it says.

Two players of the client library, with a key or as a guest, sit down and play a match. Each comes in a few times over a
line that bends for some seconds; each visit must end, with the match or with one error of the library's own. At last the
lines are straight: whatever came before, both must come to the proven end of their match, and have kept what the server
has stored. Server and players are honest, so that nobody may be shown to have cheated, no match be stopped for good,
nothing signed twice. A session is drawn from the seed and its own number, so that what is bent can be drawn again, though
not the same instants.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import trio
from chaos.reporting import counted, report
from chaos.servers import QUICK, ServerProcess, serving
from chaos.stored import ViolationError, stored_records
from fuzz.bending import BentRelay
from fuzz.mischief import Booty
from fuzz.sessions import found_at, play_numbered, told

from truc_client import (
    CheckFailedError,
    ClientError,
    Connection,
    LostError,
    MatchEnded,
    Player,
    RefusedError,
    StoppedError,
    Table,
    connect,
    open_home,
)
from truc_client.bots import play_match, simple_bot
from truc_client.verifying import verify_file
from truc_protocol.audit import Result, Verdict
from truc_protocol.transcript import read_transcript

GAMES: Final = ("truc-french", "truc-catalan", "truco-argentino-flor")
RATES: Final = (0.01, 0.05, 0.2)
AT_ONCE: Final = 4
BOTS: Final = 0.2  # of the visits of a player with a key have one of the command `truc bot` before them
GUESTS: Final = 0.3  # of the players have no key
START_S: Final = 3.0  # for a command to start
VISITS: Final = 4
BENT_S: Final = 6.0  # for which a line bends at most, in a visit
AGAIN_S: Final = 2.0  # until a player says again that it is ready
BACK_S: Final = 2.0  # for which a lost connection is tried again
END_S: Final = 150.0  # for a visit to end, once its line bends no more: the other player may still come in over a bent one
TOLD: Final = 12
SETUP: Final = 4  # records before the first position: table, two seats, match
TABLE: Final = {
    "match": 1,
    "target": 6,
    "gone": 2,  # whoever is cut off is waited for
    "decision_ms": 1_000,
    "bank_ms": 0,
    "release_ms": 1_000,
    "voids": 100,
}
SETTINGS: Final = {**QUICK, "TRUC_LIMITS_IDLE_S": "5"}


class Ending(NamedTuple):
    """How one visit of a player ended: the match with its proof, or the error."""

    ended: MatchEnded | None
    error: ClientError | None


class Visitor(NamedTuple):
    """A player of a session, the line, and the seat at the table."""

    player: Player
    relay: BentRelay
    code: str
    seat: int
    seed: int


class Fuzzer:
    """Sessions at one server."""

    def __init__(self, server: ServerProcess, folder: Path, seed: int) -> None:
        self.figures: Counter[str] = Counter()
        self._server = server
        self._folder = folder
        self._seed = seed
        self._booty = Booty()

    async def run(self, *, seconds: float, count: int | None, first: int = 0) -> None:
        """Play sessions, some at a time, until the time or the count is over.

        Raises:
            ViolationError: A client did what it must not do; the text names the session.
        """
        await play_numbered(
            self._session, self._seed, seconds=seconds, count=count, first=first, at_once=AT_ONCE
        )

    async def _session(self, number: int) -> None:
        chance = random.Random(f"{self._seed}/{number}")
        folder = self._folder / str(number)
        homes = [open_home(folder / f"player-{seat}" / "bots" / "bot") for seat in range(2)]
        players = [
            Player(home, f"player {seat}", is_guest=chance.random() < GUESTS)
            for seat, home in enumerate(homes)
        ]
        relays = [self._relay(chance) for _ in players]
        code = await self._sit_down(players, chance.choice(GAMES))
        async with trio.open_nursery() as lines:
            for relay in relays:
                await lines.start(relay.run)
            async with trio.open_nursery() as nursery:
                for seat, (player, relay) in enumerate(zip(players, relays, strict=True)):
                    visitor = Visitor(player, relay, code, seat, chance.getrandbits(32))
                    nursery.start_soon(self._live, visitor)
            lines.cancel_scope.cancel()
        self.figures["sessions"] += 1
        self.figures["guests"] += sum(player.is_guest for player in players)
        self.figures["frames"] += sum(len(relay.bending.steps) for relay in relays)

    def _relay(self, chance: random.Random) -> BentRelay:
        own = random.Random(chance.random())
        return BentRelay(self._server, own, self._booty, chance.choice(RATES))

    async def _sit_down(self, players: list[Player], game: str) -> str:
        """Take the seats over straight lines, so that there is a match to come to; return the table's code."""
        host, other = players
        async with connect(self._server.url, host) as connection:
            options = TABLE | {"guests": sum(player.is_guest for player in players)}
            code = (await connection.create(game, seats=2, options=options, private=True)).code
        async with connect(self._server.url, other) as connection:
            await connection.join(code)
        return code

    async def _live(self, visitor: Visitor) -> None:
        """Come in over a bent line a few times, and over a straight one until the match is proven."""
        chance = random.Random(visitor.seed)
        for bent_s in (*(chance.uniform(0, BENT_S) for _ in range(VISITS)), 0):
            is_command = chance.random() < BOTS and not visitor.player.is_guest
            if bent_s and is_command and await self._come_in_as_a_command(visitor, bent_s):
                return
            ending = await self._come_in(visitor, bent_s)
            if ending.ended is not None:
                self._check_end(visitor, ending.ended.verdict, ending.ended.transcript)
                return
        raise _violation(visitor, f"over a straight line there came {ending.error!r}")

    async def _come_in(self, visitor: Visitor, bent_s: float) -> Ending:
        """Come in over a line that bends for so long.

        Raises:
            ViolationError: The visit does not end, though the line has become straight.
        """
        visitor.relay.bends = bent_s > 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_straighten, visitor.relay, bent_s)
            with trio.move_on_after(bent_s + END_S) as patience:
                ending = await self._visit(visitor, back_s=BACK_S)
            nursery.cancel_scope.cancel()
        if patience.cancelled_caught:
            raise _violation(visitor, f"it hangs: no end came within {END_S:.0f} s over a straight line")
        return ending

    async def _come_in_as_a_command(self, visitor: Visitor, bent_s: float) -> bool:
        """Let `truc bot` come in for as long as its line bends; tells whether it came to the end of the match.

        Raises:
            ViolationError: It ends by anything else than its own words.
        """
        visitor.relay.bends = True
        command = (sys.executable, "-m", "truc_terminal", "bot", visitor.relay.url, "--table", visitor.code)
        environ = {**os.environ, "TRUC_HOME": str(visitor.player.home.root.parents[1])}
        run_command = partial(
            trio.run_process, command, env=environ, capture_stdout=True, capture_stderr=True
        )
        with trio.move_on_after(START_S + bent_s) as cut_off:
            self._check_command(visitor, await run_command(check=False))
        self.figures["commands cut off"] += cut_off.cancelled_caught
        for transcript in visitor.player.home.transcripts.glob("*.truc"):
            verdict = verify_file(transcript)
            if verdict.result is Result.PROVEN:  # it may have left the table since
                self._check_end(visitor, verdict, transcript)
                return True
        return False

    def _check_command(self, visitor: Visitor, done: subprocess.CompletedProcess[bytes]) -> None:
        told = done.stderr.decode()
        self.figures[f"commands ended with {done.returncode}"] += 1
        if done.returncode not in (0, 1) or "Traceback" in told or (done.returncode and not told):
            raise _violation(visitor, f"`truc bot` ended with {done.returncode}: {told}")

    async def _visit(self, visitor: Visitor, *, back_s: float) -> Ending:
        """Come in and play, to the end of the match or to an error.

        Raises:
            ViolationError: It is no error of the library's own, or one that blames somebody.
        """
        try:
            async with connect(visitor.relay.url, visitor.player, patience_s=back_s) as connection:
                table = await _come_to(connection, visitor)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_stay_ready, table)
                    ended = await play_match(table, simple_bot(visitor.seed))
                    nursery.cancel_scope.cancel()
        except ClientError as error:
            self._check_error(visitor, error)
            return Ending(None, error)
        except Exception as error:
            raise _violation(visitor, "".join(traceback.format_exception(error))) from error
        finally:
            if visitor.relay.twice:
                raise _violation(visitor, f"it signed twice for {visitor.relay.twice}")
        self.figures["ended" if ended else "left"] += 1
        return Ending(ended, None)

    def _check_error(self, visitor: Visitor, error: ClientError) -> None:
        self.figures[type(error).__name__] += 1
        if "\n" in str(error):
            raise _violation(visitor, f"it raised an error of several lines: {error}") from error
        blames = isinstance(error, CheckFailedError) and error.kept is not None and error.kept.is_shown
        if blames or isinstance(error, StoppedError):
            raise _violation(
                visitor, f"it holds an honest player or server to have cheated: {error}"
            ) from error

    def _check_end(self, visitor: Visitor, verdict: Verdict, transcript: Path) -> None:
        """Check that the proof that was taken is one, and is of what the server has stored."""
        if {verdict.result, verify_file(transcript).result} != {Result.PROVEN}:
            raise _violation(visitor, f"the end was told as {verdict}")
        kept = read_transcript(transcript.read_bytes()).records[SETUP:]
        stored = stored_records(self._server.data, verdict.match or b"")
        if not kept or list(kept) != stored[: len(kept)]:
            raise _violation(visitor, "what was kept is not what the server has stored")
        self.figures["proven"] += 1


async def _stay_ready(table: Table) -> None:
    """Say ready again while no match begins, as a person would: what the line has swallowed is shown to nobody."""
    while table.match is None:
        with suppress(LostError, RefusedError):
            await table.ready()
        await trio.sleep(AGAIN_S)  # a person looks again


async def _straighten(relay: BentRelay, after_s: float) -> None:
    await trio.sleep(after_s)
    relay.bends = False


async def _come_to(connection: Connection, visitor: Visitor) -> Table:
    held = next((held for held in connection.held if held.table == visitor.code), None)
    return await (connection.join(visitor.code, visitor.seat) if held is None else connection.resume(held))


def _violation(visitor: Visitor, what: str) -> ViolationError:
    steps = visitor.relay.bending.steps
    last = "\n  ".join(steps[-TOLD:])
    return ViolationError(f"seat {visitor.seat}: {what}\nthe last steps, of {len(steps)}:\n  {last}")


async def run(*, seconds: float, count: int | None, seed: int, first: int) -> int:
    """Fuzz the client library; return the exit status."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder) / "data", SETTINGS) as server:
            fuzzer = Fuzzer(server, Path(folder), seed)
            found = await found_at(server, partial(fuzzer.run, seconds=seconds, count=count, first=first))
    spent_s = time.monotonic() - began
    return report(f"clients: seed {seed}, {counted(fuzzer.figures)} in {spent_s:.0f} s: {told(found)}", found)
