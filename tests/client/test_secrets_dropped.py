"""Secrets are dropped as soon as they can serve no more: terms that never became a match, and a seat played by another."""

import pytest
import trio
from client.playing import (
    at_table,
    at_turn,
    come_back,
    come_back_to_proof,
    leave_at_turn,
    my_turn,
    play_on,
    rows_kept,
    seated,
    store_of,
)
from msgspec.structs import replace
from protocol.peers import Puppet

from truc_client import ClientError
from truc_client.home.store import AcceptedPlace, HeldChain, Joined, Slot, Statement
from truc_client.matches.signer import SeatKey, Signer, links_of
from truc_protocol.messages import SignedAct, TableClosed
from truc_protocol.records import Record
from truc_protocol.setup import open_terms

TARGET = 12
SERVER, TH, OTHER_TH, TN, OTHER_TN, MID = (bytes([value]) * 32 for value in range(1, 7))
CHAIN = HeldChain(b"x" * 32, 3, b"root", b"secret")
STATEMENT = Statement(b"body", b"\x07" * 64)


def chains_of(player) -> int:
    return len(rows_kept(player.home, "SELECT * FROM chains"))


async def pass_over(_message) -> None:
    """Leave what was signed unanswered."""


async def agree_in_vain(server, player, *, then=None) -> None:
    """Sign terms at a table that become no match."""
    server.act = pass_over
    async with seated(server, player) as (connection, table):
        await connection.tables()
        if then is not None:
            await then(server, table)


async def test_later_terms_of_a_table_drop_the_secrets_for_those_before(server, player) -> None:
    for _ in range(3):
        await agree_in_vain(server, player)
    assert chains_of(player) == 1


async def leave(_server, table) -> None:
    await table.leave()


async def close(server, table) -> None:
    await server.send(TableClosed(table="TABLE", reason="idle"))
    with trio.fail_after(10):
        await play_on(table)


@pytest.mark.parametrize("end", [leave, close])
async def test_table_that_is_left_or_closed_before_the_match_keeps_no_secrets(server, player, end) -> None:
    await agree_in_vain(server, player, then=end)
    assert chains_of(player) == 0


async def test_terms_whose_secrets_were_dropped_are_not_signed_again(server, player) -> None:
    await agree_in_vain(server, player)
    drop_secrets(server, player)
    server.match, before = 0, len(server.received)
    async with at_table(server, player) as table:
        with pytest.raises(ClientError, match="served before"):
            await play_on(table)
    assert not any(isinstance(message, SignedAct) for message in server.received[before:])


async def substituted(server, player) -> None:
    """Play until a substitute takes the seat over."""
    server.opts = server.opts._replace(gone=1, gone_after=1)
    async with at_turn(server, player) as (table, _):
        server.is_away = server.is_call_held = True
        await server.go_on()
        newcomer = Puppet(0, server.seed, person="newcomer ")
        server.players[0] = newcomer
        await server.take(newcomer.sub(server.ledger))
        with pytest.raises(ClientError, match="a substitute has taken this seat"):
            await play_on(table, until=lambda _happening: False)


async def test_player_whose_seat_a_substitute_took_keeps_no_secrets_and_is_told_so(server, player):
    await substituted(server, player)
    assert (chains_of(player), list(player.home.evidence.iterdir())) == (0, [])
    with pytest.raises(ClientError, match="a substitute has taken this seat"):
        await come_back(server, player, until=lambda _happening: False)


async def test_home_whose_seat_is_played_from_elsewhere_keeps_no_secrets(server, player, elsewhere) -> None:
    await leave_at_turn(server, player)
    await come_back(server, elsewhere, rekey=True, until=my_turn)
    with pytest.raises(ClientError, match="another machine with your key"):
        await come_back(server, player, until=lambda _happening: False)
    assert (chains_of(player), chains_of(elsewhere)) == (0, 1)
    assert list(player.home.evidence.iterdir()) == []


def drop_secrets(server, player) -> None:
    """Drop the secrets for the newest terms."""
    with store_of(player) as store:
        store.drop_secrets(open_terms(server.document, Record(*server.terms.record)).th)


async def test_home_that_gave_its_secrets_up_can_begin_a_new_chain(server, player) -> None:
    await leave_at_turn(server, player)
    drop_secrets(server, player)
    await come_back_to_proof(server, player, rekey=True)


def seat_key(connection, table) -> SeatKey:
    first_spk = connection.session.first_spk
    return SeatKey(connection.session.account.key(first_spk), first_spk, table.code, table.seat, "north")


async def test_chain_named_before_is_one_after_loss_when_it_is_named_again_after_one(server, player):
    async with seated(server, player) as (connection, table):
        await play_on(table, until=my_turn)
        ledger, store = table.match.ledger, connection.session.account.store
        th = ledger.setup.terms.th
        ordinary = HeldChain(b"x" * 32, ledger.deal_index, b"r" * 32, b"secret")
        store.keep_statement(ledger.setup.mid, Slot("act", 999), STATEMENT, AcceptedPlace(0, b""), ordinary)
        signer = Signer(seat_key(connection, table), ledger, store)
        assert signer.fresh_chain(after_loss=True).x == ordinary.x
        assert signer.fresh_chain(after_loss=True).after_loss
        assert not signer.fresh_chain(after_loss=False).after_loss
        assert store.chains(th)[-1] == ordinary


async def test_chain_whose_anchor_another_seat_has_copied_is_named_no_more(server, player) -> None:
    async with seated(server, player) as (connection, table):
        await play_on(table, until=my_turn)
        ledger, store = table.match.ledger, connection.session.account.store
        own = seat_key(connection, table)
        named = HeldChain(b"x" * 32, ledger.deal_index, b"r" * 32, b"secret")
        store.keep_statement(ledger.setup.mid, Slot("act", 999), STATEMENT, AcceptedPlace(0, b""), named)
        anchor = links_of(named, own.key.public, ledger.setup.terms.table).anchor
        copied = replace(ledger, commitments=ledger.commitments | {("anchor", anchor)})
        assert Signer(own, ledger, store).fresh_chain(after_loss=False).x == named.x
        assert Signer(own, copied, store).fresh_chain(after_loss=False).x != named.x


def test_chain_stored_again_after_a_loss_is_marked_so_in_the_store(store) -> None:
    store.join(Joined(TH, TN, SERVER, "TABLE", 0), CHAIN, STATEMENT)
    store.begin(TH, MID)
    lost = HeldChain(CHAIN.x, CHAIN.first, CHAIN.root, CHAIN.secret, after_loss=True)
    for chain in (lost, CHAIN):
        store.keep_statement(MID, Slot("act", 7), STATEMENT, AcceptedPlace(7, TH), chain)
    assert store.chains(TH) == (lost,)


def test_secrets_of_a_match_or_of_another_table_stay_when_terms_of_the_next_match_come(store) -> None:
    store.join(Joined(TH, TN, SERVER, "TABLE", 0), CHAIN, STATEMENT)
    store.join(Joined(OTHER_TH, OTHER_TN, SERVER, "OTHER", 0), CHAIN, STATEMENT)
    assert (store.chains(TH), store.chains(OTHER_TH)) == ((CHAIN,), (CHAIN,))
    store.begin(TH, MID)
    store.join(Joined(b"\x08" * 32, b"\x09" * 32, SERVER, "TABLE", 0), CHAIN, STATEMENT)
    assert (store.chains(TH), store.chains(b"\x08" * 32)) == ((CHAIN,), (CHAIN,))
