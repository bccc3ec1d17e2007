"""Calls of a server to its host's bots, as the library tells them."""

import pytest
import trio
import trio.testing

from truc_client import HOUSE_BOTS, WANT, BotCalled, ClientError, connect
from truc_protocol.errors import Code
from truc_protocol.messages import BotWanted, ClientHello, PlayersWanted, bye

MATCH = b"m" * 32
CALL = BotWanted(table="K7PQ3", match=MATCH, seat=1, variant="truc-french", left_ms=60_000)
WANTED = (*WANT, HOUSE_BOTS)


async def test_call_is_told_with_all_that_it_says_also_if_it_came_before_anybody_listened(server, player):
    async with connect("host", player, want=WANTED, dial=server.dial) as connection:
        hello = next(message for message in server.received if isinstance(message, ClientHello))
        assert HOUSE_BOTS in hello.want
        await server.send(CALL)
        await connection.tables()
        calls = connection.calls()
        assert await anext(calls) == BotCalled("K7PQ3", MATCH, 1, "truc-french", 60_000)
        await server.send(PlayersWanted(table="K7PQ3", seat=1, variant="truc-french"))
        assert await anext(calls) == BotCalled("K7PQ3", None, 1, "truc-french")


async def test_calls_go_on_over_a_lost_connection(server, player) -> None:
    async with connect("host", player, want=WANTED, dial=server.dial) as connection:
        calls = connection.calls()
        await server.hang_up()
        await trio.testing.wait_all_tasks_blocked()
        await connection.tables()
        await server.send(CALL)
        assert (await anext(calls)).seat == 1


async def test_calls_end_with_the_connection(server, player) -> None:
    async with connect("host", player, want=WANTED, dial=server.dial) as connection:
        await server.send(bye(Code.BANNED, "go away"))
        with pytest.raises(ClientError, match="go away"):
            await anext(connection.calls())


async def test_who_did_not_want_calls_cannot_listen_for_them_and_passes_them_over(server, player) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        with pytest.raises(ClientError, match="house-bots"):
            connection.calls()
        await server.send(CALL)
        assert await connection.tables() is not None
