"""Which table a player who seeks a seat is given: the same order for tables here and at other nodes."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from truc_protocol.messages import Seek
from truc_server.net.peer import LoggedInPlayer
from truc_server.tables.table import Table

_AnyTable = TypeVar("_AnyTable")


class SeatOffer(NamedTuple):
    """What a table has for a player: whether they sit there, or may; its free seats, who is connected, when it was made."""

    is_own: bool
    is_admitted: bool
    free: int
    online: int
    created_ms: int


def best_first(tables: Iterable[_AnyTable], offer: Callable[[_AnyTable], SeatOffer]) -> list[_AnyTable]:
    """Return the tables that a player may be given, best first, then in the order of `tables`.

    A table where they sit comes first, then the one with the fewest free seats; of those, the one where more players
    are connected, then the oldest. Nobody is given a seat among people who are all away.
    """
    found: list[tuple[tuple[int, ...], _AnyTable]] = []
    for table in tables:
        is_own, is_admitted, free, online, created_ms = offer(table)
        if is_own or (is_admitted and free and online):
            found.append(((not is_own, free, -online, created_ms), table))
    return [table for _, table in sorted(found, key=lambda ranked: ranked[0])]


def suitable(tables: Iterable[Table], player: LoggedInPlayer, wanted: Seek) -> list[Table]:
    """Return the public tables here that a player may be given, best first, then in the order of `tables`."""
    meant = (table for table in tables if _is_meant(table, wanted))
    return best_first(meant, lambda table: _offer(table, player))


def _is_meant(table: Table, wanted: Seek) -> bool:
    blueprint = table.blueprint
    # lobby.md, "A quick seat": exactly these options; whoever names none wants none.
    same_game = blueprint.chosen.variant.name == wanted.variant and blueprint.options == wanted.options
    is_open = table.board.may_change and not blueprint.private
    return same_game and is_open and wanted.seats in (None, blueprint.seats)


def _offer(table: Table, player: LoggedInPlayer) -> SeatOffer:
    return SeatOffer(
        is_own=table.board.seat_of(player) is not None,
        is_admitted=table.board.admits(player),
        free=table.board.seats.count(None),
        online=len(table.audience.online),
        created_ms=table.blueprint.created_ms,
    )
