"""What nodes tell each other, as it is stored: what another one hears, once, and what becomes of it when a node is gone."""

import pytest
from server.stored import TABLE
from server.test_store_leases import change, end_lease, enter

from truc_server.storage import PlayerKind, SaveGuest, StoreLostError
from truc_server.storage.bulletins import KEPT_MS
from truc_server.storage.node_news import (
    Bulletin,
    BulletinMark,
    CrowdNews,
    LineKind,
    LineNews,
    PlayerNews,
    SeatNews,
    TableNews,
)
from truc_server.storage.sql import Store

OPEN = TableNews(
    "ABC",
    notice=b"notice",
    creator=b"p" * 32,
    network="2001:db8::/64",
    created_ms=1_700_000_000_000,
    is_behind=True,
    seats=(SeatNews(b"p" * 32, "Núria"), SeatNews(b"q" * 16, "Ona")),
)
NURIA = PlayerNews(b"p" * 32, PlayerKind.KEY, "Núria", is_house=False, is_here=True)
CROWD = CrowdNews("2001:db8::/64", 2, 5, 1)
LINE = LineNews(1, LineKind.CHAT, PlayerKind.KEY, b"p" * 32, "TAG", "Núria", "bon dia")
ALL = Bulletin((OPEN,), (NURIA,), (CROWD,), (LINE,))


@pytest.fixture(name="pair")
def two_nodes(store, rival):
    """Two nodes on one database, each with its lease."""
    return (store, enter(store, "one")), (rival, enter(rival, "two"))


def news(store: Store, lease, known=()) -> Bulletin:
    """Return what the one other node has told that is new."""
    (heard,) = store.news_of_others(lease, dict(known))
    return without_ages(heard.bulletin)


def without_ages(bulletin: Bulletin) -> Bulletin:
    return bulletin._replace(tables=tuple(table._replace(ago_ms=0) for table in bulletin.tables))


def known(store: Store, lease) -> dict[str, BulletinMark]:
    return {heard.node: heard.mark for heard in store.news_of_others(lease, {})}


class TestBulletins:
    def test_other_node_hears_what_was_told_as_it_was_told(self, pair):
        (one, first), (two, second) = pair
        one.commit([TABLE])
        one.tell(first, ALL)
        assert news(two, second) == ALL

    def test_what_is_known_is_not_heard_again(self, pair):
        (one, first), (two, second) = pair
        one.tell(first, ALL)
        one.tell(first, Bulletin(lines=(LINE._replace(serial=2),)))
        before = {"one": BulletinMark(first.epoch, 1)}
        assert news(two, second, before) == Bulletin(lines=(LINE._replace(serial=2),))
        assert news(two, second, known(two, second)) == Bulletin()

    def test_newer_state_takes_the_place_of_the_older_one(self, pair):
        (one, first), (two, second) = pair
        one.commit([TABLE])
        one.tell(first, ALL)
        gone = TableNews("ABC", reason="empty")
        one.tell(first, Bulletin((gone,), (NURIA._replace(is_here=False),), (CROWD._replace(connections=0),)))
        heard = news(two, second)
        assert heard.tables == (gone,)
        assert [player.is_here for player in heard.players] == [False]
        assert [crowd.connections for crowd in heard.crowds] == [0]

    def test_who_has_told_nothing_is_not_heard(self, pair):
        (_, _), (two, second) = pair
        assert two.news_of_others(second, {}) == ()

    def test_process_of_a_name_is_not_taken_for_an_earlier_one(self, pair, tmp_path):
        (one, first), (two, second) = pair
        one.commit([TABLE])
        one.tell(first, ALL)
        before = known(two, second)
        again = enter(one, "one")
        assert two.news_of_others(second, before) == ()
        one.tell(again, Bulletin())
        assert news(two, second, before) == Bulletin(tables=(OPEN,))

    def test_nothing_is_told_by_a_process_that_may_write_no_more(self, pair):
        (one, first), (two, second) = pair
        end_lease(one, "one")
        with pytest.raises(StoreLostError):
            one.tell(first, ALL)
        assert two.news_of_others(second, {}) == ()

    def test_table_that_has_another_owner_by_now_is_told_by_that_one_alone(self, pair):
        (one, _), (two, second) = pair
        one.commit([TABLE])
        end_lease(one, "one")
        two.take_tables(second, most=9)
        two.tell(second, Bulletin((OPEN,)))
        again = enter(one, "one")
        one.tell(again, Bulletin((OPEN._replace(notice=b"stale"),)))
        assert news(two, second) == Bulletin()
        assert news(one, again).tables == (OPEN,)

    def test_what_is_told_of_and_stored_no_more_is_found(self, pair):
        (one, first), (two, second) = pair
        one.commit([TABLE])
        one.tell(first, Bulletin((OPEN, OPEN._replace(code="XYZ"))))
        assert one.stray_listings(first) == ("ABC", "XYZ")
        assert two.stray_listings(second) == ("XYZ",)

    def test_guest_who_is_connected_to_any_node_is_not_pruned(self, pair):
        (one, first), (two, _) = pair
        one.commit([SaveGuest(b"g" * 16, "Gus", b"hash", 1)])
        gus = PlayerNews(b"g" * 16, PlayerKind.GUEST, "Gus", is_house=False, is_here=True)
        one.tell(first, Bulletin(players=(gus,)))
        assert two.prune_guests(before_ms=9, connected=(), now_ms=9) == 0
        one.tell(first, Bulletin(players=(gus._replace(is_here=False),)))
        assert two.prune_guests(before_ms=9, connected=(), now_ms=9) == 1
        assert one.prune_guests(before_ms=9, connected=(), now_ms=9) == 0  # which another node has done

    def test_what_is_over_goes_after_a_while_and_what_a_node_told_that_is_gone_at_once(self, pair):
        (one, first), (two, second) = pair
        over = Bulletin((TableNews("XYZ", reason="empty"),), lines=(LINE,))
        one.tell(first, over)
        one.tell(first, Bulletin((TableNews("OLD", reason="empty"),), (NURIA,)))
        change(one._engine, f"UPDATE board SET at_ms = at_ms - {2 * KEPT_MS} WHERE code = 'OLD'")
        two.sweep_bulletins()
        assert [table.code for table in news(two, second).tables] == ["XYZ"]
        one.release(first)
        two.sweep_bulletins()
        enter(one, "one")
        change(one._engine, "INSERT INTO bulletins SELECT 'one', claimed, 9 FROM nodes WHERE name = 'one'")
        assert news(two, second) == Bulletin(over.tables)
