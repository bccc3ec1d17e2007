"""A database that really is full, read-only, held by somebody or corrupt: it is said, and nothing false is acknowledged."""

import shutil
import sqlite3
from contextlib import closing

import pytest
import trio
from click.testing import CliRunner
from rows import each_row
from server.conftest import QUICK, changed, give_up, holder_of, in_hand, running
from server.gates import Gate
from server.restarting import come_back
from server.stored import TABLE, sql
from server.visitors import FRENCH, guest, table_of
from structlog.testing import capture_logs

from truc_server.main import main
from truc_server.storage import DamagedRowError, StoreError
from truc_server.storage.sql import open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def data(data):
    """Return the path of the data folder."""
    return data.root


def read_only(server) -> None:
    server.store._writing.exec_driver_sql("PRAGMA query_only = ON")
    server.store._writing.rollback()


def ruin(server) -> None:
    """Overwrite every page of a database but the first, as a dying disk does."""
    sql(server.folder.database, "PRAGMA wal_checkpoint(TRUNCATE)")
    with server.folder.database.open("r+b") as file:
        file.seek(0, 2)
        size = file.tell()
        file.seek(4_096)
        file.write(b"\xff" * (size - 4_096))


@pytest.mark.parametrize(("happens", "told"), [(read_only, "readonly database"), (ruin, "malformed")])
async def test_database_that_is_read_only_or_corrupt_by_now_is_found_by_the_next_write_and_goodbye_is_said(
    data, happens, told
):
    with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match=told), flatten_subgroups=True):
        async with running(data, changed(QUICK, access={"guest_days": 0})) as server:  # nobody else writes
            client = await guest(server)
            await table_of(client)
            happens(server)
            await client.send(FRENCH)
            *before, last = await client.closed()
            await trio.sleep_forever()
    assert ([message["t"] for message in before], last["code"]) == (["table"], "internal")


async def test_read_that_fails_is_an_incident_logged_without_a_traceback_and_the_server_goes_on(data):
    async with running(data) as server:
        first, second = await in_hand(server)
        ruin(server)
        with capture_logs() as logged:
            reply = await first.ask({"t": "history", "match": first.ledger.setup.mid, "from": 0})
        assert (await second.ask({"t": "tables"}))["t"] == "ok"
    assert (reply["code"], len(reply["detail"]["incident"])) == ("internal", 8)
    told = [entry["log_level"] for entry in logged if entry["event"] == "store_not_read"]
    assert (told, [entry for entry in logged if "exc_info" in entry]) == (["error"], [])


async def until_logged(logged: list, event: str) -> None:
    while not any(entry["event"] == event for entry in logged):
        await trio.lowlevel.checkpoint()


async def test_request_is_answered_when_another_program_lets_the_database_go(data, monkeypatch):
    monkeypatch.setattr("truc_server.storage.engine.BUSY_TIMEOUT_MS", 20)
    with closing(sqlite3.connect(data / "truc.db", isolation_level=None)) as holder:
        async with running(data) as server:
            client = await guest(server)
            holder.execute("BEGIN IMMEDIATE")
            await client.send(FRENCH)
            with capture_logs() as logged:
                await until_logged(logged, "store_is_held")
            holder.execute("ROLLBACK")
            assert (await client.until("ok"))["seat"] == 0


async def test_end_waits_for_a_commit_that_hangs(data, monkeypatch):
    monkeypatch.setattr("truc_server.server.GOODBYE_S", 0.05)
    gate = Gate()
    with capture_logs() as logged:
        async with running(data, wrap=gate.before_commit("SaveTable")) as server:
            client = await guest(server)
            await client.send(FRENCH)
            await gate.reached()
            server.stop()
            await until_logged(logged, "store_hangs")
            gate.open()
    assert sql(data / "truc.db", "SELECT count(*) FROM tables") == [(1,)]


async def test_acts_are_refused_as_well_when_far_too_much_waits_for_the_store(data, monkeypatch):
    async with running(data) as server:
        holder, _ = holder_of(await in_hand(server))
        with monkeypatch.context() as patched:
            patched.setattr("truc_server.requests.dispatch.MAX_FILLED", 0)
            refused = await holder.client.ask(holder.act_message(holder.options, holder.offered[0]))
        taken = await holder.ask(holder.act_message(holder.options, holder.offered[0]))
    assert (refused["code"], refused["retry_after_ms"], taken["t"]) == ("rate_limited", 1_000, "ok")


@pytest.fixture
async def two_tables(data) -> tuple[str, str]:
    """Return a table with a match and one that is open, which a server has left."""
    async with running(data) as server:
        return (await in_hand(server))[0].table, (await server.seats(2, seed=7))[0].table


