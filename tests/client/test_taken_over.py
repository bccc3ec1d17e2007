import pytest
import trio
from client.playing import answered, at_table, at_turn, my_turn, play_on, received, seated

from truc_client import ChoiceError, Interrupted, SeatLost, play_match
from truc_conform.shown import CODE
from truc_protocol.audit import Result
from truc_protocol.messages import BoxedOptions, Join, Ok, Ready, Resume, SeatTakenOver, SignedAct, Watch
from truc_protocol.records import Phase

NOTICE = SeatTakenOver(table=CODE, seat=0)


TARGET = 4


async def play_without(server) -> None:
    """Let rulings play for the seat, to where its release is due."""
    server.is_away = True
    server.bend = lambda message: None if isinstance(message, BoxedOptions) else message
    await server.go_on()
    assert server.ledger.phase is Phase.CALLED


def take_over_at_the_act(server, *, answers: bool) -> None:
    """Give the seat to another connection as soon as this one acts."""

    async def act(message) -> None:
        if answers:
            await server.take(server.record_of(message))
            await server.send(Ok(re=message.id, k=len(server.records) - 1))
        await server.send(NOTICE)
        del server.act
        if answers:
            await play_without(server)

    server.act = act


async def test_no_release_is_signed_for_a_seat_taken_over_unread(server, player, autojump_clock):
    async with at_turn(server, player) as (table, turn):
        take_over_at_the_act(server, answers=True)
        await table.choose(turn.options[0])
        before = len(received(server, SignedAct, Resume, Join))
        await trio.sleep(1)
    assert server.ledger.phase is Phase.CALLED
    assert len(received(server, SignedAct, Resume, Join)) == before


async def test_choice_for_a_seat_taken_over_is_too_late_and_is_not_sent(server, player, autojump_clock):
    async with at_turn(server, player) as (table, turn):
        await server.send(NOTICE)
        await play_on(table, until=SeatLost)
        before = len(received(server, SignedAct, Resume, Join))
        await table.choose(turn.options[0])
        await trio.sleep(1)
    assert len(received(server, SignedAct, Resume, Join)) == before


async def test_nothing_can_be_asked_for_a_seat_taken_over(server, player, autojump_clock) -> None:
    async with at_turn(server, player) as (table, _):
        await server.send(NOTICE)
        await play_on(table, until=SeatLost)
        for forbidden in (table.resign, table.pause):
            with trio.fail_after(5), pytest.raises(ChoiceError, match="another connection"):
                await forbidden()


async def test_no_terms_are_signed_for_a_seat_taken_over(server, player, autojump_clock) -> None:
    answer = server.serve_request

    async def take_over_first(message) -> None:
        await server.send(NOTICE)
        await answer(message)

    answered(server, Ready, take_over_first)
    async with at_table(server, player):
        await trio.sleep(1)
    assert server.terms is not None
    assert received(server, SignedAct, Resume, Join) == []


async def test_seat_taken_over_is_not_taken_back_by_a_new_connection(server, player, autojump_clock) -> None:
    async with at_turn(server, player) as (table, _turn):
        await server.send(NOTICE)
        before = len(received(server, SignedAct, Resume, Join))
        await server._stream.aclose()
        await play_on(table, until=Interrupted)
        await trio.sleep(5)
    assert len(received(server, SignedAct, Resume, Join)) == before
    assert received(server, Watch)


async def test_seat_is_taken_back_by_resume(server, player, autojump_clock) -> None:
    async with seated(server, player) as (connection, table):
        await play_on(table, until=my_turn)
        await server.send(NOTICE)
        await play_on(table, until=SeatLost)
        assert table.seat is None
        with trio.fail_after(5):
            again = await connection.resume(server.held()[0])
            seen = await play_on(again)
    assert (again.seat, seen[-1].verdict.result) == (0, Result.PROVEN)


async def test_choice_of_a_bot_that_is_overtaken_ends_its_match(server, player, autojump_clock):
    async with at_turn(server, player) as (table, _):
        take_over_at_the_act(server, answers=False)
        await server.send_options()
        assert await play_match(table, lambda turn: turn.options[0]) is None
