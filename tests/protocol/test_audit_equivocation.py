"""Two histories signed by one party convict it: C33 to C36."""

from protocol.forge import small
from protocol.peers import Table

from truc_protocol.audit import compare
from truc_protocol.audit.equivocation import contradictions
from truc_protocol.audit.verified_prefix import PassedRecord, PassedRecords, passed
from truc_protocol.records import Record
from truc_protocol.setup import Opts
from truc_protocol.transcript import Transcript


def list_of(table: Table, *more: Record) -> Transcript:
    return Transcript(table.document, (*table.records, *more))


def found(first: Transcript, second: Transcript) -> set[tuple[str, str]]:
    return {(evidence.check, evidence.culprit) for evidence in compare(first, second)}


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
    counted = PassedRecords(tuple(Read(item) for item in items))
    assert contradictions(counted, counted) == ()
    return Read.count


def test_comparison_grows_with_the_lists_and_not_with_their_product():
    items = passed(list_of(Table(small(target=9)).run())).items
    half = items[: len(items) // 2]
    assert reads(items) < 3 * reads(half)


def test_proxy_beside_a_ruling_for_its_position_convicts_nobody():
    """Anybody can write a proxy, as nobody signs it."""
    table = Table(guests=(0, 1)).to("hand")
    lists = [
        list_of(table, record)
        for record in (table.record_of(table.choice()), table.dealer.move(table.ledger))
    ]
    assert [found(*lists), found(*reversed(lists))] == [set(), set()]


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


def test_list_that_is_refused_at_once_shows_nothing():
    table = Table()
    broken = Transcript(b"", tuple(table.records))
    assert compare(broken, list_of(table)) == ()


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
