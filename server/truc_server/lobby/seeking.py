"""Which table a player who seeks a seat is given: the same order for tables here and at other nodes."""

from collections.abc import Iterable
from typing import NamedTuple

from truc_server.net.peer import LoggedInPlayer
from truc_server.table_data.options import ChosenOptions
from truc_server.tables.table import Table


class Fit(NamedTuple):
    """How well a table suits a player: the smallest fits best.

    A table where they sit comes first, then the one with the fewest free seats; of those, the one where more players
    are connected, then the oldest.
    """

    is_not_own: bool
    free: int
    minus_online: int
    created_ms: int

    @classmethod
    def of(cls, *, is_own: bool, free: int, online: int, created_ms: int) -> "Fit":
        """Return how well a table suits a player who has a seat there or not, with so many free and so many connected."""
        return cls(not is_own, free, -online, created_ms)


def suitable(
    tables: Iterable[Table],
    player: LoggedInPlayer,
    *,
    variant: str,
    seats: int | None,
    options: ChosenOptions,
) -> list[Table]:
    """Return the tables here that a player may be given, best first, then in the order of `tables`.

    Nobody is given a seat among people who are all away.
    """
    found = (table for table in tables if _fits(table, variant, seats, options) and _has_room(table, player))
    return sorted(found, key=lambda table: _fit(table, player))


def _fits(table: Table, variant: str, seats: int | None, options: ChosenOptions) -> bool:
    blueprint = table.blueprint
    # lobby.md, "A quick seat": exactly these options; whoever names none wants none.
    same_game = blueprint.chosen.variant.name == variant and blueprint.options == options
    return same_game and not blueprint.private and seats in (None, blueprint.seats)


def _has_room(table: Table, player: LoggedInPlayer) -> bool:
    if not table.board.may_change:
        return False
    free = None in table.board.seats and table.board.admits(player)
    return (free and bool(table.audience.online)) or table.board.seat_of(player) is not None


def _fit(table: Table, player: LoggedInPlayer) -> Fit:
    return Fit.of(
        is_own=table.board.seat_of(player) is not None,
        free=table.board.seats.count(None),
        online=len(table.audience.online),
        created_ms=table.blueprint.created_ms,
    )
