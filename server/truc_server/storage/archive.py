"""The matches that are stored, for commands that only read, in small steps while the server runs.

Each read sees one state of the database and ends soon.
Invariant: nothing is written, created or brought up to date.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, Select, select, tuple_

from truc_protocol.codec import dec, unpack
from truc_protocol.records import Record
from truc_server.storage import AddPlayer, DamagedRowError, OwnMatch, PlayerKind, StoredTranscript
from truc_server.storage.engine import open_to_read, reading
from truc_server.storage.schema import match_players, matches, records, tables

MAX_SETUP: Final = 65_536
_PAGE: Final = 100  # matches in one read, which ends before any of them is written out
_MATCHES: Final = select(
    matches.c.mid, matches.c.document, matches.c.seats, matches.c.reason, matches.c.ended_ms
)
_IN_ORDER: Final = (matches.c.ended_ms, matches.c.mid)
_HEX: Final = 64  # digits of a match's id


class ArchivedMatch(NamedTuple):
    """A match in the archive; one without an end is still being played, or was given up."""

    mid: bytes
    document: bytes
    seats: int
    reason: str | None
    ended_ms: int | None


def open_archive(url: str) -> "Archive":
    """Open the database at `url` for reading.

    Raises:
        StoreError: There is none, it cannot be opened, or it is of another version.
    """
    return Archive(open_to_read(url))


class Archive:
    """What is stored of matches."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ended_matches(
        self,
        *,
        since_ms: int | None = None,
        until_ms: int | None = None,
        players: Sequence[bytes] | None = None,
    ) -> Iterator[ArchivedMatch]:
        """Yield the matches that are over, in the order they ended.

        With bounds, only those that ended not before `since_ms`, but before `until_ms`; with `players`, only those they
        have played.
        """
        query = _MATCHES.where(matches.c.ended_ms.is_not(None)).order_by(*_IN_ORDER).limit(_PAGE)
        if since_ms is not None:
            query = query.where(matches.c.ended_ms >= since_ms)
        if until_ms is not None:
            query = query.where(matches.c.ended_ms < until_ms)
        if players is not None:
            played = select(match_players.c.mid).where(match_players.c.player.in_(players))
            query = query.where(matches.c.mid.in_(played))
        # A page is one short read: the server's write-ahead log cannot be emptied as long as one lasts.
        page = self._read(query)
        while page:
            yield from map(ArchivedMatch._make, page)
            last = (page[-1].ended_ms, page[-1].mid)
            page = self._read(query.where(tuple_(*_IN_ORDER) > last))

    def find(self, digits: str) -> tuple[ArchivedMatch, ...]:
        """Return the matches, over or not, whose id begins with these hexadecimal digits."""
        # Between the first and the last id that begin so: the key's own index finds them.
        first, last = (bytes.fromhex(digits.ljust(_HEX, fill)) for fill in "0f")
        return tuple(map(ArchivedMatch._make, self._read(_MATCHES.where(matches.c.mid.between(first, last)))))

    def players_of(self, mid: bytes) -> tuple[AddPlayer, ...]:
        """Return who has had a seat in a match, in seat order."""
        columns = (match_players.c[field] for field in AddPlayer._fields)
        rows = self._read(select(*columns).where(match_players.c.mid == mid).order_by(match_players.c.seat))
        return tuple(AddPlayer._make(row)._replace(kind=PlayerKind(row.kind)) for row in rows)

    def all_players(self) -> tuple[tuple[PlayerKind, bytes], ...]:
        """Return everybody who has played a match that is kept."""
        rows = self._read(select(match_players.c.kind, match_players.c.player).distinct())
        return tuple((PlayerKind(kind), player) for kind, player in rows)

    def setups_under_way(self) -> tuple[tuple[Record, ...], ...]:
        """Return the records before position 0 of each match that has not ended and whose table still stands."""
        query = select(matches.c.setup).join(tables, tables.c.code == matches.c.table)
        with reading(self._engine) as connection:
            setups = connection.execute(query.where(matches.c.ended_ms.is_(None))).scalars()
            return tuple(map(unpack_setup, setups))

    def transcript(self, mid: bytes) -> StoredTranscript | None:
        """Return the whole transcript of a match, or None if it is gone."""
        columns = (records.c.signer, records.c.body, records.c.sig)
        with reading(self._engine) as connection:
            found = connection.execute(
                select(matches.c.document, matches.c.setup).where(matches.c.mid == mid)
            ).first()
            if found is None:
                return None
            rows = connection.execute(select(*columns).where(records.c.mid == mid).order_by(records.c.k))
            return StoredTranscript(found.document, unpack_setup(found.setup), tuple(map(Record._make, rows)))

    def close(self) -> None:
        """Release the database."""
        self._engine.dispose()

    def _read(self, query: Select[*tuple[Any, ...]]) -> Sequence[Any]:
        with reading(self._engine) as connection:
            return connection.execute(query).all()


def unpack_setup(packed: bytes) -> tuple[Record, ...]:
    """Return the records before position 0, as they are stored in a match.

    Raises:
        DamagedRowError: They are not as they were written.
    """
    try:
        return tuple(Record._make(record) for record in dec(packed, MAX_SETUP))
    except (TypeError, ValueError) as error:
        raise DamagedRowError("a row is not as it was written: expected records in matches.setup") from error


def unpack_means(packed: bytes) -> tuple[dict[str, Any], ...]:
    """Return what a record means, as it is stored with the record.

    Raises:
        DamagedRowError: It is not as it was written.
    """
    try:
        return tuple(map(dict, unpack(packed)["means"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedRowError("a row is not as it was written: expected facts in records.means") from error


def matches_of(
    connection: Connection, player: bytes, *, after: bytes | None, limit: int
) -> tuple[OwnMatch, ...] | None:
    """Return the newest matches a player has had a seat in, or those before `after`; None if that is not theirs."""
    played = match_players.c
    columns = (played[field] if field in played else matches.c[field] for field in OwnMatch._fields)
    in_order, own = (played.since_ms, played.mid), played.player == player
    page = select(*columns).join(matches, matches.c.mid == played.mid).where(own)
    if after is not None:
        since_ms = connection.execute(select(played.since_ms).where(own, played.mid == after)).scalar()
        if since_ms is None:
            return None
        # By time and id: of matches that began together a page may have some and the next one the rest.
        page = page.where(tuple_(*in_order) < (since_ms, after))
    newest_first = page.order_by(*(column.desc() for column in in_order)).limit(limit)
    rows = connection.execute(newest_first)
    return tuple(OwnMatch._make(row)._replace(setup=unpack_setup(row.setup)) for row in rows)
