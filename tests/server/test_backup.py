"""A backup beside a running server, and restoring it: what is in it, what is refused, and what the next start knows."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result
from rows import each_row
from server.commands import call
from server.restarting import interrupted
from server.stored import sql, url

from truc_server.identity.identity import load_identity
from truc_server.settings.folder import Folder, FolderError, locked, write_private
from truc_server.storage import StoreError, backups
from truc_server.storage.backups import (
    back_up,
    begin_anew,
    check_backup,
    check_may_start,
    digest_of,
    read_restored,
    restore,
)
from truc_server.storage.schema import REVISION
from truc_server.storage.sql import Store, open_store


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Look for no data folder of the user's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))


def said(result: Result) -> str:
    """Return what a command that has failed says in its one line."""
    assert (result.exit_code, result.stderr.count("\n"), result.stdout) == (1, 1, "")
    return result.stderr


@pytest.fixture
def copy(data, tmp_path) -> Path:
    """Return a backup of the data folder of the test."""
    target = tmp_path / "copy"
    result = call(data.root, "backup", target)
    assert result.exit_code == 0, result.stderr
    return target


def kept(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def new(tmp_path) -> Folder:
    """Return an empty data folder, to restore into."""
    return open_at(tmp_path / "new")


def manifest_of(copy: Path) -> dict:
    return json.loads((copy / "manifest.json").read_text())


def rewrite(copy: Path, **changes: object) -> None:
    """Change values of a backup's manifest."""
    (copy / "manifest.json").write_text(json.dumps(manifest_of(copy) | changes))


def note_again(copy: Path, name: str) -> None:
    """Let the manifest of a backup name a file as it is now."""
    rewrite(copy, files=manifest_of(copy)["files"] | {name: digest_of(copy / name)})


def epoch_of(database: Path) -> int:
    return sql(database, "SELECT epoch FROM ownership")[0][0]


def test_backup_holds_what_another_machine_needs(data, tmp_path):
    for name in ("earlier/OLD.pem", "revoked/X.txt", "variants/house.toml", "rolls.txt", "certificate.pem"):
        (data.root / name).parent.mkdir(exist_ok=True)
        (data.root / name).write_text(name)
    data.settings.write_text('name = "Ours"\n')
    for name in ("lock", "admin.log", "mine.txt", "variants/.house.toml.swp"):
        (data.root / name).write_text("not to be taken")
    result = call(data.root, "backup", tmp_path / "copy")
    others = {name for name in kept(tmp_path / "copy") if name not in ("truc.db", "manifest.json")}
    assert result.exit_code == 0, result.stderr
    assert others == {
        "identity.pem",
        "secrets.key",
        "rolls.txt",
        "certificate.pem",
        "truc.toml",
        "earlier/OLD.pem",
        "revoked/X.txt",
        "variants/house.toml",
    }
    assert all((tmp_path / "copy" / name).read_bytes() == (data.root / name).read_bytes() for name in others)


def test_backup_is_for_its_owner_alone_and_its_manifest_names_the_hash_of_each_file_and_the_schema(copy):
    modes = {stat.S_IMODE(path.stat().st_mode) for path in copy.rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (copy, *copy.rglob("*")) if path.is_dir()}
    assert (modes, folders) == ({0o600}, {0o700})
    manifest = manifest_of(copy)
    found = {name: hashlib.sha256(content).hexdigest() for name, content in kept(copy).items()}
    del found["manifest.json"]
    assert (manifest["files"], manifest["format"], manifest["is_final"]) == (found, 1, False)
    assert manifest["schema"] == REVISION


def test_settings_file_from_elsewhere_is_taken_and_the_files_that_it_names_are_said_to_be_left_out(
    data, tmp_path
):
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(
        'name = "Ours"\nlisten.certificate = "/etc/ours.pem"\nweb.certificate = "/etc/web.pem"\n'
    )
    result = call(data.root, "backup", "--settings", elsewhere, tmp_path / "copy")
    assert (tmp_path / "copy" / "truc.toml").read_text() == elsewhere.read_text()
    assert result.stderr.splitlines() == [
        "not in it, as listen.certificate names it: /etc/ours.pem",
        "not in it, as web.certificate names it: /etc/web.pem",
    ]


