"""A player without the secrets of its seat: what is said without the flag, what is signed with it, and who stops."""

import pytest
from client.playing import (
    at_table,
    come_back,
    come_back_to_proof,
    leave_at_turn,
    my_turn,
    play_on,
    recorded,
    signed,
)
from msgspec.structs import replace

from truc_client import ChoiceError, ClientError, MatchWaits, RefusedError, Resumed, YourTurn, connect
from truc_protocol.bodies import Rekey
from truc_protocol.errors import Code
from truc_protocol.messages import Ok, WantRekey, refusal
from truc_protocol.setup import Opts

TARGET = 10


async def test_home_without_the_secrets_goes_on_with_a_new_chain_if_asked_to(server, player, elsewhere):
    await leave_at_turn(server, player)
    with pytest.raises(ClientError, match=r"secrets are not here.*truc play --rekey"):
        await come_back(server, elsewhere)
    await come_back(server, elsewhere, rekey=True, until=MatchWaits)
    asked = [message.match for message in server.received if isinstance(message, WantRekey)]
    assert asked == [server.setup.match]
    seen = await come_back_to_proof(server, elsewhere, rekey=True)
    assert any(my_turn(happening) for happening in seen)


async def test_options_offered_without_the_secrets_are_not_told(server, player, elsewhere) -> None:
    server.rules_for_lost = False
    await leave_at_turn(server, player)
    async with connect("host", elsewhere, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0], rekey=True)
        seen = await play_on(table, until=Resumed)
        await connection.tables()
        await server.send_options()
        await connection.tables()
        with pytest.raises(ChoiceError, match="secrets were lost"):
            await table.resign()
    assert not any(my_turn(happening) for happening in seen)


def cut(happening: object) -> bool:
    return isinstance(happening, YourTurn) and happening.options[0].kind == "cut"


async def test_nothing_but_a_rekey_is_signed_before_the_next_call_and_by_a_second_process_neither(
    scripted, player, elsewhere
) -> None:
    server = scripted("truc-catalan", target=8)
    server.rules_for_lost = False
    async with at_table(server, player) as table:
        await play_on(table, until=cut)
    start = len(server.received)
    for rekey, until in ((True, recorded("rekey")), (False, Resumed)):
        async with connect("host", elsewhere, dial=server.dial) as connection:
            table = await connection.resume(connection.held[0], rekey=rekey)
            await play_on(table, until=until)
            await connection.tables()
            with pytest.raises(ChoiceError, match="secrets were lost"):
                await table.resign()
    assert {type(body) for body in signed(server, since=start)} == {Rekey}


async def test_first_home_comes_back_by_a_chain_of_its_own(server, player, elsewhere) -> None:
    await leave_at_turn(server, player)
    await come_back(server, elsewhere, rekey=True, until=my_turn)
    await come_back_to_proof(server, player, rekey=True)


async def test_flag_is_spent_once_the_seat_is_held(server, player, elsewhere) -> None:
    await leave_at_turn(server, player)
    async with connect("host", elsewhere, dial=server.dial) as connection:
        table = await connection.resume(connection.held[0], rekey=True)
        await play_on(table, until=my_turn)
        other = replace(server.ledger.contributors[1], x=b"\x07" * 32)
        ledger = replace(
            server.ledger,
            contributors=(server.ledger.contributors[0], other, *server.ledger.contributors[2:]),
        )
        table.match.signer.advance(ledger)
        with pytest.raises(ClientError, match="another machine with your key"):
            table.match.check_seat()


async def test_seat_without_a_right_left_is_told_by_the_server(server, player, elsewhere) -> None:
    server.opts = Opts(guests=1, rekeys=0)
    await leave_at_turn(server, player)
    honest = server.send

    async def refuse(message) -> None:
        if isinstance(message, Ok) and isinstance(server.received[-1], WantRekey):
            message = refusal(Code.NOT_NOW, "seat 0 has no new chain left", re=message.re)
        await honest(message)

    server.send = refuse
    with pytest.raises(RefusedError, match="no new chain left"):
        await come_back(server, elsewhere, rekey=True)
