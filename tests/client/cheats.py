"""What servers and seats that cheat on the wire are made of: messages bent on their way out, and records signed again."""

import pytest
from client.playing import at_table, at_turn, play_on, store_of
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError
from truc_client.verifying import examine_files
from truc_conform.forging import place_of, put_instead, ruled_out
from truc_protocol.audit import Verdict
from truc_protocol.ledger import start_ledger
from truc_protocol.messages import MatchRecord
from truc_protocol.records import Record
from truc_protocol.setup import close_setup, open_terms

FRENCH = "truc-french"


async def caught(server, player, *, choose=None) -> CheckFailedError:
    """Play until the client stops; returns why."""
    async with at_table(server, player) as table:
        with pytest.raises(CheckFailedError) as stopped:
            await (play_on(table) if choose is None else play_on(table, choose=choose))
    return stopped.value


def abandoned(server) -> MatchRecord:
    """Return a record of the server for the position of the first call, signed as that was."""
    return put_instead(server, server.message(0), ruled_out(place_of(server, 0), 0))


async def shown_again(server, player, make=abandoned) -> CheckFailedError:
    """Play until it is the client's turn, let the server send a record a second time, otherwise; returns why it stopped."""
    async with at_turn(server, player) as (table, _):
        await wait_all_tasks_blocked()
        await server.send(make(server))
        with pytest.raises(CheckFailedError) as failed:
            await play_on(table)
    return failed.value


async def forget_since(server, k: int) -> None:
    """Take a server back to a position."""
    kept, server.records = server.records[:k], []
    records = tuple(Record(*record) for record in server.setup.records)
    closed = close_setup(open_terms(server.document, records[0]), records[1:-1], records[-1])
    server.ledger = start_ledger(closed)
    for record in kept:
        server.ledger = server.dealer.take(server.ledger, record)
        server.records.append(record)


def forget_the_mark(player) -> None:
    """Let the store of a player know no more how far their matches had come."""
    with store_of(player) as store:
        store._database.execute("UPDATE matches SET k = NULL, head = NULL")


def refuted(stopped: CheckFailedError) -> set[tuple[str, str | None]]:
    """Return what the files of evidence, and they alone, show to anybody: checks, and who is to blame."""
    together = examine_files(stopped.kept.files)
    verdicts = [file for file in together.files if isinstance(file, Verdict)]
    alone = {(it.refutation.check, it.refutation.culprit) for it in verdicts if it.refutation}
    return alone | {(each.found.check, each.found.culprit) for each in together.contradictions}
