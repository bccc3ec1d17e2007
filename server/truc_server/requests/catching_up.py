"""Catching up: records that a connection has missed are read from the store, page by page, then from those that the match keeps.

Requests that take time. A connection that is catching up gets nothing live; the last step, from those to live, is
made between two checkpoints, so that nobody's list of records has a hole. Watchers are sent no more than is shown.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Resume, Watch
from truc_server.lobby.lobby import Lobby
from truc_server.matches.game import Game, RecentRecords, record_frame
from truc_server.net.outbox import LOW_BYTES
from truc_server.net.peer import SNAPSHOT, LoggedInPlayer, Peer, RefusedRequestError, wrong_field
from truc_server.requests.seating import check_deals
from truc_server.requests.services import RequestServices
from truc_server.spectating.spectator_feed import ShownMatch
from truc_server.storage import AddRecord, StoreError
from truc_server.table_data.board import setup_message
from truc_server.tables.table import Table

PAGE: Final = 64  # records read at once


class Source(NamedTuple):
    """Where records are taken from, up to which position as of now, and whether they are still wanted."""

    table: str
    match: bytes
    recent: RecentRecords
    end: Callable[[], int]
    goes_on: Callable[[], bool]


async def follow(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, request: Resume | Watch
) -> None:
    """Send what has happened at a table, and then follow what happens.

    Raises:
        RefusedError: The player may not, or there is no such match or position.
    """
    table = lobby.table(request.table)
    if isinstance(request, Watch):
        await _watch(services, table, peer, request)
    else:
        await _resume(services, table, peer, player, request)
    table.chat.catch_up(peer)


async def _resume(
    services: RequestServices, table: Table, peer: Peer, player: LoggedInPlayer, request: Resume
) -> None:
    """Give a seat to this connection and send it every record from a position on.

    Raises:
        RefusedError: The player has no seat there, or there is no such match or position.
    """
    if peer in table.standby.seats:
        await _follow_standing_by(services, table, peer, request)
        return
    # The right to a seat is checked here too, as it may have been lost since the player joined.
    check_deals(table, peer, player)
    seat = table.own_seat(player)
    game = table.own_game(request.match, player)
    _check_seen(table, game, seat, request.next)
    is_new = table.attach(seat, peer)
    # From here on nothing live is sent: a new record would come before those that are read again.
    table.audience.fall_behind(peer)
    # Whoever asks again on the connection that has the seat, as something was lost on the way, has changed
    # nothing that others could see.
    if is_new:
        table.announce()
    else:
        peer.send(table.feed.notice())

    def goes_on() -> bool:
        return table.audience.holder(seat) is peer and table.game is game

    if not await _send_missed(services, table, game, peer, request, goes_on=goes_on):
        raise RefusedRequestError(
            Code.NOT_NOW, "a newer connection has the seat, or the match is over and gone"
        )
    # No checkpoint since the last record: one that came in between would be missing from this list.
    table.feed.caught_up(peer)
    peer.ok(request, k=game.ledger.k)
    if game.is_of(seat, player):
        table.send_position(game, seat)
    # Decision 17: a restored match goes on when the last player has asked for no more than there is.
    if game.hold.hear(seat):
        table.go_on()
        game.hold.end()


async def _follow_standing_by(services: RequestServices, table: Table, peer: Peer, request: Resume) -> None:
    """Let a connection that stands by for a seat follow the match, whether or not anybody else may."""
    game = table.own_game(request.match)
    _check_next(request.next, game.ledger.k)
    table.standby.follow(peer)

    def goes_on() -> bool:
        return peer in table.standby.seats and table.game is game

    if not await _send_missed(services, table, game, peer, request, goes_on=goes_on):
        table.feed.unwatch(peer)
        raise RefusedRequestError(Code.NOT_NOW, "the seat is not vacant any more")
    table.feed.caught_up(peer)
    peer.ok(request, k=game.ledger.k)
    table.greet(game, peer)


async def _send_missed(
    services: RequestServices,
    table: Table,
    game: Game,
    peer: Peer,
    request: Resume,
    *,
    goes_on: Callable[[], bool],
) -> bool:
    """Send what a connection has missed of a match in play; tell whether it still follows."""
    if request.next < 0:
        peer.send(setup_message(table.code, game.setup))
    source = Source(table.code, game.mid, game.recent, lambda: game.ledger.k, goes_on)
    await _read_up(services, peer, source, max(0, request.next))
    return goes_on()


def _check_next(wanted: int, newest: int) -> None:
    if wanted > newest:
        raise wrong_field("next", f"at most {newest}, got {wanted}", Code.BAD_POSITION)


def _check_seen(table: Table, game: Game, seat: int, wanted: int) -> None:
    """Check that a player has seen no more than there is; if one has, a match that is held is given up.

    Raises:
        RefusedError: They say they have seen more.
    """
    newest = game.ledger.k
    if wanted <= newest:
        return
    game.hold.report_claim(seat=seat, seen=wanted - 1, k=game.ledger.k)
    # Decision 17: what this client has seen was signed before the restore; to go on would be to sign
    # something else at a place that is taken.
    if game.hold.is_on:
        table.give_up(game, why="a player has seen more than the backup has")
        seen = (
            f"at most {newest}, got {wanted}: the server was restored from a backup that has less of this match."
            " It cannot go on, the table is closed; what you have of the match stays good"
        )
        raise wrong_field("next", seen, Code.BAD_POSITION)
    _check_next(wanted, newest)


async def _watch(services: RequestServices, table: Table, peer: Peer, request: Watch) -> None:
    """Let a connection follow a table without a seat.

    Raises:
        RefusedError: The connection has a seat, the table admits no watchers, or the position has not been shown.
    """
    _check_watch(table, peer, request)
    table.audience.watch(peer)
    peer.tables |= {table.code}
    table.feed.greet(peer)
    if not table.feed.holds_back:
        table.send_pending_terms(peer)
    k = 0
    # Another match may begin while this one is read: then that one follows.
    while peer in table.audience.watchers:
        shown = table.feed.match
        if shown is None:
            break
        k = await _watch_match(services, table, peer, shown, request)
        if table.feed.match is shown:
            break
    if peer in table.audience.watchers:
        table.feed.caught_up(peer)
    peer.ok(request, k=k)
    # Decision 13: who watches late is told nothing of the present, not even for whom it waits.
    if table.game is not None and not (table.feed.delay_s or table.feed.holds_back):
        table.greet(table.game, peer)


def _check_watch(table: Table, peer: Peer, request: Watch) -> None:
    if table.audience.has_seat(peer):
        raise RefusedRequestError(
            Code.NOT_NOW, "this connection has a seat at the table, and is sent everything"
        )
    if not table.blueprint.chosen.opts.spectators:
        raise RefusedRequestError(Code.PRIVATE_TABLE, f"table {table.code} admits nobody who watches")
    if request.next is None:
        return
    if request.match is None:
        raise wrong_field("match", "the match that `next` is of")
    shown = table.feed.match
    if shown is not None and shown.setup.mid == request.match:
        _check_next(request.next, shown.k)


async def _watch_match(
    services: RequestServices, table: Table, peer: Peer, shown: ShownMatch, request: Watch
) -> int:
    """Send a match as far as it is shown, from where the request or a snapshot begins; return the next position."""
    mid = shown.setup.mid
    has = request.next if request.match == mid else None
    first = 0 if has is None else has
    if SNAPSHOT in peer.wanted and (has is None or has < shown.hand_start.k):
        peer.send(shown.snapshot(skipped=False))
        first = shown.hand_start.k
    elif has is None:
        peer.send(setup_message(table.code, shown.setup))

    def goes_on() -> bool:
        return peer in table.audience.watchers and table.feed.match is shown

    source = Source(table.code, mid, shown.recent, lambda: shown.k, goes_on)
    return await _read_up(services, peer, source, first)


async def _read_up(services: RequestServices, peer: Peer, source: Source, k: int) -> int:
    """Send records from a position on, until there are no more; return the next position.

    There is no checkpoint between the last record and the return.
    """
    # Everything is asked again before each record: there is a checkpoint wherever something is waited for.
    rows: deque[AddRecord] = deque()
    while k < source.end() and source.goes_on() and peer.is_open:
        # At the pace of the reader: a whole match may be more than an outbox takes.
        if peer.outbox.size > LOW_BYTES:
            await peer.outbox.wait_low()
        elif (item := source.recent.at(k)) is not None:
            peer.send_frame(item.frame)
            k += 1
        elif rows and rows[0].k == k:
            peer.send_frame(record_frame(source.table, rows.popleft()))
            k += 1
        else:
            await services.pace.wait_page(peer.network)
            await services.journal.wait_durable(services.journal.gate)
            rows = await _read_page(services, source, k)
    return k


async def _read_page(services: RequestServices, source: Source, k: int) -> deque[AddRecord]:
    """Read records from a position on, the first of which must be in the store: the match no longer keeps it.

    Raises:
        StoreError: It is not there.
    """
    read = partial(services.store.records, source.match, first=k, limit=PAGE)
    rows = deque(await trio.to_thread.run_sync(read))
    if not rows or rows[0].k != k:
        raise StoreError(f"expected record {k} of match {source.match.hex()}, got none")
    return rows
