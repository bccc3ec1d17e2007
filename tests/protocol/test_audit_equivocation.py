"""Two histories signed by one party convict it: C33 to C36."""

import pytest
from protocol.forge import altered, small, until
from protocol.peers import Table

from truc_protocol.audit import Equivocation, compare
from truc_protocol.audit.equivocation import contradictions, refused_record
from truc_protocol.audit.verified_prefix import Passed, PassedRecord, passed
from truc_protocol.bodies import Act, Call, Release
from truc_protocol.evidence_file import read_refusal
from truc_protocol.records import Record, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import Transcript
from truc_rules import deciders


def list_of(table: Table, *more: Record) -> Transcript:
    return Transcript(table.document, (*table.records, *more))


def found(first: Transcript, second: Transcript) -> set[tuple[str, str]]:
    return {(evidence.check, evidence.culprit) for evidence in compare(first, second)}


def shown(transcript: Transcript, refused: Record) -> Equivocation | None:
    """Return what a refusal shows beside a transcript."""
    refusal = read_refusal(refused)
    return refusal and refused_record(passed(transcript, (refusal,)), refusal)


class Read:
    """A record that passed, which counts how often it is looked at."""

    count = 0

    def __init__(self, item: PassedRecord) -> None:
        self._item = item

    def __getattr__(self, name: str) -> object:
        Read.count += 1
        return getattr(self._item, name)


def reads(items: tuple[PassedRecord, ...]) -> int:
    Read.count = 0
    counted = Passed(tuple(Read(item) for item in items))
    assert contradictions(counted, counted) == ()
    return Read.count


def test_comparison_grows_with_the_lists_and_not_with_their_product():
    items = passed(list_of(Table(small(target=9)).run())).items
    half = items[: len(items) // 2]
    assert reads(items) < 3 * reads(half)


@pytest.mark.parametrize("code", ["not_now", "x"])
def test_refused_release_that_was_taken_once_convicts_nobody(code):
    table = Table().to("called")
    release = table.players[0].release(table.ledger)
    refused = table.dealer.refuse(table.setup.mid, release.body, code)
    assert shown(list_of(table, release), refused) is None


def test_two_server_bodies_for_one_position_convict_the_server():
    table = Table().to("hand")
    ruling, abandon = table.dealer.move(table.ledger), table.dealer.abandon(table.ledger, "server")
    assert ("C33", "server") in found(list_of(table, ruling), list_of(table, abandon))


def beside_a_ruling(table: Table, record: Record) -> list[set[tuple[str, str]]]:
    """Return what a record shows beside the server's ruling for its position, whichever list comes first."""
    lists = list_of(table, record), list_of(table, table.dealer.move(table.ledger))
    return [found(*lists), found(*reversed(lists))]


def test_decision_beside_a_ruling_for_its_position_convicts_nobody():
    table = Table().to("hand")
    assert beside_a_ruling(table, table.record_of(table.choice())) == [set(), set()]


def test_proxy_beside_a_ruling_for_its_position_convicts_nobody():
    """Anybody can write a proxy, as nobody signs it."""
    table = Table(guests=(0, 1)).to("hand")
    assert beside_a_ruling(table, table.record_of(table.choice())) == [set(), set()]


def test_two_calls_for_one_index_convict_the_server():
    table = Table().to("between", index=1)
    first = until(table, Call)
    short = list_of(table, first)
    table.add(table.players[0].rekey(table.ledger))
    later = list_of(table, until(table, Call))
    evidence = compare(short, later)
    assert any("two calls" in each.message for each in evidence)


def test_releases_in_two_orders_under_two_draws_convict_the_server():
    first, second = Table().to("called", index=0), Table().to("called", index=0)
    for table, order in ((first, (0, 1)), (second, (1, 0))):
        for seat in order:
            table.add(table.players[seat].release(table.ledger))
        table.step()
    messages = [each.message for each in compare(list_of(first), list_of(second))]
    assert any("two histories" in message for message in messages)


def test_releases_of_two_indexes_in_one_position_convict_no_seat():
    first, second = (Table(opts=Opts(gone=2, rekeys=9)).to("between", index=1) for _ in range(2))
    second.step()
    second.add(second.dealer.void(second.ledger))
    second.step()
    while first.ledger.k < second.ledger.k - 1:
        first.add(first.players[1].rekey(first.ledger))
    first.step()
    lists = [list_of(table, table.players[0].release(table.ledger)) for table in (first, second)]
    assert (first.ledger.k, first.ledger.deal_index) == (second.ledger.k, 1)
    assert found(*lists) == {("C33", "server")}


def test_two_guest_acts_that_the_server_vouched_for_convict_it():
    first, second = Table(guests=(0, 1)).to("hand"), Table(guests=(0, 1)).to("hand")
    first.play("stand")
    second.play("redeal")
    for table in (first, second):
        table.add(table.dealer.move(table.ledger))
    assert found(list_of(first), list_of(second)) == {("C33", "server")}


def test_two_guest_acts_that_nothing_follows_convict_nobody():
    first, second = Table(guests=(0, 1)).to("hand"), Table(guests=(0, 1)).to("hand")
    first.play("stand")
    second.play("redeal")
    assert found(list_of(first), list_of(second)) == set()


def test_two_acts_for_one_position_convict_the_seat():
    table = Table().to("hand")
    seat = deciders(table.ledger.match)[0]
    acts = [table.act(seat, kind) for kind in ("stand", "redeal")]
    assert found(list_of(table, acts[0]), list_of(table, acts[1])) == {("C34", f"seat {seat}")}


def test_act_and_resignation_for_one_position_convict_the_seat():
    table = Table().to("hand")
    seat = deciders(table.ledger.match)[0]
    lists = list_of(table, table.act(seat, "stand")), list_of(table, table.players[seat].resign(table.ledger))
    assert found(*lists) == {("C34", f"seat {seat}")}


def test_two_releases_for_one_index_convict_the_seat():
    first = Table().to("between", index=1)
    second = Table().to("between", index=1)
    second.add(second.players[1].rekey(second.ledger))
    for table in (first, second):
        until(table, Release)
        table.add(table.players[0].release(table.ledger))
    assert ("C34", "seat 0") in found(list_of(first), list_of(second))


def test_two_tables_with_one_nonce_convict_the_server():
    table = Table()
    other = Transcript(table.document, (altered(table, table.records[0], time=1),))
    assert found(list_of(table), other) == {("C36", "server")}


def test_two_matches_on_one_table_convict_the_server():
    table = Table()
    seat = altered(table, table.records[2], name=b"somebody else")
    rematch = table.dealer.match_record(table.terms, (table.records[1], seat))
    other = Transcript(table.document, (*table.records[:2], seat, rematch))
    assert found(list_of(table), other) == {("C36", "server")}


def refusal(table: Table) -> tuple[Record, Record]:
    """An act that the server refuses, and the refusal."""
    act = table.act(deciders(table.ledger.match)[0], "stand")
    return act, table.dealer.refuse(table.setup.mid, act.body, "stale_position")


def test_refused_body_in_the_transcript_convicts_the_server():
    table = Table().to("hand")
    act, refused = refusal(table)
    evidence = shown(list_of(table, act), refused)
    assert isinstance(evidence, Equivocation)
    assert (evidence.check, evidence.culprit, evidence.second) == ("C35", "server", act)
    assert isinstance(parse(act), Act)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda refused: refused._replace(sig=bytes(64)),
        lambda refused: refused._replace(signer=1),
        lambda refused: refused._replace(body=b"\xc1"),
        lambda refused: refused._replace(body=b"\x90"),
    ],
)
def test_refusal_without_the_servers_signature_convicts_nobody(spoilt):
    table = Table().to("hand")
    act, refused = refusal(table)
    assert shown(list_of(table, act), spoilt(refused)) is None


