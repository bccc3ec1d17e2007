"""A seat at any table: which open table is given to a player who asks for a game and not for a table."""

from collections.abc import Iterable

from truc_server.net.peer import Player
from truc_server.table_data.options import Options
from truc_server.table_data.seats import admits
from truc_server.tables.table import SEATS_MAY_CHANGE, Table


def suitable(
    tables: Iterable[Table], player: Player, *, variant: str, seats: int | None, options: Options
) -> list[Table]:
    """Return the tables that a player may be given, the best first: their own, else the one with the fewest free seats.

    Nobody is given a seat beside people who are all away. Of tables with equally many, the one where more players are
    connected comes first, then the one that has stood longest.
    """
    found = (table for table in tables if _fits(table, variant, seats, options) and _has_room(table, player))
    return sorted(found, key=lambda table: _rank(table, player))


def _fits(table: Table, variant: str, seats: int | None, options: Options) -> bool:
    made = table.made
    same_game = made.chosen.variant.name == variant and made.options == options
    return same_game and not made.private and seats in (None, made.seats)


def _has_room(table: Table, player: Player) -> bool:
    if table.state not in SEATS_MAY_CHANGE:
        return False
    free = None in table.seats and admits(table.seats, player, guests=table.made.chosen.opts.guests)
    return (free and bool(table.audience.online)) or table.seat_of(player) is not None


def _rank(table: Table, player: Player) -> tuple[bool, int, int, int, str]:
    strange = table.seat_of(player) is None
    return strange, table.seats.count(None), -len(table.audience.online), table.made.created_ms, table.code
