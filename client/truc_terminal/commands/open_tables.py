"""Which tables of a server have a seat to take: free ones, and vacant ones of a match that has lost a player."""

from truc_client.connection import Connection
from truc_protocol.messages import TableState

WAITING: frozenset[str] = frozenset({"open", "over"})
"""The states of a table where no match is on."""


def has_free_seat(state: TableState) -> bool:
    """Tell whether somebody may still sit down at a table."""
    return any(seat.kind == "empty" for seat in state.seats)


def vacant_seats(state: TableState) -> tuple[int, ...]:
    """Return the seats of a table that may be taken over in the middle of a match."""
    return tuple(seat.seat for seat in state.seats if seat.vacant)


def has_seat(state: TableState) -> bool:
    """Tell whether somebody can sit down at a table now, or step in there."""
    is_open = state.state in WAITING and has_free_seat(state)
    return is_open or bool(vacant_seats(state))


def taken_seats(state: TableState) -> int:
    """Return how many seats of a table are taken."""
    return sum(seat.kind != "empty" for seat in state.seats)


async def tables_at(
    connection: Connection, code: str | None, variant: str | None = None
) -> tuple[TableState, ...]:
    """Return the public tables, of one game or of all; with a code only that table, which may be private.

    Raises:
        RefusedError: The table with that code is not shown.
    """
    if code is None:
        return await connection.tables(variant)
    preview = await connection.preview(code)
    if preview.state is not None:
        return (preview.state,)
    public = tuple(state for state in await connection.tables() if state.table == code)
    if not public and preview.refused is not None:
        raise preview.refused
    return public
