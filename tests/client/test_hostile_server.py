"""Servers that ask for signatures a player never agreed to give, and that rewrite or erase what was played."""

import pytest
import trio
from client.cheats import abandoned
from client.playing import at_table, my_turn, play_on, received, seated
from client.viewed import screen_of
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError, LostError, RefusedError, Table, YourTurn
from truc_client.errors import ConnectError
from truc_client.happenings import CardsDealt, MatchWaits, SeatLost
from truc_conform.forging import on
from truc_protocol.errors import Code
from truc_protocol.messages import (
    History,
    ListPlayers,
    Ok,
    OpenOptions,
    OwnCards,
    PastRecord,
    Ping,
    Pong,
    Resume,
    SeatTakenOver,
    Setup,
    SignedAct,
    TableState,
    Waiting,
    refusal,
)
from truc_protocol.records import Record, body_hash

FRENCH = "truc-french"


async def stop(server, connection) -> Table:
    """Play until the client has caught the server with a second history."""
    table = await connection.create(FRENCH)
    await table.ready()
    await play_on(table, until=my_turn)
    await wait_all_tasks_blocked()
    await server.send(abandoned(server))
    with pytest.raises(CheckFailedError):
        await play_on(table)
    return table


async def test_stopped_table_is_not_resumed_on_a_new_connection(server, autojump_clock, connection) -> None:
    await stop(server, connection)
    await server._stream.aclose()
    with pytest.raises(LostError):
        await connection.tables()
    await connection.tables()
    assert not received(server, Resume)


async def test_reply_to_a_resume_signs_nothing_once_the_match_is_stopped(server, connection) -> None:
    table = await stop(server, connection)
    followed = table._followed
    followed.guard(followed._resumed, Ok(re=1, k=table.match.next))
    assert not table.match.is_live


async def test_setup_under_an_earlier_match_id_leaves_that_transcript_alone(server, player, autojump_clock):
    mid = b"\x07" * 32
    earlier = player.home.transcripts / f"{mid.hex()[:16]}.truc"
    earlier.write_bytes(b"what was played")
    server.bend = lambda message: replace(message, match=mid) if isinstance(message, Setup) else message
    async with at_table(server, player) as table:
        with pytest.raises(CheckFailedError, match="match id"):
            await play_on(table)
    assert earlier.read_bytes() == b"what was played"


async def test_setup_of_an_earlier_match_sent_again_leaves_its_transcript_alone(server, player) -> None:
    async with at_table(server, player) as table:
        ended = (await play_on(table))[-1]
        written, first = ended.transcript.read_bytes(), server.setup
        await table.ready()
        await play_on(table, until=my_turn)
        await wait_all_tasks_blocked()
        await server.send(first)
        await wait_all_tasks_blocked()
    assert ended.transcript.read_bytes() == written


async def test_setup_without_its_match_record_stops_the_table_alone(server, player, autojump_clock) -> None:

    def cut(message: Setup) -> Setup:
        records = message.records[:-1]
        return replace(message, records=records, match=body_hash(Record(*records[-1])))

    server.bend = on(Setup, cut)
    async with seated(server, player) as (connection, table):
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table)
        assert await connection.tables()
    assert stopped.value.culprit in ("server", None)


async def test_option_changed_after_ready_is_not_signed(server, player) -> None:
    honest = server.offer_terms

    async def offer() -> None:
        server.opts = server.opts._replace(voids=9)
        await server.send(server.state())
        await honest()

    server.offer_terms = offer
    async with at_table(server, player) as table:
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table)
    assert received(server, SignedAct) == []
    assert "voids: agreed to 1, the terms say 9" in str(stopped.value)


async def test_terms_for_a_seat_that_is_not_ready_are_not_signed(server, connection) -> None:
    await connection.join("TABLE")
    await wait_all_tasks_blocked()
    await server.offer_terms()
    await connection.tables()
    assert received(server, SignedAct) == []


async def test_people_may_come_and_go_after_ready(server, connection) -> None:
    empty, honest = server.state().seats[1], server.offer_terms

    async def offer() -> None:
        await server.send(server.state())
        await honest()

    seats = (server.state().seats[0], replace(empty, kind="empty", name=None))
    server.bend = on(TableState, lambda message: replace(message, seats=seats))
    table = await connection.create(FRENCH)
    server.bend = lambda message: message
    server.offer_terms = offer
    await table.ready()
    assert (await play_on(table))[-1].verdict.winner is not None


# What nobody signs, at its extremes


def say_before_options(server, kind: type, **fields) -> None:
    """Let the server say something before it offers anything."""
    honest = server.send_options

    async def send() -> None:
        if "at" in kind.__struct_fields__:
            fields["at"] = server.ledger.k
        await server.send(kind(table="TABLE", match=server.setup.match, **fields))
        await honest()

    server.send_options = send


