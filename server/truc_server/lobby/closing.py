"""A table that the host closes: a match under way ends first, by the server's ruling and without a winner.

Invariant: nothing is signed in a match that is held, not even its end.
"""

from functools import partial
from typing import Final

from truc_server.house import House
from truc_server.lobby.lobby import Lobby
from truc_server.tables.giving_up import give_up
from truc_server.tables.table import Table

ACKS_S: Final = 2.0  # for the players to acknowledge the end of their match


def close_for_host(house: House, lobby: Lobby, table: Table) -> bool:
    """Close a table; False if it closes in a moment, after the end of its match."""
    if table not in lobby.tables():
        return True
    table.drop_terms()
    game = table.game
    if table.state != "playing" or game is None:
        table.close("server")
        return True
    if game.hold.is_on:
        give_up(house, table, game, why="the host has closed the table")
        return True
    table.abandon()
    house.timers.after(ACKS_S, partial(close_for_host, house, lobby, table))
    return False
