import pytest
from client.cheats import forget_since
from client.playing import (
    at_table,
    at_turn,
    body_of,
    come_back,
    come_back_to_proof,
    dialing,
    leave_at_turn,
    my_turn,
    once,
    pick,
    play_on,
    play_to_proof,
    received,
    seated,
    visit,
)
from msgspec.structs import replace

from truc_client import (
    CheckFailedError,
    ConnectError,
    Interrupted,
    MatchStarted,
    RefusedError,
    Resumed,
    YourTurn,
    connect,
)
from truc_conform.forging import on
from truc_protocol import messages
from truc_protocol.audit import Result
from truc_protocol.errors import Code
from truc_protocol.records import Phase

TARGET = 4


class CrashError(Exception):
    """The client dies here."""


def acts(server) -> list[messages.SignedAct]:
    return [message for message in received(server, messages.SignedAct) if message.match]


@pytest.mark.parametrize(
    "lost", [messages.BoxedOptions, messages.MatchRecord, messages.Ok], ids=lambda kind: kind.__name__
)
async def test_match_goes_on_with_the_missing_records_after_a_loss(server, player, autojump_clock, lost):
    async with at_table(server, player) as table:
        seen = await play_on(table, until=my_turn)
        server.stop_after = lambda message: isinstance(message, lost) and len(server.records) > 8
        turn = seen[-1]
        await table.choose(pick(turn))
        seen += await play_to_proof(table)
    assert min(message.next for message in received(server, messages.Resume)) > 0
    assert {type(happening) for happening in seen} >= {Interrupted, Resumed}


async def test_guest_goes_on_after_the_connection_was_lost(server, guest, autojump_clock) -> None:
    async with at_table(server, guest) as table:
        server.stop_after = lambda message: isinstance(message, messages.OpenOptions)
        await play_to_proof(table)


async def test_new_process_goes_on_from_its_transcript_whole_torn_or_gone(server, player) -> None:
    await leave_at_turn(server, player)
    seen = await come_back(server, player, until=my_turn)
    started = next(happening for happening in seen if isinstance(happening, MatchStarted))
    assert started.resumed
    (transcript,) = player.home.transcripts.iterdir()
    transcript.write_bytes(transcript.read_bytes()[:-5])
    await come_back(server, player, until=my_turn)
    transcript.unlink()
    await come_back_to_proof(server, player)


async def test_act_stored_before_a_crash_is_sent_after_it_without_asking_again(server, player, monkeypatch):
    async with at_turn(server, player) as (table, turn):

        def crash(*_args) -> None:
            raise CrashError

        monkeypatch.setattr(table._followed.sending, "send", crash)
        with pytest.raises(CrashError):
            await table.choose(pick(turn))
    before, position = len(acts(server)), server.ledger.k
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        seen = await play_on(table, until=lambda happening: len(acts(server)) > before)
        sent = acts(server)[before]
        kept = connection.session.account.store.statement(server.setup.match, ("act", body_of(sent).k))
        seen += await play_on(table)
    assert kept.body == sent.body
    assert all(happening.at > position for happening in seen if isinstance(happening, YourTurn))


async def test_release_asked_for_again_under_another_head_stops_the_match(server, player) -> None:
    async with at_turn(server, player) as (table, _):
        ledger = table.match.ledger
        other = replace(ledger, phase=Phase.CALLED, released=(), parallel=(ledger.k, b"\x05" * 32))
        signer = table.match.signer
        signer.advance(replace(other, deal_index=1, call=ledger.hand.call))
        with pytest.raises(CheckFailedError) as stopped:
            signer.owed()
    assert (stopped.value.check, stopped.value.culprit) == ("C15", "server")


async def test_server_that_forgot_records_is_refused(server, player, autojump_clock) -> None:
    async with at_turn(server, player) as (table, turn):
        await table.choose(pick(turn))
    for transcript in player.home.transcripts.iterdir():
        transcript.unlink()
    await forget_since(server, 3)
    server.go_on = nothing
    with pytest.raises(CheckFailedError) as stopped:
        await come_back(server, player)
    assert stopped.value.check == "C33"


async def nothing() -> None:
    """Let nobody do anything."""


async def test_lost_connection_before_the_match_leads_back_to_the_table(server, autojump_clock, connection):
    table = await connection.join("TABLE")
    await server.send(messages.Bye(code="shutting_down", msg="back soon", retryable=True))
    await play_on(table, until=Interrupted)
    await table.ready()
    await play_to_proof(table)


async def test_match_that_has_ended_is_concluded_when_the_server_has_forgotten_it(
    server, player, autojump_clock
) -> None:
    server.stop_after = lambda message: (
        isinstance(message, messages.MatchRecord) and b"truc/1/end" in message.body[:16]
    )

    async def forgotten(message) -> None:
        await server.send(messages.refusal(Code.NO_SUCH_MATCH, "it is over", re=message.id))

    async with at_table(server, player) as table:
        server.resume = forgotten
        await play_to_proof(table)


