"""Substitutes at the client: standing by, agreeing, the record that takes the seat, and what ends the attempt."""

import pytest
from client.deserting import DesertedServer
from client.playing import at_table, play_on
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
    YourTurn,
    connect,
)
from truc_client.errors import NotPlayedError
from truc_client.home.store import HeldChain, Joined, Statement
from truc_protocol.audit import Result
from truc_protocol.bodies import Sub
from truc_protocol.errors import Code
from truc_protocol.messages import Ready, Resume, SignedAct, refusal
from truc_protocol.records import Record, parse


@pytest.fixture
def deserted(nursery):
    """Return a way to make a server at which a match waits for a substitute in seat 0."""

    async def make(**options) -> DesertedServer:
        server = DesertedServer(**{"target": 6, **options})
        server.nursery = nursery
        await server.desert()
        return server

    return make


def subs(server) -> list[Sub]:
    """Return every sub that the client has sent."""
    signed = [message for message in server.received if isinstance(message, SignedAct)]
    bodies = [parse(Record(1, message.body, message.sig)) for message in signed]
    return [body for body in bodies if isinstance(body, Sub)]


def resumed(happening: object) -> bool:
    return isinstance(happening, Resumed)


def shown(happening: object) -> bool:
    return isinstance(happening, TableChanged)


def substituted(happening: object) -> bool:
    return isinstance(happening, Substituted)


async def step_in(server, player, *, until=None) -> list:
    async with connect("host", player, dial=server.dial) as connection:
        table, seen = await agreed(connection)
        return seen + await (play_on(table) if until is None else play_on(table, until=until))


async def agreed(connection) -> tuple:
    """Return the table of a player who has agreed to step in, and what was shown of it before."""
    table = await connection.join("TABLE", 0)
    seen = await play_on(table, until=shown)
    await table.ready()
    return table, seen


async def test_substitute_plays_the_match_to_a_proven_end(deserted, player) -> None:
    server = await deserted()
    seen = await step_in(server, player)
    assert seen[-1].verdict.result is Result.PROVEN
    assert any(isinstance(happening, YourTurn) for happening in seen)


async def test_player_looks_on_without_cards_and_signs_nothing_before_agreeing(deserted, player) -> None:
    server = await deserted()
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.join("TABLE", 0)
        kinds = {type(happening) for happening in await play_on(table, until=resumed)}
        await connection.tables()
        assert (table.stands_by, subs(server)) == (True, [])
        await table.ready()
        await play_on(table, until=substituted)
    assert RecordSeen in kinds
    assert not {"CardsDealt", "YourTurn"} & {kind.__name__ for kind in kinds}
    assert not any(isinstance(message, Ready) for message in server.received)


async def test_sub_carries_the_players_key_and_name_after_everything_was_asked_for(deserted, player) -> None:
    server = await deserted()
    seen = await step_in(server, player, until=substituted)
    async with connect("host", player, dial=server.dial) as connection:
        key = connection.session.account.key(connection.session.first_spk).public
    assert [message.next for message in server.received if isinstance(message, Resume)] == [-1]
    assert [(body.pk, body.name) for body in subs(server)] == [(key, b"north")]
    assert seen[-1] == Substituted(0, "north")


async def test_names_of_a_match_gone_on_with_are_those_of_who_plays_now(deserted, player) -> None:
    server = await deserted()
    await step_in(server, player, until=substituted)
    async with connect("host", player, dial=server.dial) as connection:
        seen = await play_on(await connection.resume(connection.held[0]), until=resumed)
    started = next(happening for happening in seen if isinstance(happening, MatchStarted))
    assert started.players[0] == "north"


async def test_substitute_ended_and_started_again_goes_on(deserted, player) -> None:
    server = await deserted()
    await step_in(server, player, until=lambda happening: isinstance(happening, YourTurn))
    async with connect("host", player, dial=server.dial) as connection:
        seen = await play_on(await connection.resume(connection.held[0]))
    assert seen[-1].verdict.result is Result.PROVEN


async def test_lost_connection_while_standing_by_leads_back_to_standing_by(
    deserted, player, autojump_clock
) -> None:
    server = await deserted()
    held = server.held
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.join("TABLE", 0)
        await play_on(table, until=resumed)
        await server._stream.aclose()
        await play_on(table, until=resumed)
        server.held = held
        await table.ready()
        seen = await play_on(table)
    assert seen[-1].verdict.result is Result.PROVEN


