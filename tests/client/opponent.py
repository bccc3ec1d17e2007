"""Somebody at the other side of a table, in a thread of the test, who plays as the test says."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Event, Thread
from typing import Self

import trio

from truc_client import MatchEnded, MoveChoice, Player, RecordSeen, Table, YourTurn, connect, open_home

Manner = Callable[[YourTurn], MoveChoice | None]


def quiet(turn: YourTurn) -> MoveChoice:
    """Accept, else play, else do what comes first."""
    return next(
        (it for kind in ("accept", "play") for it in turn.options if it.kind == kind), turn.options[0]
    )


def bold(turn: YourTurn) -> MoveChoice:
    """Ask for more where that may be."""
    return next((it for it in turn.options if it.kind in ("envido", "raise")), quiet(turn))


def still(_turn: YourTurn) -> None:
    """Let the other wait."""


class Opponent:
    """A player with a key, who sits at one table to the end of the block, and does nothing until told."""

    def __init__(self, url: str, home: Path, code: str) -> None:
        self._place = url, Player(open_home(home), "south"), code
        self._sits = Event()
        self._manner: Manner = still
        self._turn: YourTurn | None = None
        self._thread = Thread(target=trio.run, args=(self._run,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._sits.wait(30)
        return self

    def __exit__(self, *_exception: object) -> None:
        self._token.run_sync_soon(self._scope.cancel)
        self._thread.join(30)

    def plays(self, manner: Manner) -> None:
        """Play like this from now on."""
        trio.from_thread.run_sync(self._take, manner, trio_token=self._token)

    def does(self, deed: Callable[[Table], Awaitable[None]]) -> None:
        """Do something now; returns when the server has it."""
        trio.from_thread.run(deed, self._table, trio_token=self._token)

    def _take(self, manner: Manner) -> None:
        self._manner = manner
        self._news.set()

    async def _run(self) -> None:
        url, player, code = self._place
        self._token, self._news = trio.lowlevel.current_trio_token(), trio.Event()
        with trio.CancelScope() as self._scope:
            async with connect(url, player) as connection:
                self._table = await connection.join(code)
                await self._table.ready()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._decide)
                    self._sits.set()
                    await self._follow()

    async def _follow(self) -> None:
        async for happening in self._table:
            match happening:
                case YourTurn(must=True):
                    self._turn = happening
                case RecordSeen(k=k) if self._turn is not None and k >= self._turn.at:
                    self._turn = None
                case MatchEnded():
                    await self._table.ready()
            self._news.set()

    async def _decide(self) -> None:
        while True:
            await self._news.wait()
            self._news = trio.Event()
            choice = None if self._turn is None else self._manner(self._turn)
            if choice is not None:
                self._turn = None
                await self._table.choose(choice)
