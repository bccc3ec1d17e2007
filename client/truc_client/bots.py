"""Bots: players that choose from the options alone, with no knowledge of the rules.

A bot is a client like any other, with its own key; the server cannot tell it from a person.
"""

import random
from collections.abc import Callable, Collection
from contextlib import suppress
from math import inf
from typing import Final, NamedTuple

import trio

from truc_client.errors import ChoiceError, RefusedError
from truc_client.happenings import (
    Fact,
    Happening,
    MatchContinued,
    MatchEnded,
    MoveChoice,
    PresenceChanged,
    RecordSeen,
    Resumed,
    SeatLost,
    TableGone,
    YourTurn,
)
from truc_client.table import Table
from truc_protocol.errors import Code

_PATIENCE_FACTOR: Final = 3
"""How many times the longest time seen a partner is given."""


class Partners:
    """Whom a match waits for, and how long each was seen to take; `limit_s` is the longest wait for a partner."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._slowest: dict[int, float] = {}
        self._away: set[int] = set()
        self._since = 0.0
        self.waiting: tuple[int, ...] = ()

    def see(self, happening: Happening, now: float) -> None:
        """Note what has happened at a time in seconds."""
        match happening:
            case RecordSeen(means=means) | MatchContinued(means=means):
                self._wait_for(means[-1] if means else {}, now)
            case PresenceChanged(seat, online):
                (self._away.discard if online else self._away.add)(seat)
            case Resumed():
                self._slowest.clear()  # the missing records came at once, which says nothing about the time taken
            case _:
                pass

    def _wait_for(self, state: Fact, now: float) -> None:
        if len(self.waiting) == 1:
            (seat,) = self.waiting
            self._slowest[seat] = max(now - self._since, self._slowest.get(seat, 0.0))
        self.waiting, self._since = state.get("waiting", ()), now

    def shares_decision(self, own: int | None, others: Collection[int]) -> bool:
        """Tell whether the decision of a seat is as much that of others.

        While a flor may have to be declared, the record before tells of the first who might; who is asked is another.
        """
        is_meant = own is None or own in self.waiting
        return is_meant and not set(others).isdisjoint(self.waiting)

    def wait_s(self, own: int, deadline_ms: int | None) -> float:
        """Return how long to wait for the partners of a seat now, at most half of the time left."""
        # rules.md 1.1: sides alternate
        partners = {seat for seat in self.waiting if seat != own and seat % 2 == own % 2} - self._away
        wanted = max((_PATIENCE_FACTOR * self._slowest.get(seat, inf) for seat in partners), default=0.0)
        return min(wanted, self._limit_s, inf if deadline_ms is None else deadline_ms / 2000)


Chooser = Callable[[YourTurn], MoveChoice]
"""What a bot is: it chooses one of the options of a turn. It may take its time, as it is called in a thread."""

_RELUCTANT: Final = ("concede", "redeal", "order", "claim", "cover", "flor-fold", "good")
_BOLD: Final = ("raise",)
_RELUCTANCE: Final = 0.03
_BOLDNESS: Final = 0.15

_GIVING_UP: Final = ("concede", "decline", "claim", "flor-fold", "good", "silent", "redeal")
_ASKS_FIRST: Final = 0.1


def careless(seed: int) -> Chooser:
    """Return a chooser that takes any option at random; the same seed chooses the same."""
    dice = random.Random(seed)
    return lambda turn: dice.choice(turn.options)


def careful(seed: int) -> Chooser:
    """Return a chooser that gives nothing up, seldom asks first, and answers an ask with a higher one where it can.

    It knows neither its cards nor the rules; the same seed chooses the same.
    """
    dice = random.Random(seed)

    def choose(turn: YourTurn) -> MoveChoice:
        willing = [choice for choice in turn.options if choice.kind not in _GIVING_UP] or [*turn.options]
        asks = [choice for choice in willing if _asks(choice)]
        others = [choice for choice in willing if choice not in asks]
        is_asked = any(choice.kind == "accept" for choice in turn.options)
        wants_more = bool(asks) and (is_asked or not others or dice.random() < _ASKS_FIRST)
        return dice.choice(asks if wants_more else others)

    return choose


def _asks(choice: MoveChoice) -> bool:
    """Tell whether a choice raises what is played for: together with a card, in a call, or by itself."""
    return "declined" in choice.hints


def simple_bot(seed: int) -> Chooser:
    """Return a chooser that mostly plays, sometimes asks, and seldom gives up; the same seed chooses the same."""
    dice = random.Random(seed)

    def choose(turn: YourTurn) -> MoveChoice:
        weights = [_weight(choice) for choice in turn.options]
        return dice.choices(turn.options, weights)[0]

    return choose


def _weight(choice: MoveChoice) -> float:
    if choice.kind in _RELUCTANT:
        return _RELUCTANCE
    asks = choice.kind in _BOLD or choice.line.partition(" raise ")[1]
    return _BOLDNESS if asks else 1.0


async def play_match(
    table: Table,
    choose: Chooser,
    show: Callable[[Happening], None] = lambda _happening: None,
    *,
    leave_to: Collection[int] = (),
    patience_s: float = 0.0,
) -> MatchEnded | None:
    """Play at a table until a match has ended; None if the table or the seat was lost. `show` sees what happens.

    Where another seat asks for a pause, or for its end, this one asks too. A decision that also waits for a seat in
    `leave_to`, such as the answer of a side, is left to that seat. To other partners it is left for as long as they
    may need, at most `patience_s`.
    """
    partners, put_off = Partners(patience_s), None
    while (happening := await _next(table, put_off)) is not None:
        if isinstance(happening, _PutOff):
            put_off = None
            await _decide(table, choose, happening.turn)
            continue
        show(happening)
        partners.see(happening, trio.current_time())
        match happening:
            case YourTurn(must=True) if not partners.shares_decision(table.seat, leave_to):
                put_off = _put_off(happening, table.seat, partners)
                if put_off is None:
                    await _decide(table, choose, happening)
            case RecordSeen():
                put_off = None
                await _join_in(table)
            case MatchEnded():
                return happening
            case TableGone() | SeatLost():
                return None
            case _:
                pass
    return None


class _PutOff(NamedTuple):
    """A decision that is left to a partner until some time."""

    turn: YourTurn
    until: float


def _put_off(turn: YourTurn, seat: int | None, partners: Partners) -> _PutOff | None:
    wait_s = 0.0 if seat is None else partners.wait_s(seat, turn.deadline_ms)
    return _PutOff(turn, trio.current_time() + wait_s) if wait_s else None


async def _next(table: Table, put_off: _PutOff | None) -> Happening | _PutOff | None:
    """Return what happens next, or the put-off decision once its time has come; None at the end of the table."""
    with trio.move_on_at(inf if put_off is None else put_off.until):
        return await anext(table, None)
    return put_off


async def _decide(table: Table, choose: Chooser, turn: YourTurn) -> None:
    """Choose an option; a refusal with a code that is not known is passed over."""
    choice = await trio.to_thread.run_sync(choose, turn)
    try:
        await table.choose(choice)
    except RefusedError as error:
        # it says only that the choice was not taken: new options follow
        if error.code in set(Code):
            raise


async def _join_in(table: Table) -> None:
    """Ask for a pause, or for its end, if another seat has."""
    if table.match is None or table.seat is None:
        return
    pause = table.match.ledger.pause
    if not pause.asked or table.seat in pause.asked:
        return
    with suppress(ChoiceError, RefusedError):  # it may come too late, or this seat has had its pause
        await (table.unpause() if pause.active else table.pause())
