"""What `truc-server check` says of database and disk."""

import os
import shutil
from types import SimpleNamespace

import pytest
from rows import each_row
from server.commands import call
from server.stored import TABLE, older, sql, url

from truc_server.storage import StoreError
from truc_server.storage.schema import REVISION
from truc_server.storage.sql import open_store
from truc_server.storage.sqlite_file import inspect

pytestmark = pytest.mark.usefixtures("any_port")


@pytest.fixture
def database_url(data) -> str:
    return url(data.root)


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_sound_database_is_right_free_disk_is_told_and_the_folder_stays_as_it_was(data):
    before = contents(data.root)
    told = call(data, "check").stdout
    assert f"ok     database: sound, schema {REVISION}\n" in told
    assert "ok     disk: " in told
    assert contents(data.root) == before


def test_older_schema_is_right_and_stays(data):
    data.database.unlink()
    older(data.root, "0001")
    before = data.database.read_bytes()
    told = call(data, "check").stdout
    assert "ok     database: sound, schema 0001, which the next start brings up to date\n" in told
    assert data.database.read_bytes() == before


def test_newer_schema_is_wrong(data):
    sql(data.database, "UPDATE alembic_version SET version_num = '9999'")
    result = call(data, "check")
    assert (result.exit_code, "wrong  database: schema 9999" in result.stdout) == (1, True)


@each_row("revision", ["0000", ""])
def test_schema_of_no_version_is_wrong_and_not_opened(data, revision):
    sql(data.database, f"UPDATE alembic_version SET version_num = '{revision}'")
    told = f"expected a schema from 0001 to {REVISION}, found {revision!r}; restore it from a backup"
    assert f"wrong  database: {data.database}: {told}\n" in call(data, "check").stdout
    with pytest.raises(StoreError, match=told):
        open_store(url(data.root))


def test_missing_database_is_noted_beside_a_key_and_right_before_the_first_start(data):
    data.database.unlink()
    result = call(data, "check")
    told = (
        "note   database: not there: the next start makes an empty one, as it should after truc-server init;"
        " if a server has run here, restore it from a backup\n"
    )
    assert (result.exit_code, told in result.stdout) == (0, True)
    data.identity.unlink()
    assert "ok     database: will be made at the first start\n" in call(data, "check").stdout


def test_empty_database_is_right(data):
    data.database.write_bytes(b"")
    assert "ok     database: empty" in call(data, "check").stdout


@pytest.mark.parametrize("where", [0, 4_096, 12_288, None])
def test_overwritten_or_cut_database_is_wrong_and_said_in_one_line(data, where):
    whole = data.database.read_bytes()
    ruined = whole[: len(whole) // 2 + 100]
    if where is not None:
        ruined = whole[:where] + b"\xff" * 4_096 + whole[where + 4_096 :]
    data.database.write_bytes(ruined)
    result = call(data, "check")
    assert (result.exit_code, f"wrong  database: {data.database}: " in result.stdout) == (1, True)
    assert len([line for line in result.stdout.splitlines() if "database: " in line]) == 1


@pytest.mark.parametrize("name", ["truc.db", "truc.db-wal", "truc.db-shm"])
@pytest.mark.parametrize(
    ("flag", "told"),
    [
        (0, "{} cannot be read and written by this user: give it to the server's"),
        (os.ST_RDONLY, "cannot write {}: Read-only file system"),
    ],
    ids=["another user's", "on a read-only disk"],
)
def test_file_that_cannot_be_written_is_named_with_why_and_no_backup_is_asked_for(
    data, monkeypatch, name, flag, told
):
    closed = data.root / name
    closed.touch()
    is_open, found = os.access, os.statvfs(closed)
    monkeypatch.setattr("os.access", lambda path, mode: path != closed and is_open(path, mode))
    disk = SimpleNamespace(f_flag=flag, f_bavail=found.f_bavail, f_frsize=found.f_frsize)
    monkeypatch.setattr("os.statvfs", lambda _: disk)
    told = told.format(closed)
    assert f"wrong  database: {told}\n" in call(data, "check").stdout
    with pytest.raises(StoreError) as refused:
        open_store(url(data.root))
    assert str(refused.value) == told.removesuffix(": give it to the server's")


def test_newest_transactions_of_a_killed_server_are_looked_at(tmp_path, data, store):
    store.commit([TABLE])
    copy = tmp_path / "copy"
    shutil.copytree(data.root, copy)
    with (copy / "truc.db").open("r+b") as file:  # what the log has not is lost
        file.seek(8_192)
        file.write(b"\xff" * 4_096)
    assert inspect(copy / "truc.db").problem is not None


def test_running_server_is_not_disturbed(data, store):
    assert "ok     database: sound" in call(data, "check").stdout
    store.commit([TABLE])


def test_other_file_is_noted(data):
    data.settings.write_text('[store]\nurl = "sqlite:////elsewhere/truc.db"\n')
    assert "note   database: store.url names another file" in call(data, "check").stdout


def test_database_server_that_does_not_answer_is_wrong(data):
    data.settings.write_text('[store]\nurl = "postgresql://truc:hush@127.0.0.1:1/truc"\n')
    told = call(data, "check").stdout
    assert "wrong  database: cannot open postgresql://truc:***@127.0.0.1:1/truc: " in told


@pytest.mark.parametrize(
    ("free", "settings"), [(1_000_000, ""), (900_000, "[store]\nspare_mb = 0\n")], ids=["nearly", "full"]
)
def test_disk_that_is_nearly_full_is_wrong(data, monkeypatch, free, settings):
    """A full one is, also where nothing is to be spared."""
    monkeypatch.setattr("truc_server.operation.disk.free_bytes", lambda _: free)
    data.settings.write_text(settings)
    result = call(data, "check")
    assert (result.exit_code, "none begins until there is room" in result.stdout) == (1, True)
