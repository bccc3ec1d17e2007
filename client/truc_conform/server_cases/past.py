"""Cases S2: matches that have been played, and standings; only if the server announces `matches` and `ratings`."""

from typing import Final

from truc_conform.expectations import InconclusiveError, Map, check_refusal, expect, expect_ok
from truc_conform.raw_client import PAIR, RawClient
from truc_conform.server_visit import ServerVisit, case, play_on
from truc_protocol.errors import Code

_CLAUSE: Final = "views.md#ones-own-matches"
_UNPLAYED: Final = 3  # seats: no game has three
_PAGES: Final = 200  # a server that always says `more` must not keep the kit for ever
_BOARD: Final = "ratings.md#the-board"


async def _own(client: RawClient, **fields: object) -> list[Map]:
    client.need("matches")
    reply = await client.ask_patiently({"t": "matches", **fields})
    found: list[Map] = expect_ok(reply, "ok with matches", "matches")["matches"]
    return found


@case("S2.matches", _CLAUSE)
async def _matches(visit: ServerVisit) -> None:
    """A match is listed for those who played it, and for nobody else."""
    loser, winner = await visit.in_hand()
    before = await _own(loser.client)
    await loser.resign()
    await play_on((loser, winner))
    for seat in (loser, winner):
        (match, *others) = await _own(seat.client)
        expect(not others, "only the match played with this key", others)
        known = {"match": seat.ledger.setup.mid, "seat": seat.seat, "variant": seat.client.game()}
        told = {name: match.get(name) for name in known}
        expect(told == known, f"{known}", told)
        expect(match.get("reason") and match.get("ended_ms"), "how it ended, and when", match)
    expect(len(before) == 1 and "ended_ms" not in before[0], "no end of a match in play", before)
    strangers = await _own(await visit.player())
    expect(not strangers, "no matches for a player who has played none", strangers)


@case("S2.matches-none", _CLAUSE)
async def _matches_none(visit: ServerVisit) -> None:
    """A list after a match that one has not played gets no_such_match."""
    client = await visit.player()
    client.need("matches")
    reply = await client.ask_patiently({"t": "matches", "after": bytes(32)})
    check_refusal(reply, Code.NO_SUCH_MATCH, field="after")


@case("S2.leaderboard", _BOARD)
async def _leaderboard(visit: ServerVisit) -> None:
    """A match counts for both; the board has the best first."""
    loser, winner = await visit.in_hand(await visit.seats(private=False))
    loser.client.need("ratings")
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
        asked = {"variant": client.game(), "seats": PAIR, "from": known}
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


@case("S2.leaderboard-none", _BOARD)
async def _leaderboard_none(visit: ServerVisit) -> None:
    """A board for a game or number of seats not offered is refused."""
    client = await visit.player()
    client.need("ratings")
    board = {"t": "leaderboard", "variant": client.game(), "seats": PAIR}
    await client.refused(board | {"variant": "no-such-game"}, Code.NO_SUCH_VARIANT)
    await client.refused(board | {"seats": _UNPLAYED}, Code.BAD_OPTION)


@case("S2.profile-none", "ratings.md#one-player")
async def _profile_none(visit: ServerVisit) -> None:
    """A player who has not played has no standings."""
    client = await visit.player()
    client.need("ratings")
    for fields in ({}, {"player": "guest-nobody"}):
        standings = await _standings(client, **fields)
        expect(not standings, "no standings for a player who has not played", standings)
