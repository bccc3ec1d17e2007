"""How many tables one player and one address may open, and how fast."""

import pytest
from server.conftest import QUICK, changed
from server.visitors import guest, keyed

from truc_server.lobby.table_limits import MadeTables
from truc_server.net.peer import LoggedInPlayer, RefusedRequestError
from truc_server.settings.in_force import CurrentValue
from truc_server.storage import PlayerKind

FRENCH = {"t": "create", "variant": "truc-french", "options": {"guests": 2}}
SETTINGS = changed(QUICK, limits={"tables_per_min": 2, "tables_per_player": 3, "tables_per_address": 4})


async def make(client) -> dict:
    return await client.ask(FRENCH)


async def make_and_leave(client) -> dict:
    """Make a table, which is gone when its only player has left; return the reply."""
    reply = await make(client)
    if reply["t"] == "ok":
        await client.ask({"t": "leave", "table": reply["table"]})
    return reply


async def test_table_that_seek_makes_counts(server, mock_clock):
    client = await keyed(server)
    seek = {"t": "seek", "variant": "truc-french"}
    replies = [await client.ask(seek), await make(client), await make(client)]
    assert [reply.get("code") for reply in replies] == [None, None, "rate_limited"]


async def test_table_that_is_not_made_costs_nothing(server, mock_clock):
    client = await keyed(server)
    for _ in range(3):
        assert (await client.ask({**FRENCH, "seats": 5}))["code"] == "bad_option"
    assert (await make(client))["t"] == "ok"


async def test_tables_made_from_one_address_are_limited(server, mock_clock):
    replies = [await make(client) for client in [await keyed(server) for _ in range(3)] for _ in range(2)]
    assert [reply.get("code") for reply in replies] == [None] * 4 + ["too_many_tables"] * 2


async def test_address_may_make_another_table_when_one_is_gone(server, mock_clock):
    clients = [await keyed(server) for _ in range(3)]
    codes = [(await make(client))["table"] for client in clients[:2] for _ in range(2)]
    await clients[0].ask({"t": "leave", "table": codes[0]})
    mock_clock.jump(15.001)
    assert (await make(clients[2]))["t"] == "ok"


@pytest.mark.parametrize("newcomer", [guest, keyed])
async def test_players_of_one_address_are_counted_together(server, mock_clock, newcomer):
    replies = [await make_and_leave(await newcomer(server)) for _ in range(5)]
    assert [reply.get("code") for reply in replies] == [None] * 4 + ["rate_limited"]


def test_table_of_an_unknown_address_counts_for_its_player_alone():
    made, player = (MadeTables(CurrentValue(SETTINGS), {}, {}), LoggedInPlayer(PlayerKind.KEY, b"a", "Anna"))
    for code in "ABC":
        made.add(code, player.id, None)
    with pytest.raises(RefusedRequestError, match="of one player"):
        made.pay(player, "192.0.2.1")


def test_nothing_is_kept_of_tables_that_are_gone():
    made = MadeTables(CurrentValue(SETTINGS), {}, {})
    made.add("A", b"a", "192.0.2.1")
    made.drop("A", b"a")
    assert len(made) == 0
