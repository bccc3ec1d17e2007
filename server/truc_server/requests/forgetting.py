"""Being forgotten: what a server drops of a player who asks for it.

Their token, chat and whom they ignore are dropped, their seats given up; the matches they have played can from then on
be read only by those who have played in them. What stays is in docs/hosting/players.md: above all, everybody's
transcripts carry the name. Invariant: a player seated in a match that is set up or played is not forgotten in the
middle of it, wherever they sit. Other nodes do the same for what is theirs as they hear of it.
"""

from truc_protocol.errors import Code
from truc_protocol.messages import Forget
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.requests.login import default_name, seats_elsewhere
from truc_server.requests.services import RequestServices
from truc_server.storage import ForgetPlayer, PlayerKind
from truc_server.storage.node_news import LineKind


async def forget(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, request: Forget
) -> None:
    """Forget the player who asks; one with a key stays, under the name of a player who has given none.

    Raises:
        RefusedError: They have a seat in a match, or one at a table of another node.
    """
    # The only wait: behind it nothing can change between what is checked and what is done.
    held = await seats_elsewhere(services.store, lobby, player) if services.is_node else ()
    if held:
        message = f"expected no seat at tables of other nodes: leave table {held[0].table} first"
        raise RefusedRequestError(Code.NOT_NOW, message)
    _check_free(lobby, player)
    vacate_seats(lobby, player)
    _forget_here(lobby, player)
    services.journal.write(ForgetPlayer(player.id))
    lobby.others.untold.note_line(LineKind.FORGET, player)
    peer.ok(request)
    _part(lobby, player)


def forget_elsewhere(lobby: Lobby, player: LoggedInPlayer) -> None:
    """Forget what is known here of a player whom another node has forgotten."""
    vacate_seats(lobby, player)
    _forget_here(lobby, player)
    _part(lobby, player)


def _forget_here(lobby: Lobby, player: LoggedInPlayer) -> None:
    # For a guest whom the store has just found by their token: they must not come in again.
    lobby.forgotten += 1
    lobby.forget_said_by(player.id)
    lobby.online.forget_ignored(player.id)


def _part(lobby: Lobby, player: LoggedInPlayer) -> None:
    """Let a forgotten player's connections that may stay go on under another name."""
    # Of whom there is no connection here no name is kept either: nothing would ever free it.
    if player.kind is PlayerKind.KEY and lobby.online.connections(player.tag):
        lobby.give_name(player._replace(name=default_name(player.id)))
    for connection in lobby.online.connections(player.tag):
        _empty_or_dismiss(connection, player)


def _check_free(lobby: Lobby, player: LoggedInPlayer) -> None:
    tables = (lobby.table(held.table) for held in lobby.seats_of(player))
    busy = next((table for table in tables if not table.board.may_change), None)
    if busy is not None:
        message = f"expected no seat in a match: the one at table {busy.code} is not over"
        raise RefusedRequestError(Code.NOT_NOW, message)


def vacate_seats(lobby: Lobby, player: LoggedInPlayer) -> None:
    """Give up every seat of a player, except those in a match."""
    for held in lobby.seats_of(player):
        table = lobby.table(held.table)
        if not table.board.may_change:
            continue
        lobby.leave(table, player)
        if table.board.is_empty:
            table.close("empty")
        else:
            table.announce()


def _empty_or_dismiss(connection: Peer, player: LoggedInPlayer) -> None:
    connection.ignored.clear()
    # Else sitting down would store the guest whom the store has just forgotten.
    connection.unstored_guest = None
    if player.kind is not PlayerKind.KEY:
        connection.dismiss(Code.FORGOTTEN, "the player is forgotten; the token is good no more")