def test_backup_is_said_in_a_line(data, tmp_path):
    result = call(data.root, "backup", tmp_path / "copy")
    made = manifest_of(tmp_path / "copy")["made"]
    line = f"{tmp_path / 'copy'}: backup of {made}, 3 files, schema {REVISION}, matches under way: 0\n"
    assert (result.stdout, result.stderr) == (line, "")


def test_backup_replaces_nothing_and_needs_a_place_and_a_server_that_has_run(data, tmp_path):
    copy, none = tmp_path / "copy", tmp_path / "none"
    copy.mkdir()
    line = f"{copy} is there already: a backup is made anew, in a place of its own"
    assert said(call(data.root, "backup", copy)) == f"truc-server: {line}\n"
    line = f"cannot make {none / 'copy'}: No such file or directory"
    assert said(call(data.root, "backup", none / "copy")) == f"truc-server: {line}\n"
    assert "no server has run in" in said(call(none, "backup", tmp_path / "new"))


def test_backup_of_a_database_that_is_damaged_or_gone_leaves_nothing(data, tmp_path):
    data.database.write_bytes(b"SQLite format 3\0" + bytes(4096))
    assert "truc.db" in said(call(data.root, "backup", tmp_path / "copy"))
    assert not list(tmp_path.glob("*copy*"))
    data.database.unlink()
    assert "nothing to back up but the keys" in said(call(data.root, "backup", tmp_path / "copy"))
    assert not data.database.exists()


@each_row("command, line", [("backup", "back that one up"), ("restore", "got store.url")])
def test_database_elsewhere_is_for_its_own_tools(data, tmp_path, monkeypatch, command, line):
    monkeypatch.setenv("TRUC_STORE_URL", "postgresql://localhost/truc")
    result = call(data.root, command, tmp_path / "copy")
    assert (result.exit_code, line in result.stderr) == (2, True)


def test_folder_that_cannot_be_listed_is_not_left_out_of_a_backup(data, tmp_path):
    data.variants.symlink_to(tmp_path / "unmounted")
    line = f"truc-server: cannot read {data.variants}: No such file or directory\n"
    assert said(call(data.root, "backup", tmp_path / "copy")) == line
    assert not (tmp_path / "copy").exists()


def test_what_a_killed_backup_has_left_is_no_hindrance(data, tmp_path):
    left = tmp_path / ".copy.unfinished"
    (left / "earlier").mkdir(parents=True)
    (left / "earlier" / "half.pem").write_text("half")
    assert call(data.root, "backup", tmp_path / "copy").exit_code == 0
    assert set(kept(tmp_path / "copy")) == {"truc.db", "identity.pem", "secrets.key", "manifest.json"}
    assert not left.exists()


@pytest.mark.slow
def test_killed_backup_is_whole_or_not_there(data, tmp_path):
    found = set()
    line = [sys.executable, "-m", "truc_server", "backup", "--data", str(data.root)]
    for n in range(6):
        target = tmp_path / f"copy-{n}"
        process = subprocess.Popen([*line, str(target)], stdout=subprocess.PIPE)
        aside = tmp_path / f".copy-{n}.unfinished"
        while process.poll() is None and not (aside.exists() or target.exists()):
            time.sleep(0.001)  # nothing tells when the process begins to write
        time.sleep(n * 0.008)  # another instant to be killed at each time
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found.add(target.exists())
        if target.exists():
            check_backup(target)
        else:
            assert call(data.root, "backup", target).exit_code == 0
    assert False in found


