"""The past: where a watcher may begin, the pages of a match, the matches somebody has played, and ratings of players.

Every field has a line under it, from which docs/protocol/messages.md is made. Seats need none of it: they are sent
every record that they have missed. A rating is the server's own word, and proves nothing.
"""

import msgspec

from truc_protocol.bodies import Hash, U
from truc_protocol.messages.fields import (
    Map,
    MatchNotice,
    Name,
    PlayerTag,
    RecordPosition,
    Request,
    RoleNumber,
    SeatNumber,
    Word,
)
from truc_protocol.records import Record


class PastRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of a match, as the notice `record` brought it."""

    signer: RoleNumber
    """Who signed: 0 the server, i + 1 seat i."""
    body: bytes
    """The exact bytes signed."""
    sig: bytes
    """The signature; empty for a guest's act."""
    means: tuple[Map, ...] = ()
    """What it means, derived, unsigned."""


class History(Request, frozen=True, kw_only=True, tag="history"):
    """Ask for a page of a match's records: of one being played, as far as this player may see it, or of one that is over."""

    match: Hash
    """The match id."""
    first: RecordPosition = msgspec.field(name="from")
    """The first position wanted; -1 asks for the setup too."""
    limit: U | None = None
    """How many records at most. 0 only with -1: the setup alone."""


class PlayedMatch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A match that a player has had a seat in, on the server's word."""

    match: Hash
    """The match id."""
    seat: SeatNumber
    """The seat that the player had or still has."""
    since_ms: U
    """When they got it, in Unix milliseconds."""
    variant: Word | None = None
    """The game, if the server can still read its document."""
    names: tuple[Name, ...] = ()
    """The names of those who began the match, by seat."""
    reason: Word | None = None
    """Why it ended; absent if it is not over or was given up."""
    ended_ms: U | None = None
    """When it ended, in Unix milliseconds; with `reason`."""


class ListMatches(Request, frozen=True, kw_only=True, tag="matches"):
    """Ask which matches one has had a seat in, newest first: those that the server still has."""

    after: Hash | None = None
    """The last match already known: the next page."""


class Snapshot(MatchNotice, frozen=True, kw_only=True, tag="snapshot"):
    """Where a watcher begins: the match up to position `k`, in brief. The records from `k` on follow."""

    k: U
    """The position of the next record; those before it come by `history`."""
    head: Hash
    """The head at `k` ([specification, section 5](../fairness/specification.md#5-records)), from which the records that follow continue."""
    doc: bytes
    """The rule document."""
    records: tuple[Record, ...]
    """The setup: the `table` record, `seat` or `guest` by seat, `match`."""
    view: Map
    """The fact `state` ([facts.md](facts.md)) as of the record before `k`; empty at position 0."""
    skipped: bool = False
    """What waited for this connection was dropped."""


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
    """The game, by its name in the server's info."""
    seats: SeatNumber
    """How many seats."""
    rank: U
    """The place among all who are rated there, from 1."""
    points: int
    """What players are ranked by. A newcomer has 0; it can be less."""
    doubt: U
    """How uncertain the skill is: 100 times its deviation. It falls with each match."""
    matches: U
    """How many matches were rated."""
    won: U
    """How many of them were won."""
    bot: bool = False
    """One of the host's own bots."""
