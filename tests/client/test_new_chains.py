"""New chains at the client: an exhausted one is followed by the next by itself, and each is stored before it is named."""

import pytest
from client.cheats import refuted
from client.playing import acted, at_table, body_of, come_back_to_proof, play_on, rows_kept, signed
from client.test_choosing import refuse_next

from truc_client import CheckFailedError, RefusedError, YourTurn
from truc_client.matches.seat_match import begins_chain
from truc_protocol.audit import Result
from truc_protocol.bodies import Rekey
from truc_protocol.errors import Code
from truc_protocol.messages import SignedAct, refusal
from truc_protocol.records import parse

FRENCH = "truc-french"
TARGET = 8


def rekeys_taken(server) -> list[Rekey]:
    return [body for record in server.records if isinstance(body := parse(record), Rekey) and body.role == 1]


async def play(server, player) -> list:
    async with at_table(server, player) as table:
        return await play_on(table)


@pytest.fixture
def server(server):
    """Return a server whose chains, and the client's, serve two deals."""
    server.links = 2
    return server


async def test_match_goes_on_over_exhausted_chains_each_of_its_own_to_a_proven_end(server, player) -> None:
    seen = await play(server, player)
    taken = rekeys_taken(server)
    assert seen[-1].verdict.result is Result.PROVEN
    assert len(taken) > 1
    assert [body.first for body in taken] == [2 * number for number in range(1, len(taken) + 1)]
    assert len({body.anchor for body in taken}) == len({body.x for body in taken}) == len(taken)
    assert rows_kept(player.home, "SELECT * FROM chains") == []  # no secret is left
    named = signed(server, Rekey)
    assert len(named) > len(taken)  # a rekey that another record overtook names the same chain again
    assert {(body.first, body.anchor, body.x) for body in named} == {
        (body.first, body.anchor, body.x) for body in taken
    }


async def test_root_and_secret_are_on_the_disk_before_the_rekey_is_sent(server, player) -> None:
    seen: list[list[tuple]] = []
    honest = server.act

    async def look(message) -> None:
        found = "SELECT root, secret FROM chains WHERE x = ?"
        seen.append(rows_kept(player.home, found, body_of(message).x))
        await honest(message)

    acted(server, Rekey, look)
    await play(server, player)
    assert seen
    assert all([len(each) for each in row] == [32, 32] for (row,) in seen)


async def test_rekey_stored_before_the_end_of_a_client_is_sent_by_the_next_one(server, player, monkeypatch):
    server.fresh_chain = lambda honest=server.fresh_chain: honest() if signed(server, Rekey) else None
    held_back: list[bytes] = []
    async with at_table(server, player) as table:
        sending = table._followed.sending
        honest = sending.send

        def send(match, at, sendable) -> None:
            held_back.append(sendable.body) if begins_chain(sendable) else honest(match, at, sendable)

        monkeypatch.setattr(sending, "send", send)
        await play_on(table, until=lambda happening: bool(held_back))
    assert signed(server, Rekey) == []
    await come_back_to_proof(server, player)
    bodies = [message.body for message in server.received if isinstance(message, SignedAct)]
    assert next(body for body in bodies if b"truc/1/rekey" in body[:16]) == held_back[-1]


async def test_new_process_opens_hands_under_every_key_it_has_had(server, player) -> None:
    def third_chain(happening) -> bool:
        return isinstance(happening, YourTurn) and len(rekeys_taken(server)) > 2

    async with at_table(server, player) as table:
        await play_on(table, until=third_chain)
    await come_back_to_proof(server, player)


async def test_options_under_a_new_key_are_counted_from_the_start(server, player) -> None:
    sealed: list[bytes] = []

    def box(at, offer, options) -> bytes:
        x = server.ledger.contributors[1].x
        if x not in sealed:
            sealed.append(x)
            server.boxes, server.epoch = 0, 0
        return honest(at, offer, options)

    honest, server.box = server.box, box
    seen = await play(server, player)
    assert (seen[-1].verdict.result, len(sealed) > 1) == (Result.PROVEN, True)


async def test_rekey_that_is_refused_by_signature_convicts_the_server(server, player) -> None:
    async def refuse(message) -> None:
        refuse_next(server, evidence=True)
        await server.act(message)

    acted(server, Rekey, refuse)
    with pytest.raises(CheckFailedError) as failed:
        await play(server, player)
    assert refuted(failed.value) == {("C35", "server")}


async def test_refused_rekey_ends_the_table_with_the_servers_reason(server, player) -> None:
    async def refuse(message) -> None:
        await server.send(refusal(Code.ILLEGAL_ACTION, "no chain is left to this seat", re=message.id))

    acted(server, Rekey, refuse)
    with pytest.raises(RefusedError, match="no chain is left"):
        await play(server, player)
