"""Company for who waits: when the host's own bots are called to the free seats of an open table, and to which."""

from functools import partial

import pytest
from server.conftest import QUICK, changed, under
from server.rawclient import RawSeat
from server.test_calling import BOTS, bot, called_to
from server.visitors import hang_up
from structlog.testing import capture_logs

from truc_protocol.crypto.keys import fingerprint

COMPANY_S = 20
SETTINGS = changed(
    QUICK, limits={"idle_s": 3600, "login_s": 120}, tables={"company_s": COMPANY_S}, access={"bots": BOTS}
)


calls = partial(called_to, tag="players_wanted")
"""The tables and seats that a bot was called to fill so far."""


async def waiting(server, **fields) -> RawSeat:
    """Return one who waits at a table of their own."""
    seat = await server.seat(seed=5)
    await seat.create("truc-catalan", **fields)
    assert (await seat.ready())["t"] == "ok"
    return seat


async def later(server, mock_clock, seconds: float = COMPANY_S + 0.1) -> None:
    """Let time go by, and the server do what it does then."""
    mock_clock.jump(seconds)
    await (await server.seat(seed=9)).ask({"t": "tables"})


async def test_bot_is_called_to_a_free_seat_after_a_while_and_not_before(server, mock_clock):
    house_bot = await bot(server)
    seat = await waiting(server, seats=2)
    await later(server, mock_clock, COMPANY_S - 1)
    assert await calls(house_bot) == []
    with capture_logs() as logged:
        await later(server, mock_clock, 2)
    assert await calls(house_bot) == [(seat.table, 1)]
    noted = [(entry["bot"], entry["seat"]) for entry in logged if entry["event"] == "bot_called"]
    assert noted == [(fingerprint(house_bot.key.public), 1)]


async def test_bot_that_sits_down_and_is_ready_begins_the_match(server, mock_clock):
    house_bot = await bot(server)
    await waiting(server, seats=2)
    await later(server, mock_clock)
    ((table, number),) = await calls(house_bot)
    assert (await house_bot.join(table, number))["t"] == "ok"
    assert (await house_bot.ready())["t"] == "ok"
    await house_bot.ask({"t": "tables"})
    assert "terms" in [message["t"] for message in house_bot.client.log]


async def test_each_bot_is_called_to_a_seat_of_its_own(server, mock_clock):
    first, second = await bot(server, 0), await bot(server, 1)
    seat = await waiting(server, seats=4)
    await later(server, mock_clock)
    assert (await calls(first), await calls(second)) == ([(seat.table, 1)], [(seat.table, 2)])


async def test_bot_is_called_again_as_long_as_somebody_waits(server, mock_clock):
    seat = await waiting(server, seats=2)
    await later(server, mock_clock)
    house_bot = await bot(server)
    for count in (1, 2):
        await later(server, mock_clock)
        assert await calls(house_bot) == [(seat.table, 1)] * count


@pytest.mark.parametrize(
    "happens",
    [
        lambda seat: seat.ask({"t": "unready", "table": seat.table}),
        lambda seat: seat.ask({"t": "leave", "table": seat.table}),
        lambda seat: hang_up(seat.client),
    ],
    ids=["nobody is ready", "the table is gone", "nobody is connected"],
)
async def test_nobody_is_called_where_nobody_waits(server, mock_clock, happens):
    house_bot, seat = await bot(server), await waiting(server, seats=2)
    await happens(seat)
    await later(server, mock_clock)
    assert await calls(house_bot) == []


async def test_nobody_is_called_to_a_private_table_nor_to_one_where_they_sit(server, mock_clock):
    house_bot, other = await bot(server), await server.seat(seed=6)
    await waiting(server, seats=2, private=True)
    await other.create("truc-catalan", seats=4)
    await other.ready()
    await house_bot.join(other.table, 2)
    await later(server, mock_clock)
    assert await calls(house_bot) == []


async def test_bots_keep_no_company_to_bots(server, mock_clock):
    house_bot, other = await bot(server, 0), await bot(server, 1)
    await other.create("truc-catalan", seats=2)
    await other.ready()
    await later(server, mock_clock)
    assert await calls(house_bot) == []


@under(SETTINGS, tables={"company_s": 0})
async def test_host_who_wants_no_company_for_them_has_none(server, mock_clock):
    house_bot = await bot(server)
    await waiting(server, seats=2)
    await later(server, mock_clock)
    assert await calls(house_bot) == []
