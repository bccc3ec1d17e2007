"""A person at a terminal: what happens is shown, a line they type decides, and leaving is always possible.

Lines are read in a worker thread that is abandoned when the program ends; nothing about the terminal is changed.
"""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import trio

from truc_client.answers import find_choice
from truc_client.errors import ChoiceError, ClientError, RefusedError
from truc_client.happenings import Happening, MatchEnded, RecordSeen, SeatTakenOver, TableClosed, YourTurn
from truc_client.screen import Screen
from truc_client.speaking import TALK, talk
from truc_client.table import Table

_HELP = ("?", "h", "help")
_QUIT = ("q", "quit", "exit")
_RESIGN = "resign"


class Typed(NamedTuple):
    """A line typed, or None at the end of the input."""

    text: str | None


Lines = trio.MemoryReceiveChannel[Typed]


@asynccontextmanager
async def typed_lines(read: Callable[[], str] | None = None) -> AsyncIterator[Lines]:
    """Read lines in the background as long as the block lasts; of standard input, unless `read` is given."""
    read = read or _standard_input
    send, receive = trio.open_memory_channel[Typed](0)

    async def forward() -> None:
        while True:
            line = await trio.to_thread.run_sync(read, abandon_on_cancel=True)
            await send.send(Typed(line.strip() if line else None))
            if not line:
                return

    async with trio.open_nursery() as nursery:
        nursery.start_soon(forward)
        yield receive
        nursery.cancel_scope.cancel()


def _standard_input() -> str:
    """Return a line; of a terminal that was closed the end."""
    try:
        return sys.stdin.readline()
    except OSError:
        return ""


class Person:
    """One person at one table."""

    def __init__(self, table: Table, screen: Screen, lines: Lines) -> None:
        self._table = table
        self._screen = screen
        self._lines = lines
        self._turn: YourTurn | None = None
        self._asked = trio.Event()
        self._resigning = False

    async def play(self) -> MatchEnded | None:
        """Play until the match has ended; None when the person leaves or the table closes.

        Raises:
            ClientError: The match cannot go on.
        """
        send, receive = trio.open_memory_channel[Happening | Typed | ClientError](0)
        last: Happening | Typed | ClientError
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._forward_happenings, send)
            nursery.start_soon(self._forward_lines, send)
            while True:
                last = await receive.receive()
                if isinstance(last, ClientError) or not await self._take(last):
                    break
            nursery.cancel_scope.cancel()
        if isinstance(last, ClientError):
            raise last
        return last if isinstance(last, MatchEnded) else None

    async def _forward_happenings(
        self, send: trio.MemorySendChannel[Happening | Typed | ClientError]
    ) -> None:
        try:
            async for happening in self._table:
                await send.send(happening)
        except ClientError as error:
            await send.send(error)

    async def _forward_lines(self, send: trio.MemorySendChannel[Happening | Typed | ClientError]) -> None:
        while True:
            await self._wait_asked()
            line = await self._lines.receive()
            await self._wait_asked()  # the question may have passed meanwhile: then it answers the next
            self._close_question()
            await send.send(line)
            if line.text is None:
                return

    async def _wait_asked(self) -> None:
        """Wait for a question, where a script answers: each of its lines is for one."""
        while self._screen.is_plain and not self._asked.is_set():
            await self._asked.wait()

    def _close_question(self) -> None:
        if self._asked.is_set():
            self._asked = trio.Event()

    async def _take(self, item: Happening | Typed) -> bool:
        """Show or do one thing; tells whether to go on."""
        if isinstance(item, Typed):
            return await self._typed(item)
        self._note_turn(item)
        self._screen.show(item)
        return not isinstance(item, MatchEnded | TableClosed | SeatTakenOver)

    def _note_turn(self, happening: Happening) -> None:
        match happening:
            case YourTurn():
                self._turn = happening
            case RecordSeen(k=k) if self._turn is not None and k >= self._turn.at:
                self._turn = None
            case _:
                return
        self._close_question()
        if self._turn is not None and self._turn.must:
            self._asked.set()

    async def _typed(self, line: Typed) -> bool:
        text = line.text
        if text is None or text.lower() in _QUIT:
            return False
        await self._obey(text)
        if self._turn is not None and self._turn.must:
            self._screen.prompt()
            self._asked.set()
        return True

    async def _obey(self, text: str) -> None:
        resigning, self._resigning = self._resigning, False
        if text.lower() == _RESIGN:
            await self._resign(sure=resigning)
        elif text.lower() in _HELP:
            self._help()
        elif text.partition(" ")[0].lower() in TALK:
            await talk(self._table, self._screen, text)
        elif text:
            await self._choose(text)

    def _help(self) -> None:
        if self._turn is None:
            self._screen.note("not_your_turn")
        else:
            self._screen.explain(self._turn)

    async def _resign(self, *, sure: bool) -> None:
        if not sure:
            self._resigning = True
            self._screen.note("sure")
            return
        try:
            await self._table.resign()
        except (ChoiceError, RefusedError) as error:
            self._screen.say(str(error), "red")
        else:
            self._turn = None

    async def _choose(self, text: str) -> None:
        turn = self._turn
        if turn is None:
            self._screen.note("not_yet")
            return
        choice, place = find_choice(turn, text, self._screen.names)
        if choice is None:
            self._screen.expected(turn, text)
            return
        self._turn = None
        try:
            await self._table.choose(choice, place=place)
        except (ChoiceError, RefusedError) as error:
            self._screen.say(str(error), "red")
            self._turn = turn