async def test_sub_whose_answer_was_lost_names_the_same_chain(deserted, player) -> None:
    server = await deserted()
    honest = server.act

    async def lose(message) -> None:
        server.act = honest
        await server._stream.aclose()

    server.act, held, server.held = lose, server.held, tuple
    await step_in(server, player, until=lambda happening: bool(subs(server)))
    async with connect("host", player, dial=server.dial) as connection:
        table, _ = await agreed(connection)
        await play_on(table, until=substituted)
        server.held = held
    first, second = subs(server)
    assert first == second


async def test_seat_that_is_not_vacant_any_more_is_said_so(deserted, player) -> None:
    server = await deserted()
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.join("TABLE", 0)
        await play_on(table, until=resumed)
        await connection.tables()
        state = server.state()
        seats = tuple(replace(seat, vacant=False) for seat in state.seats)
        await server.send(replace(state, seats=seats))
        with pytest.raises(NotPlayedError, match="nobody is wanted"):
            await play_on(table)


async def test_seat_that_another_took_is_said_so(deserted, player) -> None:
    server = await deserted()
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.join("TABLE", 0)
        await play_on(table, until=resumed)
        await connection.tables()
        other = Puppet(0, server.seed, person="other ")
        await server.take(other.sub(server.ledger))
        await server.send(server.state())
        with pytest.raises(NotPlayedError, match="nobody is wanted"):
            await play_on(table)


async def test_refused_sub_ends_the_table_with_the_servers_reason(deserted, player) -> None:
    server = await deserted()

    async def act(message) -> None:
        await server.send(refusal(Code.TERMS_REFUSED, "another key is logged in", re=message.id))

    server.act = act
    with pytest.raises(RefusedError, match="another key"):
        await step_in(server, player)


async def test_sub_that_came_behind_anothers_is_said_so(deserted, player) -> None:
    server = await deserted()

    async def act(message) -> None:
        await server.send(refusal(Code.NOT_SEATED, "expected a connection that stands by", re=message.id))

    server.act = act
    with pytest.raises(NotPlayedError, match="another has taken it"):
        await step_in(server, player)


async def test_match_of_other_terms_than_were_shown_is_not_stepped_into(deserted, player) -> None:
    server = await deserted()
    honest = server.state
    server.state = lambda: replace(honest(), opts=(0, *honest().opts[1:]))
    with pytest.raises(CheckFailedError, match="decision_ms: agreed to 0"):
        await step_in(server, player)
    assert subs(server) == []


async def test_player_whose_seat_a_substitute_took_stops_with_a_sentence(scripted, player) -> None:
    server = scripted(target=10)
    server.opts = server.opts._replace(gone=1, gone_after=1)
    async with at_table(server, player) as table:
        await play_on(table, until=lambda happening: isinstance(happening, YourTurn))
        server.is_away = server.is_wished = True
        await server.go_on()
        newcomer = Puppet(0, server.seed, person="newcomer ")
        await server.take(newcomer.sub(server.ledger))
        with pytest.raises(ClientError, match="a substitute has taken this seat"):
            await play_on(table, until=lambda happening: False)
    assert list(player.home.evidence.iterdir()) == []


async def test_match_under_a_key_never_seen_is_not_stepped_into(deserted, player) -> None:
    server = await deserted()
    async with connect("host", player, dial=server.dial) as connection:
        connection.session.keys = {b"\x02" * 32}
        table, _ = await agreed(connection)
        with pytest.raises(ClientError, match="older key of the server"):
            await play_on(table)
    assert (subs(server), list(player.home.evidence.iterdir())) == ([], [])


async def test_match_whose_nonce_has_served_before_is_not_stepped_into(deserted, player) -> None:
    server = await deserted()
    async with connect("host", player, dial=server.dial) as connection:
        served_before(connection, server, connection.session.first_spk)
        table, _ = await agreed(connection)
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table)
    assert (stopped.value.check, subs(server)) == ("C9", [])


def served_before(connection, server, spk: bytes) -> None:
    """Note that another match of this player's, at the server of a key, has had the nonce of this one."""
    chain = HeldChain(b"x" * 32, 0, b"root", b"secret")
    other = Joined(b"another" * 4, server.ledger.setup.terms.table.tn, spk, "OTHER", 0)
    connection.session.account.store.join(other, chain, Statement(b"body", b"sig"))


async def test_nonce_that_another_server_used_does_not_keep_from_stepping_in(deserted, player) -> None:
    server = await deserted()
    async with connect("host", player, dial=server.dial) as connection:
        served_before(connection, server, b"another server")
        table, _ = await agreed(connection)
        await play_on(table, until=substituted)
    assert len(subs(server)) == 1