def test_backup_that_is_under_way_is_not_disturbed(data, tmp_path):
    aside = tmp_path / ".copy.unfinished"
    aside.mkdir()
    (aside / "truc.db").write_text("half")
    other = os.open(aside, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    line = said(call(data.root, "backup", tmp_path / "copy"))
    os.close(other)
    assert line == f"truc-server: another backup to {tmp_path / 'copy'} is under way\n"
    assert kept(aside) == {"truc.db": b"half"}


def test_keys_that_change_all_the_time_are_not_copied_half(data, tmp_path, monkeypatch):
    reads = iter(range(1_000))
    monkeypatch.setattr(
        "truc_server.storage.backups._read_small_files", lambda *_: {"rolls.txt": str(next(reads)).encode()}
    )
    assert "the keys in" in said(call(data.root, "backup", tmp_path / "copy"))


def test_final_backup_needs_a_server_that_is_stopped(data, tmp_path):
    with locked(data):
        assert "is in use by process" in said(call(data.root, "backup", "--final", tmp_path / "copy"))
    assert not data.moved.exists()


def test_no_server_starts_on_a_folder_that_has_moved(data, tmp_path):
    assert call(data.root, "backup", "--final", tmp_path / "copy").exit_code == 0
    line = said(call(data.root, "run"))
    assert "have moved: truc-server backup --final was run here. Set access.moved_to" in line
    check_may_start(data, moved_to="truc.example.net:7373")
    assert call(data.root, "backup", "--final", tmp_path / "again").exit_code == 0


def test_no_server_starts_on_a_backup(copy):
    line = f"truc-server: {copy} is a backup: run truc-server restore {copy} --data FOLDER, and a server on that folder\n"
    assert said(call(copy, "run")) == line


def test_restored_folder_is_the_one_that_was_backed_up_for_its_owner_alone_in_a_new_epoch(
    data, copy, tmp_path
):
    new, before = tmp_path / "new", int(time.time())
    result = call(new, "restore", copy)
    made = manifest_of(copy)["made"]
    line = f"{new}: restored, backup of {made}, 3 files, schema {REVISION}, matches under way: 0\n"
    assert result.exit_code == 0, result.stderr
    assert (result.stdout, result.stderr) == (line, "the old server must not run any more\n")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in new.rglob("*")}
    assert (modes, stat.S_IMODE(new.stat().st_mode)) == ({0o600}, 0o700)
    assert load_identity(Folder(new)).fingerprint == load_identity(data).fingerprint
    assert load_identity(Folder(new)).at_rest == load_identity(data).at_rest
    assert epoch_of(data.database) < before <= epoch_of(new / "truc.db") <= time.time()
    check_may_start(Folder(new), moved_to="")
    open_store(f"sqlite:///{new / 'truc.db'}").close()


def test_nothing_is_restored_over_anything(copy, data):
    before = kept(data.root)
    assert "expected an empty data folder to restore into" in said(call(data.root, "restore", copy))
    assert kept(data.root) == before


def test_check_reads_a_backup_and_writes_nothing(copy, tmp_path):
    before = kept(tmp_path)
    result = call(tmp_path / "new", "restore", "--check", copy)
    assert (result.exit_code, result.stdout.startswith(f"{copy}: sound, backup of")) == (0, True)
    assert kept(tmp_path) == before


@each_row("name", ["truc.db", "identity.pem", "secrets.key"])
def test_damaged_backup_is_not_restored(copy, tmp_path, name):
    sound = (copy / name).read_bytes()
    content = bytearray(sound)
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    line = said(call(tmp_path / "new", "restore", copy))
    (copy / name).write_bytes(sound)
    assert line.startswith(f"truc-server: {copy / name} is damaged: expected SHA-256 ")
    assert not kept(tmp_path / "new")


def test_folder_that_lacks_a_file_of_a_backup_is_none(data, copy, tmp_path):
    (copy / "secrets.key").unlink()
    line = said(call(tmp_path / "new", "restore", copy))
    assert line == f"truc-server: {copy / 'secrets.key'} is missing from the backup\n"
    line = said(call(tmp_path / "new", "restore", data.root))
    assert line == f"truc-server: {data.root} is no backup: it has no manifest.json\n"


ELSEWHERE = ("../x", "/etc/passwd", "earlier/../../x", "earlier/.x", "x", "a/b", "earlier/")


@each_row(
    "changes, told",
    [
        *(
            ({"more": {name: "0" * 64}}, "expected names and hashes of files of a data folder, got others\n")
            for name in ELSEWHERE
        ),
        ({"without": "truc.db"}, "expected a backup with a database"),
        ({"format": 2}, "expected a backup of format 1, got 2: a newer version made it\n"),
    ],
)
def test_backup_of_other_files_or_another_format_is_not_restored(copy, tmp_path, changes, told):
    before = manifest_of(copy)
    files = before["files"] | changes.get("more", {})
    files.pop(changes.get("without"), None)
    rewrite(copy, files=files, format=changes.get("format", 1))
    line = said(call(tmp_path / "new", "restore", copy))
    rewrite(copy, **before)
    assert told in line


