"""Catching up: records that a connection has missed are read from the store, page by page, then from the tail.

The only requests that take time. A connection that catches up gets nothing live; the last step, from the tail to live,
is made between two checkpoints, so that nobody's list of records has a hole.
"""

from functools import partial
from typing import Final

import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Resume, Watch
from truc_server.game import Game
from truc_server.house import House
from truc_server.peer import Peer, Player, RefusedError
from truc_server.seats import setup_message, terms_message
from truc_server.table import Table
from truc_server.tail import stored_frame

PAGE: Final = 64  # records read at once


async def resume(house: House, table: Table, peer: Peer, player: Player, request: Resume) -> None:
    """Give a seat to this connection and send it every record from a position on.

    Raises:
        RefusedError: The player has no seat there, or there is no such match or position.
    """
    if table.standins.seat_of(peer) is not None:
        await _follow_standing_by(house, table, peer, request)
        return
    seat = table.own_seat(player)
    game = table.own_game(request.match)
    if request.next > game.ledger.k:
        game.doubt(seen=request.next - 1)
    _check_next(game, request)
    table.attach(seat, peer)
    table.audience.fall_behind(peer)
    table.announce()
    if request.next < 0:
        peer.send(setup_message(table.code, game.setup))
    k = await _read_up(house, table, game, peer, max(0, request.next), to_watcher=False)
    if table.audience.holder(seat) is not peer or table.game is not game:
        raise RefusedError(Code.NOT_NOW, "a newer connection has the seat, or the match is over and gone")
    _follow(table, game, peer, k, game.ledger.k)
    peer.ok(request, k=game.ledger.k)
    game.present(seat)


async def _follow_standing_by(house: House, table: Table, peer: Peer, request: Resume) -> None:
    """Let a connection that stands by for a seat follow the match as those do who watch, whoever else may."""
    game = table.own_game(request.match)
    _check_next(game, request)
    table.audience.watch(peer)
    if request.next < 0:
        peer.send(setup_message(table.code, game.setup))
    k = await _read_up(house, table, game, peer, max(0, request.next), to_watcher=True)
    if table.standins.seat_of(peer) is None or table.game is not game:
        table.audience.unwatch(peer)
        raise RefusedError(Code.NOT_NOW, "the seat is not vacant any more")
    _follow(table, game, peer, k, game.shown)
    peer.ok(request, k=game.shown)
    game.tell(peer)


def _check_next(game: Game, request: Resume) -> None:
    if request.next > game.ledger.k:
        message = f"next: expected at most {game.ledger.k}, got {request.next}"
        raise RefusedError(Code.BAD_POSITION, message, field="next")


async def watch(house: House, table: Table, peer: Peer, request: Watch) -> None:
    """Let a connection follow a table without a seat.

    Raises:
        RefusedError: The table admits nobody who watches.
    """
    if table.audience.has_seat(peer):
        raise RefusedError(Code.NOT_NOW, "this connection has a seat at the table, and is sent everything")
    if not table.made.chosen.opts.spectators:
        raise RefusedError(Code.PRIVATE_TABLE, f"table {table.code} admits nobody who watches")
    table.audience.watch(peer)
    peer.tables.add(table.code)
    peer.send(table.notice())
    if table.gathering is not None:
        peer.send(terms_message(table.code, table.gathering.terms))
    k = 0
    while table.audience.is_watching(peer):
        game = table.game
        if game is None:
            break
        peer.send(setup_message(table.code, game.setup))
        k = await _read_up(house, table, game, peer, 0, to_watcher=True)
        if table.game is game:
            _follow(table, game, peer, k, game.shown)
            k = game.shown
            break
    table.audience.caught_up(peer)
    peer.ok(request, k=k)


async def _read_up(house: House, table: Table, game: Game, peer: Peer, k: int, *, to_watcher: bool) -> int:
    """Send records from the store until the tail holds the next one; return its position."""
    while k < min(game.tail.first, game.shown if to_watcher else game.ledger.k) and peer.is_open:
        await peer.outbox.wait_low()
        rows = await trio.to_thread.run_sync(partial(house.store.records, game.mid, first=k, limit=PAGE))
        if not rows:
            await house.journal.wait_durable(house.gate)
        for row in rows[: game.tail.first - k]:
            peer.send_frame(stored_frame(table.code, row))
            k = row.k + 1
    return k


def _follow(table: Table, game: Game, peer: Peer, k: int, end: int) -> None:
    for item in game.tail.since(k):
        if item.k < end:
            peer.send_frame(item.frame)
    table.audience.caught_up(peer)
