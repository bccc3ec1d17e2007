"""Coming back where a table is not in the middle of a match this seat knows: begun, over, forgotten, another's."""

import pytest
from client.playing import (
    answered,
    at_table,
    come_back,
    come_back_to_proof,
    leave_at_turn,
    play_on,
    play_to_proof,
    received,
    signed,
)
from msgspec.structs import replace

from truc_client import CheckFailedError, MatchEnded, MatchStarted, Player, connect, open_home
from truc_client.happenings import Interrupted, Resumed
from truc_protocol.audit import Result
from truc_protocol.bodies import SeatTaken
from truc_protocol.errors import Code
from truc_protocol.messages import Join, Ok, Resume, SeatHeld, Setup, refusal

FRENCH = "truc-french"


async def play_to_the_end(server, player) -> None:
    async with at_table(server, player) as table:
        await play_on(table)


def keep_seat(server, *, match: bytes | None) -> None:
    """Let the server list the seat at log-in, as it does while a table is over."""
    server.held = lambda: (SeatHeld(table="TABLE", match=match, seat=0),)


def answer_joins(server, *, state: str, with_terms: bool = False) -> None:
    """Let the server answer `join` as the real one does: the reply, the terms that are out, the table."""

    async def serve(message: Join) -> None:
        await server.send(Ok(re=message.id, table="TABLE", seat=0))
        if with_terms:
            await server.offer_terms()
        mid = server.setup.match if state == "playing" else None
        await server.send(replace(server.state(), state=state, match=mid))

    answered(server, Join, serve)


async def test_match_that_began_while_the_seat_was_away_is_resumed_on_joining(
    server, autojump_clock, connection
):
    server.stop_after = lambda message: False
    table = await connection.create(FRENCH)
    server.bend = lambda message: None if isinstance(message, Setup) else message
    server.held = tuple
    await table.ready()
    while server.setup is None:
        await connection.tables()
    server.bend = lambda message: message
    answer_joins(server, state="playing")
    await server._stream.aclose()
    await play_to_proof(table)
    assert received(server, Resume)[0].next == -1


async def test_match_shown_before_its_setup_is_not_resumed(server, player) -> None:
    honest = server.send

    async def announced(message: object) -> None:
        if isinstance(message, Setup):
            await honest(replace(server.state(), state="playing", match=message.match))
        await honest(message)

    server.send = announced
    await play_to_the_end(server, player)
    assert received(server, Resume) == []


async def test_match_that_is_over_ends_again_on_coming_back(server, player) -> None:
    await play_to_the_end(server, player)
    keep_seat(server, match=server.setup.match)
    seen = await come_back(server, player)
    kinds = [type(happening) for happening in seen]
    assert (kinds[0], kinds[-2:]) == (MatchStarted, [Resumed, MatchEnded])


async def back_to_the_table(server, player) -> None:
    """Come back to the seat that the server lists, and be at the table before a match, which is played."""
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0])
        await play_on(table, until=lambda happening: table.state is not None)
        await table.ready()
        await play_to_proof(table)


async def test_match_the_server_has_forgotten_leads_back_to_the_table(server, player) -> None:
    keep_seat(server, match=b"\x09" * 32)

    async def forgotten(message: Resume) -> None:
        await server.send(refusal(Code.NO_SUCH_MATCH, "it is gone", re=message.id))

    server.resume = forgotten
    await back_to_the_table(server, player)


async def test_match_another_player_had_the_seat_in_leads_back_to_the_table(server, player, tmp_path) -> None:
    await play_to_the_end(server, player)
    keep_seat(server, match=server.setup.match)
    await back_to_the_table(server, Player(open_home(tmp_path / "late"), "late"))


async def test_seat_held_when_its_terms_are_out_signs_them_on_return(server, player) -> None:
    keep_seat(server, match=None)
    answer_joins(server, state="terms", with_terms=True)
    await come_back_to_proof(server, player)


def say_seats(server, *seats: int) -> None:
    """Let the server say other numbers of the seat taken, one with each reply, then the right one."""
    said = list(seats)

    def bend(message: object) -> object:
        is_taken = isinstance(message, Ok) and message.seat is not None
        return replace(message, seat=said.pop(0)) if is_taken and said else message

    server.bend = bend


@pytest.mark.parametrize("seat", [2, 15])
async def test_seat_that_a_table_does_not_have_is_signed_for_by_nobody(server, player, seat, autojump_clock):
    answer_joins(server, state="terms", with_terms=True)
    say_seats(server, seat)
    async with at_table(server, player) as table:
        seen = await play_on(table)
        first = next(body for body in signed(server) if isinstance(body, SeatTaken))
    assert (first.seat, seen[-1].verdict.result) == (0, Result.PROVEN)


@pytest.mark.parametrize("seat", [2, 15])
async def test_guest_at_a_seat_that_a_table_does_not_have_comes_again(server, guest, seat, autojump_clock):
    say_seats(server, seat)
    async with at_table(server, guest) as table:
        await play_on(table, until=Interrupted)
    assert table.match is None


@pytest.mark.parametrize("seat", [1, 2, 15])
async def test_wrong_number_of_the_seat_does_not_cost_its_secrets(server, player, seat, autojump_clock):
    await leave_at_turn(server, player)
    honest = server.held
    server.held = lambda: tuple(replace(held, seat=seat) for held in honest())
    with pytest.raises(CheckFailedError, match="seat said") as failed:
        await come_back(server, player)
    server.held = honest
    seen = await come_back(server, player)
    assert (failed.value.culprit, seen[-1].verdict.result) == (None, Result.PROVEN)
