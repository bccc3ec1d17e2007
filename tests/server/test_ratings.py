"""Ratings: which matches count, for whom, and what a server tells of it."""

import pytest
from server.conftest import QUICK, changed, in_hand, over, play_on, running, under
from server.restarting import come_back
from server.visitors import guest

from truc_protocol.crypto.keys import fingerprint
from truc_server.settings.abilities import STANDINGS_PAGE
from truc_server.storage import RatedPlayer, RateMatch

GAME = {"variant": "truc-french", "seats": 2}


async def board(client, **fields) -> list[dict]:
    return (await client.ask({"t": "leaderboard", **GAME, **fields}))["standings"]


def places(standings) -> list[tuple[str, int, int]]:
    return [(found["name"], found["matches"], found["won"]) for found in standings]


async def test_profile_without_a_tag_is_ones_own(server):
    seats = await over(server)
    own = (await seats[1].ask({"t": "profile"}))["standings"]
    told = (await seats[0].ask({"t": "profile", "player": fingerprint(seats[1].key.public)}))["standings"]
    assert own == told == (await board(seats[0].client))[:1]


@pytest.mark.parametrize("fields", [{"private": True}, {"guests": (1,)}], ids=["private table", "guest"])
async def test_match_does_not_count(server, fields):
    seats = await over(server, **fields)
    assert await board(seats[0].client) == []


async def test_match_that_goes_on_after_a_restart_counts_once(path):
    async with running(path) as server:
        seats = await in_hand(server)
    async with running(path) as server:
        await come_back(server, *seats)
        await seats[0].resign()
        await play_on(seats)
    async with running(path) as server:
        assert [standing["matches"] for standing in await board(await guest(server))] == [1, 1]


@under(ratings=False)
async def test_server_without_ratings_neither_keeps_nor_tells_any(server):
    seats = await over(server)
    assert "ratings" not in seats[0].client.info["caps"]
    reply = await seats[0].ask({"t": "leaderboard", **GAME})
    assert (reply["code"], reply["field"]) == ("unknown_request", "t")
    assert server.store.leaderboard("truc-french", 2, first=0, limit=9) == ()


async def test_result_stays_and_bot_of_the_host_is_told_as_such(path):
    async with running(path) as server:
        seats = await over(server)
    loser, winner = [fingerprint(seat.key.public) for seat in seats]
    async with running(path, changed(QUICK, access={"bots": (loser,)})) as server:
        first, second = await board(await guest(server))
    assert (first["rank"], first["player"], first["won"], first.get("bot", False)) == (1, winner, 1, False)
    assert (second["rank"], second["player"], second["won"], second["bot"]) == (2, loser, 0, True)
    assert first["points"] > 0 > second["points"]


async def test_board_comes_page_by_page(server):
    names = [f"p{n}" for n in range(STANDINGS_PAGE + 3)]
    players = [RatedPlayer(name.encode().ljust(32), name, name) for name in names]
    seats = await in_hand(server)
    mid = seats[0].ledger.setup.mid
    server.store.commit([RateMatch(mid, *GAME.values(), (one,), (players[0],)) for one in players[1:]])
    client = await guest(server)
    first = await client.ask({"t": "leaderboard", **GAME})
    rest = await client.ask({"t": "leaderboard", **GAME, "from": STANDINGS_PAGE})
    told = first["standings"] + rest["standings"]
    assert (first["more"], rest.get("more", False)) == (True, False)
    assert sorted(found["name"] for found in told) == sorted(names)
    assert [found["points"] for found in told] == sorted((found["points"] for found in told), reverse=True)


async def test_player_with_a_zero_byte_in_the_tag_is_none(server):
    await (await guest(server)).refused({"t": "profile", "player": "a\0b"}, "bad_message", field="player")


async def test_forgotten_player_is_on_no_board(server):
    seats = await over(server)
    await seats[0].ask({"t": "forget"})
    assert places(await board(await guest(server))) == [(seats[1].name, 1, 1)]
