"""The highest place accepted before a restart: nothing is signed below it, nothing lowers it, no match ends below it."""

import pytest
import trio
from client.cheats import forget_since
from client.playing import at_table, my_turn, play_on, received, signed, store_of
from client.strict import QuietServer

from truc_client import CheckFailedError, ClientError, YourTurn, connect
from truc_client.home.store import AcceptedPlace
from truc_client.home.transcripts import path_of
from truc_protocol.bodies import Ack, Deal
from truc_protocol.codec import sha256
from truc_protocol.errors import Code
from truc_protocol.messages import Ok, Resume, refusal
from truc_protocol.records import parse

TURNS = 13


async def end_early(server, mark: int) -> None:
    """Put an end well below a mark in the place of what had been played."""
    deals = (k for k, record in enumerate(server.records) if isinstance(parse(record), Deal) and k + 6 < mark)
    bend, server.bend = server.bend, lambda message: None
    await forget_since(server, max(deals) + 1)
    await server.take(server.dealer.abandon(server.ledger, "server"))
    while (record := server.dealer.next_record(server.ledger)) is not None:
        await server.take(record)
    server.bend = bend


@pytest.fixture
async def killed(scripted, player):
    """Return a server and the mark of a client that was killed in a hand, and whose transcript was lost with it."""
    server, turns = scripted(target=12, kind=QuietServer), 0

    def enough(happening: object) -> bool:
        nonlocal turns
        turns += isinstance(happening, YourTurn)
        return turns >= TURNS

    async with at_table(server, player) as table:
        await play_on(table, until=enough)
    path_of(player.home.transcripts, server.setup.match).unlink()
    with store_of(player) as store:
        return server, store.playing(server.setup.match).k


async def tell_from_the_start(server) -> None:
    """Let a server send the setup and records of the match."""
    await server.send(server.setup)
    for k in range(len(server.records)):
        await server.send(server.message(k))


def begin_unasked(server) -> None:
    """Let a server answer `join` with the setup and records of the match, as if it had just begun."""
    server.held = lambda: ()

    async def seat(message) -> None:
        await server.send(Ok(re=message.id, table="TABLE", seat=0))
        await server.send(server.state())
        await tell_from_the_start(server)
        await server.go_on()

    server.seat = seat


async def test_match_known_from_before_is_gone_on_with_when_its_setup_comes_unasked(killed, player) -> None:
    server, _mark = killed
    begin_unasked(server)
    async with connect("host", player, dial=server.dial) as connection:
        seen = await play_on(await connection.join("TABLE"))
    assert received(server, Resume)
    assert seen[-1].verdict.result == "proven"


async def test_end_below_the_mark_is_not_acked_and_the_secrets_are_kept(killed, player) -> None:
    server, mark = killed
    await end_early(server, mark)
    begin_unasked(server)
    before = len(server.received)
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.join("TABLE")
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table)
        th = connection.session.account.store.playing(server.setup.match).th
        assert len(connection.session.account.store.chains(th)) == 1
    assert (stopped.value.check, stopped.value.culprit) == ("C33", "server")
    assert not any(isinstance(body, Ack) for body in signed(server, since=before))


async def test_nothing_is_signed_while_a_known_match_is_sent_again(killed, player) -> None:
    server, _mark = killed
    begin_unasked(server)

    async def silent(_message) -> None:
        return

    server.resume = silent
    before = len(server.received)
    async with connect("host", player, dial=server.dial) as connection:
        await connection.join("TABLE")
        await connection.tables()
    assert signed(server, since=before) == []


async def test_end_below_the_mark_is_none_when_the_server_knows_the_match_no_more(killed, player) -> None:
    server, mark = killed
    await end_early(server, mark)

    async def resume(message) -> None:
        await tell_from_the_start(server)
        await server.send(refusal(Code.NO_SUCH_MATCH, "no such match", re=message.id))

    server.resume = resume
    begin_unasked(server)
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.join("TABLE")
        with pytest.raises(CheckFailedError, match="C33"):
            await play_on(table)  # which returns at the end of a match


async def test_options_below_the_mark_are_not_shown(killed, player) -> None:
    server, mark = killed
    await forget_since(server, 0)

    async def resume(message) -> None:
        await server.send(server.setup)
        server.bend = lambda sent: None if isinstance(sent, Ok) else sent
        await server.go_on()

    server.resume = resume
    before = len(server.received)
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        with trio.move_on_after(0.3):
            await play_on(table, until=my_turn)
            raise AssertionError("options were shown")
        with pytest.raises(ClientError, match="seen before are missing"):
            await table.resign()
    assert server.ledger.k < mark
    assert signed(server, since=before) == []


async def test_lower_place_changes_nothing_in_the_store(killed, player) -> None:
    server, mark = killed
    with store_of(player) as store:
        store.keep_place(server.setup.match, AcceptedPlace(mark - 1, sha256(b"another")))
        joined = store.playing(server.setup.match)
    assert (joined.k, joined.head != sha256(b"another")) == (mark, True)
