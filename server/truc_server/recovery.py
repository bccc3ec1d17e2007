"""Coming back: every table as it was, from the store.

A running match is folded again from its records, with the deals recomputed from the sealed secrets; what the fold and
the secrets disagree on stops that match and nothing else. Where everybody was ready and no match had begun, fresh terms
go out. Invariant: a table keeps its game by the stored rule document, whatever the variants folder says by now.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import structlog

from truc_protocol.checks import CheckError
from truc_protocol.documents import read_document
from truc_protocol.keys import SealError, unseal_at_rest
from truc_protocol.setup import Opts, Setup, close_setup, open_terms
from truc_server.dealer import Dealer
from truc_server.game import RebuildError
from truc_server.house import House, label
from truc_server.identity import IdentityError
from truc_server.lobby import Lobby
from truc_server.match_secrets import MatchSecrets
from truc_server.options import Chosen, choose, played, terms, transcript
from truc_server.peer import Player, RefusedError
from truc_server.seats import Made, Seated
from truc_server.store import (
    KEPT_LINES,
    AddRecord,
    DropSecrets,
    RunningMatch,
    SaveChat,
    SaveSeat,
    SaveTable,
    Store,
)
from truc_server.table import Table

PAGE: Final = 500
_EXPECTED: Final = (CheckError, IdentityError, RebuildError, RefusedError, SealError)

log = structlog.get_logger()


class StoredTable(NamedTuple):
    """A table as it was found, with its newest match and the guests in it, and the newest lines of its chat."""

    row: SaveTable
    seats: tuple[SaveSeat, ...]
    match: RunningMatch | None
    records: tuple[AddRecord, ...]
    guests: Mapping[int, bytes]
    chat: tuple[SaveChat, ...]
    next_line: int


class Stored(NamedTuple):
    """Everything that a start needs from the store."""

    tables: tuple[StoredTable, ...]
    stray: tuple[bytes, ...]


def read(store: Store) -> Stored:
    """Read all tables; blocks."""
    return Stored(tuple(_read_table(store, row) for row in store.tables()), store.stray_secrets())


def _read_table(store: Store, row: SaveTable) -> StoredTable:
    match = None if row.match is None else store.match(row.match)
    records: list[AddRecord] = []
    while match is not None:
        page = store.records(match.mid, first=len(records), limit=PAGE)
        records += page
        if len(page) < PAGE:
            break
    guests = {} if match is None else store.guests(match.mid)
    chat = store.chat(row.code, KEPT_LINES)
    next_line = store.next_line(row.code)
    return StoredTable(row, store.seats(row.code), match, tuple(records), guests, chat, next_line)


def restore(house: House, lobby: Lobby, stored: Stored) -> None:
    """Put every table back into the lobby and let its match go on."""
    if stored.stray:
        house.write(*(DropSecrets(th) for th in stored.stray))
    for found in stored.tables:
        try:
            _restore(house, lobby, found)
        except Exception as error:  # whatever is wrong with one table, the others go on
            log.warning(
                "table_not_restored",
                table=label(found.row.code),
                reason=str(error),
                exc_info=not isinstance(error, _EXPECTED),
            )


def _restore(house: House, lobby: Lobby, found: StoredTable) -> None:
    table = _rebuild(house, lobby, found)
    lobby.add(table)
    try:
        _go_on(table, found.row)
    except Exception:
        table.stop()
        lobby.forget(table)
        raise


def _rebuild(house: House, lobby: Lobby, found: StoredTable) -> Table:
    """Return a table as it was; nothing is done about it yet."""
    row, setup = found.row, _setup(found.match)
    chosen = _chosen(house, row, setup)
    made = Made(row.code, chosen, row.seats, row.options, row.private, row.creator, row.created_ms)
    table = Table(house, made, lobby)
    for seat in found.seats:
        player = Player(seat.kind, seat.player, seat.name)
        table.seats[seat.seat] = Seated(player, seat.ready, seat.x)
    table.chat.restore(found.chat, following=found.next_line)
    if setup is not None and found.match is not None and found.match.sealed is not None:
        secrets = unseal_at_rest(house.identity.at_rest, found.match.sealed, found.match.th)
        key = house.identity.key_of(setup.terms.table.spk)
        dealer = Dealer(key, MatchSecrets.from_bytes(secrets), links=setup.terms.table.links)
        table.game = table.make_game(setup, dealer, found.guests)
        table.game.restore(found.records)
    elif setup is not None:
        table.showing.restore(setup, found.records, found.guests)
    return table


def _chosen(house: House, row: SaveTable, setup: Setup | None) -> Chosen:
    readers = transcript(row.options, house.settings.match.transcript)
    if setup is not None:
        return Chosen(setup.terms.variant, setup.terms.opts, readers)
    defaults = Opts(*house.settings.match.opts())
    if row.document is None:
        return choose(played(house.catalogue, row.variant), row.seats, row.options, defaults, readers)[0]
    return Chosen(read_document(row.document), terms(row.options, row.seats, defaults), readers)


def _setup(match: RunningMatch | None) -> Setup | None:
    if match is None:
        return None
    terms = open_terms(match.document, match.setup[0])
    return close_setup(terms, match.setup[1:-1], match.setup[-1])


def _go_on(table: Table, row: SaveTable) -> None:
    if table.game is None:
        table.reopen()
        return
    table.match = row.match
    table.state = "over" if table.game.is_over and row.state != "playing" else "playing"
    log.info("match_restored", table=label(table.code), k=table.game.ledger.k)
    table.game.drive()
    table.keep()
