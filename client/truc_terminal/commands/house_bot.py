"""A house bot: it waits for a call of the server, steps in or sits down, plays the match to its end, and waits again.

It may play at several tables at once, each in its own task: an error at one ends that one alone, with one line. After a
restart it goes on with every seat it has. Invariant: at each table it does one thing at a time; of the calls that come
meanwhile it answers the newest afterwards, as somebody else may have taken the seat it was called to.

What a bot prints: the result of a match on standard output, trouble on standard error.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from math import inf
from random import SystemRandom
from typing import Final, NamedTuple

import click
import trio

from truc_client.address import Address
from truc_client.bots import Chooser, play_match
from truc_client.connecting import WANT, connect, tasks_beside
from truc_client.connection import Connection
from truc_client.errors import (
    ClientError,
    ConnectError,
    LostError,
    NotPlayedError,
    RefusedError,
    ServerKeyError,
)
from truc_client.happenings import (
    BotCalled,
    Happening,
    Interrupted,
    MatchEnded,
    MatchStarted,
    Substituted,
    TableChanged,
    TranscriptSetAside,
)
from truc_client.home.account import Player
from truc_client.reports import HOUSE_BOTS
from truc_client.table import Table
from truc_protocol.audit import Result
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.messages import SeatHeld, TableState
from truc_terminal.commands.language import spoken
from truc_terminal.commands.output import tell
from truc_terminal.commands.tables import WAITING, vacant_seats
from truc_terminal.styles import STYLES
from truc_terminal.verdicts import quoted_name, result_line
from truc_words import Sentence, Speech

_AGAIN_S: Final = 5.0  # before an unreachable server is tried again, or up to twice as long
# As hosting/players.md, "Your own bots", says.
_PATIENCE_S: Final = 300.0  # how long a seat is kept at a table where no match begins
_DICE: Final = SystemRandom()


class BotPlay(NamedTuple):
    """How a bot plays: its style, the seed of its choices, and how long it leaves an answer to its partners."""

    style: str
    seed: int
    patience_s: float

    def chooser(self, table: Table) -> Chooser:
        """Return what chooses for this bot at a table."""
        return STYLES[self.style](self.seed, table)


def tell_trouble(happening: Happening) -> None:
    """Print what went wrong at a table without ending it."""
    match happening:
        case Interrupted(reason):
            tell(Sentence("connecting.connecting_again", reason=reason), err=True)
        case TranscriptSetAside(path, reason):
            tell(Sentence("connecting.set_aside", reason=reason, path=path), err=True)
        case _:
            pass


def result_of(ended: MatchEnded) -> str:
    """Return the line that says how a match ended and where its transcript is."""
    verdict = ended.verdict
    names = [quoted_name(name, seat) for seat, name in enumerate(verdict.players)]
    line = result_line(verdict, names, Speech(spoken()))
    found = {"result": verdict.result, "level": verdict.level, "path": ended.transcript}
    return Sentence("commands.bot_result", told=line, **found).in_language(spoken())


async def serve_until_ended(address: Address, player: Player, play: BotPlay, *, is_of_server: bool) -> None:
    """Answer every call of a server, which may come and go, until SIGTERM or Ctrl-C tells the process to end.

    A bot that the server itself has started also ends with its standard input, and keeps no transcript of a proven match:
    the server has it.

    Raises:
        ServerKeyError: The server is not the one known.
        ClientError: It does not let this bot in, or the bot's home cannot be used.
    """
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as told:
        async with tasks_beside() as nursery:

            async def listen() -> None:
                async for _number in told:
                    nursery.cancel_scope.cancel()

            async def notice_end() -> None:
                # The server holds the other end of this pipe, and nothing is written there: it ends when
                # the server does, also when that is killed. A copy, as FdStream closes its descriptor.
                await trio.lowlevel.FdStream(os.dup(sys.stdin.fileno())).receive_some(1)
                nursery.cancel_scope.cancel()

            nursery.start_soon(listen)
            if is_of_server:
                nursery.start_soon(notice_end)
            await _serve(address, player, play, is_of_server=is_of_server)


async def _serve(address: Address, player: Player, play: BotPlay, *, is_of_server: bool) -> None:
    while True:
        try:
            # Without limit: a server that was gone for days finds its host's bots there when it is back.
            async with connect(address, player, want=(*WANT, HOUSE_BOTS), patience_s=inf) as connection:
                if not is_of_server:
                    _introduce(connection)
                await HouseBot(connection, play, is_of_server=is_of_server).serve()
        except ServerKeyError:
            raise
        except (ConnectError, LostError) as error:
            tell(Sentence("connecting.trying_again", error=str(error)), err=True)
        # Not all at once: the bots of one server lose it at the same moment.
        await trio.sleep(_AGAIN_S * _DICE.uniform(1, 2))


def _introduce(connection: Connection) -> None:
    """Print the key by which the host may list this bot."""
    account = connection.session.account
    click.echo(f"key {fingerprint(account.key(connection.session.first_spk).public)}")
    if HOUSE_BOTS not in connection.capabilities:
        tell(Sentence("commands.no_calls_yet"), err=True)


class HouseBot:
    """One bot on one connection."""

    def __init__(self, connection: Connection, play: BotPlay, *, is_of_server: bool) -> None:
        self._connection = connection
        self._play_as = play
        self._is_of_server = is_of_server
        self._at: dict[str, BotCalled | None] = {}
        """Each table it is at, with the newest call that has come from there meanwhile."""

    async def serve(self) -> None:
        """Go on with every seat held, and answer every call.

        Raises:
            ClientError: The connection is gone for good.
        """
        async with tasks_beside() as nursery:
            for held in self._connection.held:
                self._begin(held, nursery)
            async for call in self._connection.calls():
                if call.table in self._at:
                    # The newest alone: an older call is about a seat that may be taken by now.
                    self._at[call.table] = call
                else:
                    self._begin(call, nursery)
            raise LostError(Sentence("failures.calls_ended"))

    def _begin(self, seat: SeatHeld | BotCalled, nursery: trio.Nursery) -> None:
        self._at[seat.table] = None
        nursery.start_soon(self._attend, seat)

    async def _attend(self, first: SeatHeld | BotCalled) -> None:
        """Take a seat at a table, then answer the newest call that has come from there meanwhile."""
        seat: SeatHeld | BotCalled | None = first
        while seat is not None:
            await self._take(seat)
            seat, self._at[first.table] = self._at[first.table], None
        del self._at[first.table]

    async def _take(self, seat: SeatHeld | BotCalled) -> None:
        """Play with a seat that is held or called for, if it is still available; an error there ends nothing else."""
        try:
            match seat:
                case SeatHeld():
                    await self._go_on(seat)
                case BotCalled(match=None):
                    await self._sit_down(seat)
                case BotCalled():
                    await self._step_in(seat)
        except NotPlayedError:
            pass  # somebody was quicker, or the player is back
        except ClientError as error:
            tell(Sentence("commands.at_table", table=seat.table, error=str(error)), err=True)

    async def _sit_down(self, call: BotCalled) -> None:
        """Join somebody who waits for players; if no match begins, or everybody else leaves, give the seat up."""
        try:
            table = await sit_by(self._connection, call.table, call.seat)
        except RefusedError:
            return  # somebody was quicker
        with trio.move_on_after(_PATIENCE_S) as patience, closing(table):

            def show(happening: Happening) -> None:
                tell_trouble(happening)
                match happening:
                    case MatchStarted():
                        # It bounds the wait for a match, not the match.
                        patience.deadline = inf
                        _tell_called(call)
                    case TableChanged(state) if is_alone(state, table.seat):
                        patience.cancel()
                    case _:
                        pass

            await self._leave_after(table, await self._play(table, show))
        if patience.cancelled_caught:
            await table.leave()

    async def _step_in(self, call: BotCalled) -> None:
        """Stand by for the seat of a call, and play the match if it becomes this bot's."""
        table = await stand_by(self._connection, call.table, call.seat)
        if table is None:
            return

        def show(happening: Happening) -> None:
            tell_trouble(happening)
            if isinstance(happening, Substituted) and happening.seat == table.seat and table.plays:
                _tell_called(call)

        with closing(table):
            ended = await self._play(table, show)
            if table.plays:  # the match may have ended before the seat was taken over
                await self._leave_after(table, ended)

    async def _go_on(self, held: SeatHeld) -> None:
        """Play on with a seat held from before; one without a match is given up."""
        table = await self._connection.resume(held)
        if held.match is None:
            await table.leave()
            return
        with closing(table):
            await self._leave_after(table, await self._play(table, tell_trouble))

    async def _leave_after(self, table: Table, ended: MatchEnded | None) -> None:
        """Say how a match has ended, and leave the table; None if the table or the seat was lost before."""
        if ended is None:
            return
        # Of any other verdict the file is evidence, and stays.
        is_known = self._is_of_server and ended.verdict.result is Result.PROVEN
        if not is_known:
            click.echo(f"over {table.code} {result_of(ended)}")
        await table.leave()
        if is_known:
            ended.transcript.unlink(missing_ok=True)

    async def _play(self, table: Table, show: Callable[[Happening], None]) -> MatchEnded | None:
        choose = self._play_as.chooser(table)
        return await play_match(table, choose, show, patience_s=self._play_as.patience_s)


