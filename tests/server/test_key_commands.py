"""`truc-server key show`, `roll`, `revocation`, `revoke`, and what the other commands say of changed and given-up keys."""

import os
import stat
from contextlib import closing
from datetime import UTC, datetime

import pytest
from rows import each_row
from server.commands import call
from server.conftest import in_hand, no_file_longer_than, over, running
from server.stored import MATCH, TABLE, older, sql, url

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.key_files import read_revocation, revocation_text
from truc_protocol.wire.handshake import revoke as give_up
from truc_server.identity.identity import (
    Identity,
    accept_revocation,
    load_identity,
    read_identity,
    revoked_keys,
    roll,
)
from truc_server.settings.folder import Folder, locked, open_folder
from truc_server.storage.sql import open_store

PLAYER = signing_key_from_seed(b"p" * 32)
NOW = int(datetime(2026, 11, 1, 23, 30, tzinfo=UTC).timestamp())
UNREADABLE = "the database cannot be read as it is, truc-server check says why"


@pytest.fixture
def data(path) -> Folder:
    return Folder(path)


@pytest.fixture
def first(data) -> Identity:
    """The keys of the folder, made."""
    return load_identity(open_folder(data.root))


class TestCheck:
    def test_serial_counts_the_rolls(self, call, data, first):
        call("key roll")
        identity = read_identity(data)
        assert f"ok     keys: fingerprint {identity.fingerprint}, serial 1\n" in call("check").stdout

    def test_key_given_up_is_wrong(self, call, data, first):
        accept_revocation(data, revocation_text(give_up(first.key)))
        result = call("check")
        assert result.exit_code == 1
        assert f"wrong  keys: the key {first.fingerprint} of this server was revoked" in result.stdout

    def test_file_that_is_no_revocation_is_wrong(self, call, data, first):
        data.revoked.mkdir()
        (data.revoked / "x").write_text("something else")
        result = call("check")
        assert result.exit_code == 1
        assert f"wrong  keys: {data.revoked}/x: expected a revocation" in result.stdout

    def test_lock_that_may_not_be_looked_at_is_wrong(self, call, data, first, monkeypatch):
        data.lock.touch()

        def denied(path, *arguments):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "open", denied)
        result = call("check")
        assert result.exit_code == 1
        assert f"wrong  lock: {data.lock} is not this user's: Permission denied\n" in result.stdout


class TestRoll:
    def test_both_fingerprints_and_the_serial_are_printed_and_a_backup_is_advised(self, call, data, first):
        result = call("key roll")
        new = read_identity(data).fingerprint
        assert result.stdout == f"{first.fingerprint} -> {new}, serial 1\n"
        assert f"Make a backup of {data.root} now" in result.stderr
        assert call("key show").stdout.splitlines()[0] == f"fingerprint  {new}"
        assert call("invite").stdout.strip().endswith(f"#{new}")

    def test_running_server_is_not_given_a_new_key(self, call, data, first):
        with locked(data):
            result = call("key roll")
        assert (result.exit_code, read_identity(data).key.public) == (1, first.key.public)
        assert f"{data.root} is in use by process {os.getpid()}; stop it first" in result.stderr

    @pytest.mark.parametrize("command", ["key roll", "key show", "key passphrase --remove"])
    def test_folder_without_keys_is_status_1_and_not_made(self, call, data, command):
        result = call(command)
        assert (result.exit_code, data.root.exists()) == (1, False)
        assert result.stderr == f"truc-server: no server has run in {data.root} yet\n"

    def test_no_output_shows_a_secret(self, call, data, first):
        shown = "".join(
            call(command).output for command in ("key roll", "check", "key show", "invite", "settings")
        )
        secrets = (first.key.seed(), read_identity(data).key.seed(), first.at_rest)
        assert not [secret for secret in secrets if secret.hex() in shown]


class TestRevocation:
    def test_written_file_gives_up_the_present_key_when_it_is_used(self, call, data, first, tmp_path):
        file = tmp_path / "kept.txt"
        result = call("key revocation", str(file))
        assert read_revocation(file.read_text()) == first.key.public
        assert f"gives up the key {first.fingerprint}. Keep it offline" in result.stdout
        assert (stat.S_IMODE(file.stat().st_mode), read_identity(data).revoked) == (0o600, frozenset())

    def test_file_that_is_there_is_named_and_not_written_over(self, call, first, tmp_path):
        (tmp_path / "kept.txt").write_text("mine")
        result = call("key revocation", str(tmp_path / "kept.txt"))
        assert (result.exit_code, (tmp_path / "kept.txt").read_text()) == (1, "mine")
        assert result.stderr == f"truc-server: cannot write {tmp_path}/kept.txt: File exists\n"

    def test_file_that_the_disk_has_no_room_for_is_not_there(self, call, first, tmp_path):
        with no_file_longer_than(100):
            result = call("key revocation", str(tmp_path / "kept.txt"))
        assert result.stderr == f"truc-server: cannot write {tmp_path}/kept.txt: File too large\n"
        assert [path.name for path in tmp_path.iterdir()] == ["data"]

    def test_dash_is_standard_output(self, call, first):
        assert read_revocation(call("key revocation", "-").stdout) == first.key.public


