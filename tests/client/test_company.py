"""The lobby, chat, finding a seat, ignoring somebody, being forgotten: what a client asks and what it is told."""

import pytest
import trio
from client.hosting import TAG
from client.playing import received
from msgspec.structs import replace

from truc_client import ChatSaid, Interrupted, LobbyChanged, RefusedError, TableChanged, TableGone, connect
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import Chat, ChatLine, FollowLobby, Forget, Ignore, LobbyState, Seek, refusal

CODE = "TABLE"


async def told(stream, many: int) -> list:
    with trio.fail_after(20):
        return [await anext(stream) for _ in range(many)]


async def test_lobby_tells_how_full_the_house_is_its_tables_and_its_own_chat(server, connection):
    lobby = await connection.lobby()
    first, shown = await told(lobby, 2)
    assert first == LobbyChanged(LobbyState(online=1, tables=1, playing=0))
    assert shown == TableChanged(server.state())
    assert lobby.tables == {CODE: server.state()}
    await server.send(ChatLine(table=CODE, player=TAG, name="east", text="here"))  # at a table
    await lobby.chat("good evening")
    assert await told(lobby, 1) == [ChatSaid(TAG, "north", "good evening")]
    await server.send(messages.TableClosed(table=CODE, reason="expired"))
    assert (await told(lobby, 1), lobby.tables) == ([TableGone("expired", CODE)], {})


async def test_table_that_closed_while_the_connection_was_lost_is_told_after_it(server, connection) -> None:
    lobby = await connection.lobby()
    await server.send(replace(server.state(), table="OTHER"))
    await told(lobby, 3)
    await server.hang_up()
    *_, closed = await told(lobby, 4)
    assert closed == TableGone("meanwhile", "OTHER")
    assert lobby.tables == {CODE: server.state()}


async def test_lobby_is_followed_again_after_a_lost_connection_as_soon_as_that_is_not_too_often(
    server, connection, autojump_clock
) -> None:
    lobby = await connection.lobby()
    await told(lobby, 2)
    server.too_often = 2
    await server.hang_up()
    kinds = [type(each) for each in await told(lobby, 3)]
    assert (kinds, len(received(server, FollowLobby))) == ([Interrupted, LobbyChanged, TableChanged], 4)


async def test_lobby_that_a_server_does_not_have_or_has_no_more_ends_with_the_reason(server, connection):
    async def refuse(message) -> None:
        await server.send(refusal(Code.UNKNOWN_REQUEST, "no", re=message.id))

    server.answer_other, honest = refuse, server.answer_other
    with pytest.raises(RefusedError, match="unknown_request"):
        await connection.lobby()
    server.answer_other = honest
    lobby = await connection.lobby()
    await told(lobby, 2)
    server.answer_other = refuse
    await server.hang_up()
    with pytest.raises(RefusedError, match="unknown_request"):
        await told(lobby, 2)


async def test_lobby_that_is_left_ends(server, connection) -> None:
    lobby = await connection.lobby()
    await lobby.leave()
    assert [type(each) async for each in lobby] == [LobbyChanged, TableChanged]
    assert [message.off for message in received(server, FollowLobby)] == [False, True]


async def test_players_are_listed_over_every_page(connection) -> None:
    assert [player.player for player in await connection.players()] == ["P0", "P1", "P2", "P3", "P4"]


async def test_table_is_sought_with_exactly_these_options_and_shown(server, connection):
    table = await connection.seek("truc-french", seats=2, options={"target": 6})
    (seek,) = received(server, Seek)
    assert (seek.variant, seek.seats, seek.options) == ("truc-french", 2, {"target": 6})
    assert (table.code, table.seat, table.state) == (CODE, 0, server.state())


async def test_line_of_chat_at_a_table_is_told_there_an_older_one_with_its_age(server, connection) -> None:
    table = await connection.seek("truc-french")
    await table.chat("hello")
    await server.send(ChatLine(table=CODE, n=4, player=TAG, name="e", seat=1, text="hi", ago_ms=9))
    _, said, older = await told(table, 3)
    assert said == ChatSaid(TAG, "north", "hello", CODE)
    assert (older.n, older.seat, older.ago_ms) == (4, 1, 9)
    assert [(message.table, message.text) for message in received(server, Chat)] == [(CODE, "hello")]


async def test_line_that_comes_again_is_told_once(server, connection) -> None:
    table = await connection.seek("truc-french")
    for n in (4, 5, 4, 5, 7):
        await server.send(ChatLine(table=CODE, n=n, player=TAG, name="e", text=f"line {n}"))
    _, *said = await told(table, 4)
    assert [line.n for line in said] == [4, 5, 7]


async def test_ignore_names_the_tag_and_is_taken_back(server, connection) -> None:
    await connection.ignore(TAG)
    await connection.ignore(TAG, off=True)
    ignored = [(message.player, message.off) for message in received(server, Ignore)]
    assert ignored == [(TAG, False), (TAG, True)]


async def test_guest_who_is_forgotten_asks_for_it_and_drops_the_token(server, guest) -> None:
    async with connect("host", guest, dial=server.dial) as connection:
        await connection.forget()
        assert len(received(server, Forget)) == 1
        assert connection.session.account.store.token(connection.session.first_spk) is None
