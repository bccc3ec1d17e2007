"""A match that was held and cannot go on: its table is closed, and nothing more is signed in it.

A player has seen records of it that are not in the backup, or has not come back to say. What the players have of it
stays as it is: the longest of their transcripts is the match.
"""

from typing import Final

import structlog

from truc_server.house import House
from truc_server.matches.game import Game
from truc_server.storage import EndMatch
from truc_server.table_data.codes import label
from truc_server.tables.table import Table
from truc_server.timing.clock import now_ms

GIVEN_UP: Final = "given_up"  # in place of the reason that a record `end` would give

log = structlog.get_logger()


def give_up(house: House, table: Table, game: Game, *, why: str) -> None:
    """Close the table of a match that is held."""
    log.warning("match_given_up", table=label(table.code), match=game.mid.hex(), k=game.ledger.k, why=why)
    house.write(EndMatch(game.mid, GIVEN_UP, now_ms()))
    table.close("server")
    game.hold.end()
