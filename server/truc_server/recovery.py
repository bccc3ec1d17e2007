"""Coming back: every table as it was, from the store.

A running match is folded again from its records, with the deals recomputed from the sealed secrets; if the fold and the
secrets disagree, that match stops and nothing else does. A match under way in a restored backup is held until every seat
has been heard (matches/restore_hold.py). Terms that were out are out again, with what was signed; if they cannot be, fresh
ones are. Invariant: a table keeps its game by the stored rule document, whatever the variants folder says now.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

import structlog
import trio

from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import SealError, unseal_at_rest
from truc_protocol.dealer import Dealer
from truc_protocol.documents import read_document
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.setup import MatchSetup, close_setup, open_terms
from truc_server.identity.key_files import IdentityError
from truc_server.matches.game import Game, RebuildError
from truc_server.net.peer import LoggedInPlayer, RefusedRequestError
from truc_server.parts import ServerParts
from truc_server.settings.settings import MatchDefaults
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage import (
    KEPT_CHAT_LINES,
    AddRecord,
    AddWish,
    DamagedRowError,
    DropSecrets,
    RunningMatch,
    SaveChat,
    SaveSeat,
    SaveTable,
    StoredTerms,
)
from truc_server.storage.backups import Restored
from truc_server.storage.sql import Store
from truc_server.table_data.board import Blueprint, Lineup, Seated
from truc_server.table_data.codes import label
from truc_server.table_data.options import (
    ChosenGame,
    choose,
    chosen_terms,
    offered_game,
    raised_to_least,
    with_kept_options,
    wrong_seats,
)
from truc_server.tables.pending_terms import PendingTerms, restored_terms
from truc_server.tables.table import Table
from truc_server.timing.clock import Alarm

PAGE: Final = 500
# What may be wrong with stored data, or with the keys at hand: the log has it without a traceback.
_EXPECTED: Final = (CheckError, IdentityError, RebuildError, RefusedRequestError, SealError)

Found = TypeVar("Found")

log = structlog.get_logger()


class StoredTable(NamedTuple):
    """A table as it was found, with its newest match and the guests in it, and the newest lines of its chat."""

    row: SaveTable
    seats: tuple[SaveSeat, ...]
    match: RunningMatch | None
    records: tuple[AddRecord, ...]
    wishes: tuple[AddWish, ...]
    guests: Mapping[int, bytes]
    chat: tuple[SaveChat, ...]
    next_line: int
    terms: StoredTerms | None


class StoredState(NamedTuple):
    """Everything a start needs from the store; of tables that cannot be read, only the codes.

    The tables were claimed under `epoch`. For `late_s` after this a player may still be on a connection to a node that is
    gone, and not know it.
    """

    tables: tuple[StoredTable, ...]
    stray: tuple[bytes, ...]
    epoch: int
    ignoring: frozenset[bytes] = frozenset()
    unreadable: tuple[str, ...] = ()
    restored: Restored = Restored()
    late_s: float = 0.0


def read(store: Store, restored: Restored, epoch: int, *, codes: Sequence[str] | None = None) -> StoredState:
    """Read all tables, or those with these codes, claimed under an epoch; what was `restored` from a backup goes along; blocks."""
    codes = store.table_codes() if codes is None else codes
    tables = tuple(_readable(store, codes))
    unreadable = set(codes) - {found.row.code for found in tables}
    stray, ignoring = _or_none(store.stray_secrets), frozenset(_or_none(store.ignoring))
    return StoredState(tables, tuple(stray), epoch, ignoring, tuple(sorted(unreadable)), restored)


def _or_none(read: Callable[[], Collection[Found]]) -> Collection[Found]:
    """Return what is read; nothing if a row of it is damaged, for which no match should be lost."""
    try:
        return read()
    except DamagedRowError as error:
        log.warning("row_not_read", reason=str(error))
        return ()


def _readable(store: Store, codes: Sequence[str]) -> Iterator[StoredTable]:
    """Read the tables one by one, leaving out those whose rows are not as they were written."""
    for code in codes:
        try:
            yield _read_table(store, code)
        except (DamagedRowError, RebuildError, TypeError, ValueError) as error:
            log.warning("table_not_restored", table=label(code), reason=str(error))


def _read_table(store: Store, code: str) -> StoredTable:
    row = store.table(code)
    if row is None:
        raise RebuildError("expected its row under this code in tables, found none")
    match = None if row.match is None else store.match(row.match)
    records: list[AddRecord] = []
    while match is not None:
        page = store.records(match.mid, first=len(records), limit=PAGE)
        records += page
        if len(page) < PAGE:
            break
    wishes = () if match is None else store.wishes(match.mid)
    guests = {} if match is None else store.guests(match.mid)
    chat = tuple(_or_none(partial(store.chat, row.code, KEPT_CHAT_LINES)))
    next_line = store.next_line(row.code)
    terms = store.terms(row.code) if row.state == "terms" else None
    seats = store.seats(row.code)
    return StoredTable(row, seats, match, tuple(records), wishes, guests, chat, next_line, terms)


def restore(parts: ServerParts, stored: StoredState) -> None:
    """Put every table back into the lobby and let its match go on."""
    if stored.stray:
        parts.journal.write(*(DropSecrets(th) for th in stored.stray))
    # what is stored of them stays, to be looked into: no new table may have one of these codes
    parts.lobby.withhold(*stored.unreadable)
    parts.lobby.online.ignoring |= stored.ignoring
    for found in stored.tables:
        try:
            _restore(parts, found, stored)
        except Exception as error:  # whatever is wrong with one table, the others go on
            log.warning(
                "table_not_restored",
                table=label(found.row.code),
                reason=str(error),
                exc_info=not isinstance(error, _EXPECTED),
            )
            parts.lobby.withhold(found.row.code)


def _restore(parts: ServerParts, found: StoredTable, stored: StoredState) -> None:
    table = _rebuild(parts, found, epoch=stored.epoch)
    # before its match goes on, which is told to the lobby
    parts.lobby.add(table)
    try:
        _go_on(parts, table, found, stored)
    except Exception:
        table.stop()
        parts.lobby.forget(table)
        raise


def _rebuild(parts: ServerParts, found: StoredTable, *, epoch: int) -> Table:
    """Return a table as it was, with nothing started yet."""
    row, setup = found.row._replace(options=raised_to_least(found.row.options)), _setup(found.match)
    chosen = _chosen(parts.settings.now.match, parts.catalogue, row, setup)
    _check(found, chosen)
    blueprint = Blueprint(row.code, chosen, row.seats, row.options, row.private, row.creator, row.created_ms)
    table = Table(parts, blueprint, parts.lobby, epoch=epoch)
    for seat in found.seats:
        player = LoggedInPlayer(seat.kind, seat.player, seat.name)
        table.board.seats[seat.seat] = Seated(player, seat.ready, seat.x)
    table.chat.restore(found.chat, following=found.next_line)
    if setup is not None and found.match is not None and found.match.sealed is not None:
        secrets = unseal_at_rest(parts.identity.at_rest, found.match.sealed, found.match.th)
        # a match keeps the key it began with, also after the server has changed it
        key = parts.identity.key_of(setup.terms.table.spk)
        dealer = Dealer(key, MatchSecrets.from_bytes(secrets), links=setup.terms.table.links)
        game = table.open_game(Lineup(setup, found.guests), dealer)
        table.restore(game, found.records, found.wishes)
    elif setup is not None:
        # no secrets are left: it is over, and its end may still be shown late
        table.feed.restore(Lineup(setup, found.guests), found.records)
    return table


def _check(found: StoredTable, chosen: ChosenGame) -> None:
    """Check that the rows of a table fit together.

    Raises:
        RefusedRequestError: Its game has no such number of seats.
        RebuildError: Somebody sits elsewhere, or what its match needs is gone.
    """
    count = found.row.seats
    if count not in chosen.variant.players:
        raise wrong_seats(chosen.variant, count)
    for seat in found.seats:
        if seat.seat not in range(count):
            raise RebuildError(f"expected seats 0 to {count - 1} in seats.seat, got {seat.seat}")
    # to open the table anew would give a match up that a backup still has
    if found.row.state == "playing" and (found.match is None or found.match.sealed is None):
        lost = "its match in matches" if found.match is None else "the row of its match in secrets"
        raise RebuildError(f"expected {lost}, found none")


def _chosen(
    defaults: MatchDefaults, catalogue: VariantCatalogue, row: SaveTable, setup: MatchSetup | None
) -> ChosenGame:
    if setup is not None:
        return with_kept_options(setup.terms.variant, setup.terms.opts, row.options, defaults)
    # decision 6: a table keeps its rules. Earlier versions stored no document: those go by the catalogue.
    if row.document is None:
        return choose(offered_game(catalogue, row.variant), row.seats, row.options, defaults)[0]
    opts = chosen_terms(row.options, row.seats, defaults)
    return with_kept_options(read_document(row.document), opts, row.options, defaults)


def _setup(match: RunningMatch | None) -> MatchSetup | None:
    if match is None:
        return None
    terms = open_terms(match.document, match.setup[0])
    return close_setup(terms, match.setup[1:-1], match.setup[-1])


def _go_on(parts: ServerParts, table: Table, found: StoredTable, stored: StoredState) -> None:
    row, restored = found.row, stored.restored
    if table.game is None:
        pending = _pending_terms(parts, table, found, restored)
        if pending is None:
            table.reopen(may_begin=not parts.disk.is_nearly_full)
        else:
            table.await_signatures(pending)
        return
    table.board.match = row.match
    table.board.state = "over" if table.game.is_over and row.state != "playing" else "playing"
    log.info("match_restored", table=label(table.code), k=table.game.ledger.k)
    # decision 17: to go on might sign a second history of what players have seen; they are asked
    if restored.holds(table.game.mid, table.game.ledger.k) and not table.game.is_over:
        _hold(parts, table, table.game, restored)
        return
    # a player may still hang on a dead connection, and not know that time runs
    if stored.late_s:
        _await(parts, table, table.game, stored.late_s)
    table.go_on()
    table.renew_expiry()


def _await(parts: ServerParts, table: Table, game: Game, late_s: float) -> None:
    """Keep every seat's clock stopped until all seats are back, for at most so long."""
    game.awaited = frozenset(range(game.ledger.seats))

    def expire() -> None:
        game.awaited = frozenset()
        if table.game is game:
            table.go_on()

    Alarm(parts.timers, expire).set(trio.current_time() + late_s)