class TestRevoke:
    def test_players_key_is_kept_as_given_up(self, call, data, tmp_path):
        (tmp_path / "player.txt").write_text(revocation_text(give_up(PLAYER)))
        result = call("key revoke", str(tmp_path / "player.txt"))
        assert revoked_keys(data) == {PLAYER.public}
        assert result.output == f"{fingerprint(PLAYER.public)} was given up; heeded from the next start on\n"

    @each_row(
        "content, told",
        [
            (b"hello\n", "line 1: expected 'truc revocation 1'\n"),
            (b"\xff\xfe", "expected at most 4096 plain ASCII characters"),
        ],
    )
    def test_other_file_is_status_1_and_says_what_was_expected(self, call, data, tmp_path, content, told):
        (tmp_path / "player.txt").write_bytes(content)
        result = call("key revoke", str(tmp_path / "player.txt"))
        assert (result.exit_code, result.stdout, revoked_keys(data)) == (1, "", frozenset())
        assert result.stderr.startswith(f"truc-server: {tmp_path}/player.txt: expected a revocation: {told}")

    def test_earlier_own_key_is_said_to_be_the_servers(self, call, first, tmp_path):
        call("key revocation", str(tmp_path / "own.txt"))
        call("key roll")
        told = call("key revoke", str(tmp_path / "own.txt")).stderr
        assert told == "This is an earlier key of this server: matches begun under it do not go on.\n"

    def test_server_whose_key_was_given_up_neither_starts_nor_invites(self, call, first, tmp_path):
        call("key revocation", str(tmp_path / "own.txt"))
        told = call("key revoke", str(tmp_path / "own.txt")).stderr
        assert "does not start with it any more" in told
        result = call("run")
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"the key {first.fingerprint} of this server was revoked" in result.stderr
        assert (call("invite").exit_code, call("invite").stdout) == (1, "")


# `key show`


def shown(data: Folder) -> list[str]:
    result = call(data, "key show")
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_key_is_shown_in_both_forms(data, first):
    assert shown(data) == [
        f"fingerprint  {first.fingerprint}",
        f"public key   {first.key.public.hex()}",
        "serial       0",
        "passphrase   none for identity.pem, secrets.key",
    ]


def test_change_is_shown_with_the_day_it_was_made(data, first):
    new = roll(data, NOW)
    assert f"change 1     2026-11-01  {first.fingerprint} -> {new.fingerprint}" in shown(data)


async def test_earlier_key_that_a_running_match_needs_is_named_and_missed_when_it_is_deleted(data, first):
    async with running(data.root) as server:
        await in_hand(server)
    roll(data, NOW)
    assert f"earlier key  {first.fingerprint}  1 running match needs it" in shown(data)
    next(data.earlier.iterdir()).unlink()
    line = f"earlier key  {first.fingerprint}  not in the folder, 1 running match needs it"
    assert line in shown(data)


async def test_match_that_is_over_needs_no_key(data, first):
    async with running(data.root) as server:
        await over(server)
    roll(data, NOW)
    line = f"earlier key  {first.fingerprint}  no running match needs it: its file may be deleted"
    assert line in shown(data)


def test_keys_of_a_database_of_an_older_version_are_not_called_needless(data, first):
    older(data.root, "0001")
    before = data.database.read_bytes()
    roll(data, NOW)
    (line,) = [line for line in shown(data) if line.startswith("earlier")]
    assert line.endswith(f"not known whether a match needs it: {UNREADABLE}")
    assert data.database.read_bytes() == before


@pytest.mark.parametrize("why", ["damaged", "a damaged row", "no answer"])
def test_database_that_cannot_be_read_calls_no_key_needless(data, first, monkeypatch, why):
    roll(data, NOW)
    if why == "damaged":
        data.database.write_bytes(b"no database " * 100)
    elif why == "a damaged row":
        with closing(open_store(url(data.root))) as store:
            store.claim("this process")
            store.commit([TABLE, MATCH])
        sql(data.database, "UPDATE matches SET setup = x'ff'")
    else:
        monkeypatch.setenv("TRUC_STORE_URL", "postgresql://truc@127.0.0.1:1/truc")
    line = f"earlier key  {first.fingerprint}  not known whether a match needs it: {UNREADABLE}"
    assert line in shown(data)


def test_keys_given_up_are_shown_with_whose_they_are(data, first):
    second = roll(data, NOW)
    for key in (PLAYER, first.key, second.key):
        accept_revocation(data, revocation_text(give_up(key)))
    assert sorted(line for line in shown(data) if line.startswith("given up")) == sorted(
        (
            f"given up     {fingerprint(PLAYER.public)}  somebody else's",
            f"given up     {first.fingerprint}  an earlier key of this server",
            f"given up     {second.fingerprint}  this server's present key: it does not start",
        )
    )