def test_list_that_is_refused_at_once_shows_nothing():
    table = Table()
    broken = Transcript(b"", tuple(table.records))
    assert compare(broken, list_of(table)) == ()


def test_new_chain_beside_a_resignation_convicts_nobody():
    table = Table().to("between", index=1)
    resign = table.players[0].resign(table.ledger)
    assert found(list_of(table, resign), list_of(table, table.players[0].rekey(table.ledger))) == set()


def test_ruling_beside_a_seats_act_convicts_nobody():
    table = Table().to("hand")
    act = table.act(deciders(table.ledger.match)[0], "stand")
    assert found(list_of(table, act), list_of(table, table.dealer.move(table.ledger))) == set()


def taken_over() -> tuple[Table, Record]:
    """A seat that is gone, and a newcomer for it whom the server has not signed after."""
    table = Table(opts=Opts(gone=1)).to("called", index=1)
    table.silent = frozenset({1})
    table.run(until=lambda ledger: ledger.phase == "between")
    return table, table.newcomer(1)


def two_decisions(table: Table) -> tuple[Record, Record]:
    """Two bodies for one position under the key of a newcomer."""
    act = table.players[1].act(table.ledger, "pause")
    return table.players[1].resign(table.ledger), act


def test_two_decisions_of_a_newcomer_that_the_server_never_confirmed_convict_nobody():
    table, sub = taken_over()
    table.add(sub)
    assert found(*(list_of(table, each) for each in two_decisions(table))) == set()


def test_two_decisions_of_a_newcomer_that_the_server_confirmed_convict_the_seat():
    table, sub = taken_over()
    table.add(sub)
    table.run(until=lambda ledger: ledger.phase == "hand")
    assert found(*(list_of(table, each) for each in two_decisions(table))) == {("C34", "seat 1")}
