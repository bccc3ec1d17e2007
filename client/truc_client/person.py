"""A person at a terminal: what happens is shown, a line they type decides, and leaving is always possible.

Lines are read in a worker thread that is abandoned when the program ends; nothing about the terminal is changed.
"""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import trio

from truc_client.errors import ChoiceError, ClientError, RefusedError
from truc_client.happenings import Choice, Happening, MatchEnded, SeatTakenOver, TableClosed, YourTurn
from truc_client.screen import Screen
from truc_client.table import Table

_HELP = ("?", "h", "help")
_QUIT = ("q", "quit", "exit")
_RESIGN = "resign"
_SIGN, _SAY = "sign ", "say "
_TALK = (_SIGN, _SAY)


class Typed(NamedTuple):
    """A line typed, or None at the end of the input."""

    text: str | None


Lines = trio.MemoryReceiveChannel[Typed]


@asynccontextmanager
async def typed_lines(read: Callable[[], str] | None = None) -> AsyncIterator[Lines]:
    """Read lines in the background as long as the block lasts; of standard input, unless `read` is given."""
    read = read or sys.stdin.readline
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
            if self._screen.is_plain:
                await self._asked.wait()  # a script's lines are answers, each to one question
            line = await self._lines.receive()
            await send.send(line)
            if line.text is None:
                return

    async def _take(self, item: Happening | Typed) -> bool:
        """Show or do one thing; tells whether to go on."""
        if isinstance(item, Typed):
            return await self._typed(item)
        if isinstance(item, YourTurn):
            self._turn = item
            self._asked.set()
        self._screen.show(item)
        return not isinstance(item, MatchEnded | TableClosed | SeatTakenOver)

    async def _typed(self, line: Typed) -> bool:
        text = line.text
        if text is None or text.lower() in _QUIT:
            return False
        resigning, self._resigning = self._resigning, False
        if text == _RESIGN:
            await self._resign(sure=resigning)
        elif text.lower() in _HELP:
            self._help()
        elif text.startswith(_TALK):
            await self._talk(text)
        elif text:
            await self._choose(text)
        return True

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

    async def _talk(self, text: str) -> None:
        is_sign, word = text.startswith(_SIGN), text.partition(" ")[2].strip()
        try:
            await (self._table.sign(word) if is_sign else self._table.say(word))
        except ClientError as error:
            self._screen.say(str(error), "red")

    async def _choose(self, text: str) -> None:
        turn = self._turn
        if turn is None:
            self._screen.note("not_yet")
            return
        choice, place = find_choice(turn, text)
        if choice is None:
            self._screen.note("expected", "red", n=len(turn.options))
            return
        self._turn, self._asked = None, trio.Event()
        try:
            await self._table.choose(choice, place=place)
        except (ChoiceError, RefusedError) as error:
            self._screen.say(str(error), "red")
            self._turn = turn
            self._asked.set()


def find_choice(turn: YourTurn, text: str) -> tuple[Choice | None, int | None]:
    """Return the option that a line means, by number or move line; `cut 12` also says where."""
    if text.isdigit():
        number = int(text)
        return (turn.options[number - 1] if 1 <= number <= len(turn.options) else None), None
    by_line = {choice.line: choice for choice in turn.options}
    words = " ".join(text.split())
    if words in by_line:
        return by_line[words], None
    kind, _, place = words.partition(" ")
    if kind == "cut" and place.isdigit():
        return by_line.get(kind), int(place)
    return None, None
