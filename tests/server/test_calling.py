"""The host's own bots: which of them are called to a vacant seat, when, and what they may do."""

import pytest
from server.calls import after, awake, called, results, sign_now
from server.conftest import QUICK, changed, play_on, running, together, under
from server.rawclient import RawSeat
from server.restarting import come_back
from server.substituting import TERMS, follow, hand_called, offered, step_in, voided

from truc_protocol.audit import Result
from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed

KEYS = [signing_key_from_seed(bytes([n]) * 32) for n in range(1, 4)]
BOTS = tuple(fingerprint(key.public) for key in KEYS[:2])
SETTINGS = changed(QUICK, limits={"idle_s": 3600, "login_s": 120}, access={"bots": BOTS})
CALLED = ("house-bots",)


async def bot(server, number: int = 0, *, want=CALLED) -> RawSeat:
    """Return one who logs in with a key; the first two are the host's bots."""
    seat = RawSeat(await server.connect(), seed=70 + number)
    seat.key = KEYS[number]
    assert (await seat.login(want=want))["t"] == "welcome"
    return seat


async def called_to(seat: RawSeat, tag: str = "bot_wanted") -> list[tuple[str, int]]:
    """Return the tables and seats to which one was called so far."""
    await seat.ask({"t": "tables"})
    return [(told["table"], told["seat"]) for told in seat.client.came(tag)]


async def answer(seat: RawSeat, seats) -> dict:
    """Take the newest call: stand by, follow the match, and sign for the seat."""
    ((table, number), *_) = reversed(await called_to(seat))
    reply = await seat.join(table, number)
    assert reply["t"] == "ok", reply
    assert (await follow(seat, seats))["t"] == "ok"
    return await step_in(seat)


@pytest.mark.slow
async def test_bot_is_called_to_a_seat_that_becomes_vacant_and_plays_to_a_proven_end(server, mock_clock):
    house_bot = await bot(server)
    seats = await voided(server, mock_clock)
    assert await called_to(house_bot) == [(seats[0].table, 1)]
    (told,) = house_bot.client.came("bot_wanted")
    here = (seats[0].ledger.setup.mid, "truc-french", TERMS["release_ms"])
    assert (told["match"], told["variant"], told["left_ms"]) == here
    reply = await answer(house_bot, seats)
    await together(seats[0].play, house_bot.play)
    assert (reply["t"], results([seats[0], house_bot])) == ("ok", {(Result.PROVEN, "won")})


@pytest.mark.parametrize(
    ("number", "want"), [(2, CALLED), (0, ())], ids=["a key that is not listed", "a bot that does not ask"]
)
async def test_nobody_else_is_called(server, mock_clock, number, want):
    other = await bot(server, number, want=want)
    seats = await voided(server, mock_clock)
    late = await bot(server, number, want=want)
    assert [await called_to(seat) for seat in (other, late, seats[0])] == [[], [], []]


async def test_bot_that_has_had_a_seat_in_the_match_is_not_called_again(server, mock_clock):
    first, second = await bot(server, 0), await bot(server, 1)
    seats = await voided(server, mock_clock, voids=9)
    first.is_idle = True
    await answer(first, seats)
    await awake(seats[0])
    await play_on(seats[:1], lambda seat: hand_called(seat, 1))
    mock_clock.jump(5.01)
    await play_on(seats[:1], offered)
    assert (len(await called_to(first)), len(await called_to(second))) == (1, 2)


@pytest.mark.slow
async def test_bot_is_called_to_a_private_table_and_may_join_it(server, mock_clock):
    house_bot = await bot(server)
    seats = await called(server, options=TERMS, private=True)
    await sign_now(seats[0])
    await play_on(seats[:1], after(2))
    mock_clock.jump(5.01)
    await play_on(seats[:1], offered)
    assert await called_to(house_bot) == [(seats[0].table, 1)]
    assert (await house_bot.join(seats[0].table, 1))["t"] == "ok"


@under(SETTINGS, limits={"seats_per_player": 1})
async def test_bot_may_have_more_seats_than_players(server, mock_clock):
    house_bot = await bot(server)
    await house_bot.create("truc-french")
    await voided(server, mock_clock)
    ((table, number),) = await called_to(house_bot)
    assert (await house_bot.join(table, number))["t"] == "ok"


async def test_bot_is_called_only_on_its_newest_connection(server, mock_clock):
    older, newer = await bot(server), await bot(server)
    await voided(server, mock_clock)
    assert (len(await called_to(older)), len(await called_to(newer))) == (0, 1)


@pytest.mark.slow
async def test_bot_is_called_again_after_a_restart(path, mock_clock):
    async with running(path, SETTINGS) as server:
        seats = await voided(server, mock_clock)
    async with running(path, SETTINGS) as server:
        await come_back(server, seats[0])
        house_bot = await bot(server)
        reply = await answer(house_bot, seats)
        await awake(seats[0])
        await together(seats[0].play, house_bot.play)
        assert (reply["t"], results([seats[0], house_bot])) == ("ok", {(Result.PROVEN, "won")})


@under(QUICK)
async def test_server_without_bots_does_not_offer_to_call_any(server):
    seat = await bot(server)
    assert "house-bots" not in seat.client.info["caps"]
