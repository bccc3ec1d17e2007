"""Once a seat has signed its ack, everybody else together cannot change anything before it.

Each example changes one record of a finished match, or the order of some, binds and signs again all that follows with
every key but that of seat 0, and leaves what seat 0 has signed. `TRUC_FUZZ` makes it longer, as in test_audit_fuzz.
"""

from functools import cache

import pytest
from fuzz.mutating import changed
from hypothesis import given
from hypothesis import strategies as st
from protocol.forge import signed_bytes, small
from protocol.peers import Table
from protocol.rewriting import HONEST, relinked
from protocol.test_audit_fuzz import CHANCE, fuzz

from truc_protocol.audit import Result, verify
from truc_protocol.bodies import End, Proxy
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, enc
from truc_protocol.records import Record, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_rules import Variant, preset, with_options

GAMES = {
    "french": lambda: small(target=3),
    "sealed": lambda: small(target=3, reveal="match"),
    "flor": lambda: with_options(preset("truco-argentino-flor"), {"target": 2, "match": 1}),
}


@cache
def finished(name: str) -> Table:
    """A match with a void, new chains, a pause and rulings, of which seat 0 is honest."""
    variant: Variant = GAMES[name]()
    table = Table(variant, opts=Opts(voids=2, gone=2), links=3).to("called", index=1)
    table.add(table.dealer.void(table.ledger))
    table.add(table.players[1].rekey(table.ledger))
    table.to("hand", index=2).rest()
    table.add(table.rule("resume"))
    table.add(table.dealer.move(table.ledger))
    return table.run()


def is_forgers(record: Record) -> bool:
    return record.signer != HONEST + 1


PLACED = 4
"""Behind the tag, the match, the position and the head."""


def is_readable(record: Record) -> bool:
    try:
        parse(record)
    except CheckError:
        return False
    return True


def another_body(draw, table: Table, records: list[Record], at: int) -> list[Record]:
    """One record changed at will, or in one field: as it stands in another of its kind, or near what it was."""
    chance, record = draw(CHANCE), records[at]
    items, how = dec(record.body), chance.randrange(5)
    if how == 0 or len(items) == PLACED:
        items = changed(chance, items, [])
    else:
        place = chance.randrange(PLACED, len(items))
        others = [dec(other.body) for other in table.records]
        alike = [other[place] for other in others if other[0] == items[0]]
        items[place] = chance.choice(alike) if how == 1 else changed(chance, items[place], alike)
    try:
        body = enc(items)
    except EncodingError:
        body = record.body
    return [*records[:at], signed_bytes(table, record.signer, body), *records[at + 1 :]]


def another_order(draw, records: list[Record], at: int) -> list[Record]:
    """A record left out, doubled, or put elsewhere; the acks at the end bind nothing to each other and stay."""
    end = next(place for place, record in enumerate(records) if isinstance(parse(record), End))
    rest = [*records[:at], *records[at + 1 :]]
    match draw(st.integers(0, 2)):
        case _ if at > end:
            return records
        case 0:
            return rest
        case 1:
            return [*records[:at], records[at], *records[at:]]
        case _:
            to = draw(st.integers(max(0, at - 3), min(end - 1, at + 3)))
            return [*rest[:to], records[at], *rest[to:]]


@st.composite
def conspiracies(draw) -> tuple[Table, list[Record]]:
    """A finished match, and another history of it."""
    table = finished(draw(st.sampled_from(sorted(GAMES))))
    setup = table.setup.records
    records = table.records[len(setup) :]
    at = draw(st.sampled_from([at for at, record in enumerate(records) if is_forgers(record)]))
    if draw(st.integers(0, 3)) == 0:
        return table, relinked(table, another_order(draw, records, at))
    changed = another_body(draw, table, records, at)
    if is_readable(changed[at]):
        return table, relinked(table, changed)
    return table, [*setup, *changed]


@fuzz(90)
@given(conspiracies())
def test_no_other_history_passes_under_an_honest_seats_signatures(conspiracy):
    table, forged = conspiracy
    verdict = verify(write_transcript(table.document, forged))
    assert verdict.result is Result.REFUTED or forged == table.records


@pytest.mark.parametrize("name", GAMES)
def test_match_to_be_changed_is_proven_and_holds_no_proxy(name):
    table = finished(name)
    assert verify(table.file()).result is Result.PROVEN
    assert not any(isinstance(parse(record), Proxy) for record in table.records)
