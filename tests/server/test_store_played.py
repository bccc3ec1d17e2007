"""The matches of a player, as the store finds them: the newest first, page by page, and no other's."""

import pytest
from server.stored import MATCH, MID, TABLE, record

from truc_server.storage import AddPlayer, EndMatch, OwnMatch, PlayerKind

ANA, PAU = b"ana" * 10 + b"..", b"pau" * 10 + b".."


def mid(n: int) -> bytes:
    return n.to_bytes(32, "big")


def played(n: int, player: bytes = ANA, *, since_ms: int, seat: int = 0):
    """Return what is stored of match n of a player."""
    match = MATCH._replace(mid=mid(n), th=mid(n))
    return match, AddPlayer(mid(n), seat, player, PlayerKind.KEY, since_ms)


def listed(store, player=ANA, *, after=None, limit=9) -> list[int]:
    return [int.from_bytes(own.mid, "big") for own in store.matches_of(player, after=after, limit=limit)]


@pytest.fixture
def store(store):
    store.commit([TABLE])
    return store


def test_newest_match_stands_first(store):
    store.commit([*played(1, since_ms=20), *played(2, since_ms=30), *played(3, since_ms=10)])
    assert listed(store) == [2, 1, 3]


def test_matches_of_others_are_not_listed(store):
    store.commit([*played(1, since_ms=1), *played(2, PAU, since_ms=2)])
    assert (listed(store), listed(store, PAU), listed(store, b"nobody")) == ([1], [2], [])


def test_pages_of_matches_that_began_together_have_no_hole(store):
    store.commit([write for n in range(1, 8) for write in played(n, since_ms=5)])
    found, after = [], None
    while page := listed(store, after=after, limit=2):
        found += page
        after = mid(page[-1])
    assert found == [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("after", [2, 9], ids=["of somebody else", "of nobody"])
def test_nothing_follows_a_match_that_is_none_of_the_player(store, after):
    store.commit([*played(1, since_ms=1), *played(2, PAU, since_ms=2)])
    assert store.matches_of(ANA, after=mid(after), limit=9) is None


def test_match_is_listed_with_seat_setup_and_end_once_it_is_over(store):
    store.commit([*played(1, since_ms=7, seat=1)])
    own = OwnMatch(mid(1), 1, 7, MATCH.document, MATCH.setup, None, None)
    assert store.matches_of(ANA, after=None, limit=9) == (own,)
    store.commit([EndMatch(mid(1), "won", 99)])
    assert store.matches_of(ANA, after=None, limit=9) == (own._replace(reason="won", ended_ms=99),)


def test_deleted_match_is_not_listed(store):
    store.commit([MATCH, AddPlayer(MID, 0, ANA, PlayerKind.KEY, 1), record(0), EndMatch(MID, "won", 5)])
    assert store.delete_match(MID, before_ms=6)
    assert store.matches_of(ANA, after=None, limit=9) == ()


def test_page_is_read_in_the_order_of_an_index(store, monkeypatch):
    """What is sorted, or looked through, would cost more with each match that is played."""
    if store._engine.dialect.name != "sqlite":
        pytest.skip("the plan is told in SQLite's words")
    asked = []
    execute = store._reading.dialect.do_execute

    def noted(cursor, statement, parameters, context=None):
        asked.append((statement, parameters))
        execute(cursor, statement, parameters, context)

    monkeypatch.setattr(store._reading.dialect, "do_execute", noted)
    store.commit([*played(1, since_ms=1), *played(2, since_ms=2)])
    asked.clear()
    store.matches_of(ANA, after=mid(2), limit=9)
    with store._engine.connect() as connection:
        plans = [
            row.detail
            for statement, parameters in tuple(asked)
            if statement.startswith("SELECT")
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    assert plans
    assert [plan for plan in plans if not plan.startswith("SEARCH")] == []
    assert any("ix_match_players_since" in plan for plan in plans)
