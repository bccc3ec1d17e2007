"""Standing by at a table: what a person is shown before taking over a vacant seat, and how a bot looks for one."""

from typing import Final, Never

import trio

from truc_client.connection import Connection
from truc_client.errors import ClientError, NotPlayedError, RefusedError
from truc_client.happenings import (
    Interrupted,
    MatchEnded,
    MatchStarted,
    Recalled,
    RecordSeen,
    Resumed,
    SeatTakenOver,
    TableChanged,
    TableClosed,
)
from truc_client.table import Table
from truc_protocol.errors import Code
from truc_protocol.messages import TableState
from truc_protocol.setup import read_opts
from truc_terminal.commands.common import asked
from truc_terminal.screen.person import Lines
from truc_terminal.screen.screen import Screen
from truc_words import Sentence, shown_name

_LOOK_S: Final = 3.0


def vacant_seats(state: TableState) -> tuple[int, ...]:
    """Return the seats of a table that may be taken over in the middle of a match."""
    return tuple(seat.seat for seat in state.seats if seat.vacant)


async def look_on(table: Table, screen: Screen) -> bool:
    """Follow a table just joined until it is clear whether a match there waits for this player to step in."""
    async for happening in table:
        match happening:
            case TableChanged(state) if state.state != "playing":
                screen.show(happening)
                return False
            case MatchStarted():
                screen.show(happening)
            case RecordSeen(means=means):
                screen.show(Recalled(means))  # silently: the standing is shown at the end
            case Resumed():
                return table.stands_by
            case _:
                pass
    return False


async def agrees_to_step_in(table: Table, screen: Screen, lines: Lines) -> bool | None:
    """Show the terms and the score of a match, and ask whether to take over the seat; None at the end of the input.

    Raises:
        ClientError: The seat was no longer available before there was an answer.
    """
    state = table.state
    if state is None or table.seat is None:
        return False
    show_terms(table, screen)
    screen.show_standing()
    name = shown_name(state.seats[table.seat].name or "", table.seat)
    agreed, failure = None, None
    async with trio.open_nursery() as nursery:

        async def follow() -> None:
            nonlocal failure
            try:
                await _look_on_meanwhile(table, screen)
            except ClientError as error:
                failure = error
            nursery.cancel_scope.cancel()

        nursery.start_soon(follow)
        agreed = await asked(screen, lines, "step_in", default=False, name=name, table=table.code)
        nursery.cancel_scope.cancel()
    if failure is not None:
        table.close()
        raise failure
    return agreed


async def _look_on_meanwhile(table: Table, screen: Screen) -> Never:
    """Follow a match silently as long as a substitute is wanted there; then raise the reason why not."""
    async for happening in table:
        match happening:
            case RecordSeen(means=means):
                screen.show(Recalled(means))
            case Interrupted() | Resumed() | TableClosed():
                screen.show(happening)
            case SeatTakenOver() | MatchEnded():
                break
            case _:
                pass
    raise NotPlayedError(Sentence("failures.no_longer_vacant"))


def show_terms(table: Table, screen: Screen) -> None:
    """Show what `ready` agrees to: the game and every term, by the names of the table options."""
    state = table.state
    if state is None:
        return
    terms = read_opts(state.opts)._asdict()
    chosen = {"game": state.variant, "seats": state.n, **terms, **state.options}
    screen.note("table_options", options=", ".join(f"{name}={value}" for name, value in chosen.items()))


async def wanted(connection: Connection, variant: str | None, seats: int | None) -> tuple[str, ...]:
    """Return the codes of the public tables that want a substitute and fit the request."""
    found = await connection.tables(variant)
    return tuple(state.table for state in found if vacant_seats(state) and seats in (None, state.n))


async def find_vacant(connection: Connection, code: str | None) -> Table:
    """Wait until a public table wants a substitute, and agree to be one; with `code`, only at that table.

    Raises:
        RefusedError: There is no such table.
    """
    while True:
        for state in await _shown(connection, code):
            for seat in vacant_seats(state):
                table = await stand_by(connection, state.table, seat)
                if table is not None:
                    return table
        await trio.sleep(_LOOK_S)


async def _shown(connection: Connection, code: str | None) -> tuple[TableState, ...]:
    """Return every public table, or the one with a code, which may be private."""
    if code is None:
        return await connection.tables()
    preview = await connection.preview(code)
    if preview.refused is not None and preview.refused.code == Code.NO_SUCH_TABLE:
        raise preview.refused
    if preview.state is not None:
        return (preview.state,)
    return tuple(state for state in await connection.tables() if state.table == code)


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
    return state.state in ("open", "over") and all(each.kind == "empty" for each in others)


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
