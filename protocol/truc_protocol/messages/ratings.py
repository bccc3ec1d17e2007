"""Ratings: what a server makes of the matches that players with keys have won and lost, by game and number of seats.

Every field has a line under it, from which docs/protocol/messages.md is made. Nothing of it is a record: a rating is the
server's own word, and proves nothing.
"""

import msgspec

from truc_protocol.messages.fields import Name, PlayerTag, Request, SeatNumber, U, Word


class Leaderboard(Request, frozen=True, kw_only=True, tag="leaderboard"):
    """Ask who is rated best in a game with so many seats, the best first."""

    variant: Word
    """The game, by the name in the server's info."""
    seats: SeatNumber
    """How many seats."""
    first: U = msgspec.field(name="from", default=0)
    """How many places to leave out: the next page."""


class Profile(Request, frozen=True, kw_only=True, tag="profile"):
    """Ask for the standings of one player, in every game that they are rated in."""

    player: PlayerTag | None = None
    """The player's tag; oneself if absent."""


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a player stands in one game with so many seats."""

    player: PlayerTag
    """The player's tag."""
    name: Name
    """The name shown in the newest rated match; a label."""
    variant: Word
    """The game."""
    seats: SeatNumber
    """How many seats."""
    rank: U
    """The place among all who are rated there, from 1; who has as many points has the same."""
    points: int
    """What ranks: 100 times the skill that the player has almost surely. A newcomer has 0; it can be less."""
    doubt: U
    """How little is known of the player: 100 times the deviation of the skill. It falls with each match."""
    matches: U
    """How many matches were rated."""
    won: U
    """How many of them were won."""
    bot: bool = False
    """One of the host's own bots."""
