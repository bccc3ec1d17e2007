"""Requests about a seat before and after a match: to make a table, sit down, find a seat, get up, be ready.

Only looking for a seat waits, for its turn. Invariant: whoever asked has the answer before the state of the table that follows from it.
"""

from truc_protocol.errors import Code
from truc_protocol.messages import Create, Join, Leave, Ready, Seek, Unready, Unwatch
from truc_protocol.records import BLIND
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError
from truc_server.requests import login
from truc_server.requests.services import Elsewhere, RequestServices
from truc_server.storage import PlayerKind
from truc_server.table_data.options import MODE, ChosenOptions
from truc_server.tables.table import Table


def create(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Create
) -> None:
    """Make a table with the player on a seat."""
    _check_options(services, peer, player, message.options)
    _sit(services, peer, player, message, lobby.create(player, message, peer.network))


def _check_options(
    services: RequestServices, peer: Peer, player: LoggedInPlayer, options: ChosenOptions
) -> None:
    """Check that a player can sit at a table with these options.

    Raises:
        RefusedError: It is one whose host sees no card; and the host offers none, or the client does not deal.
    """
    if options.get(MODE) != BLIND:
        return
    if not services.settings.now.tables.blind:
        message = "mode: this server offers no tables whose host sees no card"
        raise RefusedRequestError(Code.BAD_OPTION, message, field=f"options/{MODE}")
    if not peer.plays_blind:
        raise _deals_not(player, Code.BAD_OPTION, f"options/{MODE}")


def check_deals(table: Table, peer: Peer, player: LoggedInPlayer) -> None:
    """Check that a client can have a seat at a table: where the host sees no card, the seats deal.

    Raises:
        RefusedError: It cannot.
    """
    if table.blueprint.chosen.mode == BLIND and not peer.plays_blind:
        raise _deals_not(player, Code.NOT_NOW)


def _deals_not(player: LoggedInPlayer, code: Code, field: str | None = None) -> RefusedRequestError:
    if player.kind is not PlayerKind.KEY:
        message = "mode blind: expected a player with a key, as the seats shuffle and seal the pack: log in with one"
        return RefusedRequestError(Code.GUESTS_NOT_ALLOWED, message, field=field)
    message = (
        "mode blind: expected a client that shuffles and seals the pack, and says so by `blind` and `own-options` in"
        " `want`: use a newer one, or a table of mode dealt"
    )
    return RefusedRequestError(code, message, field=field)


async def seek(
    services: RequestServices,
    lobby: Lobby,
    peer: Peer,
    player: LoggedInPlayer,
    message: Seek,
    *,
    elsewhere: Elsewhere | None,
) -> None:
    """Look at every table for a seat, when it is this network's turn; those of other nodes come after those here."""
    _check_options(services, peer, player, message.options)
    await services.pace.wait_page(peer.network)
    is_taken = (
        elsewhere is not None
        and lobby.find(player, message) is None
        and await elsewhere.seek(peer, player, message)
    )
    # Looked for here once more: while the other nodes were asked a seat may have come free here, or gone.
    if peer.is_open and not is_taken:
        _sit(services, peer, player, message, lobby.seek(player, message, peer.network))


def _sit(
    services: RequestServices, peer: Peer, player: LoggedInPlayer, message: Create | Seek, table: Table
) -> None:
    seat = table.own_seat(player)
    is_new = table.attach(seat, peer)
    # Before the answer, from which on the token of a guest is good (session.md, "Login").
    login.store_guest(services.journal, peer)
    peer.ok(message, table=table.code, seat=seat)
    _welcome(table, peer, is_new=is_new)


def join(services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Join) -> None:
    """Seat a player at a table, or let them stand by for a vacant seat of its match."""
    table = lobby.table(message.table)
    check_deals(table, peer, player)
    # Nobody is seated in a match but by the record that they sign (play.md, "A vacant seat"): until then they
    # stand by, if one more seat would be within their limit.
    if table.board.seat_of(player) is None and table.game is not None and table.board.vacant:
        lobby.check_seats(player)
        seat, is_new = table.standby.stand_by(table.game, peer, player, message.seat), True
    else:
        seat = lobby.join(table, player, message.seat)
        is_new = table.attach(seat, peer)
    login.store_guest(services.journal, peer)
    peer.ok(message, seat=seat)
    _welcome(table, peer, is_new=is_new)


def _welcome(table: Table, peer: Peer, *, is_new: bool) -> None:
    """Tell a connection how the table stands, and everybody if that has changed; then what else is open."""
    if is_new:
        table.announce()
    else:
        peer.send(table.feed.notice())
    table.send_pending_terms(peer)
    table.chat.catch_up(peer)


def leave(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Leave) -> None:
    """Let a player get up, or stand by no longer."""
    table = lobby.table(message.table)
    if peer in table.standby.seats:
        table.standby.unwatch(peer)
        peer.ok(message)
        return
    lobby.leave(table, player)
    peer.ok(message)
    if table.board.is_empty:
        table.close("empty")
    else:
        table.announce()


def unwatch(lobby: Lobby, peer: Peer, message: Unwatch) -> None:
    """Let a connection watch a table no longer."""
    # A table shown late goes on for its watchers when it is closed and no longer in the lobby.
    gone = [
        watched for watched in peer.watched if watched.is_closed and watched.table == message.table.upper()
    ]
    if gone:
        gone[0].unwatch(peer)
    else:
        lobby.table(message.table).standby.unwatch(peer)
    peer.ok(message)


def set_ready(lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Ready | Unready) -> None:
    """Note whether a player agrees to start."""
    table = lobby.table(message.table)
    box_key = None
    if isinstance(message, Ready):
        # The last to be ready begins a match; taking it back begins nothing.
        lobby.check_may_begin()
        box_key = message.x
    table.set_ready(player, is_ready=isinstance(message, Ready), x=box_key)
    peer.ok(message)
    table.announce()
    table.send_terms_if_ready()
