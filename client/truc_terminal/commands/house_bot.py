"""A house bot: it waits for a call of the server, steps in or sits down, plays the match to its end, and waits again.

It may play at several tables at once, each in its own task: an error at one ends that one alone, with one line. After a
restart it goes on with every seat it has. Invariant: at each table it does one thing at a time; of the calls that come
meanwhile it answers the newest afterwards, as somebody else may have taken the seat it was called to.

What a bot prints: the result of a match on standard output, trouble on standard error.
"""

import signal
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from random import SystemRandom
from typing import Final

import click
import trio

from truc_client.address import Address
from truc_client.connecting import WANT, connect
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
    Called,
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
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.messages import SeatHeld
from truc_terminal.commands.common import spoken, tell
from truc_terminal.commands.stepping_in import is_alone, sit_by, stand_by
from truc_terminal.verdicts import result_line
from truc_words import Sentence, Speech, shown_name


def complain(text: str) -> None:
    """Print what went wrong."""
    tell(text, err=True)


def tell_trouble(happening: Happening) -> None:
    """Print what went wrong at a table without ending it."""
    match happening:
        case Interrupted(reason):
            complain(Sentence("connecting.connecting_again", reason=reason))
        case TranscriptSetAside(path, reason):
            complain(Sentence("connecting.set_aside", reason=reason, path=path))
        case _:
            pass


def result_of(ended: MatchEnded) -> str:
    """Return the line that says how a match ended and where its transcript is."""
    verdict = ended.verdict
    names = [shown_name(name, seat) for seat, name in enumerate(verdict.players)]
    line = result_line(verdict, names, Speech(spoken()))
    found = {"result": verdict.result, "level": verdict.level, "path": ended.transcript}
    return Sentence("commands.bot_result", told=line, **found).told(spoken())


_AGAIN_S: Final = 5.0  # before an unreachable server is tried again, or up to twice as long
_PATIENCE_S: Final = 300.0  # how long a seat is kept at a table where no match begins
_DICE: Final = SystemRandom()


Step = Callable[[], Awaitable[None]]
Play = Callable[[Table, Callable[[Happening], None]], Awaitable[MatchEnded | None]]
"""Plays a match at a table as a bot does, and reports what happens."""


async def until_ended(main: Step) -> None:
    """Run until SIGTERM or Ctrl-C tells the process to end; raises an error that ends it earlier."""
    failure: ClientError | OSError | None = None
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as told:
        async with trio.open_nursery() as nursery:

            async def listen() -> None:
                async for _number in told:
                    nursery.cancel_scope.cancel()

            nursery.start_soon(listen)
            try:
                await main()
            except (ClientError, OSError) as error:
                failure = error
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def serve(address: Address, player: Player, play: Play) -> None:
    """Answer every call of a server, which may come and go; never return.

    Raises:
        ServerKeyError: The server is not the one known.
        ClientError: It does not let this bot in, or the bot's home cannot be used.
    """
    while True:
        try:
            async with connect(address, player, want=(*WANT, HOUSE_BOTS), patience_s=inf) as connection:
                _introduce(connection)
                await OnCall(connection, play).serve()
        except ServerKeyError:
            raise
        except (ConnectError, LostError) as error:
            complain(Sentence("connecting.trying_again", error=str(error)))
        await trio.sleep(_AGAIN_S * _DICE.uniform(1, 2))


def _introduce(connection: Connection) -> None:
    """Print the key by which the host may list this bot."""
    account = connection.session.account
    click.echo(f"key {fingerprint(account.key(connection.session.first_spk).public)}")
    if HOUSE_BOTS not in connection.capabilities:
        complain(Sentence("commands.no_calls_yet"))


class OnCall:
    """One bot on one connection; `play` plays a match at a table."""

    def __init__(self, connection: Connection, play: Play) -> None:
        self._connection = connection
        self._play = play
        self._at: dict[
            str, Called | None
        ] = {}  # each table it is at, with the newest call that has come meanwhile

    async def serve(self) -> None:
        """Go on with every seat held, and answer every call.

        Raises:
            ClientError: The connection is gone for good.
        """
        async with trio.open_nursery() as nursery:
            for held in self._connection.held:
                self._at[held.table] = None
                nursery.start_soon(self._attend, held.table, partial(self._go_on, held))
            failure = await self._listen(nursery)
            nursery.cancel_scope.cancel()
        raise failure

    async def _listen(self, nursery: trio.Nursery) -> ClientError:
        """Answer calls until the connection is gone for good; return why."""
        try:
            async for call in self._connection.calls():
                if call.table in self._at:
                    self._at[call.table] = call
                else:
                    self._at[call.table] = None
                    nursery.start_soon(self._attend, call.table, partial(self._answer, call))
        except ClientError as error:
            return error
        return LostError(Sentence("failures.calls_ended"))

    async def _attend(self, code: str, step: Step) -> None:
        """Take a step at a table, then answer the newest call that has come from there meanwhile."""
        await self._survive(code, step)
        while (call := self._at[code]) is not None:
            self._at[code] = None
            await self._survive(code, partial(self._answer, call))
        del self._at[code]

    async def _survive(self, code: str, step: Step) -> None:
        """Take a step at a table; an error there ends nothing else."""
        try:
            await step()
        except NotPlayedError:
            pass  # somebody was quicker, or the player is back
        except ClientError as error:
            complain(Sentence("commands.at_table", table=code, error=str(error)))

    async def _answer(self, call: Called) -> None:
        """Take the seat of a call, if it is still available, and play the match."""
        if call.match is None:
            await self._sit_down(call)
        else:
            await self._step_in(call)

    async def _sit_down(self, call: Called) -> None:
        """Join somebody who waits for players; if no match begins, or everybody else leaves, give the seat up."""
        try:
            table = await sit_by(self._connection, call.table, call.seat)
        except RefusedError:
            return  # somebody was quicker
        with trio.move_on_after(_PATIENCE_S) as patience:

            def show(happening: Happening) -> None:
                tell_trouble(happening)
                match happening:
                    case MatchStarted():
                        patience.deadline = inf
                        click.echo(f"called {call.table} seat {call.seat} {call.variant}")
                    case TableChanged(state) if is_alone(state, table.seat):
                        patience.cancel()
                    case _:
                        pass

            await self._play_on(table, show, is_own=lambda: True)
        if patience.cancelled_caught:
            await table.leave()

    async def _step_in(self, call: Called) -> None:
        """Stand by for the seat of a call, and play the match if it becomes this bot's."""
        table = await stand_by(self._connection, call.table, call.seat)
        if table is None:
            return

        def show(happening: Happening) -> None:
            tell_trouble(happening)
            if isinstance(happening, Substituted) and happening.seat == table.seat and table.plays:
                click.echo(f"called {call.table} seat {call.seat} {call.variant}")

        await self._play_on(table, show, is_own=lambda: table.plays)

    async def _go_on(self, held: SeatHeld) -> None:
        """Play on with a seat held from before; one without a match is given up."""
        table = await self._connection.resume(held)
        if held.match is None:
            await table.leave()
        else:
            await self._play_on(table, tell_trouble, is_own=lambda: True)

    async def _play_on(
        self, table: Table, show: Callable[[Happening], None], *, is_own: Callable[[], bool]
    ) -> None:
        """Play a match to its end, then leave the seat, if it `is_own` by then."""
        try:
            ended = await self._play(table, show)
            if ended is not None and is_own():
                click.echo(f"over {table.code} {result_of(ended)}")
                await table.leave()
        finally:
            table.close()
