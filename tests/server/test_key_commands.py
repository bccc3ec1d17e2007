"""`truc-server key roll`, `revocation`, `revoke`, and what the other commands say of changed and given-up keys."""

import os
import stat

import pytest
from click.testing import CliRunner, Result

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.key_files import read_revocation, revocation_text
from truc_protocol.wire.handshake import revoke as give_up
from truc_server.identity.identity import accept_revocation, load_identity, read_identity, revoked_keys
from truc_server.main import main
from truc_server.settings.folder import Folder, locked, open_folder

PLAYER = signing_key_from_seed(b"p" * 32)


@pytest.fixture
def data(tmp_path) -> Folder:
    return Folder(tmp_path / "data")


@pytest.fixture
def call(data):
    """Call a command on the data folder of the test."""

    def called(command: str, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*command.split(), "--data", str(data.root), *arguments])

    return called


class TestCheck:
    def test_serial_counts_the_rolls(self, call, data):
        load_identity(open_folder(data.root))
        call("key roll")
        identity = read_identity(data)
        assert f"ok     keys: fingerprint {identity.fingerprint}, serial 1\n" in call("check").stdout

    def test_key_given_up_is_wrong(self, call, data):
        identity = load_identity(open_folder(data.root))
        accept_revocation(data, revocation_text(give_up(identity.key)))
        result = call("check")
        assert result.exit_code == 1
        assert f"wrong  keys: the key {identity.fingerprint} of this server was revoked" in result.stdout

    def test_file_that_is_no_revocation_is_wrong(self, call, data):
        load_identity(open_folder(data.root))
        data.revoked.mkdir()
        (data.revoked / "x").write_text("something else")
        result = call("check")
        assert result.exit_code == 1
        assert f"wrong  keys: {data.revoked}/x: expected a revocation" in result.stdout

    def test_lock_that_is_held_tells_of_a_running_server(self, call, data):
        load_identity(open_folder(data.root))
        with locked(data):
            told = call("check").stdout
        assert f"ok     lock: a server is running in the data folder, process {os.getpid()}\n" in told

    def test_lock_that_may_not_be_looked_at_is_wrong(self, call, data, monkeypatch):
        load_identity(open_folder(data.root))
        data.lock.touch()

        def denied(path, *arguments):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "open", denied)
        result = call("check")
        assert result.exit_code == 1
        assert f"wrong  lock: {data.lock} is not this user's: Permission denied\n" in result.stdout


class TestRoll:
    def test_both_fingerprints_and_the_serial_are_printed(self, call, data):
        before = load_identity(open_folder(data.root)).fingerprint
        result = call("key roll")
        assert result.stdout == f"{before} -> {read_identity(data).fingerprint}, serial 1\n"

    def test_backup_is_advised(self, call, data):
        load_identity(open_folder(data.root))
        assert f"Make a backup of {data.root} now" in call("key roll").stderr

    def test_running_server_is_not_given_a_new_key(self, call, data):
        before = load_identity(open_folder(data.root))
        with locked(data):
            result = call("key roll")
        assert (result.exit_code, read_identity(data).key.public) == (1, before.key.public)
        assert f"{data.root} is in use by process {os.getpid()}; stop it first" in result.stderr

    def test_folder_without_keys_is_status_1_and_not_made(self, call, data):
        result = call("key roll")
        assert (result.exit_code, data.root.exists()) == (1, False)
        assert result.stderr == f"truc-server: no server has run in {data.root} yet\n"

    def test_fingerprint_is_the_new_one(self, call, data):
        load_identity(open_folder(data.root))
        new = call("key roll").stdout.split()[2].rstrip(",")
        assert call("key show").stdout.splitlines()[0] == f"fingerprint  {new}"

    def test_invite_has_the_new_fingerprint(self, call, data):
        load_identity(open_folder(data.root))
        new = call("key roll").stdout.split()[2].rstrip(",")
        assert call("invite").stdout.strip().endswith(f"#{new}")

    def test_no_output_shows_a_secret(self, call, data):
        before = load_identity(open_folder(data.root))
        shown = "".join(
            call(command).output for command in ("key roll", "check", "key show", "invite", "settings")
        )
        secrets = (before.key.seed(), read_identity(data).key.seed(), before.at_rest)
        assert not [secret for secret in secrets if secret.hex() in shown]


