"""The store on a real database file: what comes back, what is fenced off, and what a kill leaves."""

import sys
from functools import partial

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from rows import each_row
from server.stored import MATCH, MID, SEAT, TABLE, TH, guest_of, inserted, older, record, sql, url
from sqlalchemy import event

from truc_protocol.records import Record
from truc_server.storage import (
    AddWish,
    ClearSeat,
    DropSecrets,
    DropTable,
    EndMatch,
    Lease,
    PlayerKind,
    SaveGuest,
    SaveSecrets,
    StoreError,
    StoreLostError,
)
from truc_server.storage.engine import open_engine
from truc_server.storage.schema import REVISION, metadata, tables
from truc_server.storage.sql import open_store


class TestTables:
    def test_table_comes_back_as_saved(self, store):
        store.commit([TABLE])
        assert store.table(TABLE.code) == TABLE

    def test_codes_come_back_oldest_first(self, store):
        store.commit([TABLE._replace(code="NEW", created_ms=2), TABLE._replace(code="OLD", created_ms=1)])
        assert store.table_codes() == ("OLD", "NEW")

    def test_seats_come_back_as_saved_in_their_order(self, store):
        guest = SEAT._replace(seat=0, kind=PlayerKind.GUEST, player=b"g", x=b"x" * 32, ready=True)
        store.commit([TABLE, SEAT, guest])
        assert store.seats("ABC") == (guest, SEAT)
        assert store.seats("ABC")[1].kind is PlayerKind.KEY

    def test_cleared_seat_is_gone_the_others_stay_and_writes_of_one_commit_keep_their_order(self, store):
        store.commit([TABLE, SEAT, SEAT._replace(seat=0), ClearSeat("ABC", 1)])
        assert store.seats("ABC") == (SEAT._replace(seat=0),)
        store.commit([SEAT, ClearSeat("ABC", 1), SEAT._replace(name="Pau")])
        assert store.seats("ABC") == (SEAT._replace(seat=0), SEAT._replace(name="Pau"))

    def test_dropped_table_takes_its_seats_along_and_leaves_the_others(self, store):
        other = TABLE._replace(code="XYZ")
        store.commit([TABLE, SEAT, other, SEAT._replace(table="XYZ"), DropTable("ABC")])
        assert (store.table("ABC"), store.table("XYZ")) == (None, other)
        assert (store.seats("ABC"), len(store.seats("XYZ"))) == ((), 1)


class TestGuests:
    def test_guest_is_found_by_the_hash_of_the_newest_token(self, store):
        guest = SaveGuest(b"id", "Pau", b"old", 0)
        for saved in (guest, guest._replace(token_hash=b"new")):
            store.commit([saved])
            assert guest_of(store, saved.token_hash) == saved
        assert (guest_of(store, b"old"), guest_of(store, b"?" * 32)) == (None, None)


class TestMatches:
    def test_running_match_comes_back_with_its_secrets(self, store, archive):
        store.commit([TABLE, SaveSecrets(TH, b"sealed"), MATCH])
        assert tuple(store.match(MID)) == (*MATCH[:-1], b"sealed")
        assert archive.setups_under_way() == (MATCH.setup,)

    def test_setup_of_six_long_records_comes_back(self, store):
        setup = tuple(Record(i, bytes(8_000), bytes(64)) for i in range(8))
        store.commit([TABLE, MATCH._replace(setup=setup)])
        assert store.match(MID).setup == setup

    @pytest.mark.parametrize("end", [EndMatch(MID, "won", 5), DropTable("ABC")])
    def test_match_that_ended_or_has_lost_its_table_is_not_under_way(self, store, archive, end):
        store.commit([TABLE, MATCH, end])
        assert archive.setups_under_way() == ()

    def test_secrets_are_those_saved_last_until_they_are_dropped(self, store):
        store.commit([TABLE, SaveSecrets(TH, b"old"), MATCH])
        store.commit([SaveSecrets(TH, b"rekeyed")])
        assert store.match(MID).sealed == b"rekeyed"
        store.commit([DropSecrets(TH)])
        assert store.match(MID).sealed is None

    def test_secrets_without_a_match_are_strays(self, store):
        store.commit([TABLE, SaveSecrets(TH, b"sealed"), MATCH, SaveSecrets(b"u" * 32, b"sealed")])
        assert store.stray_secrets() == (b"u" * 32,)

    def test_transcript_outlives_its_table(self, store, archive):
        store.commit([TABLE, MATCH, record(0), record(1), EndMatch(MID, "won", 5)])
        store.commit([DropTable("ABC")])
        assert archive.transcript(MID) == (
            b"document",
            MATCH.setup,
            (Record(0, b"body 0", b"s" * 64), Record(0, b"body 1", b"s" * 64)),
        )
        assert archive.transcript(b"?" * 32) is None

    def test_transcript_of_a_match_that_is_deleted_meanwhile_is_whole(self, store, archive):
        def delete(_connection, _cursor, statement: str, *_: object) -> None:
            if "FROM matches" in statement:
                store.delete_match(MID, before_ms=6)

        store.commit([MATCH, record(0), EndMatch(MID, "won", 5)])
        event.listen(archive._engine, "after_cursor_execute", delete)
        assert archive.transcript(MID) == (b"document", MATCH.setup, (Record(0, b"body 0", b"s" * 64),))
        assert archive.transcript(MID) is None


