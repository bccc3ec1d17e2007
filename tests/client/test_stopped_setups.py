"""Terms and setups that show the server cheating stop what they are about for good, and are kept so that they convict."""

import pytest
from client.cheats import refuted
from client.playing import at_turn, come_back, my_turn, play_on, seated, store_of
from msgspec.structs import replace
from protocol.peers import Puppet

from truc_client import CheckFailedError
from truc_client.errors import StoppedError
from truc_protocol.messages import Setup, SignedAct
from truc_protocol.records import Record
from truc_protocol.setup import close_setup, open_terms

TARGET = 12


def second_setup(server) -> Setup:
    """Return another match on the table record of the one that is played."""
    terms = open_terms(server.document, Record(*server.terms.record))
    seats = (Record(*server.setup.records[1]), Puppet(1, 999).join(terms))
    closed = close_setup(terms, seats, server.dealer.match_record(terms, seats))
    return Setup(table="TABLE", match=closed.mid, doc=server.document, records=closed.records)


async def stopped_by(server, player, message) -> CheckFailedError:
    """Play until the first turn, then take a message that stops the table."""
    async with at_turn(server, player) as (table, _):
        await server.send(message() if callable(message) else message)
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table, until=lambda _happening: False)
    return stopped.value


@pytest.mark.parametrize("has_files", [True, False])
async def test_match_stays_stopped_after_a_second_match_on_its_table_record(server, player, has_files):
    """Both matches convict by the files alone; both and their terms are stopped, and without the files all the same."""
    stopped = await stopped_by(server, player, lambda: second_setup(server))
    assert stopped.kept.is_shown
    assert ("C36", "server") in refuted(stopped)
    for file in () if has_files else stopped.kept.files:
        file.unlink()
    before = len(server.received)
    with pytest.raises(StoppedError, match="C36"):
        await come_back(server, player)
    assert not any(isinstance(message, SignedAct) for message in server.received[before:])
    th = open_terms(server.document, Record(*server.terms.record)).th
    with store_of(player) as store:
        assert {store.stopped(each)[:3] for each in (second_setup(server).match, th)} == {"C36"}


@pytest.mark.parametrize("voids", [1, 9], ids=["agreed to", "not agreed to"])
async def test_terms_with_the_nonce_of_a_running_match_stop_it(server, player, voids) -> None:
    async with seated(server, player) as (connection, table):
        await play_on(table, until=my_turn)
        first = server.setup.match
        await server.send(replace(server.state(), state="over"))
        server.terms = server.ledger = None  # the match is given up
        server.match, server.links = 0, 65  # the same nonce in other terms
        server.opts = server.opts._replace(voids=voids)
        await table.ready()
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table, until=lambda _happening: False)
        assert connection.session.account.store.stopped(first).startswith("C36")
    assert ("C36", "server") in refuted(stopped.value)


async def test_seat_said_that_is_not_the_one_signed_for_stops_no_match(server, autojump_clock, connection):
    table = await connection.create("truc-french")

    def bend(message):
        table._followed.seat = 1 if isinstance(message, Setup) else table.seat
        return message

    server.bend = bend
    await table.ready()
    with pytest.raises(CheckFailedError) as failed:
        await play_on(table)
    assert failed.value.culprit is None
    assert connection.session.account.store.stopped(server.setup.match) is None