def _hold(parts: ServerParts, table: Table, game: Game, restored: Restored) -> None:
    """Let a match wait until every seat has been heard, for at most as long as a table may stand unused."""
    if restored.gives_up:
        table.give_up(game, why="the host lets no match go on")
        return
    game.hold.begin(seats=game.ledger.seats, k=game.ledger.k)

    def expire() -> None:
        if table.game is game and game.hold.is_on:
            table.give_up(game, why="a player has not come back")

    Alarm(parts.timers, expire).set(trio.current_time() + parts.settings.now.tables.expiry_s)
    table.go_on()
    table.renew_expiry()


def _pending_terms(
    parts: ServerParts, table: Table, found: StoredTable, restored: Restored
) -> PendingTerms | None:
    """Return the terms that were out, or None if fresh ones are needed."""
    # terms serve one match (C36), and players may have signed more of these than the backup has
    if found.terms is None or found.row.document is None or found.terms.th in restored.terms:
        return None
    try:
        pending = restored_terms(
            parts.identity, table.blueprint, found.row.document, table.board.seats, found.terms
        )
    except _EXPECTED as error:
        log.warning("terms_not_restored", table=label(table.code), reason=str(error))
        return None
    log.info("terms_restored", table=label(table.code), missing=list(pending.missing))
    return pending