class TestRecords:
    @pytest.fixture(autouse=True)
    def match(self, store):
        store.commit([TABLE, MATCH])

    def test_records_come_back_whole_in_order_page_by_page(self, store):
        assert store.record_count(MID) == 0
        store.commit([record(k) for k in (1, 0, *range(2, 10))])
        assert store.records(MID, first=4, limit=3) == (record(4), record(5), record(6))
        assert store.records(MID, first=8, limit=3) == (record(8), record(9))
        assert [found.k for found in store.records(MID, first=0, limit=2)] == [0, 1]
        assert store.record_count(MID) == 10

    def test_matches_do_not_see_each_others_records(self, store):
        other = b"o" * 32
        store.commit([MATCH._replace(mid=other, th=other), record(0), record(0, other)])
        assert store.records(other, first=0, limit=9) == (record(0, other),)

    @pytest.mark.parametrize(
        "writes",
        [
            [TABLE._replace(state="playing"), record(1), record(0)._replace(body=b"another")],
            [record(1), record(0)],
        ],
        ids=["records among others", "records alone"],
    )
    def test_refused_commit_writes_nothing_of_it_and_the_store_works_on(self, store, writes):
        store.commit([record(0)])
        with pytest.raises(StoreLostError, match="expected free positions"):
            store.commit(writes)
        assert (store.record_count(MID), store.table(TABLE.code)) == (1, TABLE)
        store.commit([record(1)])
        assert store.record_count(MID) == 2

    def test_hundred_rows_are_one_transaction_and_records_in_a_row_one_statement(self, store):
        begun: list[str] = []
        statements: list[str] = []
        event.listen(store._engine, "begin", lambda _connection: begun.append("begin"))
        event.listen(store._engine, "commit", lambda _connection: begun.append("commit"))
        event.listen(
            store._engine,
            "before_cursor_execute",
            lambda _connection, _cursor, statement, *_: statements.append(statement),
        )
        store.commit([TABLE, *(record(k) for k in range(100))])
        assert begun == ["begin", "commit"]
        assert sum("INSERT INTO records" in statement for statement in statements) == 1

    def test_reading_goes_on_while_a_commit_is_open(self, store):
        with store._transaction("write to"):
            assert store.records(MID, first=0, limit=1) == ()


def test_wishes_of_a_match_come_back_in_the_order_of_its_records(store):
    wishes = [AddWish(MID, 9, 0), AddWish(MID, 10, 1), AddWish(b"o" * 32, 9, 1), AddWish(MID, 9, 1)]
    store.commit([TABLE, MATCH, *wishes])
    assert store.wishes(MID) == (wishes[0], wishes[3], wishes[1])


class TestFence:
    def test_commit_before_a_claim_is_refused(self, rival):
        with pytest.raises(StoreError, match="expected a claim"):
            rival.commit([TABLE])

    def test_every_claim_raises_the_epoch(self, store):
        assert store.claim("again") == Lease("again", 2)

    def test_epoch_is_raised_across_a_restart(self, store, folder):
        store.close()
        reopened = open_store(url(folder))
        epoch = reopened.claim("this process").epoch
        reopened.close()
        assert epoch == 2

    def test_table_belongs_to_the_process_that_made_it_until_another_claims_it(self, store, rival):
        def owner() -> tuple[str, int]:
            with store._reading.connect() as connection:
                row = connection.execute(tables.select()).one()
            return row.owner, row.epoch

        store.commit([TABLE])
        assert owner() == ("this process", 1)
        rival.claim("rival")
        assert owner() == ("rival", 2)

    def test_whoever_comes_to_have_the_database_alone_is_the_only_one_to_write(self, store, rival):
        store.commit([TABLE, MATCH])
        rival.claim("rival")
        for write in (
            record(0),
            TABLE._replace(state="playing"),
            DropTable("ABC"),
            SEAT,
            ClearSeat("ABC", 0),
            EndMatch(MID, "won", 5),
            MATCH._replace(mid=b"n" * 32, th=b"n" * 32),
        ):
            with pytest.raises(
                StoreLostError, match=r"taken the tables over.*this process came under epoch 1"
            ):
                store.commit([write])

    def test_fenced_commit_writes_nothing_where_the_new_owner_writes_on(self, store, rival):
        store.commit([TABLE, MATCH])
        rival.claim("rival")
        with pytest.raises(StoreLostError):
            store.commit([SaveGuest(b"id", "Pau", b"h", 0), record(0)])
        assert (store.record_count(MID), guest_of(store, b"h")) == (0, None)
        rival.commit([record(0)])
        assert store.record_count(MID) == 1


