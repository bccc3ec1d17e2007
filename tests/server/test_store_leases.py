"""Nodes that share a database: who may write, what a lease that has ended costs, and who takes the tables."""

import pytest
from server.stored import MATCH, MID, SEAT, TABLE, record
from sqlalchemy import Engine, select, text

from truc_server.storage import (
    AddPlayer,
    ForgetPlayer,
    GiveTable,
    Lease,
    NodeOrder,
    NodePlace,
    StoredSeat,
    StoreLostError,
    TableOwner,
)
from truc_server.storage.leases import MAX_NODES
from truc_server.storage.schema import claims, nodes, records, tables
from truc_server.storage.sql import Store
from truc_server.table_data.codes import SHARES, draw_code, share_of

PLACE = NodePlace("one.example:7373", "10.0.0.1:7374", "0.1.0")
LONG_MS = 3_600_000


def enter(store: Store, name: str) -> Lease:
    return store.join(name, PLACE, lease_ms=LONG_MS)


def end_lease(store: Store, name: str) -> None:
    """Let the time of a node's lease be over."""
    change(store._engine, f"UPDATE nodes SET lease_until_ms = 0 WHERE name = '{name}'")


def change(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


def rows(store: Store, *columns):
    with store._reading.connect() as connection:
        return [tuple(row) for row in connection.execute(select(*columns).order_by(*columns))]


class TestNodes:
    def test_two_nodes_write_to_their_own_tables_at_the_same_time(self, fresh, rival):
        enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE, MATCH, record(0)])
        rival.commit([TABLE._replace(code="XYZ")])
        fresh.commit([record(1)])
        assert rows(fresh, tables.c.code, tables.c.owner) == [("ABC", "one"), ("XYZ", "two")]

    def test_each_is_listed_with_what_it_says_of_itself(self, fresh, rival):
        enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE])
        one, two = fresh.nodes()
        assert (one.name, one.number, one.place, one.tables, one.draining) == ("one", 0, PLACE, 1, False)
        assert (two.name, two.number, two.tables, two.claimed) == ("two", 1, 0, one.claimed + 1)
        assert 0 < one.left_ms <= LONG_MS

    def test_renewal_says_what_has_changed_and_lasts_so_long_from_now(self, fresh):
        lease = enter(fresh, "one")
        moved = PLACE._replace(public="elsewhere:1")
        fresh.renew(lease, lease_ms=2 * LONG_MS, place=moved, draining=True)
        (one,) = fresh.nodes()
        assert (one.place, one.draining, one.left_ms > LONG_MS) == (moved, True, True)

    def test_number_of_a_node_that_is_gone_is_the_next_ones(self, fresh, rival):
        first = enter(fresh, "one")
        assert enter(rival, "two").number == 1
        fresh.release(first)
        assert enter(fresh, "three").number == 0

    def test_more_nodes_than_shares_of_codes_are_refused(self, fresh):
        for number in range(MAX_NODES):
            assert enter(fresh, f"node {number}").number == number
        with pytest.raises(StoreLostError, match=f"at most {MAX_NODES}"):
            enter(fresh, "one more")

    def test_orders_for_a_node_are_read_once_and_are_not_those_of_its_next_process(self, fresh, rival):
        lease = enter(fresh, "one")
        rival.leave_order("one", NodeOrder("ABC", "two"))
        rival.leave_order("one", NodeOrder("ABC", "three"))
        rival.leave_order("one", NodeOrder("", ""))
        rival.leave_order("two", NodeOrder("XYZ", "one"))
        assert (fresh.has_orders("one"), fresh.has_orders("three")) == (True, False)
        assert fresh.take_orders(lease) == (NodeOrder("", ""), NodeOrder("ABC", "three"))
        assert fresh.take_orders(lease) == ()
        enter(rival, "two")
        assert not rival.has_orders("two")

    def test_tables_that_no_node_has_are_counted(self, fresh, rival):
        enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE, TABLE._replace(code="XYZ"), GiveTable("XYZ", "two")])
        rival.commit([TABLE._replace(code="UVW")])
        assert fresh.count_unowned() == 1
        end_lease(fresh, "two")
        assert fresh.count_unowned() == 2