async def test_record_sent_again_or_with_a_body_nobody_signed_changes_nothing(server, player, autojump_clock):
    async with at_turn(server, player) as (table, _):
        await server.send(server.message(1))
        await server.send_options()
        assert type((await play_on(table, until=my_turn))[-1]) is YourTurn
        await server.send(replace(server.message(1), body=server.message(2).body))
        await play_to_proof(table)


async def test_guest_comes_back_with_its_token_or_by_name_where_it_is_forgotten(server, guest) -> None:
    for _ in range(2):
        await visit("host", guest, dial=server.dial)
    server.bend = once(
        on(
            messages.Welcome,
            lambda message: replace(messages.refusal(Code.BAD_TOKEN, "unknown", re=message.re), close=True),
        )
    )
    async with connect("host", guest, dial=server.dial) as connection:
        assert connection.name == "guest"
    logins = [*map(type, received(server, messages.GuestLogin, messages.GuestReturn))]
    assert logins == [messages.GuestLogin, messages.GuestReturn, messages.GuestReturn, messages.GuestLogin]


async def test_silent_server_is_pinged_and_then_given_up(server, autojump_clock, connection) -> None:
    table = await connection.join("TABLE")
    server.bend = lambda message: None
    seen = await play_on(table, until=Interrupted)
    assert "silent" in seen[-1].reason
    assert received(server, messages.Ping)


async def test_record_that_never_comes_before_its_reply_is_a_lost_connection(server, player, autojump_clock):
    async with at_turn(server, player) as (table, turn):
        server.bend = once(on(messages.MatchRecord, lambda message: None))
        await table.choose(pick(turn))
        seen = await play_to_proof(table)
    assert any("has not come" in each.reason for each in seen if isinstance(each, Interrupted))


async def test_record_that_comes_when_all_is_closed_opens_no_transcript_again(server, player) -> None:
    async with seated(server, player) as (connection, table):
        await play_on(table, until=my_turn)
        following = connection.subscriptions.tables[table.code]
        following.handle(replace(server.state(), state="playing", match=server.message(1).match))
        connection.subscriptions.close()
        connection.subscriptions.handle(server.message(1))
        assert following.match is None


async def test_nobody_waits_for_a_reply_when_the_match_is_over(server, player) -> None:
    async with at_turn(server, player) as (table, _):
        server.bend = lambda message: None if isinstance(message, messages.Ok) else message
        await table.resign()
        seen = await play_on(table)
    assert (seen[-1].verdict.winner, seen[-1].verdict.reason) == (1, "resigned")


def refuse_once(server, code: Code, why: str) -> None:
    """Let a server refuse the next request that it would grant."""
    server.bend = once(on(messages.Ok, lambda granted: messages.refusal(code, why, re=granted.re)))


async def test_too_many_requests_are_asked_again(server, autojump_clock, connection) -> None:
    refuse_once(server, Code.RATE_LIMITED, "slowly")
    assert await connection.tables()


async def test_missing_records_are_asked_for_again_after_too_many_requests(server, player, autojump_clock):
    server.bend = once(on(messages.MatchRecord, lambda message: None))
    willing, asked = server.resume, []

    async def busy(message) -> None:
        asked.append(message)
        if len(asked) < 3:
            await server.send(messages.refusal(Code.RATE_LIMITED, "slowly", re=message.id))
        else:
            await willing(message)

    server.resume = busy
    async with at_table(server, player) as table:
        seen = await play_on(table)
    assert (seen[-1].verdict.result, len(asked)) == (Result.PROVEN, 3)


async def test_server_that_does_not_come_back_ends_the_table(server, player, autojump_clock) -> None:
    living = {"host": server}
    dial, _ = dialing(living)
    async with connect("host", player, dial=dial) as connection:
        table = await connection.create("truc-french")
        await table.ready()
        await play_on(table, until=my_turn)
        living.clear()
        await server._stream.aclose()
        with pytest.raises(ConnectError):
            await play_on(table)


async def test_another_seat_that_is_refused_leaves_the_table_as_it_is(server, player, autojump_clock) -> None:
    async with seated(server, player) as (connection, table):
        refuse_once(server, Code.NOT_NOW, "leave your own seat first")
        with pytest.raises(RefusedError, match="leave your own"):
            await connection.join("TABLE", 1)
        await play_to_proof(table)


def refusing_the_seat(server, code: Code):
    """Return a bend that answers the seat's record by an error."""

    def bend(message):
        asked = server.received[-1]
        is_answer = (
            isinstance(message, messages.Ok)
            and isinstance(asked, messages.SignedAct)
            and asked.id == message.re
        )
        return messages.refusal(code, "not this one", re=message.re) if is_answer else message

    return bend


async def test_seat_record_that_is_refused_ends_the_table(server, player) -> None:
    server.bend = refusing_the_seat(server, Code.BAD_MESSAGE)
    async with at_table(server, player) as table:
        with pytest.raises(RefusedError, match="not this one"):
            await play_on(table)


async def test_seat_record_for_terms_that_are_gone_ends_nothing(server, player) -> None:
    server.bend = refusing_the_seat(server, Code.TERMS_REFUSED)
    async with at_table(server, player) as table:
        seen = await play_on(table, until=my_turn)
    assert isinstance(seen[-1], YourTurn)
