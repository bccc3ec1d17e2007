"""Substitutes at the client: standing by, agreeing, the record that takes the seat, and what ends the attempt."""

import pytest
from client.cheats import refuted
from client.playing import come_back, my_turn, play_on, play_to_proof, received, signed
from client.test_choosing import refuse_next
from msgspec.structs import replace
from protocol.peers import Puppet

from truc_client import (
    CheckFailedError,
    ClientError,
    MatchStarted,
    RecordSeen,
    RefusedError,
    Resumed,
    Substituted,
    TableChanged,
    connect,
)
from truc_client.errors import NotPlayedError
from truc_client.home.store import HeldChain, Joined, Statement
from truc_protocol.audit import Result
from truc_protocol.bodies import Sub
from truc_protocol.errors import Code
from truc_protocol.messages import Ready, Resume, refusal


@pytest.fixture
def server(deserted):
    return deserted


async def step_in(server, player, *, until=None) -> list:
    async with connect("host", player, dial=server.dial) as connection:
        table, seen = await agreed(connection)
        return seen + await (play_on(table) if until is None else play_on(table, until=until))


async def agreed(connection) -> tuple:
    """Return the table of a player who has agreed to step in, and what was shown of it before."""
    table = await connection.join("TABLE", 0)
    seen = await play_on(table, until=TableChanged)
    await table.ready()
    return table, seen


async def test_player_looks_on_without_cards_and_signs_nothing_before_agreeing(server, connection) -> None:
    table = await connection.join("TABLE", 0)
    kinds = {type(happening) for happening in await play_on(table, until=Resumed)}
    await connection.tables()
    assert (table.stands_by, signed(server, Sub)) == (True, [])
    await table.ready()
    await play_on(table, until=Substituted)
    assert RecordSeen in kinds
    assert not {"CardsDealt", "YourTurn"} & {kind.__name__ for kind in kinds}
    assert not received(server, Ready)


async def test_sub_carries_key_and_name_which_a_new_process_goes_on_under(server, player):
    seen = await step_in(server, player, until=my_turn)
    async with connect("host", player, dial=server.dial) as connection:
        key = connection.session.account.key(connection.session.first_spk).public
    assert [message.next for message in received(server, Resume)] == [-1]
    assert [(body.pk, body.name) for body in signed(server, Sub)] == [(key, b"north")]
    assert Substituted(0, "north") in seen
    seen = await come_back(server, player)
    started = next(happening for happening in seen if isinstance(happening, MatchStarted))
    assert (started.players[0], seen[-1].verdict.result) == ("north", Result.PROVEN)


async def test_lost_connection_while_standing_by_leads_back_to_standing_by(
    server, autojump_clock, connection
):
    held = server.held
    table = await connection.join("TABLE", 0)
    await play_on(table, until=Resumed)
    await server._stream.aclose()
    await play_on(table, until=Resumed)
    server.held = held
    await table.ready()
    await play_to_proof(table)


async def test_sub_whose_answer_was_lost_names_the_same_chain(server, player) -> None:
    honest = server.act

    async def lose(message) -> None:
        server.act = honest
        await server._stream.aclose()

    server.act, held, server.held = lose, server.held, tuple
    await step_in(server, player, until=lambda happening: bool(signed(server, Sub)))
    async with connect("host", player, dial=server.dial) as connection:
        table, _ = await agreed(connection)
        await play_on(table, until=Substituted)
        server.held = held
    first, second = signed(server, Sub)
    assert first == second


async def no_longer_vacant(server) -> None:
    """Show the table with nobody away."""
    state = server.state()
    await server.send(replace(state, seats=tuple(replace(seat, vacant=False) for seat in state.seats)))


async def taken_by_another(server) -> None:
    """Let somebody else have the seat, and show the table."""
    await server.take(Puppet(0, server.seed, person="other ").sub(server.ledger))
    await server.send(server.state())


@pytest.mark.parametrize("happens", [no_longer_vacant, taken_by_another])
async def test_seat_that_is_not_vacant_any_more_or_that_another_took_is_said_so(server, happens, connection):
    table = await connection.join("TABLE", 0)
    await play_on(table, until=Resumed)
    await connection.tables()
    await happens(server)
    with pytest.raises(NotPlayedError, match="nobody is wanted"):
        await play_on(table)


@pytest.mark.parametrize(
    ("code", "error", "told"),
    [
        (Code.TERMS_REFUSED, RefusedError, "another key"),
        (Code.NOT_SEATED, NotPlayedError, "another has taken it"),
    ],
)
async def test_refused_sub_ends_the_table_with_the_reason(server, player, code, error, told):
    async def act(message) -> None:
        await server.send(refusal(code, "another key is logged in", re=message.id))

    server.act = act
    with pytest.raises(error, match=told):
        await step_in(server, player)


async def test_sub_that_is_refused_by_signature_convicts_the_server(server, player) -> None:
    refuse_next(server, evidence=True)
    with pytest.raises(CheckFailedError) as failed:
        await step_in(server, player)
    assert refuted(failed.value) == {("C35", "server")}


async def test_match_of_other_terms_than_were_shown_is_not_stepped_into(server, player) -> None:
    honest = server.state
    server.state = lambda: replace(honest(), opts=(0, *honest().opts[1:]))
    with pytest.raises(CheckFailedError, match="decision_ms: agreed to 0"):
        await step_in(server, player)
    assert signed(server, Sub) == []


async def test_match_under_a_key_never_seen_is_not_stepped_into(server, player, connection) -> None:
    connection.session.keys = {b"\x02" * 32}
    table, _ = await agreed(connection)
    with pytest.raises(ClientError, match="older key of the server"):
        await play_on(table)
    assert (signed(server, Sub), list(player.home.evidence.iterdir())) == ([], [])


async def test_match_whose_nonce_has_served_before_is_not_stepped_into(server, connection) -> None:
    served_before(connection, server, connection.session.first_spk)
    table, _ = await agreed(connection)
    with pytest.raises(CheckFailedError) as stopped:
        await play_on(table)
    assert (stopped.value.check, signed(server, Sub)) == ("C9", [])


def served_before(connection, server, spk: bytes) -> None:
    """Note that another match of this player's, at the server of a key, has had the nonce of this one."""
    chain = HeldChain(b"x" * 32, 0, b"root", b"secret")
    other = Joined(b"another" * 4, server.ledger.setup.terms.table.tn, spk, "OTHER", 0)
    connection.session.account.store.join(other, chain, Statement(b"body", b"sig"))


async def test_nonce_that_another_server_used_does_not_keep_from_stepping_in(server, connection) -> None:
    served_before(connection, server, b"another server")
    table, _ = await agreed(connection)
    await play_on(table, until=Substituted)
    assert len(signed(server, Sub)) == 1
