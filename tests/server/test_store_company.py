"""The store's newer rows: chat, ignored players, who has played, members, invites, and being forgotten."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import get_args

import pytest
from server.stored import MATCH, MID, TABLE, guest_of, inserted, older, record, sql, url
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite

from truc_protocol.bodies import SeatTaken, Sub
from truc_protocol.codec import enc
from truc_protocol.records import Record, encode
from truc_server.storage import (
    KEPT_CHAT_LINES,
    AddPlayer,
    AddRecord,
    DropIgnored,
    DropTable,
    EndMatch,
    ForgetPlayer,
    Invite,
    Member,
    PlayerKind,
    RateMatch,
    SaveChat,
    SaveGuest,
    SaveIgnored,
    Write,
)
from truc_server.storage.schema import ignored, tables
from truc_server.storage.sql import open_store
from truc_server.storage.statements import _STATEMENTS, _UPSERTS, upsert

ANA, PAU = b"a" * 32, b"p" * 16
WHO = "A" * 26


def line(n: int, player: bytes = ANA, table: str = "ABC") -> SaveChat:
    return SaveChat(table, n, player, WHO, "Ana", n % 2 or None, f"line {n}", 1_000 + n)


class TestChat:
    @pytest.fixture(autouse=True)
    def table(self, store):
        store.commit([TABLE])

    def test_newest_lines_of_a_table_come_back_as_saved_oldest_first(self, store):
        assert store.next_line("ABC") == 0
        store.commit([TABLE._replace(code="XYZ"), *(line(n) for n in range(9)), line(0, table="XYZ")])
        assert store.chat("ABC", 3) == (line(6), line(7), line(8))
        assert store.chat("XYZ", 10) == (line(0, table="XYZ"),)

    def test_older_lines_than_are_kept_go(self, store):
        store.commit([line(n) for n in range(KEPT_CHAT_LINES + 3)])
        assert [found.n for found in store.chat("ABC", 1_000)] == list(range(3, KEPT_CHAT_LINES + 3))

    def test_lines_go_with_their_table(self, store):
        store.commit([line(0), DropTable("ABC")])
        assert store.chat("ABC", 10) == ()


class TestIgnored:
    def test_ignored_tags_come_back_until_they_are_dropped(self, store):
        store.commit([SaveIgnored(ANA, "x"), SaveIgnored(ANA, "x"), SaveIgnored(PAU, "z")])
        store.commit([SaveIgnored(ANA, "y"), SaveIgnored(ANA, "w"), DropIgnored(ANA, "w")])
        assert store.ignored(ANA) == {"x", "y"}

    def test_who_ignores_anybody_comes_back_once(self, store):
        store.commit(
            [SaveIgnored(ANA, "x"), SaveIgnored(ANA, "y"), SaveIgnored(PAU, "z"), DropIgnored(PAU, "z")]
        )
        assert store.ignoring() == {ANA}


class TestPlayers:
    def test_players_of_a_match_come_back_with_substitutes_and_guests_by_seat(self, store):
        players = AddPlayer(MID, 0, ANA, PlayerKind.KEY, 0), AddPlayer(MID, 1, PAU, PlayerKind.GUEST, 0)
        store.commit([TABLE, MATCH._replace(readers="all"), *players])
        past = store.past_match(MID)
        assert (past.players, past.readers, past.is_over) == ({ANA, PAU}, "all", False)
        assert store.guests(MID) == {1: PAU}
        assert store.past_match(b"?" * 32) is None
        store.commit([AddPlayer(MID, 1, b"n" * 32, PlayerKind.KEY, 0)])
        assert store.past_match(MID).players == {ANA, PAU, b"n" * 32}

    def test_players_outlive_their_table_and_a_match_that_ended_is_over(self, store):
        player = AddPlayer(MID, 0, ANA, PlayerKind.KEY, 0)
        store.commit([TABLE, MATCH, player, EndMatch(MID, "won", 5), DropTable("ABC")])
        past = store.past_match(MID)
        assert (past.players, past.is_over) == ({ANA}, True)


class TestForgetting:
    def test_chat_of_the_forgotten_goes_and_that_of_others_stays(self, store):
        store.commit([TABLE, line(0, PAU), line(1), ForgetPlayer(ANA)])
        assert store.chat("ABC", 10) == (line(0, PAU),)
        assert store.next_line("ABC") == 2  # the number is not used again

    def test_token_and_whom_they_ignored_go_and_membership_and_records_stay(self, store):
        store.admit(Member(WHO, 5))
        store.commit([SaveGuest(PAU, "Pau", b"hash", 0), SaveIgnored(PAU, "x"), TABLE, MATCH, record(0)])
        store.commit([AddPlayer(MID, 0, PAU, PlayerKind.GUEST, 0), ForgetPlayer(PAU)])
        assert (guest_of(store, b"hash"), store.ignored(PAU)) == (None, frozenset())
        assert (store.is_member(WHO), store.record_count(MID)) == (True, 1)

    def test_of_a_forgotten_line_nothing_but_its_number_is_left(self, store, folder):
        store.commit([TABLE, line(3), ForgetPlayer(ANA)])
        rows = sql(folder / "truc.db", "SELECT * FROM chat")
        assert rows == [("ABC", 3, b"", "", "", None, "", 0)]

    def test_matches_that_are_for_their_players_already_are_not_written_again(self, store):
        store.commit([TABLE, MATCH, AddPlayer(MID, 0, ANA, PlayerKind.KEY, 0)])
        written = []
        event.listen(store._engine, "after_cursor_execute", lambda *call: written.append(call[1].rowcount))
        store.commit([ForgetPlayer(ANA)])
        assert written[-1] == 0

    def test_their_matches_are_for_their_players_alone_and_those_of_others_as_before(self, store):
        store.commit([TABLE, MATCH._replace(readers="all"), AddPlayer(MID, 0, ANA, PlayerKind.KEY, 0)])
        for forgotten, readers in ((PAU, "all"), (ANA, "seats")):
            store.commit([ForgetPlayer(forgotten)])
            assert store.past_match(MID).readers == readers


class TestMembers:
    def test_admitting_twice_and_expelling_nobody_are_said(self, store):
        assert not store.is_member(WHO)
        assert [store.admit(Member(WHO, 5)), store.admit(Member(WHO, 6))] == [True, False]
        assert store.is_member(WHO)
        assert [store.expel(WHO), store.is_member(WHO), store.expel(WHO)] == [True, False, False]

    def test_members_come_back_in_the_order_of_their_coming(self, store):
        late, early = Member("L" * 26, 9), Member("Z" * 26, 1)
        store.admit(late)
        store.admit(early)
        assert store.members() == (early, late)

    def test_list_is_kept_beside_a_process_that_holds_the_tables(self, store, rival):
        rival.admit(Member(WHO, 5))
        store.commit([TABLE])
        assert store.is_member(WHO)


class TestInvites:
    @pytest.fixture(autouse=True)
    def invite(self, store):
        store.issue(Invite(b"code", uses=2, until_ms=100))

    def test_member_uses_nothing_up(self, store):
        for _ in range(5):
            store.use_invite(b"code", Member(WHO, 5))
        assert store.use_invite(b"code", Member("X" * 26, 5))

    @pytest.mark.parametrize(
        ("code", "at_ms", "is_good"), [(b"code", 99, True), (b"code", 100, False), (b"other", 5, False)]
    )
    def test_known_invite_makes_a_member_before_its_end(self, store, code, at_ms, is_good):
        assert store.use_invite(code, Member(WHO, at_ms)) is is_good
        assert store.is_member(WHO) is is_good

    def test_expelled_member_needs_another_use(self, store):
        for _ in range(2):
            store.use_invite(b"code", Member(WHO, 5))
            store.expel(WHO)
            store.use_invite(b"code", Member(WHO, 6))
            store.expel(WHO)
        assert not store.use_invite(b"code", Member(WHO, 7))

    def test_as_many_win_at_once_as_there_are_uses(self, store, rival):
        def use(n: int) -> bool:
            return (store, rival)[n % 2].use_invite(b"code", Member(f"{n:026}", 5))

        with ThreadPoolExecutor(8) as threads:
            assert sorted(threads.map(use, range(8))) == [False] * 6 + [True] * 2

    def test_spent_invites_make_no_member_and_leave_no_row(self, store, folder):
        used = [store.use_invite(b"code", Member(name * 26, 5)) for name in "XYZ"]
        rows = sql(folder / "truc.db", "SELECT * FROM invites")
        assert (used, rows) == ([True, True, False], [])


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory):
    """Return the store on a database of the second schema, with two matches: one played, one over."""
    folder = tmp_path_factory.mktemp("older")
    older(folder, "0002")
    insert = partial(inserted, folder / "truc.db")
    for mid, state in ((b"1" * 32, "playing"), (b"2" * 32, "over")):
        code = state.upper()
        insert("tables", code, "v", "{}", 2, 0, b"", 1, state, mid, "o", 1, None, b"doc")
        insert("matches", mid, code, b"doc", _setup(), mid, 2, None, None)
        insert("seats", code, 0, "key", b"s" * 32, "Sub", 1, None)
        insert("seats", code, 1, "guest", PAU, "Pau", 1, None)
    for k, body in enumerate((_sub(), b"\x92\xaatruc/1/sub\xc0", b"body")):
        insert("records", b"2" * 32, k, 2, body, b"s" * 64, b"", 1, b"")
    store = open_store(url(folder))
    yield store
    store.close()


def _setup() -> bytes:
    body = encode(SeatTaken(b"t" * 32, 0, ANA, b"n" * 32, b"x" * 32, b"Ana"))
    return enc((Record(0, b"unreadable", b"sig"), Record(1, body, b"s" * 64)))


def _sub() -> bytes:
    place = (b"2" * 32, 0, b"h" * 32)
    return encode(Sub(*place, 1, 1, b"n" * 32, b"a" * 32, b"x" * 32, b"New"))


class TestUpgrade:
    def test_players_of_a_running_match_are_those_of_its_setup_and_its_seats(self, upgraded):
        past = upgraded.past_match(b"1" * 32)
        assert (past.players, past.readers) == ({ANA, PAU, b"s" * 32}, "seats")
        assert upgraded.guests(b"1" * 32) == {1: PAU}
        assert sorted(upgraded.table_codes()) == ["OVER", "PLAYING"]

    def test_players_of_a_match_that_is_over_are_the_keys_of_its_setup_and_its_substitutes(self, upgraded):
        assert upgraded.past_match(b"2" * 32).players == {ANA, b"n" * 32}


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()], ids=["sqlite", "postgresql"])
def test_every_statement_compiles_wherever_the_store_may_be(dialect):
    for statement in chain.from_iterable(_STATEMENTS.values()):
        assert str(statement.compile(dialect=dialect)).startswith(("DELETE", "UPDATE", "INSERT"))
    for table, does in ((tables, "(code) DO UPDATE SET"), (ignored, "(player, tag) DO NOTHING")):
        assert f"ON CONFLICT {does}" in str(upsert(dialect.name, table).compile(dialect=dialect))


def test_every_write_does_something():
    assert set(get_args(Write)) == {*_UPSERTS, *_STATEMENTS, AddRecord, RateMatch}
