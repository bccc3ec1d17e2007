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


def test_two_guest_acts_convict_the_server_once_it_has_signed_behind_them():
    tables = [Table(guests=(0, 1)).to("hand") for _ in range(2)]
    for table, line in zip(tables, ("stand", "redeal"), strict=True):
        table.play(line)
    assert found(*map(list_of, tables)) == set()
    for table in tables:
        table.add(table.dealer.move(table.ledger))
    assert found(*map(list_of, tables)) == {("C33", "server")}


def test_list_that_is_refused_at_once_shows_nothing():
    table = Table()
    broken = Transcript(b"", tuple(table.records))
    assert compare(broken, list_of(table)) == ()


def test_two_decisions_of_a_newcomer_convict_the_seat_once_the_server_has_confirmed_it():
    table = Table(opts=Opts(gone=1)).to("called", index=1)
    table.silent = frozenset({1})
    table.run(until=lambda ledger: ledger.phase == "between")
    table.add(table.newcomer(1))

    def two_decisions() -> set[tuple[str, str]]:
        """Compare two bodies of the newcomer for one position."""
        seat, ledger = table.players[1], table.ledger
        return found(*(list_of(table, each) for each in (seat.resign(ledger), seat.act(ledger, "pause"))))

    assert two_decisions() == set()
    table.run(until=lambda ledger: ledger.phase == "hand")
    assert two_decisions() == {("C34", "seat 1")}
