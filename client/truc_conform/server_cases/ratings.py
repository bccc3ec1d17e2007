"""Cases S2: who is best in a game, and how one player stands; only if the server announces `ratings`."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map, RawClient
from truc_conform.server_cases.play import in_hand
from truc_conform.server_visit import (
    PAIR,
    InconclusiveError,
    ServerCase,
    Visit,
    expect,
    expect_ok,
    game_of,
    need,
    play_on,
    refused,
    server_case,
)
from truc_protocol.errors import Code

_UNPLAYED: Final = 3
_PAGES: Final = 200


async def _leaderboard(visit: Visit) -> None:
    """A match counts for both; the board has the best first."""
    loser, winner = await in_hand(visit, private=False)
    need(loser.client, "ratings")
    await loser.resign()
    await play_on((loser, winner))
    (won, lost) = [await _standings(seat.client) for seat in (winner, loser)]
    if not won and not lost:
        raise InconclusiveError("the server does not count a match that ends by resignation")
    expect(len(won) == len(lost) == 1, "one standing of each player", [won, lost])
    counts = [(each["matches"], each["won"]) for each in won + lost]
    expect(counts == [(1, 1), (1, 0)], "a match for both, won by one", counts)
    expect(won[0]["points"] > lost[0]["points"], "more points for the winner", [won, lost])
    await _check_board(winner.client)


async def _standings(client: RawClient, **fields: object) -> list[Map]:
    """Return the standings of one player."""
    reply = await client.ask_patiently({"t": "profile", **fields})
    found: list[Map] = expect_ok(reply, "ok with standings", "standings")["standings"]
    return found


async def _check_board(client: RawClient) -> None:
    """Check every page of the board; it may change while it is read."""
    known = 0
    for _ in range(_PAGES):
        asked = {"variant": game_of(client), "seats": PAIR, "from": known}
        page = await client.ask_patiently({"t": "leaderboard", **asked})
        reply = expect_ok(page, "ok with standings", "standings")
        points = [each["points"] for each in reply["standings"]]
        expect(points == sorted(points, reverse=True), "the best first", points)
        ranks = [each["rank"] for each in reply["standings"]]
        expect(ranks == sorted(ranks) and min(ranks, default=1) >= 1, "ranks that ascend from 1", ranks)
        known += len(points)
        if not reply.get("more"):
            break
    expect(known > 0, "a board that lists the rated players", known)


async def _profile_none(visit: Visit) -> None:
    """A player who has not played has no standings."""
    client = await visit.player()
    need(client, "ratings")
    for fields in ({}, {"player": "guest-nobody"}):
        standings = await _standings(client, **fields)
        expect(not standings, "no standings for a player who has not played", standings)


async def _leaderboard_none(visit: Visit) -> None:
    """A board for a game or number of seats not offered is refused."""
    client = await visit.player()
    need(client, "ratings")
    board = {"t": "leaderboard", "variant": game_of(client), "seats": PAIR}
    await refused(client, board | {"variant": "no-such-game"}, Code.NO_SUCH_VARIANT)
    await refused(client, board | {"seats": _UNPLAYED}, Code.BAD_OPTION)


_case: Final = partial(server_case, "S2")
_BOARD: Final = "ratings.md#the-board"

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_leaderboard, _BOARD),
    _case(_leaderboard_none, _BOARD),
    _case(_profile_none, "ratings.md#one-player"),
)
