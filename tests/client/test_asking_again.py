"""What never came is asked for on the same connection, once nothing has come of the match for a while."""

import pytest
import trio
from client.hosting import Hosting
from client.playing import at_table, at_turn, pick, play_on, play_to_proof, received
from client.strict import Strict

from truc_client import (
    Interrupted,
    LostError,
    Player,
    RefusedError,
    Resumed,
    Table,
    YourTurn,
    connect,
    open_home,
)
from truc_client.happenings import Happening
from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.records import Phase

LONG_S = 100


def lose_until(server: Strict, kind: type, is_lost) -> None:
    """Let all that is lost be so until something of this kind is asked for."""
    server.bend = lambda sent: sent if received(server, kind) or not is_lost(sent) else None


async def told_in(table: Table, seconds: float) -> list[Happening]:
    """Return what is told in so many seconds to somebody who only listens."""
    seen: list[Happening] = []
    with trio.move_on_after(seconds):
        while (happening := await anext(table, None)) is not None:
            seen.append(happening)
    return seen


@pytest.mark.parametrize("who", ["player", "guest"])
@pytest.mark.parametrize("lost", ["end", "options"])
async def test_end_or_options_that_get_lost_are_asked_for_once(server, request, autojump_clock, who, lost):

    def is_lost(sent) -> bool:
        if lost == "options":
            return isinstance(sent, messages.BoxedOptions | messages.OpenOptions)
        return server.ledger is not None and server.ledger.phase is Phase.ENDED

    lose_until(server, messages.Resume, is_lost)
    async with at_table(server, request.getfixturevalue(who)) as table:
        seen = await play_to_proof(table)
    assert len(received(server, messages.Resume)) == 1
    assert [each for each in seen if isinstance(each, Interrupted)] == []


async def test_reply_that_never_comes_though_its_record_does_is_asked_for(server, player, autojump_clock):
    async with at_turn(server, player) as (table, turn):
        lose_until(server, messages.Resume, lambda sent: isinstance(sent, messages.Ok))
        await table.choose(pick(turn))
        seen = await play_to_proof(table)
    assert [each for each in seen if isinstance(each, Interrupted)] == []


@pytest.mark.parametrize("who", ["player", "guest"])
async def test_who_thinks_is_not_told_again_what_they_know(server, request, autojump_clock, who) -> None:
    async with at_turn(server, request.getfixturevalue(who)) as (table, turn):
        told = await told_in(table, LONG_S)
        await table.choose(pick(turn))
        await play_to_proof(table)
    assert len(received(server, messages.Resume)) > 1
    assert [each for each in told if isinstance(each, YourTurn | Resumed | Interrupted)] == []


async def test_talk_is_no_news_of_the_match(server, player, autojump_clock) -> None:

    async def talk() -> None:
        while True:
            await trio.sleep(5)
            await server.send(messages.ChatLine(table="TABLE", player="P", name="north", text="your turn?"))

    async with at_turn(server, player) as (table, _), trio.open_nursery() as beside:
        beside.start_soon(talk)
        await told_in(table, LONG_S)
        beside.cancel_scope.cancel()
    assert received(server, messages.Resume)


async def test_terms_that_never_come_are_asked_for(server, autojump_clock, connection) -> None:
    table = await connection.create("truc-french")
    lose_until(server, messages.Join, lambda sent: isinstance(sent, messages.Terms))
    await table.ready()
    await server.send(server.state())
    await play_to_proof(table)
    assert [type(message) for message in server.received].count(messages.Ready) == 1


async def test_who_agreed_to_terms_that_lapsed_unseen_says_so_again(server, player, autojump_clock) -> None:

    def lapse(sent):
        if not isinstance(sent, messages.Terms) or len(received(server, messages.Ready)) > 1:
            return sent
        server.terms, server.is_ready = None, False
        return None

    server.bend = lapse
    async with at_table(server, player) as table:
        await play_to_proof(table)
    assert len(received(server, messages.Ready)) == 2


async def test_refusal_of_what_was_signed_for_terms_that_are_out_is_told(server, player, autojump_clock):

    async def refuse(message) -> None:
        await server.send(server.state())
        await server.send(messages.refusal(Code.TERMS_REFUSED, "another name", re=message.id))

    server.act = refuse
    async with at_table(server, player) as table:
        with pytest.raises(RefusedError, match="another name"):
            await play_on(table)


async def test_setup_that_is_lost_is_asked_for_though_the_table_is_shown_as_before(
    nursery, server, player, autojump_clock
) -> None:
    # all that shows is the open table
    lose_until(server, messages.Resume, lambda sent: isinstance(sent, messages.Setup))

    async def go_on() -> None:
        while True:
            await trio.sleep(1)
            await server.send(server.message(0))

    async with at_table(server, player) as table:
        nursery.start_soon(go_on)
        with trio.fail_after(LONG_S):
            await play_to_proof(table)
        nursery.cancel_scope.cancel()


async def test_table_that_is_never_shown_is_asked_for(server, autojump_clock, connection) -> None:
    lose_until(server, messages.Join, lambda sent: isinstance(sent, messages.TableState))
    table = await connection.create("truc-french")
    await told_in(table, LONG_S)
    assert table.state is not None


async def test_who_agreed_to_nothing_asks_nothing(server, player, autojump_clock) -> None:
    async with at_table(server, player) as table:
        await play_on(table)
        before = len(server.received)
        await told_in(table, 40)
        assert {type(message).__name__ for message in server.received[before:]} <= {"Ping"}


async def test_closed_table_is_not_asked_about(server, autojump_clock, connection) -> None:
    table = await connection.create("truc-french")
    server.bend = lambda sent: None if isinstance(sent, messages.Terms) else sent
    await table.ready()
    await server.send(messages.TableClosed(table="TABLE", reason="expired"))
    await told_in(table, LONG_S)
    await trio.sleep(LONG_S)
    assert received(server, messages.Join) == []


async def test_watcher_asks_for_an_end_that_never_comes(scripted, player, tmp_path, autojump_clock) -> None:
    server = scripted(kind=Hosting, target=3)
    async with at_table(server, player) as table:
        await play_on(table)
    records, server.records = server.records, server.records[:-4]
    watcher = Player(open_home(tmp_path / "watcher"), "watcher")
    async with connect("host", watcher, dial=server.dial) as connection:
        table = await connection.watch("TABLE")
        before = await told_in(table, 1)
        server.records = records
        seen = await play_to_proof(table)
    assert [type(each) for each in before].count(Resumed) == 1
    assert len(received(server, messages.Watch)) == 2
    assert not any(isinstance(each, Interrupted) for each in seen)


async def test_request_that_is_never_answered_is_a_lost_connection(
    server, autojump_clock, connection
) -> None:
    server.bend = lambda sent: None if isinstance(sent, messages.Ok) else sent
    with pytest.raises(LostError, match="did not answer"):
        await connection.tables()
