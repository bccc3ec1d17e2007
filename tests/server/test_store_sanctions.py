"""The store's rows of the fourth schema: sanctions, withdrawn invites, guests who stay away."""

import sqlite3
from contextlib import closing

import pytest
from server.stored import SEAT, TABLE, guest_of, older, url
from sqlalchemy.dialects import postgresql, sqlite

from truc_server.storage import (
    Invite,
    Member,
    PlayerKind,
    Sanction,
    SanctionKind,
    SaveGuest,
    StoreError,
    open_store,
)
from truc_server.storage.membership import _DROP_OVER, _LIFT, _PRUNE_GUESTS, _SEE, _WITHDRAW
from truc_server.timing.clock import now_ms

BAN, MUTE = SanctionKind.BAN, SanctionKind.MUTE
WHO = "A" * 26
PAU = SaveGuest(b"p" * 16, "Pau", b"h" * 32, 100)


class TestSanctions:
    def test_nothing_is_imposed_unasked(self, store):
        assert store.sanctions() == ()

    @pytest.mark.parametrize("until_ms", [None, 9])
    @pytest.mark.parametrize("kind", SanctionKind)
    def test_sanction_comes_back_as_imposed(self, store, kind, until_ms):
        sanction = Sanction(WHO, kind, 5, until_ms)
        store.impose(sanction)
        assert store.sanctions() == (sanction,)

    def test_kind_comes_back_as_an_enum(self, store):
        store.impose(Sanction(WHO, MUTE, 5, None))
        assert store.sanctions()[0].kind is MUTE

    def test_kind_that_nobody_knows_cannot_be_read(self, store):
        store.impose(Sanction(WHO, MUTE, 5, None))
        with store._transaction("write to") as connection:
            connection.exec_driver_sql("UPDATE sanctions SET kind = 'frown'")
        with pytest.raises(StoreError, match="not as it was written"):
            store.sanctions()

    def test_newer_sanction_takes_the_place_of_the_older(self, store):
        newer = Sanction(WHO, BAN, 6, None)
        store.impose(Sanction(WHO, BAN, 5, 99))
        store.impose(newer)
        assert store.sanctions() == (newer,)

    def test_ban_and_mute_stand_beside_each_other(self, store):
        both = Sanction(WHO, BAN, 5, None), Sanction(WHO, MUTE, 5, None)
        for sanction in both:
            store.impose(sanction)
        assert store.sanctions() == both

    def test_sanctions_come_back_in_the_order_of_their_coming(self, store):
        late, early = Sanction("a", BAN, 9, None), Sanction("z", BAN, 1, None)
        store.impose(late)
        store.impose(early)
        assert store.sanctions() == (early, late)

    def test_what_is_over_comes_back_until_the_next_is_imposed(self, store):
        over, newer = Sanction("a", BAN, 1, 5), Sanction("b", BAN, 5, None)
        store.impose(over)
        assert store.sanctions() == (over,)
        store.impose(newer)
        assert store.sanctions() == (newer,)

    def test_what_is_not_over_stays_when_the_next_is_imposed(self, store):
        both = Sanction("a", BAN, 1, 6), Sanction("b", BAN, 5, None)
        for sanction in both:
            store.impose(sanction)
        assert store.sanctions() == both

    def test_lifted_sanction_is_gone(self, store):
        store.impose(Sanction(WHO, BAN, 5, None))
        assert [store.lift(WHO, BAN), store.sanctions()] == [True, ()]

    @pytest.mark.parametrize(("subject", "kind"), [("B" * 26, BAN), (WHO, MUTE)])
    def test_lifting_another_says_so_and_lifts_nothing(self, store, subject, kind):
        store.impose(Sanction(WHO, BAN, 5, None))
        assert [store.lift(subject, kind), len(store.sanctions())] == [False, 1]

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
        assert [store.withdraw(b"code"), store.use_invite(b"code", Member(WHO, 5))] == [True, False]

    def test_withdrawing_another_says_so_and_withdraws_nothing(self, store):
        store.issue(Invite(b"code", 1, 100))
        assert [store.withdraw(b"edoc"), len(store.invites())] == [False, 1]


class TestGuests:
    def prune(self, store, *, before_ms=200, connected=()):
        return store.prune_guests(before_ms=before_ms, connected=connected, now_ms=300)

    def test_guest_who_was_seen_before_the_time_is_forgotten(self, store):
        store.commit([PAU])
        assert [self.prune(store), guest_of(store, PAU.token_hash)] == [1, None]

    def test_guest_who_was_seen_at_the_time_stays(self, store):
        store.commit([PAU])
        assert [self.prune(store, before_ms=100), guest_of(store, PAU.token_hash)] == [0, PAU]

    def test_guest_with_a_seat_stays(self, store):
        store.commit([TABLE, SEAT._replace(kind=PlayerKind.GUEST, player=PAU.id), PAU])
        assert [self.prune(store), guest_of(store, PAU.token_hash)] == [0, PAU]

    def test_guest_who_is_connected_stays_and_is_seen_now(self, store):
        store.commit([PAU])
        assert self.prune(store, connected=[PAU.id]) == 0
        assert guest_of(store, PAU.token_hash) == PAU._replace(seen_ms=300)

    def test_guest_who_is_connected_and_was_never_stored_is_not(self, store):
        assert self.prune(store, connected=[b"x" * 16]) == 0

    def test_all_who_stay_away_are_counted(self, store):
        store.commit([SaveGuest(b"%d" % n, "Pau", b"%d" % n, n * 100) for n in range(5)])
        assert self.prune(store) == 2


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory):
    """Return the store on a database of the third schema, with a guest; and when it was brought up to date."""
    folder = tmp_path_factory.mktemp("older")
    older(folder, "0003")
    with closing(sqlite3.connect(folder / "truc.db", isolation_level=None)) as raw:
        raw.execute("INSERT INTO guests VALUES (?, 'Pau', ?)", (PAU.id, PAU.token_hash))
        raw.execute("INSERT INTO members VALUES (?, 1)", (WHO,))
    before = now_ms()
    store = open_store(url(folder))
    yield store, before
    store.close()


class TestUpgrade:
    def test_guests_of_before_count_as_seen_now(self, upgraded):
        store, before = upgraded
        assert before <= guest_of(store, PAU.token_hash).seen_ms <= now_ms()

    def test_their_names_stay(self, upgraded):
        store, _ = upgraded
        assert guest_of(store, PAU.token_hash)[:3] == PAU[:3]

    def test_members_stay(self, upgraded):
        assert upgraded[0].is_member(WHO)

    def test_nothing_is_imposed(self, upgraded):
        assert upgraded[0].sanctions() == ()


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()], ids=["sqlite", "postgresql"])
@pytest.mark.parametrize("statement", [_DROP_OVER, _LIFT, _PRUNE_GUESTS, _SEE, _WITHDRAW], ids=range(5))
def test_statement_compiles(dialect, statement):
    assert str(statement.compile(dialect=dialect)).startswith(("DELETE", "UPDATE"))