class TestDurability:
    def test_driver_begins_no_transaction_by_itself(self, store):
        assert store._writing.connection.driver_connection.isolation_level is None

    def test_closed_store_is_one_file_where_everything_is_found_again(self, store, folder):
        store.commit([TABLE, SEAT, MATCH, record(0)])
        store.close()
        assert [file.name for file in folder.iterdir()] == ["truc.db"]
        reopened = open_store(url(folder))
        found = (reopened.table("ABC"), reopened.seats("ABC"), reopened.record_count(MID))
        reopened.close()
        assert found == (TABLE, (SEAT,), 1)


class TestMigrations:
    def test_schema_is_what_the_migrations_make(self, folder):
        engine = open_engine(url(folder))
        with engine.connect() as connection:
            difference = compare_metadata(MigrationContext.configure(connection), metadata)
        engine.dispose()
        assert difference == []

    def test_revision_is_the_newest_migration(self):
        config = Config()
        config.set_main_option("script_location", "truc_server.storage:migrations")
        assert ScriptDirectory.from_config(config).get_current_head() == REVISION

    def test_open_database_is_not_migrated_again(self, folder, monkeypatch):
        monkeypatch.setattr("truc_server.storage.engine._migrate", lambda _: pytest.fail("migrated again"))
        open_store(url(folder)).close()

    def test_newer_schema_is_refused(self, folder):
        sql(folder / "truc.db", "UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(
            StoreError, match=f"newer version: expected revision {REVISION} or older, found 9999"
        ):
            open_store(url(folder))

    def test_table_of_the_first_schema_gets_the_document_of_its_match(self, tmp_path):
        older(tmp_path, "0001")
        insert = partial(inserted, tmp_path / "truc.db")
        for code, match in (("OLD", MID), ("NEW", None)):
            insert("tables", code, "v", "{}", 2, 0, b"", 1, "over", match, "o", 1, None)
        insert("matches", MID, "OLD", b"doc", b"\x90", TH, 2, None, None)
        store = open_store(url(tmp_path))
        found = {code: store.table(code).document for code in store.table_codes()}
        store.close()
        assert found == {"OLD": b"doc", "NEW": None}


class TestFailures:
    def test_file_that_is_no_database_is_refused(self, tmp_path):
        (tmp_path / "truc.db").write_bytes(b"no database " * 100)
        with pytest.raises(StoreError, match="file is not a database: move it away and restore a backup"):
            open_store(url(tmp_path))

    @each_row(
        "at, told",
        [
            ("no url", r"store\.url"),
            ("unheard-of://host/name", r"store\.url"),
            ("sqlite://", "expected a file"),
            ("sqlite:///:memory:", "expected a file"),
            ("sqlite:////nowhere/truc.db", "unable to open database file"),
        ],
    )
    def test_url_of_no_database_is_refused(self, at, told):
        with pytest.raises(StoreError, match=told):
            open_store(at)

    def test_driver_that_is_not_installed_is_told_with_how_to_install_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(StoreError, match=r"psycopg.*: run pip install 'truc\[postgres\]'"):
            open_store("postgresql://host/name")

    def test_full_disk_is_a_store_error_and_loses_nothing_committed(self, store):
        store.commit([TABLE, MATCH, record(0)])
        pages = store._writing.exec_driver_sql("PRAGMA page_count").scalar()
        store._writing.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        store._writing.rollback()
        with pytest.raises(StoreError, match=r"cannot write to .*full"):
            store.commit([record(k)._replace(body=bytes(4_000)) for k in range(1, 50)])
        assert store.record_count(MID) == 1

    def test_error_is_one_line_in_the_databases_words_without_a_row(self, store, folder):
        store.commit([SaveGuest(b"one", "Pau", b"same hash", 0)])
        with pytest.raises(StoreError) as caught:
            store.commit([SaveGuest(b"two", "Ona", b"same hash", 0)])
        assert (
            str(caught.value) == f"cannot write to {url(folder)}: UNIQUE constraint failed: guests.token_hash"
        )
        assert "Ona" not in f"{caught.value.__cause__}"

    def test_reading_a_broken_database_is_a_store_error(self, store):
        store._writing.exec_driver_sql("DROP TABLE records")
        store._writing.commit()
        with pytest.raises(StoreError, match="cannot read"):
            store.record_count(MID)
