"""What moderators ask: players with a key whom the host has named in `access.moderators`.

They do what the host's commands of the same name do, and the log says who did. Invariants: nobody else is listened to;
a moderator is no subject of another.
"""

from collections.abc import Mapping
from typing import Final

import structlog
import trio

from truc_protocol.errors import Code
from truc_protocol.messages import HostSays, Moderate
from truc_protocol.wire.connection import broadcast_frame
from truc_server.lobby.lobby import Lobby
from truc_server.net.peer import LoggedInPlayer, Peer, RefusedRequestError, wrong_field
from truc_server.net.sanctions import imposed_now
from truc_server.requests.services import RequestServices
from truc_server.settings.subjects import is_tag, normal_subject
from truc_server.storage import PlayerKind, SanctionKind
from truc_server.storage.node_news import LineKind
from truc_server.storage.sql import Store
from truc_server.tables.talk import cleaned

log = structlog.get_logger()

_IMPOSED: Final[Mapping[str, SanctionKind]] = {"ban": SanctionKind.BAN, "mute": SanctionKind.MUTE}
_LIFTED: Final[Mapping[str, SanctionKind]] = {"unban": SanctionKind.BAN, "unmute": SanctionKind.MUTE}


async def moderate(
    services: RequestServices, lobby: Lobby, peer: Peer, player: LoggedInPlayer, message: Moderate
) -> None:
    """Do what a moderator asks; a ban and a mute are in force a few seconds after the answer.

    Raises:
        RefusedError: The player is no moderator, means nobody or another moderator, or has nothing to undo.
        StoreError: The store has not taken it.
    """
    moderators = services.settings.now.access.moderators
    if player.kind is not PlayerKind.KEY or player.tag not in moderators:
        raise RefusedRequestError(
            Code.NOT_NOW, "expected a moderator, whom the host has named in access.moderators"
        )
    if message.do == "say":
        if message.text is None:
            raise wrong_field("text", "what to say")
        say_to_all(lobby, message.text)
        subject = None
    else:
        subject = _subject(lobby, message)
        if subject in moderators:
            raise wrong_field("player", "one who is no moderator", Code.NOT_NOW)
        await _act_on(services.store, lobby, subject, message)
    log.info("moderated", moderator=player.tag, do=message.do, subject=subject, hours=message.hours)
    peer.ok(message)


def say_to_all(lobby: Lobby, text: str) -> int:
    """Say something to everybody who is logged in, at every node, in the host's name; return over how many connections here.

    Raises:
        RefusedError: The text is no line of chat.
    """
    line = cleaned(text)
    lobby.others.untold.note_line(LineKind.HOST, text=line)
    return say_here(lobby, line)


def say_here(lobby: Lobby, line: str) -> int:
    """Say a line to everybody who is logged in here; return over how many connections."""
    frame = broadcast_frame(HostSays(text=line))
    listeners = tuple(lobby.online.everybody())
    for listener in listeners:
        listener.offer_frame(frame)
    return len(listeners)


def _subject(lobby: Lobby, message: Moderate) -> str:
    """Return the tag of whom a moderator means: a tag, or the name of somebody who is connected."""
    meant = message.player or ""
    named = (
        peer.player.tag
        for peer in lobby.online.everybody()
        if peer.player is not None and meant in (peer.player.tag, peer.player.name)
    )
    tag = next(named, None) or lobby.others.players.find_tag(meant) or normal_subject(meant)
    if tag is None or not is_tag(tag):  # addresses and networks are the host's business
        raise wrong_field("player", "the tag of a player, or the name of one who is connected")
    return tag


async def _act_on(store: Store, lobby: Lobby, subject: str, message: Moderate) -> None:
    if message.do in _IMPOSED:
        # Stored alone: who watches sanctions finds it there, as those that the host's commands impose.
        sanction = imposed_now(subject, _IMPOSED[message.do], message.hours)
        await trio.to_thread.run_sync(store.impose, sanction)
    elif message.do in _LIFTED:
        if not await trio.to_thread.run_sync(store.lift, subject, _LIFTED[message.do]):
            was = "banned" if message.do == "unban" else "muted"
            raise wrong_field("player", f"one who was {was} by command", Code.NOT_NOW)
    elif lobby.is_online(subject):
        kick(lobby, subject)
        lobby.others.untold.note_line(LineKind.KICK, tag=subject)
    else:
        raise wrong_field("player", "one who is connected", Code.NOT_NOW)


def kick(lobby: Lobby, subject: str) -> None:
    """End the connections of a player here."""
    for peer in lobby.online.connections(subject):
        peer.dismiss(Code.KICKED, "a moderator has ended this connection; you may come back")
