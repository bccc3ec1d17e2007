"""Standing by at a table: what a person is shown before they take a vacant seat over, and how a bot looks for one."""

from typing import Final

import trio

from truc_client.connection import Connection
from truc_client.errors import RefusedError
from truc_client.happenings import MatchStarted, Recalled, RecordSeen, Resumed, TableChanged
from truc_client.person import Lines
from truc_client.screen import Screen
from truc_client.table import Table
from truc_protocol.messages import TableState
from truc_protocol.setup import read_opts
from truc_protocol.words import shown_name

YES: Final = ("y", "yes")
_LOOK_S: Final = 3.0


def vacant_seats(state: TableState) -> tuple[int, ...]:
    """Return the seats of a table that somebody may take over in the middle of a match."""
    return tuple(seat.seat for seat in state.seats if seat.vacant)


async def look_on(table: Table, screen: Screen) -> bool:
    """Follow a table that was just joined until it is known whether a match waits there for this player to step in."""
    async for happening in table:
        match happening:
            case TableChanged(state) if state.state != "playing":
                screen.show(happening)
                return False
            case MatchStarted():
                screen.show(happening)
            case RecordSeen(means=means):
                screen.show(Recalled(means))  # silently: how it stands is shown in the end
            case Resumed():
                return table.stands_by
            case _:
                pass
    return False


async def agrees_to_step_in(table: Table, screen: Screen, lines: Lines) -> bool:
    """Show the terms and the score of a match, and ask whether to take the vacant seat over."""
    state = table.state
    if state is None or table.seat is None:
        return False
    screen.note("table_options", options=_terms(state))
    screen.show_standing()
    name = shown_name(state.seats[table.seat].name or "", table.seat)
    screen.note("step_in", "bold", name=name, table=table.code)
    answer = await lines.receive()
    return answer.text is not None and answer.text.lower() in YES


def _terms(state: TableState) -> str:
    opts = read_opts(state.opts)
    times = {"decision_ms": opts.decision_ms, "bank_ms": opts.bank_ms}
    chosen = {"game": state.variant, "seats": state.n, **times, **state.options}
    return ", ".join(f"{name}={value}" for name, value in chosen.items())


async def find_vacant(connection: Connection, code: str | None) -> Table:
    """Wait until a public table wants a substitute, and agree to be one; with `code` at that table alone."""
    while True:
        for state in await connection.tables():
            for seat in vacant_seats(state):
                if code in (None, state.table):
                    table = await _stand_by(connection, state.table, seat)
                    if table is not None:
                        return table
        await trio.sleep(_LOOK_S)


async def _stand_by(connection: Connection, code: str, seat: int) -> Table | None:
    try:
        table = await connection.join(code, seat)
    except RefusedError:
        return None  # somebody was quicker, or this player has been in that match before
    await table.ready()
    return table
