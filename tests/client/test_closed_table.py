"""A table that is closed while somebody decides: they are told so, and nobody waits for what will not come."""

import pytest
import trio
from client.playing import at_turn, my_turn, pick, play_on, received, seated
from trio.testing import wait_all_tasks_blocked

from truc_client import TableGone
from truc_protocol import messages

CLOSED = messages.TableClosed(table="TABLE", reason="closed")


@pytest.mark.parametrize("when", ["before", "while"])
async def test_choice_at_a_table_that_closes_is_no_error(server, player, when) -> None:

    async def close(_message) -> None:
        await server.send(CLOSED)

    with trio.fail_after(10):
        async with at_turn(server, player) as (table, turn):
            if when == "while":
                server.act = close
            else:
                await server.send(CLOSED)
                await wait_all_tasks_blocked()
            await table.choose(pick(turn))
            assert isinstance(await anext(table), TableGone)
            assert await anext(table, None) is None


async def test_closed_table_is_not_come_back_to(server, player, autojump_clock) -> None:
    async with seated(server, player) as (connection, table):
        await play_on(table, until=my_turn)
        await server.send(CLOSED)
        await server._stream.aclose()
        await trio.sleep(10)
        told = [happening async for happening in table]
        await connection.tables()
    assert [type(happening) for happening in told] == [TableGone]
    assert not received(server, messages.Resume | messages.Join)
