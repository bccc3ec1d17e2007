"""What players send and hear of each other outside the game: the lobby, who is there, chat, a quick seat, being forgotten.

Every field has a line under it, from which docs/protocol/messages.md is made. Each request here is announced by a
capability; a server without it answers `unknown_request`. None of it is a record.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from truc_protocol.bodies import U
from truc_protocol.messages.fields import (
    ChatText,
    MatchNotice,
    Message,
    Name,
    PlayerTag,
    Request,
    SeatNumber,
    TableCode,
    TableNotice,
    TableOptions,
    Word,
)


class FollowLobby(Request, frozen=True, kw_only=True, tag="lobby"):
    """Follow the lobby: its state, its chat, and every public table as it changes."""

    off: bool = False
    """Stop following it."""


class LobbyState(Message, frozen=True, kw_only=True, tag="lobby"):
    """How full the house is; sent to those who follow the lobby, at most once a second."""

    online: U
    """How many players are connected."""
    tables: U
    """How many tables there are, private ones included."""
    playing: U
    """At how many of them a match is being played."""


class PlayerState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player who is connected, as everybody may see them."""

    player: PlayerTag
    """The player's tag."""
    name: Name
    """The name shown; a label."""
    kind: Literal["key", "guest"]
    """A player with a key, or a guest."""
    tables: tuple[TableCode, ...] = ()
    """The public tables where they sit."""


class ListPlayers(Request, frozen=True, kw_only=True, tag="players"):
    """Ask who is connected, in ascending order of tag."""

    after: PlayerTag | None = None
    """Only players with a tag after this one: the next page."""


class Seek(Request, frozen=True, kw_only=True, tag="seek"):
    """Take a seat at any open public table of this game, with this number of seats and these options; if there is none, open one."""

    variant: Word
    """The game, by its name in the server's info."""
    seats: SeatNumber | None = None
    """How many seats; if absent, any number will do, and a new table has the fewest."""
    options: TableOptions = msgspec.field(default_factory=dict)
    """The [options](options.md) that the table must have been made with, and no others."""


class BotWanted(MatchNotice, frozen=True, kw_only=True, tag="bot_wanted"):
    """A seat of a running match is vacant, and the host's bots are called; sent only to the keys that the host names."""

    seat: SeatNumber
    """The vacant seat: `join` it to stand by."""
    variant: Word
    """The game, by its name in the server's info."""
    left_ms: U | None = None
    """How much longer the seat is offered."""


class PlayersWanted(TableNotice, frozen=True, kw_only=True, tag="players_wanted"):
    """Somebody waits at an open table, and the host's bots are called to its free seats; sent only to the keys that the host names."""

    seat: SeatNumber
    """A free seat: `join` it, and say `ready`."""
    variant: Word
    """The game, by its name in the server's info."""


class Chat(Request, frozen=True, kw_only=True, tag="chat"):
    """Say something to everybody at a table one follows, or in the lobby if one follows it."""

    table: TableCode | None = None
    """The table's code; absent for the lobby."""
    text: ChatText
    """The text: one line of printable characters."""


class ChatLine(Message, frozen=True, kw_only=True, tag="chat"):
    """Somebody says something; everybody who follows the table or the lobby is told, the speaker included."""

    table: TableCode | None = None
    """The table's code; absent for the lobby."""
    n: U | None = None
    """The line's number at its table; absent in the lobby."""
    player: PlayerTag
    """The speaker's tag."""
    name: Name
    """The name shown; a label."""
    seat: SeatNumber | None = None
    """The speaker's seat; absent for a watcher, and in the lobby."""
    text: ChatText
    """The text."""
    ago_ms: U | None = None
    """How long ago it was said; only with older lines."""


class Ignore(Request, frozen=True, kw_only=True, tag="ignore"):
    """Stop being sent the chat, phrases and signs of one player; for players with a key the server remembers it."""

    player: PlayerTag
    """The player's tag."""
    off: bool = False
    """Hear the player again."""


class Forget(Request, frozen=True, kw_only=True, tag="forget"):
    """Be forgotten: token, name, chat and what was ignored; only for a player without a seat in a match that is being played."""


class Moderate(Request, frozen=True, kw_only=True, tag="moderate"):
    """Keep order as the host would; only for players with a key whom the host has named moderators."""

    do: Literal["kick", "ban", "unban", "mute", "unmute", "say"]
    """kick: end somebody's connections. say: to everybody."""
    player: PlayerTag | None = None
    """The player's tag, or the name of one who is connected; absent for `say`."""
    hours: Annotated[int, Meta(ge=1, le=87_600)] | None = None
    """For how many hours a ban or mute holds; absent: until it is undone."""
    text: ChatText | None = None
    """What is said; only for `say`."""
