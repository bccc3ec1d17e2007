"""PostgreSQL in place of SQLite: the tests of the store that are not about files once more, and a server that plays on it."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import NamedTuple

import psycopg
import pytest
import trio
from chaos.postgres import Cluster, cluster, programs
from click.testing import CliRunner
from server import (
    test_store,
    test_store_bulletins,
    test_store_company,
    test_store_leases,
    test_store_ratings,
    test_store_sanctions,
)
from server.calls import BRIEF
from server.commands import call
from server.conftest import play_on, play_out, running
from server.nodes import Nodes
from server.rawclient import RawSeat
from server.restarting import come_back, play_until_gone
from server.stored import MATCH, MID, TABLE, record
from server.test_store_leases import enter
from server.visitors import follower, say
from sqlalchemy import event, text

from truc_server.cluster import bulletin_exchange
from truc_server.identity.identity import load_identity, roll
from truc_server.main import main
from truc_server.settings.folder import open_folder
from truc_server.storage import (
    AddRecord,
    Invite,
    Lease,
    Member,
    NodePlace,
    RatedPlayer,
    RateMatch,
    SaveGuest,
    SaveIgnored,
    StoreBusyError,
    StoreError,
    housekeeping,
    leases,
    statements,
)
from truc_server.storage.backups import read_restored
from truc_server.storage.node_keys import keys_of
from truc_server.storage.schema import REVISION, metadata
from truc_server.storage.sql import Store, open_store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="needs PostgreSQL (Debian's package postgresql)"),
]
NAME = "truc"

TestTables = test_store.TestTables
TestMatches = test_store.TestMatches
TestRecords = test_store.TestRecords
TestChat = test_store_company.TestChat
TestIgnored = test_store_company.TestIgnored
TestPlayers = test_store_company.TestPlayers
TestMembers = test_store_company.TestMembers
TestInvites = test_store_company.TestInvites
TestRatings = test_store_ratings.TestRatings
TestSanctions = test_store_sanctions.TestSanctions
TestInvitesBesideSanctions = test_store_sanctions.TestInvites
TestGuests = test_store_sanctions.TestGuests
TestNodes = test_store_leases.TestNodes
TestFinding = test_store_leases.TestFinding
TestLostLease = test_store_leases.TestLostLease
TestTaking = test_store_leases.TestTaking
TestBulletins = test_store_bulletins.TestBulletins
two_nodes = test_store_bulletins.two_nodes


class TestFence(test_store.TestFence):
    """What a file alone has is left out."""

    test_epoch_is_raised_across_a_restart = None


class Database(NamedTuple):
    """A database with the newest schema, and the PostgreSQL that has it."""

    cluster: Cluster
    url: str
    raw: psycopg.Connection


@pytest.fixture(scope="module")
def migrated() -> Iterator[Database]:
    with cluster() as running:
        url = running.create(NAME)
        open_store(url).close()
        with running.connect(NAME, autocommit=True) as raw:
            yield Database(running, url, raw)


@pytest.fixture
def database(migrated) -> Database:
    """Return the database, emptied."""
    names = [table.name for table in reversed(metadata.sorted_tables) if table.name != "ownership"]
    # to truncate them would make new files
    migrated.raw.execute("; ".join((*map("DELETE FROM {}".format, names), "UPDATE ownership SET epoch = 0")))
    return migrated


@pytest.fixture
def nodes(tmp_path, database) -> Nodes:
    return Nodes(tmp_path, database.url)


@pytest.fixture
def database_url(database) -> str:
    return database.url


def served(tmp_path: Path, database: Database):
    """Run a server on the database."""

    def replace(store: Store) -> Store:
        store.close()
        return open_store(database.url)

    return running(tmp_path / "data", wrap=replace)


async def lose(seats: list[RawSeat], cut) -> None:
    """Play into a hand, have the server cut off from its database, and play on to the end of the connections."""
    await play_on(seats, lambda seat: seat.next > 5)
    cut()
    await play_until_gone(*seats)


async def test_lost_connection_ends_the_server_and_nothing_acknowledged_is_lost(tmp_path, database):
    def cut() -> None:
        database.raw.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="cannot write"), flatten_subgroups=True):
        async with served(tmp_path, database) as server:
            seats = await server.match(2, options=BRIEF)
            await lose(seats, cut)
            with trio.fail_after(20):
                await trio.sleep_forever()
    with closing(open_store(database.url)) as store:
        assert store.record_count(seats[0].ledger.setup.mid) >= max(seat.next for seat in seats)
    async with served(tmp_path, database) as server:
        await come_back(server, *seats)
        await play_out(seats)


async def test_node_hears_at_once_what_another_tells(nodes, monkeypatch):
    monkeypatch.setattr(bulletin_exchange, "HEAR_EVERY_S", 3_600)  # nobody looks by themselves
    async with nodes.run("one") as one, nodes.run("two") as two:
        speaks, hears = await follower(one, "Anna"), await follower(two, "Bea")
        await say(speaks, "bon dia")
        assert (await hears.until("chat"))["text"] == "bon dia"


async def test_node_hears_again_after_the_connection_for_hints_was_lost(nodes, database, monkeypatch):
    monkeypatch.setattr(bulletin_exchange, "RETRY_S", 0.05)
    async with nodes.run("one") as one, nodes.run("two") as two:
        speaks, hears = await follower(one, "Anna"), await follower(two, "Bea")
        listening = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        with trio.fail_after(20):  # both listen, and nobody of the test before
            while database.raw.execute(f"SELECT count(*) {listening}").fetchone() != (2,):
                await trio.lowlevel.checkpoint()
        database.raw.execute(f"SELECT pg_terminate_backend(pid) {listening}")
        monkeypatch.setattr(bulletin_exchange, "HEAR_EVERY_S", 3_600)
        for n in range(2):
            await say(speaks, f"line {n}")
            assert (await hears.until("chat"))["text"] == f"line {n}"


def test_connection_for_hints_that_is_lost_before_it_listens_is_an_error_of_the_store(fresh, rival):
    def cut(driver, *_) -> None:
        with rival._engine.connect() as other:
            other.exec_driver_sql(f"SELECT pg_terminate_backend({driver.info.backend_pid}, 5000)")

    event.listen(fresh._engine, "checkout", cut, once=True)
    with pytest.raises(StoreError, match="says nothing any more: terminating connection"):
        fresh.listener()
    with fresh.listener() as listener:
        assert not listener.has_news()


def test_connection_that_cannot_even_roll_back_is_an_error_and_not_used_again(store, monkeypatch):
    # As psycopg's is where the server has ended it among the statements of a batch.
    def fail(*_) -> None:
        raise psycopg.OperationalError("cannot exit pipeline mode while busy")

    record = AddRecord(b"mid", 0, 0, b"body", b"sig", b"", 0, b"")
    with monkeypatch.context() as broken:
        broken.setattr(statements, "_append", fail)
        broken.setattr(psycopg.Connection, "rollback", fail)
        with pytest.raises(StoreError, match="cannot exit pipeline mode"):
            store.commit([record])
    store.commit([SaveGuest(b"one", "Pau", b"hash", 0)])


def test_nodes_rate_matches_of_the_same_players_one_after_the_other(fresh, rival):
    # In either order of the players, from both at once: neither fails, and every match counts.
    one, two = RatedPlayer(b"a" * 32, "TAG-A", "Anna"), RatedPlayer(b"b" * 32, "TAG-B", "Bea")
    duels = [RateMatch(MID, "truc-french", 2, *sides) for sides in (((one,), (two,)), ((two,), (one,))) * 8]
    stores = {"one": fresh, "two": rival}
    for name, store in stores.items():
        enter(store, name)

    def commit(store: Store, matches: list[RateMatch]) -> None:
        for match in matches:
            store.commit([match, match])

    with ThreadPoolExecutor() as threads:
        asked = [threads.submit(commit, store, duels) for store in stores.values()]
        for each in asked:
            each.result()
    assert [standing.rating.matches for standing in fresh.profile("TAG-A")] == [2 * 2 * len(duels)]


class TestKeyThatComesToTwoNodesAtOnce:
    """Between the look whether it is a member and the insert another node admits it."""

    @pytest.fixture(autouse=True)
    def between(self, monkeypatch) -> list[Callable[[], object]]:
        """What is done between the two."""
        looks, work = housekeeping.is_member, list[Callable[[], object]]()

        def look(connection, fingerprint) -> bool:
            found = looks(connection, fingerprint)
            if work:
                work.pop()()
            return found

        monkeypatch.setattr(housekeeping, "is_member", look)
        return work

    @pytest.mark.parametrize("uses", [1, 2])
    def test_comes_in_at_both_by_one_use_of_its_invite(self, fresh, rival, between, uses):
        fresh.issue(Invite(b"code", uses=uses, until_ms=100))
        between.append(partial(rival.use_invite, b"code", Member("A" * 26, 5)))
        assert fresh.use_invite(b"code", Member("A" * 26, 6))
        assert [member.since_ms for member in fresh.members()] == [5]
        assert [invite.uses for invite in fresh.invites()] == [1] * (uses - 1)

    def test_uses_up_one_of_two_invites(self, fresh, rival, between):
        for code in (b"code", b"other"):
            fresh.issue(Invite(code, uses=1, until_ms=100))
        between.append(partial(rival.use_invite, b"other", Member("A" * 26, 5)))
        assert fresh.use_invite(b"code", Member("A" * 26, 6))
        assert [invite.code_hash for invite in fresh.invites()] == [b"code"]

    def test_is_a_member_already_for_the_host_who_admits_it(self, database, fresh, rival):
        member = Member("A" * 26, 5)
        with ThreadPoolExecutor() as threads:
            with rival._transaction("write to") as connection:
                housekeeping.admit(connection, member)
                asked = threads.submit(fresh.admit, member)
                waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                while database.raw.execute(waiting).fetchone() == (0,):
                    assert not asked.done()
            assert not asked.result(20)


def test_one_of_two_transactions_that_wait_for_each_other_may_be_tried_again(store, rival):
    enter(store, "one"), enter(rival, "two")
    store.commit([SaveIgnored(b"p", "X"), SaveIgnored(b"p", "Y")])
    failed: list[Exception] = []

    def commit(held: Store, first: str, second: str, *, here: Barrier) -> None:
        try:
            with held._transaction("write to") as connection:
                for tag in (first, second):
                    connection.execute(text(f"UPDATE ignored SET tag = tag WHERE tag = '{tag}'"))
                    if tag == first:
                        here.wait(20)
        except StoreError as error:
            failed.append(error)

    both = Barrier(2)
    with ThreadPoolExecutor() as threads:
        threads.submit(commit, store, "X", "Y", here=both)
        threads.submit(commit, rival, "Y", "X", here=both)
    assert [type(error) for error in failed] == [StoreBusyError]


def test_connection_in_use_when_the_store_is_closed_is_closed_when_it_comes_back(database):
    store = open_store(database.url)
    used = store._reading.connect()
    driver = used.connection.driver_connection
    store.close()
    assert not driver.closed
    used.close()
    assert driver.closed


def test_error_is_one_line_without_what_was_to_be_written(store):
    store.commit([SaveGuest(b"one", "Pau", b"same hash", 0)])
    with pytest.raises(StoreError) as caught:
        store.commit([SaveGuest(b"two", "Ona", b"same hash", 0)])
    said = str(caught.value)
    assert said.endswith('duplicate key value violates unique constraint "guests_token_hash_key"')
    assert b"same hash".hex() not in said


def freeze_in_a_commit(store: Store, lease: Lease) -> None:
    """Leave a commit as a process does that stands still while it sends it: the fence has answered, a record is on its way."""
    driver = store._writing.connection.driver_connection
    assert driver.execute(*leases.fence_sql(store._engine.dialect, lease)).fetchone()
    driver.pgconn.enter_pipeline_mode()
    driver.pgconn.send_query_params(b"SELECT 1", None)
    driver.pgconn.send_flush_request()
    driver.pgconn.flush()


def test_tables_of_a_node_that_stands_still_in_the_middle_of_a_commit_are_taken(database):
    place = NodePlace("", "", "")
    with (
        closing(open_store(database.url, patience_s=0.5, node="one")) as standing,
        closing(open_store(database.url, patience_s=0.5, node="two")) as other,
    ):
        lease, two = (standing.join("one", place, lease_ms=60_000), other.join("two", place, lease_ms=60_000))
        standing.commit([TABLE])
        standing.renew(lease, lease_ms=1_000, place=place, draining=False)
        freeze_in_a_commit(standing, lease)
        end = time.monotonic() + 20
        while not (taken := other.take_tables(two, most=9).codes):
            assert time.monotonic() < end, "nobody could take the tables"
            time.sleep(0.1)
        assert taken == (TABLE.code,)
        standing._writing.invalidate()


def test_node_comes_again_although_its_earlier_process_stands_still_in_the_middle_of_a_commit(database):
    place = NodePlace("", "", "")
    with (
        closing(open_store(database.url, patience_s=2, node="one")) as standing,
        closing(open_store(database.url, patience_s=2, node="one")) as again,
    ):
        lease = standing.join("one", place, lease_ms=60_000)
        standing.commit([TABLE])
        freeze_in_a_commit(standing, lease)
        assert again.owned_codes(again.join("one", place, lease_ms=60_000)) == (TABLE.code,)
        standing._writing.invalidate()


def test_database_asks_a_node_for_signs_of_life(database):
    with (
        closing(open_store(database.url, patience_s=3, node="one")) as store,
        store._engine.connect() as asked,
    ):
        names = ("application_name", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count")
        told = [asked.execute(text(f"SHOW {name}")).scalar() for name in names]
    assert told == ["truc one", "1", "1", "3"]


def test_check_looks_at_it(tmp_path, database):
    environment = {"TRUC_STORE_URL": database.url}
    told = CliRunner().invoke(main, ["check", "--data", str(tmp_path)], env=environment).stdout
    assert f"ok     database: sound, schema {REVISION}\n" in told


def test_check_of_a_node_compares_its_keys_and_its_place_with_those_of_the_others(path, database, fresh):
    data = open_folder(path)
    identity = load_identity(data)
    place = NodePlace("two.example:7373", "two.example:7374", "0.1.0")
    fresh.check_keys("two", keys_of(identity))
    fresh.join("two", place, lease_ms=60_000)

    def told(inner: str) -> list[str]:
        cluster = {"TRUC_CLUSTER_NODE": "one", "TRUC_CLUSTER_INNER": inner, "TRUC_STORE_URL": database.url}
        result = CliRunner().invoke(main, ["check", "--data", str(data.root)], env=cluster)
        assert isinstance(result.exception, SystemExit | None)
        return [line for line in result.stdout.splitlines() if "cluster: " in line or "cluster.inner" in line]

    assert told("127.0.0.1:1")[-2:] == [
        "ok     cluster: node one, beside two",
        "ok     cluster: the keys are those of the nodes",
    ]
    assert "wrong  cluster.inner: node two has the same: each node needs its own" in told(place.inner)
    roll(data, 1_790_000_000)
    assert told("127.0.0.1:1")[-1].startswith("wrong  cluster: the key ")
    data.secrets_key.unlink()
    assert told("127.0.0.1:1") == ["ok     cluster: node one, beside two"]


def test_nodes_that_start_together_find_an_empty_database_migrated_once(migrated):
    empty = migrated.cluster.create("empty")
    with ThreadPoolExecutor() as threads:
        stores = list(threads.map(lambda _: open_store(empty, patience_s=0.5), range(3)))
    for opened in stores:
        with closing(opened):
            assert opened.nodes() == ()


class TestDump:
    """`restore --dump`: the database was restored from a dump of PostgreSQL's own tools."""

    @pytest.fixture
    def data(self, path, database, monkeypatch):
        monkeypatch.setenv("TRUC_STORE_URL", database.url)
        folder = open_folder(path)
        load_identity(folder)
        return folder

    def test_matches_under_way_are_held_at_the_next_starts_or_closed_as_the_host_wants_it(self, data, store):
        store.commit([TABLE._replace(match=MID, state="playing"), MATCH, record(0), record(1)])
        store.release(store._lease)
        result = call(data, "restore --dump")
        assert (result.exit_code, result.stdout.startswith("matches under way: 1, each goes on when")) == (
            0,
            True,
        )
        restored = read_restored(data)
        assert (restored.holds(MID, 2), restored.gives_up) == (True, False)
        assert "their tables are closed" in call(data, "restore --dump", "--open-matches", "close").stdout
        assert read_restored(data).gives_up

    def test_next_claim_has_an_epoch_that_none_of_the_original_had(self, data, store, rival):
        before = store._lease.epoch
        store.release(store._lease)
        assert call(data, "restore --dump").exit_code == 0
        assert rival.claim("again").epoch > max(before, 1_700_000_000)

    def test_database_on_which_a_server_runs_is_refused(self, data, fresh, monkeypatch):
        monkeypatch.setattr(time, "sleep", lambda _: None)  # as if its lease had been renewed meanwhile
        enter(fresh, "one")
        result = call(data, "restore --dump")
        assert (result.exit_code, "no server runs, got nodes: one" in result.stderr) == (1, True)
        assert not data.restored.exists()
