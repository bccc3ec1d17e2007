"""Ratings: what a server makes of the matches that players with keys have won and lost, by game and number of seats.

Every field has a line under it, from which docs/protocol/messages.md is made. None of it is a record: a rating is the
server's own word, and proves nothing.
"""

import msgspec

from truc_protocol.messages.fields import Name, PlayerTag, Request, SeatNumber, U, Word


class Leaderboard(Request, frozen=True, kw_only=True, tag="leaderboard"):
    """Ask for the best-rated players of a game with this many seats, best first."""

    variant: Word
    """The game, by its name in the server's info."""
    seats: SeatNumber
    """How many seats."""
    first: U = msgspec.field(name="from", default=0)
    """How many places to skip: the next page."""


class Profile(Request, frozen=True, kw_only=True, tag="profile"):
    """Ask for the standings of one player, in every game in which they are rated."""

    player: PlayerTag | None = None
    """The player's tag; oneself if absent."""


class Standing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a player stands in one game with this many seats."""

    player: PlayerTag
    """The player's tag."""
    name: Name
    """The name shown in the newest rated match; a label."""
    variant: Word
    """The game."""
    seats: SeatNumber
    """How many seats."""
    rank: U
    """The place among all who are rated there, from 1; players with equal points share a place."""
    points: int
    """What players are ranked by: 100 times the skill that the player almost surely has. A newcomer has 0; it can be less."""
    doubt: U
    """How uncertain the skill is: 100 times its deviation. It falls with each match."""
    matches: U
    """How many matches were rated."""
    won: U
    """How many of them were won."""
    bot: bool = False
    """One of the host's own bots."""