class TestFinding:
    def test_table_is_found_with_its_node_and_one_that_nobody_has_is_not_none(self, fresh, rival):
        enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE])
        assert rival.table_owner("ABC") == TableOwner("one", PLACE.public, PLACE.inner)
        assert rival.table_owner("XYZ") is None
        assert rival.table_owner("ABC", spare_ms=LONG_MS // 2) == TableOwner("one", PLACE.public, PLACE.inner)
        assert rival.table_owner("ABC", spare_ms=2 * LONG_MS) == TableOwner("", "", "")
        end_lease(fresh, "one")
        assert rival.table_owner("ABC") == TableOwner("", "", "")

    def test_table_that_is_given_away_is_nobodys_until_it_is_taken(self, fresh, rival):
        enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE, GiveTable("ABC", "two")])
        assert rival.table_owner("ABC") == TableOwner("", "", "")

    def test_seats_of_a_player_are_found_at_every_nodes_tables_with_the_match_they_are_in(self, fresh, rival):
        enter(fresh, "one"), enter(rival, "two")
        playing = TABLE._replace(state="playing", match=MID)
        fresh.commit([playing, SEAT, MATCH, AddPlayer(MID, SEAT.seat, SEAT.player, SEAT.kind, 0)])
        rival.commit([TABLE._replace(code="XYZ"), SEAT._replace(table="XYZ", seat=0)])
        there, here = StoredSeat("ABC", 1, SEAT.name, MID), StoredSeat("XYZ", 0, SEAT.name, None)
        assert rival.seats_of(SEAT.player) == (there, here)
        assert rival.seats_of(bytes(32)) == ()
        fresh.commit([playing._replace(state="terms")])
        assert rival.seats_of(SEAT.player) == (there._replace(match=None), here)


class TestLostLease:
    @pytest.fixture
    def lease(self, fresh) -> Lease:
        lease = enter(fresh, "one")
        fresh.commit([TABLE, MATCH, record(0)])
        return lease

    def check_silent(self, store: Store, lease: Lease) -> None:
        """Check that nothing can be written under a lease, records alone or with others, nor the lease be renewed."""
        for writes in ([record(1)], [SEAT], [record(1), SEAT], [ForgetPlayer(b"p")]):
            with pytest.raises(StoreLostError, match="one came under epoch"):
                store.commit(writes)
        with pytest.raises(StoreLostError):
            store.renew(lease, lease_ms=LONG_MS, place=PLACE, draining=False)
        with pytest.raises(StoreLostError):
            store.take_tables(lease, most=1)

    @pytest.mark.parametrize(
        "happens",
        [
            lambda fresh, rival, lease: end_lease(fresh, "one"),
            lambda fresh, rival, lease: enter(rival, "one"),
            lambda fresh, rival, lease: rival.claim("alone"),
            lambda fresh, rival, lease: fresh.release(lease),
        ],
        ids=["time is over", "another came under the name", "a server came alone", "was given back"],
    )
    def test_nothing_is_written_any_more(self, fresh, lease, rival, happens):
        happens(fresh, rival, lease)
        self.check_silent(fresh, lease)

    def test_orders_for_the_process_that_came_under_the_name_are_not_taken(self, fresh, lease, rival):
        new = enter(rival, "one")
        rival.leave_order("one", NodeOrder("", ""))
        with pytest.raises(StoreLostError):
            fresh.take_orders(lease)
        assert rival.take_orders(new) == (NodeOrder("", ""),)

    def test_server_that_had_the_database_alone_writes_nothing_after_a_node_came(self, store, rival):
        store.commit([TABLE])
        node = enter(rival, "one")
        with pytest.raises(StoreLostError):
            store.commit([SEAT])
        assert rival.take_tables(node, most=9).codes == ("ABC",)


