"""The matches of a player, as one statement: the newest first, page by page.

Invariant: a page costs the same however many matches there are.
"""

from typing import Final

from sqlalchemy import Connection, bindparam, select, tuple_

from truc_server.storage.archive import unpack_setup
from truc_server.storage.schema import match_players, matches
from truc_server.storage.writes import OwnMatch

_WHOSE: Final = match_players.c.player == bindparam("whose")
_IN_ORDER: Final = (match_players.c.since_ms, match_players.c.mid)
_PAGE: Final = (
    select(
        match_players.c.mid,
        match_players.c.seat,
        match_players.c.since_ms,
        matches.c.document,
        matches.c.setup,
        matches.c.reason,
        matches.c.ended_ms,
    )
    .join(matches, matches.c.mid == match_players.c.mid)
    .where(_WHOSE)
    .order_by(*(column.desc() for column in _IN_ORDER))
    .limit(bindparam("wanted"))
)
_PLACE: Final = select(match_players.c.since_ms).where(_WHOSE, match_players.c.mid == bindparam("last"))


def played(
    connection: Connection, player: bytes, *, after: bytes | None, limit: int
) -> tuple[OwnMatch, ...] | None:
    """Return the newest matches a player has had a seat in, or those before `after`; None if that is not theirs."""
    page, values = _PAGE, {"whose": player, "wanted": limit}
    if after is not None:
        since_ms = connection.execute(_PLACE, {"whose": player, "last": after}).scalar()
        if since_ms is None:
            return None
        page = page.where(tuple_(*_IN_ORDER) < (since_ms, after))
    rows = connection.execute(page, values)
    return tuple(OwnMatch._make(row)._replace(setup=unpack_setup(row.setup)) for row in rows)
