"""Whatever bytes an attacker with every key writes, the outcome is a verdict.

The suite tries a fixed few hundred of each kind. With `TRUC_FUZZ=20000` it is that many of each, other ones on every run
(docs/fairness/threats.md, "To try it longer").
"""

import os
from collections import defaultdict
from contextlib import suppress
from copy import copy
from functools import cache

import pytest
from fuzz.mutating import changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol.forge import small
from protocol.peers import Puppet, Table
from protocol.shared import blind_table, sharing_table

from truc_protocol.audit import AuditError, Auditor, OwnSeat, Result, verify
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, enc
from truc_protocol.ledger import Due, Ledger, due, fold, start_ledger
from truc_protocol.records import DEALT, KIND_OF, PHASES, Binding, Phase, Record, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_rules import preset, with_options

LONG = int(os.environ.get("TRUC_FUZZ", "0"))


def fuzz(examples: int) -> settings:
    return settings(
        max_examples=LONG or examples,
        deadline=None,
        derandomize=not LONG,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


def stormy(name: str, *, guests: tuple[int, ...] = (), **options) -> Table:
    """A match with a void, exhausted chains and a pause in every hand."""
    table = Table(
        with_options(preset(name), {"target": 2, "match": 1, **options}),
        guests=guests,
        opts=Opts(voids=2, gone=2),
        links=3,
        boxed_guests=True,
    )
    table.to(Phase.CALLED)
    table.add(table.dealer.void(table.ledger))
    while table.step() is not None:
        if (
            table.ledger.phase is Phase.HAND
            and not table.ledger.pause.spent
            and due(table.ledger) is Due.PLAYERS
        ):
            table.rest()
    return table


def substituted() -> Table:
    """A match in which somebody new takes a seat that was silent, and the other side gives up."""
    table = Table(small(target=4), opts=Opts(gone=1)).to(Phase.CALLED, index=1)
    table.silent = frozenset({1})
    table.to(Phase.HAND, index=3)
    table.add(table.players[0].resign(table.ledger))
    return table.run()


TABLES = {
    "truc-french": lambda: stormy("truc-french", guests=(1,)),
    "truc-catalan": lambda: stormy("truc-catalan"),
    "flores": lambda: stormy("truco-argentino-flor", reveal="match"),
    "le-truc": lambda: stormy("le-truc", reveal="match"),
    "blind": lambda: blind_table().run(),
    "shared": lambda: sharing_table().run(),
    "newcomer": substituted,
}


@cache
def played(name: str) -> Table:
    return TABLES[name]()


def tables(draw) -> Table:
    return played(draw(st.sampled_from(sorted(TABLES))))


def signed(table: Table, signer: int, body: bytes) -> Record:
    if isinstance(dec(body), list) and dec(body)[:1] == ["truc/1/proxy"]:
        return Record(signer, body, b"")
    key = table.server if signer == 0 or signer - 1 not in table.players else table.players[signer - 1].key
    return Record(signer, body, key.sign(body))


CHANCE = st.randoms(use_true_random=False)


@st.composite
def forgeries(draw) -> tuple[Table, int, Record]:
    """One record of a transcript, changed in one place and signed with the right key."""
    table, chance = tables(draw), draw(CHANCE)
    at = draw(st.integers(0, len(table.records) - 1))
    record = table.records[at]
    try:
        body = enc(changed(chance, dec(record.body), dec(chance.choice(table.records).body)))
    except EncodingError:
        body = b"\xc1"
        return table, at, Record(record.signer, body, table.server.sign(body))
    return table, at, signed(table, record.signer, body)


@fuzz(120)
@given(forgeries())
def test_changed_record_under_a_valid_signature_comes_to_a_verdict(forgery):
    table, at, record = forgery
    if record == table.records[at]:
        return
    records = [*table.records[:at], record, *table.records[at + 1 :]]
    verdict = verify(write_transcript(table.document, records))
    unseen = (
        at == len(records) - 1 and verdict.result is Result.PROVEN
    )  # an ack of a seat may be anything once
    assert verdict.result is Result.REFUTED or unseen


@cache
def own_auditors(table: Table) -> tuple[Auditor, ...]:
    """Return seat 0's auditor of a match before each of its records."""
    auditor = Auditor(table.document, OwnSeat(0, Puppet(0, table.seed).x))
    before = []
    for record in table.records:
        before.append(copy(auditor))
        auditor.feed(record)
    return tuple(before)


@fuzz(120)
@given(forgeries())
def test_seat_meets_a_changed_record_with_nothing_but_an_audit_error(forgery):
    table, at, record = forgery
    auditor = copy(own_auditors(table)[at])  # it holds values alone, which nothing changes
    setup = len(table.setup.records)
    with suppress(AuditError):
        assert auditor.feed(record).k == (None if at < setup else at - setup)


@pytest.mark.parametrize("count", [7, 200, 60_000])
def test_deeply_nested_body_is_refused_as_no_body(count):
    table = played("truc-french")
    body = b"\x91" * count + b"\xc0"
    records = [*table.setup.records, Record(0, body, table.server.sign(body))]
    verdict = verify(write_transcript(table.document, records))
    assert verdict.refutation.check == "C1"


def test_every_kind_of_record_is_in_the_fuzzed_transcripts():
    kinds = {type(parse(record)) for name in TABLES for record in played(name).records}
    assert kinds == {body for body, phases in PHASES[DEALT].items() if phases}


@cache
def ledgers(name: str) -> tuple[Ledger, ...]:
    """The states of a match, one after each record."""
    table = played(name)
    ledger = start_ledger(table.setup)
    states = [ledger]
    for record in table.records[len(table.setup.records) :]:
        ledger = fold(ledger, record, parse(record)).ledger
        states.append(ledger)
    return tuple(states)


@st.composite
def strangers(draw) -> tuple[Ledger, Record]:
    """A record of any kind, changed in one field or none, which is bound to a place of any match."""
    ledger = draw(st.sampled_from(ledgers(draw(st.sampled_from(sorted(TABLES))))))
    record = draw(st.sampled_from(draw(st.sampled_from(of_kinds()))))
    tag, _, _, _, *fields = dec(record.body)
    is_parallel = KIND_OF[type(parse(record))].binding is Binding.PARALLEL
    place = ledger.parallel if is_parallel else (ledger.k, ledger.head)
    if fields and draw(st.booleans()):
        chance = draw(CHANCE)
        at = chance.randrange(len(fields))
        fields[at] = changed(chance, fields[at], fields)
    try:
        body = enc([tag, ledger.setup.mid, *place, *fields])
    except EncodingError:
        return ledger, record
    return ledger, Record(record.signer, body, record.sig)


@cache
def of_kinds() -> list[list[Record]]:
    """The records of all matches that are bound to a place, by their kinds."""
    found = defaultdict(list)
    for name in TABLES:
        table = played(name)
        for record in table.records[len(table.setup.records) :]:
            found[type(parse(record))].append(record)
    return [*found.values()]


@fuzz(300)
@given(strangers())
def test_record_of_any_kind_in_any_place_fails_by_a_check_or_is_taken(stranger):
    ledger, record = stranger
    with suppress(CheckError):
        assert fold(ledger, record, parse(record)).ledger.k == ledger.k + 1
