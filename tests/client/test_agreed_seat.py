"""A vacant seat is taken over only by who said `ready` to it: this match was shown, with this seat vacant."""

import pytest
import trio
from client.playing import answered, play_on, received, seated, signed
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from truc_client import LostError, RefusedError, Substituted, TableChanged, connect
from truc_client.matches.agreement import TableAgreement
from truc_protocol.bodies import Sub
from truc_protocol.errors import Code
from truc_protocol.messages import Ok, Ready, SeatHeld, SignedAct, refusal
from truc_terminal.commands.bot import BotWork, _work, find_vacant
from truc_terminal.commands.house_bot import BotPlay


@pytest.fixture
def server(deserted):
    return deserted


async def follow(connection, table) -> None:
    """Follow a table until everything that is on its way was taken."""
    with trio.move_on_after(0.3):
        await play_on(table, until=Substituted)
    await connection.tables()


async def test_seat_that_the_server_says_was_held_is_not_taken_over(server, player) -> None:
    server.held = lambda: (SeatHeld(table="TABLE", match=server.setup.match, seat=0),)
    honest = server.resume

    async def resume(message) -> None:
        await server.send(server.state())
        await honest(message)

    server.resume = resume
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        await follow(connection, table)
    assert signed(server, Sub) == []


async def test_ready_for_the_next_match_takes_no_seat_over_in_a_running_one(server, connection) -> None:
    state = server.state
    seats = tuple(replace(seat, vacant=False) for seat in state().seats)
    over = replace(state(), state="over", match=None, seats=seats)

    async def seat(message) -> None:
        await server.send(Ok(re=message.id, table="TABLE", seat=0))
        await server.send(over)

    async def refuse(message) -> None:
        await server.send(refusal(Code.TABLE_NOT_OPEN, "playing", re=message.id))
        await server.send(state())
        await server.send(state())

    server.seat = seat
    answered(server, Ready, refuse)
    table = await connection.join("TABLE", 0)
    await play_on(table, until=TableChanged)
    await table.ready()
    await follow(connection, table)
    assert signed(server, Sub) == []


async def test_join_that_is_answered_without_a_seat_ends_in_words(server, player) -> None:
    async def seat(message) -> None:
        await server.send(Ok(re=message.id, table="TABLE"))

    server.seat = seat
    with pytest.raises(LostError, match="without saying which seat"):
        async with connect("host", player, dial=server.dial) as connection:
            await connection.join("TABLE", 0)


@pytest.mark.parametrize(
    "shows", [{"table": "OTHER"}, {"match": b"\x09" * 32}], ids=["nothing", "another match"]
)
async def test_ready_to_anything_but_this_vacancy_takes_no_seat_over(server, shows, connection) -> None:
    honest = server.state
    server.state = lambda: replace(honest(), **shows)  # a table that is not followed is as good as none
    table = await connection.join("TABLE", 0)
    if "table" in shows:
        with pytest.raises(RefusedError):
            await table.ready()
    else:
        await play_on(table, until=TableChanged)
        await table.ready()
    server.state = honest
    for _ in range(2):
        await wait_all_tasks_blocked()
        await server.send(honest())
    await follow(connection, table)
    assert signed(server, Sub) == []


async def test_bot_looks_on_where_the_seat_is_filled_when_it_comes(
    server, autojump_clock, connection
) -> None:
    honest, joins = server.state, []

    async def seat(message) -> None:
        joins.append(message)
        state = honest() if len(joins) > 1 else replace(honest(), seats=honest().seats[1:])
        await server.send(Ok(re=message.id, table="TABLE", seat=0))
        await server.send(state)

    server.seat = seat
    table = await find_vacant(connection, None)
    assert (len(joins) > 1, table.state.seats[0].vacant) == (True, True)


async def test_bot_that_stood_in_goes_on_when_it_is_started_again(server, player, capsys) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        table = await find_vacant(connection, None)
        await play_on(table, until=Substituted)
    work = BotWork(None, None, None, {}, False, 1, True, BotPlay("careful", 1, 0))
    async with connect("host", player, dial=server.dial) as connection:
        with trio.fail_after(10):
            await _work(connection, work)
    assert "proven" in capsys.readouterr().out


async def test_word_that_was_not_given_before_is_withdrawn_where_the_match_has_begun(scripted, player):
    server = scripted(target=4)

    async def refuse(message) -> None:
        await server.send(refusal(Code.TABLE_NOT_OPEN, "playing", re=message.id))

    answered(server, Ready, refuse)
    async with seated(server, player) as (connection, _):
        await server.offer_terms()
        await connection.tables()
    assert not received(server, SignedAct)


async def test_agreement_to_a_vacancy_is_for_that_seat_and_match_alone(scripted) -> None:
    server = scripted()
    first, second = server.state().seats
    state = replace(
        server.state(), state="playing", match=b"m" * 32, seats=(replace(first, vacant=True), second)
    )
    agreement = TableAgreement()
    agreement.show(state)
    agreement.agree()
    given = [agreement.has_vacancy(mid, seat) for mid in (b"m" * 32, b"n" * 32) for seat in (0, 1)]
    assert given == [True, False, False, False]
