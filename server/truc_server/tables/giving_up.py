"""A match that was held and cannot go on: its table is closed, and nothing more is signed in it.

Players have seen records of it that are not in the backup, or one of them has not come back to say. What they have of it
stays as it is: the longest of their transcripts is the match.
"""

from typing import Final

import structlog

from truc_server.house import House, label, now_ms
from truc_server.matches.game import Game
from truc_server.store import EndMatch
from truc_server.tables.table import Table

GIVEN_UP: Final = "given_up"  # in the place of the reason that a record `end` would give

log = structlog.get_logger()


def give_up(house: House, table: Table, game: Game, *, why: str) -> None:
    """Close the table of a match that is held."""
    log.warning("match_given_up", table=label(table.code), match=game.mid.hex(), k=game.ledger.k, why=why)
    house.write(EndMatch(game.mid, GIVEN_UP, now_ms()))
    table.close("server")
    game.hold.end()
