"""Requests beside the tables: which there are, who is connected, following the lobby, chat, and whom a player ignores.

Following the lobby takes time, because every public table is sent; everything else is synchronous. What is said goes to
those who follow, and only they may speak. Invariant: a line of a table is in the journal before anybody is told of it.
"""

from typing import Final, assert_never

import structlog

from truc_protocol.errors import Code
from truc_protocol.messages import (
    Chat,
    ChatLine,
    FollowLobby,
    Ignore,
    ListPlayers,
    ListTables,
    PlayerState,
    TableState,
)
from truc_server.lobby import members
from truc_server.lobby.lobby import Lobby
from truc_server.lobby.other_nodes import OtherTable
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, wrong_field
from truc_server.requests.services import RequestServices
from truc_server.storage import DropIgnored, PlayerKind, SaveChat, SaveIgnored
from truc_server.storage.node_news import LineKind
from truc_server.table_data.codes import label
from truc_server.tables.table import Table
from truc_server.tables.talk import cleaned
from truc_server.timing.clock import now_ms

log = structlog.get_logger()

IGNORED: Final = 100  # players, by one player
SHOWN: Final = 16  # tables of one player in a list


def list_tables(lobby: Lobby, peer: Peer, message: ListTables) -> None:
    """Answer with a page of the public tables."""
    page = lobby.page(variant=message.variant, after=message.after or "")
    peer.ok(message, tables=tuple(_notice(table, peer) for table in page.tables), more=page.more)


def _notice(table: Table | OtherTable, peer: Peer) -> TableState:
    """Return a table as a connection may see it; one of another node as everybody may see it."""
    match table:
        case Table():
            return table.feed.notice_for(peer)
        case OtherTable():
            return table.notice()
        case _:
            assert_never(table)


def list_players(lobby: Lobby, peer: Peer, message: ListPlayers) -> None:
    """Answer with a page of those who are connected."""
    page = lobby.players(after=message.after or "")
    peer.ok(message, players=tuple(_shown(lobby, player) for player in page.players), more=page.more)


def _shown(lobby: Lobby, player: LoggedInPlayer) -> PlayerState:
    return PlayerState(
        player=player.tag,
        name=player.name,
        kind="key" if player.kind is PlayerKind.KEY else "guest",
        tables=lobby.public_tables_of(player)[:SHOWN],
    )


async def follow(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: FollowLobby
) -> None:
    """Let a connection follow the lobby, from its present state on, or no longer."""
    followers = lobby.followers
    if message.off:
        followers.drop(peer)
    elif peer not in followers:
        # Whoever follows already pays nothing, and is sent nothing again.
        lobby.list_allowance.pay(peer, player, 1)
        # Before the tables are sent: what changes meanwhile must reach this connection too (lobby.md,
        # "Following the lobby").
        followers.add(peer)
        await _tell_tables(services, lobby, peer)
    peer.ok(message)


async def _tell_tables(services: RequestServices, lobby: Lobby, peer: Peer) -> None:
    """Send the state of every public table, as fast as it is read."""
    after, more = "", True
    while more and peer.is_open:
        await services.pace.wait_page(peer.network)
        await peer.outbox.wait_low()
        page = lobby.page(variant=None, after=after)
        for table in page.tables:
            notice = _notice(table, peer)
            if notice.table not in peer.brought:  # its owner tells it
                peer.send(notice)
            after = notice.table
        more = page.more


def say(services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Chat) -> None:
    """Say a line of chat to those who follow a table, or the lobby."""
    table = None if message.table is None else lobby.table(message.table)
    _check_place(services, lobby, peer, table)
    members.check_muted(services.sanctions.now, peer, player)
    text = cleaned(message.text)
    # Last: what is refused does not count.
    lobby.chat_allowance.pay(peer, player, len(text))
    if table is None:
        lobby.followers.tell(ChatLine(player=player.tag, name=player.name, text=text))
        lobby.others.untold.note_line(LineKind.CHAT, tag=player.tag, name=player.name, text=text)
    else:
        seat = table.board.seat_of(player)
        line = SaveChat(
            table.code, table.chat.next_number, player.id, player.tag, player.name, seat, text, now_ms()
        )
        services.journal.write(line)
        table.chat.add(line)
    if services.settings.now.chat.log:
        log.info("chat", table=table and label(table.code), player=player.tag, name=player.name, text=text)
    peer.ok(message)


def _check_place(services: RequestServices, lobby: Lobby, peer: Peer, table: Table | None) -> None:
    talks = services.settings.now.chat.lobby if table is None else services.settings.now.chat.tables
    if not talks:
        place = "the lobby" if table is None else "a table"
        raise RefusedRequestError(Code.NOT_NOW, f"{place} of this server has no chat")
    follows = peer in lobby.followers if table is None else table.audience.is_following(peer)
    if not follows:
        place = "the lobby" if table is None else f"table {table.code}"
        raise RefusedRequestError(Code.NOT_NOW, f"expected a connection that follows {place}")


def ignore_or_hear(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Ignore
) -> None:
    """Let a player hear nothing more from another one, or hear them again."""
    if message.player == player.tag:
        raise wrong_field("player", "the tag of somebody else")
    if not message.player.isprintable():  # not every database takes it
        raise wrong_field("player", "the tag of a player")
    if message.off:
        _hear(services, lobby, peer, player, message.player)
        lobby.others.untold.note_line(LineKind.HEAR, player, tag=message.player)
    elif message.player not in peer.ignored:
        _ignore(services, lobby, peer, player, message.player)
        lobby.others.untold.note_line(LineKind.IGNORE, player, tag=message.player)
    if player.kind is PlayerKind.GUEST:
        lobby.online.keep_ignored(player.id, peer.ignored)
    peer.ok(message)


def _hear(services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, tag: str) -> None:
    if tag in peer.ignored and player.kind is PlayerKind.KEY:
        services.journal.write(DropIgnored(player.id, tag))
        lobby.online.ignore_changes[player.id] += 1
    peer.ignored.discard(tag)


def _ignore(services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, tag: str) -> None:
    if len(peer.ignored) >= IGNORED:
        raise wrong_field("player", f"at most {IGNORED} players to be ignored")
    if player.kind is PlayerKind.KEY:
        services.journal.write(SaveIgnored(player.id, tag))
        lobby.online.ignoring.add(player.id)
        lobby.online.ignore_changes[player.id] += 1
    peer.ignored.add(tag)