@each_row("text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "files": []}', "\x00"])
def test_manifest_that_is_none_is_refused(copy, tmp_path, text):
    (copy / "manifest.json").write_text(text)
    line = said(call(tmp_path / "new", "restore", copy))
    assert line.startswith(f"truc-server: {copy / 'manifest.json'}: expected the manifest of a backup, got: ")


def test_backup_of_a_newer_schema_is_refused(copy, tmp_path):
    sql(copy / "truc.db", "UPDATE alembic_version SET version_num = '9999'")
    note_again(copy, "truc.db")
    assert "schema 9999 was made by a newer version" in said(call(tmp_path / "new", "restore", copy))


def test_backup_with_what_a_server_of_an_older_version_had_left_is_restored(copy, tmp_path):
    (copy / "unasked.json").write_text("{}")
    note_again(copy, "unasked.json")
    assert call(tmp_path / "new", "restore", copy).exit_code == 0


def test_restore_that_was_killed_is_begun_again(copy, new):
    write_private(new.restoring, b"from a backup\n")
    (new.root / "truc.db").write_bytes(b"half")
    assert "was not restored to the end" in said(call(new.root, "run"))
    assert call(new.root, "restore", copy).exit_code == 0
    assert {"truc.db", "identity.pem"} <= set(kept(new.root))
    check_may_start(new, moved_to="")


def test_restore_that_was_killed_before_it_began_is_begun_again(copy, new):
    (new.root / ".restore.unfinished.new").write_bytes(b"from")
    assert call(new.root, "restore", copy).exit_code == 0
    assert not {path.name for path in new.root.iterdir() if path.name.startswith(".")}


def test_what_no_server_may_start_on_is_not_backed_up_as_if_one_had_run_there(data, copy, tmp_path):
    write_private(data.restoring, b"from a backup\n")
    for root, why in (
        (data.root, "was not restored to the end"),
        (copy, "is a backup: run truc-server restore"),
    ):
        for flags in ((), ("--final",)):
            assert why in said(call(root, "backup", *flags, tmp_path / "again"))
    assert not (tmp_path / "again").exists()


def test_second_restore_takes_nothing_from_one_that_is_under_way(copy, new):
    with locked(new):
        write_private(new.restoring, b"from a backup\n")
        (new.root / "identity.pem").write_bytes(b"just restored")
        before = kept(new.root)
        assert "is in use by process" in said(call(new.root, "restore", copy))
        assert kept(new.root) == before


def test_folder_in_which_a_restore_has_left_its_lock_alone_is_empty(copy, new):
    with locked(new):
        pass
    assert call(new.root, "restore", copy).exit_code == 0


@pytest.fixture
async def played(tmp_path) -> Folder:
    """Return the folder of a server that was stopped in the middle of a match."""
    await interrupted(tmp_path / "played", 2, "truc-french", after=9)
    return Folder(tmp_path / "played")


async def test_matches_under_way_are_held_unless_the_host_knows_better(played, new, tmp_path):
    back_up(played, tmp_path / "copy", settings_file=None, is_final=False)
    manifest, chosen = restore(tmp_path / "copy", new, None)
    found = read_restored(new)
    assert (manifest.matches, chosen, found.gives_up) == (1, "ask", False)
    with closing(open_store(url(played.root))) as store:
        assert found.matches == store.raise_epoch(0).matches
    assert [k > 5 for k in found.matches.values()] == [True]
    for wanted in ("continue", "close"):
        restore(tmp_path / "copy", open_at(tmp_path / wanted), wanted)
    assert not read_restored(Folder(tmp_path / "continue")).matches
    assert read_restored(Folder(tmp_path / "close")).gives_up


@pytest.mark.slow
async def test_final_backup_lets_matches_go_on_where_it_is_restored_first(played, tmp_path):
    call(played.root, "backup", "--final", tmp_path / "copy")
    for name, is_first in (("first", True), ("second", False)):
        result = call(tmp_path / name, "restore", tmp_path / "copy")
        held = bool(read_restored(Folder(tmp_path / name)).matches)
        assert ("they go on at once" in result.stdout, held) == (is_first, not is_first)


async def test_of_two_restores_of_a_final_backup_at_the_same_time_one_alone_lets_matches_go_on(
    played, tmp_path, monkeypatch
):
    call(played.root, "backup", "--final", tmp_path / "copy")
    chosen = {}

    def restore_to(name) -> None:
        chosen[name] = restore(tmp_path / "copy", open_at(tmp_path / name), None)[1]

    def restore_meanwhile(path, content) -> None:
        if path.name == "restored" and "second" not in chosen:
            chosen["second"] = ""
            restore_to("second")
        write_private(path, content)

    monkeypatch.setattr(backups, "write_private", restore_meanwhile)
    restore_to("first")
    assert sorted(chosen.values()) == ["ask", "continue"]


async def test_killed_restore_of_a_dump_lets_no_server_start_until_it_is_run_again(played, monkeypatch):
    database = url(played.root)

    def kill(*_) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(backups, "write_restored", kill)
        with pytest.raises(KeyboardInterrupt):
            begin_anew(database, played, "ask")
    with pytest.raises(FolderError, match="restore the backup again"):
        read_restored(played)
    begin_anew(database, played, "ask")
    assert read_restored(played).matches


@pytest.mark.parametrize("before", [None, b"what was held before"])
async def test_restore_of_a_dump_that_the_database_refuses_changes_nothing(played, monkeypatch, before):
    def refuse(*_) -> None:
        raise StoreError("a node runs on it")

    if before is not None:
        played.restored.write_bytes(before)
    monkeypatch.setattr(Store, "raise_epoch", refuse)
    with pytest.raises(StoreError, match="a node runs"):
        begin_anew(url(played.root), played, "ask")
    assert (played.restored.read_bytes() if played.restored.exists() else None) == before


async def test_second_final_backup_is_restored_with_care_as_the_first_may_have_been_restored_elsewhere(
    played, tmp_path
):
    results = [call(played.root, "backup", "--final", tmp_path / name) for name in ("first", "second")]
    notes = ["not the first final backup" in result.stderr for result in results]
    assert notes == [False, True]
    restored = [restore(tmp_path / name, open_at(tmp_path / "new"), None)[1] for name in ("first", "second")]
    assert restored == ["continue", "ask"]


async def test_match_that_is_held_stays_so_where_the_server_moves_unless_the_host_knows_better(
    played, tmp_path
):
    back_up(played, tmp_path / "copy", settings_file=None, is_final=False)
    call(tmp_path / "late", "restore", tmp_path / "copy")
    held = read_restored(Folder(tmp_path / "late"))
    call(tmp_path / "late", "backup", "--final", tmp_path / "moving")
    result = call(tmp_path / "new", "restore", tmp_path / "moving")
    assert "they go on at once, but for those that were held\n" in result.stdout
    assert held.matches
    assert read_restored(Folder(tmp_path / "new")) == held
    call(tmp_path / "on", "restore", "--open-matches", "continue", tmp_path / "moving")
    assert not read_restored(Folder(tmp_path / "on")).matches


@pytest.mark.slow
async def test_final_backup_that_cannot_be_marked_is_restored_with_care(played, tmp_path, monkeypatch):
    call(played.root, "backup", "--final", tmp_path / "copy")

    def refuse(path, content):
        if path.name == "restored":
            raise OSError(30, "Read-only file system", str(path))
        write_private(path, content)

    monkeypatch.setattr("truc_server.storage.backups.write_private", refuse)
    _, chosen = restore(tmp_path / "copy", open_at(tmp_path / "new"), None)
    assert chosen == "ask"


@pytest.mark.parametrize("revision", ["0001", "0002", "0003"])
def test_backup_of_an_older_schema_is_restored_and_its_matches_held(data, tmp_path, revision):
    dump = (Path(__file__).parent / "old" / revision / "truc.sql").read_text()
    data.database.unlink()
    with closing(sqlite3.connect(data.database)) as raw:
        raw.executescript(dump)
    assert call(data.root, "backup", tmp_path / "copy").exit_code == 0
    result = call(tmp_path / "new", "restore", tmp_path / "copy")
    assert f"schema {revision}, matches under way: 2\n" in result.stdout
    assert len(read_restored(Folder(tmp_path / "new")).matches) == 2
    open_store(f"sqlite:///{tmp_path / 'new' / 'truc.db'}").close()


def open_at(root: Path) -> Folder:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(mode=0o700)
    return Folder(root)
