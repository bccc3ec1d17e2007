"""A seat that changes hands in a match: a player who stands by for it has signed, and has it from then on.

Invariant: the record, the seat, and the fact that its new player has played in the match are stored together.
"""

from typing import NamedTuple

import structlog

from truc_protocol.errors import Code
from truc_protocol.messages import SeatTakenOver
from truc_server.matches.acceptance import Verified, accept_substitute
from truc_server.matches.game import Game, Turn
from truc_server.net.peer import Peer, Player, RefusedError
from truc_server.storage import AddPlayer
from truc_server.table_data.codes import label
from truc_server.table_data.seats import Seated, seat_row
from truc_server.tables.table import Table
from truc_server.timing.clock import now_ms

log = structlog.get_logger()


class SeatChange(NamedTuple):
    """What followed from the record, which seat changed hands, and who had it before."""

    turn: Turn
    seat: int
    left: Seated | None


def substitute(table: Table, game: Game, peer: Peer, player: Player, signed: Verified) -> SeatChange:
    """Give a seat to the player who stands by for it on this connection and has signed.

    Raises:
        RefusedError: The record is not taken.
    """
    seat = signed.placed.record.signer - 1
    if table.audience.is_skipped(peer):
        raise RefusedError(Code.NOT_NOW, "expected a connection that has been sent every record")
    left, newcomer = table.board.seats[seat], Seated(player, is_ready=True)
    had = AddPlayer(game.mid, seat, player.id, player.kind, now_ms())
    rows = had, seat_row(table.code, seat, newcomer)
    turn = accept_substitute(game, signed, player, *rows)
    table.commit(game, turn)
    table.board.seats[seat] = newcomer
    table.standins.drop(peer)
    before = table.audience.hand_over(seat, peer)
    if before is not None:
        before.send(SeatTakenOver(table=table.code, seat=seat))
    table.keep()
    log.info("seat_substituted", table=label(table.code), seat=seat, k=turn.k)
    return SeatChange(turn, seat, left)