async def show_until_a_card_may_be_played(table: Table) -> list[object]:
    """Show on a terminal what happens, and the table; return what has."""
    (screen, _), seen = screen_of(terminal=True), []
    async for happening in table:
        seen.append(happening)
        screen.show(happening)
        if isinstance(happening, YourTurn):
            screen.offer(happening)
            screen.show_table()
            if any(choice.kind == "play" for choice in happening.options):
                break
            await table.choose(happening.options[0])
    return seen


@pytest.mark.parametrize("seats", [(15,), (2, 1), ()])
async def test_seats_that_a_match_does_not_have_are_not_waited_for(server, player, seats) -> None:
    say_before_options(server, Waiting, seats=seats)
    async with at_table(server, player) as table:
        seen = await show_until_a_card_may_be_played(table)
    waited = {happening.seats for happening in seen if isinstance(happening, MatchWaits)}
    assert waited == {tuple(seat for seat in seats if seat < 2)}


async def test_cards_in_clear_tell_a_player_with_a_key_nothing(server, player) -> None:
    honest, others = {}, ("2s", "3s", "4s")
    for said in (False, True):
        if said:
            say_before_options(server, OwnCards, k=0, j=0, d=0, cards=others)
        async with at_table(server, player) as table:
            seen = await show_until_a_card_may_be_played(table)
            honest[said] = [happening for happening in seen if isinstance(happening, CardsDealt)]
            await table.leave()
    assert not [cards for (cards,) in honest[True] if cards == others]


@pytest.mark.parametrize("fields", [{"cards": ("\x1b[2J",)}, {"cards": ("x",)}, {"cards": (), "of": 2**40}])
async def test_cards_that_are_none_are_not_shown_to_a_guest(server, guest, fields, autojump_clock) -> None:
    say_before_options(server, OwnCards, k=0, j=0, d=0, **fields)
    async with at_table(server, guest) as table:
        with pytest.raises(CheckFailedError, match="cards of the pack") as stopped:
            await show_until_a_card_may_be_played(table)
    assert stopped.value.culprit is None


@pytest.mark.parametrize("line", [" ", "raise", "play zz", "\x1b[2J"])
async def test_option_that_is_no_move_is_not_offered_to_a_guest(server, guest, line, autojump_clock) -> None:
    def bend(message: OpenOptions) -> OpenOptions:
        return replace(message, choices=tuple(replace(choice, key=line) for choice in message.choices))

    server.bend = on(OpenOptions, bend)
    async with at_table(server, guest) as table:
        with pytest.raises(CheckFailedError, match="option") as stopped:
            await show_until_a_card_may_be_played(table)
    assert stopped.value.culprit is None


@pytest.mark.parametrize("seat", [1, 15])
async def test_seat_of_somebody_else_is_not_the_one_that_is_lost(server, player, seat) -> None:
    server.bend = on(Waiting, lambda _message: SeatTakenOver(table="TABLE", seat=seat))
    say_before_options(server, Waiting, seats=(0,))
    async with at_table(server, player) as table:
        seen = await play_on(table)
    assert not [happening for happening in seen if isinstance(happening, SeatLost)]
    assert any(isinstance(message, SeatTakenOver) for message in server.sent)


def answer(server, kind: type, build) -> None:
    """Let the server answer requests of a kind, and signs of life."""

    async def answer_other(message: object) -> None:
        if isinstance(message, Ping):
            await server.send(Pong(n=message.n))
        elif isinstance(message, kind):
            await server.send(build(message))

    server.answer_other = answer_other


async def test_server_that_asks_for_a_wait_without_end_does_not_get_it(server, autojump_clock, connection):
    busy = refusal(Code.RATE_LIMITED, "later")
    answer(server, ListPlayers, lambda message: replace(busy, re=message.id, retry_after_ms=2**53 - 1))
    with trio.fail_after(3600), pytest.raises(RefusedError):
        await connection.players()


@pytest.mark.parametrize(
    "fields", [{"setup": ((0, bytes(2**14), b""),)}, {"past": (PastRecord(signer=0, body=b"", sig=b""),)}]
)
async def test_transcript_without_end_is_not_fetched(
    server, tmp_path, monkeypatch, fields, connection
) -> None:
    monkeypatch.setattr("truc_client.paging.MAX_FILE", 100)
    answer(server, History, lambda message: Ok(re=message.id, k=message.first + 1, more=True, **fields))
    with trio.fail_after(60), pytest.raises(ConnectError):
        await connection.transcript(bytes(32), tmp_path / "match.truc")
    assert len(received(server, History)) < 200


async def test_table_named_for_a_new_one_is_followed_by_the_newest_alone(server, connection) -> None:
    first = await connection.create(FRENCH)
    second = await connection.create(FRENCH)
    with trio.fail_after(60):
        assert [happening async for happening in first if isinstance(happening, YourTurn)] == []
    first.close()
    await second.ready()
    assert (await play_on(second))[-1].verdict.winner is not None