def _tell_called(call: BotCalled) -> None:
    click.echo(f"called {call.table} seat {call.seat} {call.variant}")


async def sit_by(connection: Connection, code: str, seat: int) -> Table:
    """Take a free seat of an open table, and agree to what is shown there.

    Raises:
        RefusedError: It is not available.
    """
    table = await connection.join(code, seat)
    await _wait_shown(table)
    try:
        await table.ready()
    except RefusedError:
        await table.leave()
        raise
    return table


def is_alone(state: TableState, seat: int | None) -> bool:
    """Tell whether nobody else sits at a table, and no match is on."""
    others = (each for each in state.seats if each.seat != seat)
    return state.state in WAITING and all(each.kind == "empty" for each in others)


async def stand_by(connection: Connection, code: str, seat: int) -> Table | None:
    """Agree to take over a vacant seat; None if it is not available."""
    try:
        table = await connection.join(code, seat)
        await _wait_shown(table)
        if table.state is None or seat not in vacant_seats(table.state):
            await table.leave()
            return None
        await table.ready()
    except (RefusedError, NotPlayedError):
        return None  # somebody was quicker, or this player has been in that match before
    return table


async def _wait_shown(table: Table) -> None:
    """Wait until a table is shown: only what was shown can be agreed to."""
    async for happening in table:
        if isinstance(happening, TableChanged):
            return
