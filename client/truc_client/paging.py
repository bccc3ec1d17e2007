"""Lists that a server gives out page by page: tables, players, leaderboards, and the matches somebody has played."""

from truc_client.errors import ConnectError
from truc_client.line.line import ServerLine
from truc_client.line.link import Build
from truc_protocol.messages import (
    Leaderboard,
    ListMatches,
    ListPlayers,
    ListTables,
    PlayedMatch,
    PlayerState,
    Standing,
    TableState,
)
from truc_words import Sentence


async def list_tables(line: ServerLine, variant: str | None) -> tuple[TableState, ...]:
    """Return every public table, or those of one game."""
    found: list[TableState] = []
    after: str | None = None
    while True:
        page = await line.request(_tables_after(variant, after))
        found += page.tables or ()
        if not page.more or not page.tables:
            return tuple(found)
        after = _next(after, page.tables[-1].table)


async def list_players(line: ServerLine) -> tuple[PlayerState, ...]:
    """Return every player who is connected."""
    found: list[PlayerState] = []
    after: str | None = None
    while True:
        page = await line.request(_players_after(after))
        found += page.players or ()
        if not page.more or not page.players:
            return tuple(found)
        after = _next(after, page.players[-1].player)


async def list_standings(line: ServerLine, variant: str, seats: int, *, top: int) -> tuple[Standing, ...]:
    """Return the best players of a game, at most `top`."""
    found: list[Standing] = []
    while len(found) < top:
        page = await line.request(_standings_from(variant, seats, len(found)))
        found += page.standings or ()
        if not page.more or not page.standings:
            break
    return tuple(found[:top])


async def list_matches(line: ServerLine, *, newest: int | None) -> tuple[PlayedMatch, ...]:
    """Return the matches that one has had a seat in, newest first; at most `newest`."""
    found: dict[bytes, PlayedMatch] = {}
    after: bytes | None = None
    while newest is None or len(found) < newest:
        page = await line.request(_matches_after(after))
        for played in page.matches or ():
            if played.match in found:  # a circular list would never end
                raise ConnectError(Sentence("failures.listed_twice", match=played.match.hex()))
            found[played.match] = played
            after = played.match
        if not page.more or not page.matches:
            break
    return tuple(found.values())[:newest]


def _standings_from(variant: str, seats: int, first: int) -> Build:
    return lambda n: Leaderboard(id=n, variant=variant, seats=seats, first=first)


def _matches_after(after: bytes | None) -> Build:
    return lambda n: ListMatches(id=n, after=after)


def _tables_after(variant: str | None, after: str | None) -> Build:
    return lambda n: ListTables(id=n, variant=variant, after=after)


def _players_after(after: str | None) -> Build:
    return lambda n: ListPlayers(id=n, after=after)


def _next(after: str | None, last: str) -> str:
    """Return where the next page begins; a list that does not ascend would never end."""
    if after is not None and last <= after:
        raise ConnectError(Sentence("failures.bad_list", last=repr(last), after=repr(after)))
    return last