class TestTaking:
    def test_tables_of_a_node_whose_lease_has_ended_go_on_elsewhere_in_a_later_epoch(self, fresh, rival):
        one, two = enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE, MATCH, record(0)])
        assert not rival.is_any_table_free(two)
        assert rival.take_tables(two, most=9).codes == ()
        end_lease(rival, "one")
        assert rival.is_any_table_free(two)
        taken = rival.take_tables(two, most=9)
        assert (taken.codes, taken.epoch > two.epoch > one.epoch) == (("ABC",), True)
        rival.commit([record(1)])
        with pytest.raises(StoreLostError):
            fresh.commit([record(1)])
        assert [node.name for node in rival.nodes()] == ["two"]
        assert rows(rival, records.c.k, records.c.epoch) == [(0, one.epoch), (1, taken.epoch)]
        assert dict(rows(rival, claims.c.epoch, claims.c.node))[taken.epoch] == "two"

    def test_no_more_are_taken_at_once_than_asked_for_the_oldest_first(self, fresh, rival):
        enter(fresh, "one")
        fresh.commit([TABLE._replace(code=f"T{n}", created_ms=9 - n) for n in range(5)])
        two = enter(rival, "two")
        end_lease(rival, "one")
        assert [rival.take_tables(two, most=2).codes for _ in range(3)] == [
            ("T4", "T3"),
            ("T2", "T1"),
            ("T0",),
        ]

    def test_tables_of_a_node_that_gave_its_lease_back_are_free_at_once(self, fresh, rival):
        one, two = enter(fresh, "one"), enter(rival, "two")
        fresh.commit([TABLE])
        fresh.release(one)
        assert rival.take_tables(two, most=9).codes == ("ABC",)

    def test_given_table_is_only_theirs_to_whom_it_was_given_while_they_live(self, fresh, rival, third):
        enter(fresh, "one")
        two, three = enter(rival, "two"), enter(third, "three")
        fresh.commit([TABLE, GiveTable("ABC", "two")])
        assert not third.is_any_table_free(three)
        assert third.take_tables(three, most=9).codes == ()
        end_lease(third, "two")
        assert third.take_tables(three, most=9).codes == ("ABC",)
        with pytest.raises(StoreLostError):
            rival.take_tables(two, most=9)

    def test_table_given_to_a_node_that_begins_to_drain_before_it_takes_it_is_free(self, fresh, rival, third):
        one, two = enter(fresh, "one"), enter(rival, "two")
        three = enter(third, "three")
        fresh.commit([TABLE, GiveTable("ABC", "two")])
        rival.renew(two, lease_ms=LONG_MS, place=PLACE, draining=True)
        assert (fresh.is_any_table_free(one), third.is_any_table_free(three)) == (True, True)
        assert third.take_tables(three, most=9).codes == ("ABC",)

    def test_saving_a_table_does_not_change_whose_it_is(self, fresh, rival):
        enter(fresh, "one")
        two = enter(rival, "two")
        fresh.commit([TABLE])
        end_lease(rival, "one")
        taken = rival.take_tables(two, most=1)
        rival.commit([TABLE._replace(state="playing")])
        assert rows(rival, tables.c.owner, tables.c.epoch, tables.c.state) == [
            ("two", taken.epoch, "playing")
        ]

    def test_epoch_that_was_set_back_is_not_used_again(self, fresh, rival):
        one = fresh.claim("one")
        change(fresh._engine, "UPDATE ownership SET epoch = -7")
        two = rival.claim("two")
        assert (two.epoch, fresh.claim("one").epoch) == (one.epoch + 1, one.epoch + 2)

    def test_every_epoch_is_one_nodes(self, fresh, rival):
        one, two = enter(fresh, "one"), enter(rival, "two")
        again = enter(fresh, "one")
        end_lease(rival, "one")
        taken = rival.take_tables(two, most=1)
        assert rows(rival, claims.c.epoch, claims.c.node) == [
            (one.epoch, "one"),
            (two.epoch, "two"),
            (again.epoch, "one"),
            (taken.epoch, "two"),
        ]
        assert rows(rival, nodes.c.claimed, nodes.c.epoch) == [(two.epoch, taken.epoch)]


@pytest.mark.parametrize("length", [5, 16])
def test_codes_of_two_shares_are_never_the_same(length):
    drawn = {share: {draw_code(length, share) for _ in range(50)} for share in range(SHARES)}
    assert all(share_of(code) == share for share, codes in drawn.items() for code in codes)
    assert {len(code) for codes in drawn.values() for code in codes} == {length}
    assert MAX_NODES <= SHARES