class TestRevocation:
    def test_written_file_gives_up_the_present_key(self, call, data, tmp_path):
        identity = load_identity(open_folder(data.root))
        result = call("key revocation", str(tmp_path / "kept.txt"))
        assert read_revocation((tmp_path / "kept.txt").read_text()) == identity.key.public
        assert f"gives up the key {identity.fingerprint}. Keep it offline" in result.stdout

    def test_written_file_is_its_owners_alone(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        call("key revocation", str(tmp_path / "kept.txt"))
        assert stat.S_IMODE((tmp_path / "kept.txt").stat().st_mode) == 0o600

    def test_file_that_is_there_is_not_written_over(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        (tmp_path / "kept.txt").write_text("mine")
        result = call("key revocation", str(tmp_path / "kept.txt"))
        assert (result.exit_code, (tmp_path / "kept.txt").read_text()) == (1, "mine")

    def test_failure_to_write_names_the_file_and_no_number(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        (tmp_path / "kept.txt").write_text("mine")
        told = call("key revocation", str(tmp_path / "kept.txt")).stderr
        assert told == f"truc-server: cannot write {tmp_path}/kept.txt: File exists\n"

    def test_dash_is_standard_output(self, call, data):
        identity = load_identity(open_folder(data.root))
        assert read_revocation(call("key revocation", "-").stdout) == identity.key.public

    def test_writing_one_gives_nothing_up(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        call("key revocation", str(tmp_path / "kept.txt"))
        assert read_identity(data).revoked == frozenset()


class TestRevoke:
    def test_players_key_is_kept_as_given_up(self, call, data, tmp_path):
        (tmp_path / "player.txt").write_text(revocation_text(give_up(PLAYER)))
        result = call("key revoke", str(tmp_path / "player.txt"))
        assert revoked_keys(data) == {PLAYER.public}
        assert result.output == f"{fingerprint(PLAYER.public)} was given up; heeded from the next start on\n"

    def test_other_file_is_status_1_and_says_what_was_expected(self, call, data, tmp_path):
        (tmp_path / "player.txt").write_text("hello\n")
        result = call("key revoke", str(tmp_path / "player.txt"))
        assert (result.exit_code, result.stdout) == (1, "")
        assert (
            result.stderr
            == f"truc-server: {tmp_path}/player.txt: expected a revocation: line 1: expected 'truc revocation 1', got 'hello'\n"
        )

    def test_bytes_that_are_no_text_are_status_1(self, call, data, tmp_path):
        (tmp_path / "player.txt").write_bytes(b"\xff\xfe")
        result = call("key revoke", str(tmp_path / "player.txt"))
        assert (result.exit_code, revoked_keys(data)) == (1, frozenset())
        assert "expected a revocation: expected at most 4096 plain ASCII characters" in result.stderr

    def test_own_key_is_said_to_be_the_servers(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        call("key revocation", str(tmp_path / "own.txt"))
        assert "does not start with it any more" in call("key revoke", str(tmp_path / "own.txt")).stderr

    def test_earlier_own_key_is_said_to_be_the_servers(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        call("key revocation", str(tmp_path / "own.txt"))
        call("key roll")
        told = call("key revoke", str(tmp_path / "own.txt")).stderr
        assert told == "This is an earlier key of this server: matches begun under it do not go on.\n"

    def test_server_whose_key_was_given_up_does_not_start(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        call("key revocation", str(tmp_path / "own.txt"))
        call("key revoke", str(tmp_path / "own.txt"))
        result = call("run")
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"the key {read_identity(data).fingerprint} of this server was revoked" in result.stderr

    def test_no_invite_is_printed_for_a_key_given_up(self, call, data, tmp_path):
        load_identity(open_folder(data.root))
        call("key revocation", str(tmp_path / "own.txt"))
        call("key revoke", str(tmp_path / "own.txt"))
        assert (call("invite").exit_code, call("invite").stdout) == (1, "")
