"""The store's rows of the fourth schema: sanctions, withdrawn invites, guests who stay away."""

import pytest
from server.stored import SEAT, TABLE, guest_of, inserted, older, url

from truc_server.storage import (
    ClearSeat,
    Invite,
    Member,
    PlayerKind,
    Sanction,
    SanctionKind,
    SaveGuest,
    StoreError,
)
from truc_server.storage.sql import open_store
from truc_server.timing.clock import now_ms

BAN, MUTE = SanctionKind.BAN, SanctionKind.MUTE
WHO = "A" * 26
PAU = SaveGuest(b"p" * 16, "Pau", b"h" * 32, 100)


class TestSanctions:
    def test_sanctions_come_back_as_imposed_beside_each_other(self, store):
        assert store.sanctions() == ()
        imposed = tuple(Sanction(WHO, kind, 5, end) for kind, end in ((BAN, None), (MUTE, 9)))
        for sanction in imposed:
            store.impose(sanction)
        assert store.sanctions() == imposed
        assert [sanction.kind for sanction in store.sanctions()] == [BAN, MUTE]

    def test_kind_that_nobody_knows_cannot_be_read(self, store):
        store.impose(Sanction(WHO, MUTE, 5, None))
        with store._transaction("write to") as connection:
            connection.exec_driver_sql("UPDATE sanctions SET kind = 'frown'")
        with pytest.raises(StoreError, match="not as it was written"):
            store.sanctions()

    def test_newer_sanction_takes_the_place_of_the_older_and_they_come_back_in_the_order_of_their_coming(
        self, store
    ):
        older, newer, early = (
            Sanction(WHO, BAN, 0, 99),
            Sanction(WHO, BAN, 9, None),
            Sanction("z", BAN, 1, None),
        )
        for sanction in (older, newer, early):
            store.impose(sanction)
        assert store.sanctions() == (early, newer)

    def test_what_is_over_comes_back_until_the_next_is_imposed(self, store):
        over, longer, newer = Sanction("a", BAN, 1, 5), Sanction("b", BAN, 2, 6), Sanction("c", BAN, 5, None)
        store.impose(over)
        store.impose(longer)
        assert store.sanctions() == (over, longer)
        store.impose(newer)
        assert store.sanctions() == (longer, newer)

    def test_lifting_says_whether_it_has_lifted(self, store):
        store.impose(Sanction(WHO, BAN, 5, None))
        assert [store.lift("B" * 26, BAN), store.lift(WHO, MUTE), len(store.sanctions())] == [False, False, 1]
        assert [store.lift(WHO, BAN), store.sanctions()] == [True, ()]

    def test_sanctions_are_kept_beside_a_process_that_holds_the_tables(self, store, rival):
        rival.impose(Sanction(WHO, BAN, 5, None))
        store.commit([TABLE])
        assert len(store.sanctions()) == 1


class TestInvites:
    def test_invites_come_back_in_the_order_of_their_end(self, store):
        late, early = Invite(b"a", 1, 9), Invite(b"z", 2, 5)
        store.issue(late)
        store.issue(early)
        assert store.invites() == (early, late)

    def test_withdrawn_invite_makes_no_member(self, store):
        store.issue(Invite(b"code", 1, 100))
        assert [store.withdraw(b"edoc"), len(store.invites())] == [False, 1]
        assert [store.withdraw(b"code"), store.use_invite(b"code", Member(WHO, 5))] == [True, False]


class TestGuests:
    def prune(self, store, *, before_ms=200, connected=()):
        return store.prune_guests(before_ms=before_ms, connected=connected, now_ms=300)

    def test_guests_who_were_seen_before_the_time_are_forgotten_and_counted(self, store):
        store.commit([SaveGuest(b"%d" % n, "Pau", b"%d" % n, n * 100) for n in range(5)])
        assert self.prune(store) == 2
        assert [guest_of(store, b"%d" % n) is None for n in range(5)] == [True, True, False, False, False]

    def test_guest_with_a_seat_or_a_connection_stays_and_who_is_connected_is_seen_now(self, store):
        store.commit([TABLE, SEAT._replace(kind=PlayerKind.GUEST, player=PAU.id), PAU])
        assert [self.prune(store), guest_of(store, PAU.token_hash)] == [0, PAU]
        store.commit([ClearSeat(SEAT.table, SEAT.seat)])
        assert self.prune(store, connected=[PAU.id, b"never stored" + bytes(4)]) == 0
        assert guest_of(store, PAU.token_hash) == PAU._replace(seen_ms=300)


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory):
    """Return the store on a database of the third schema, with a guest; and when it was brought up to date."""
    folder = tmp_path_factory.mktemp("older")
    older(folder, "0003")
    inserted(folder / "truc.db", "guests", PAU.id, "Pau", PAU.token_hash)
    inserted(folder / "truc.db", "members", WHO, 1)
    before = now_ms()
    store = open_store(url(folder))
    yield store, before
    store.close()


def test_guests_of_before_count_as_seen_now_and_all_else_stays(upgraded):
    store, before = upgraded
    found = guest_of(store, PAU.token_hash)
    assert before <= found.seen_ms <= now_ms()
    assert (found[:3], store.is_member(WHO), store.sanctions()) == (PAU[:3], True, ())
