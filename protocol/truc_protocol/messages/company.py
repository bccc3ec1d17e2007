"""What players send and hear of each other beside the game: the lobby, who is there, chat, a quick seat, being forgotten.

Every field has a line under it, from which docs/protocol/messages.md is made. Each request here is announced by a
capability; a server without it answers `unknown_request`. Nothing of it is a record.
"""

from typing import Literal

import msgspec

from truc_protocol.messages.fields import (
    ChatText,
    Hash,
    Message,
    Name,
    PlayerTag,
    Request,
    SeatNumber,
    TableCode,
    TableOptions,
    U,
    Word,
)


class FollowLobby(Request, frozen=True, kw_only=True, tag="lobby"):
    """Follow the lobby: its state, its chat, and every public table as it changes."""

    off: bool = False
    """Follow it no longer."""


class LobbyState(Message, frozen=True, kw_only=True, tag="lobby"):
    """How full the house is; to those who follow the lobby, at most once a second."""

    online: U
    """How many players are connected."""
    tables: U
    """How many tables there are, private ones included."""
    playing: U
    """How many of them play a match."""


class PlayerState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player who is connected, as everybody may see them."""

    player: PlayerTag
    """The player's tag, by which one player is told from another of the same name."""
    name: Name
    """The name shown; a label."""
    kind: Literal["key", "guest"]
    """A player with a key, or a guest."""
    tables: tuple[TableCode, ...] = ()
    """The public tables where they sit."""


class ListPlayers(Request, frozen=True, kw_only=True, tag="players"):
    """Ask who is connected, ascending by tag."""

    after: PlayerTag | None = None
    """Only players with a tag after this one: the next page."""


class Seek(Request, frozen=True, kw_only=True, tag="seek"):
    """Take a seat at any open public table of this game, with these seats and options; if there is none, open one."""

    variant: Word
    """The game, by the name in the server's info."""
    seats: SeatNumber | None = None
    """How many seats; any number will do if absent, and a new table has the fewest."""
    options: TableOptions = msgspec.field(default_factory=dict)
    """Table options that the table must have been made with, no more and no others ([options.md](options.md))."""


class BotWanted(Message, frozen=True, kw_only=True, tag="bot_wanted"):
    """A seat of a running match is vacant, and the host's bots are called; to the keys that the host names alone."""

    table: TableCode
    """The table's code."""
    match: Hash
    """The match id."""
    seat: SeatNumber
    """The vacant seat: `join` it to stand by."""
    variant: Word
    """The game."""
    left_ms: U | None = None
    """How long the seat is offered still."""


class PlayersWanted(Message, frozen=True, kw_only=True, tag="players_wanted"):
    """Somebody waits at an open table, and the host's bots are called to its free seats; to the keys that the host names alone."""

    table: TableCode
    """The table's code."""
    seat: SeatNumber
    """A free seat: `join` it, and be `ready`."""
    variant: Word
    """The game."""


class Chat(Request, frozen=True, kw_only=True, tag="chat"):
    """Say something to everybody at a table one follows, or to the lobby one follows."""

    table: TableCode | None = None
    """The table's code; absent for the lobby."""
    text: ChatText
    """The text: one line of printable characters."""


class ChatLine(Message, frozen=True, kw_only=True, tag="chat"):
    """Somebody says something; it comes to everybody who follows the table or the lobby, whoever says it included."""

    table: TableCode | None = None
    """The table's code; absent for the lobby."""
    n: U | None = None
    """The line's number at its table, ascending, some may be missing; absent in the lobby, of which nothing is kept."""
    player: PlayerTag
    """The tag of who says it."""
    name: Name
    """The name shown; a label."""
    seat: SeatNumber | None = None
    """The seat of who says it; absent for who watches, and in the lobby."""
    text: ChatText
    """The text."""
    ago_ms: U | None = None
    """How long ago it was said; with the lines that are sent to who comes later."""


class Ignore(Request, frozen=True, kw_only=True, tag="ignore"):
    """Be sent no more chat, phrases or signs of one player; the server keeps it for players with a key."""

    player: PlayerTag
    """The player's tag."""
    off: bool = False
    """Hear the player again."""


class Forget(Request, frozen=True, kw_only=True, tag="forget"):
    """Be forgotten: token, name, chat and what was ignored; only for who has no seat in a match that is played."""