@each_row(
    "damage",
    [
        "UPDATE matches SET setup = x'91c0' WHERE table_code = ?",
        "UPDATE matches SET setup = x'ff' WHERE table_code = ?",
        "UPDATE tables SET options = '{not json' WHERE code = ?",
        "UPDATE tables SET options = CAST(x'7bff' AS TEXT) WHERE code = ?",
        "UPDATE tables SET match_id = 'no bytes' WHERE code = ?",
        "UPDATE tables SET match_id = x'ff' WHERE code = ?",
        "UPDATE tables SET creator = 'no bytes' WHERE code = ?",
        "UPDATE tables SET created_ms = x'ff' WHERE code = ?",
        "UPDATE tables SET seats = 2000000000 WHERE code = ?",
        "UPDATE seats SET player = 'no bytes' WHERE seat = 1 AND table_code = ?",
        "UPDATE seats SET name = x'ff' WHERE seat = 1 AND table_code = ?",
        "UPDATE seats SET seat = -1 WHERE seat = 0 AND table_code = ?",
        "DELETE FROM secrets WHERE th = (SELECT th FROM matches WHERE table_code = ?)",
        "UPDATE records SET body = x'ff' WHERE k = 3 AND mid = (SELECT mid FROM matches WHERE table_code = ?)",
    ],
)
async def test_row_that_is_not_as_it_was_written_costs_its_own_table_alone(
    data, two_tables, damage, monkeypatch
):
    """No new table gets the code of that one."""
    ruined, whole = two_tables
    copy = data.with_name(f"copy {hash(damage)}")
    shutil.copytree(data, copy)
    sql(copy / "truc.db", damage, (ruined,))
    with capture_logs() as logged, monkeypatch.context() as patched:
        async with running(copy) as server:
            client = await guest(server)
            tables = [table["table"] for table in (await client.ask({"t": "tables"}))["tables"]]
            letters = iter(f"{ruined}FRESH")
            patched.setattr("truc_server.table_data.codes.choice", lambda _: next(letters))
            assert await table_of(client) == "FRESH"
    assert tables == [whole]
    assert [entry["table"] for entry in logged if entry["event"] == "table_not_restored"] == [ruined]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tables SET code = CAST(x'ff' AS TEXT) WHERE code = ?",
        "UPDATE tables SET code = x'ff' WHERE code = ?",
        "UPDATE secrets SET th = 'no bytes' WHERE th = (SELECT th FROM matches WHERE table_code = ?)",
        "INSERT INTO ignored VALUES (CAST(x'ff' AS TEXT), ?)",
        "INSERT INTO chat SELECT code, 0, creator, 'tag', x'ff', 0, 'hello', 0 FROM tables WHERE code <> ?",
    ],
)
async def test_row_without_which_a_match_can_go_on_is_said_and_costs_none(data, damage):
    async with running(data) as server:
        ruined, whole = await in_hand(server), await in_hand(server, seed=7)
    sql(data / "truc.db", damage, (ruined[0].table,))
    with capture_logs() as logged:
        async with running(data) as server:
            await come_back(server, *whole)
            await give_up(whole)
    assert {"row_not_read", "table_not_restored"} & {entry["event"] for entry in logged}


@pytest.mark.parametrize(
    ("column", "damage", "requests"),
    [
        ("matches.setup", "x'ff'", ("history", "matches")),
        ("records.means", "x'ff'", ("history",)),
        ("records.means", "x'80'", ("history",)),  # {}
        ("records.means", "x'81a56d65616e7307'", ("history",)),  # {"means": 7}
        ("records.means", "x'81a56d65616e739107'", ("history",)),  # {"means": [7]}
    ],
)
async def test_match_that_is_damaged_is_said_with_the_column_when_it_is_asked_for(
    data, column, damage, requests
):
    table, name = column.split(".")
    async with running(data) as server:
        first, _ = await in_hand(server)
        sql(data / "truc.db", f"UPDATE {table} SET {name} = {damage}")
        fields = {"history": {"match": first.ledger.setup.mid, "from": 0}, "matches": {}}
        with capture_logs() as logged:
            for request in requests:
                assert (await first.ask({"t": request, **fields[request]}))["code"] == "internal"
    assert [entry["event"] for entry in logged] == ["store_not_read"] * len(requests)
    assert all(column in entry["reason"] for entry in logged)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("options = '{not json'", "a row is not as it was written$"),
        ("options = '7'", "expected dict in tables.options, got int"),
        ("creator = 'no bytes'", "expected bytes in tables.creator, got str"),
        ("created_ms = 9007199254740992", "at most 53 bits in tables.created_ms, got a larger one"),
        ("variant = CAST(x'ff' AS TEXT)", "expected text in column variant, got other bytes"),
    ],
)
def test_row_that_is_not_as_it_was_written_is_said_with_its_column(data, damage, told):
    store = open_store(f"sqlite:///{data / 'truc.db'}")
    store.claim("this process")
    store.commit([TABLE])
    sql(data / "truc.db", f"UPDATE tables SET {damage}")
    with pytest.raises(DamagedRowError, match=told):
        store.table(TABLE.code)
    store.close()


class TestStart:
    """A start on a database that cannot be used is over at once."""

    @pytest.fixture
    def start(self, data, monkeypatch):
        """Run the command as a host does, but leave this process its limits."""
        monkeypatch.setattr("os.umask", lambda _: 0)
        monkeypatch.setattr("truc_server.commands.run.raise_file_limit", lambda _: None)
        return lambda **environment: CliRunner().invoke(main, ["run", "--data", str(data)], env=environment)

    @pytest.mark.parametrize("where", [0, 4_096, None])
    def test_overwritten_page_or_missing_end_is_status_1_and_one_line(self, data, start, where):
        database = data / "truc.db"
        whole = database.read_bytes()
        if where is None:
            database.write_bytes(whole[: len(whole) // 2 + 100])
        else:
            database.write_bytes(whole[:where] + b"\xff" * 4_096 + whole[where + 4_096 :])
        result = start()
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.startswith("truc-server: cannot ")

    @pytest.mark.parametrize("subject", ["'nobody'", "x'ff'", "CAST(x'ff' AS TEXT)"])
    def test_damaged_sanction_is_status_1_and_one_line(self, data, start, subject):
        """Whom the host has shut out cannot be known then."""
        sql(data / "truc.db", f"INSERT INTO sanctions VALUES ({subject}, 'ban', 0, NULL)")
        result = start(TRUC_LISTEN_PORT="0")
        assert (result.exit_code, "subject" in result.stderr.splitlines()[-1]) == (1, True)

    def test_read_only_database_is_status_1_and_one_line(self, data, start):
        result = start(TRUC_STORE_URL=f"sqlite:///file:{data}/truc.db?mode=ro&uri=true")
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.endswith("attempt to write a readonly database\n")
