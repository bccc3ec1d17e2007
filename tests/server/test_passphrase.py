"""The passphrase of the keys: what it seals, where it comes from, and that a change of it is whole or has not happened."""

import os
import pty
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from rows import each_row
from server.killed import killed

from truc_protocol.crypto.keys import to_pem
from truc_server.identity.identity import load_identity, read_identity, read_public, roll, unsealed_files
from truc_server.identity.key_files import IdentityError, key_text
from truc_server.identity.passphrases import change_passphrase, passphrase_of, read_passphrase
from truc_server.settings.folder import Folder, locked, open_folder
from truc_server.settings.settings import Settings, StoreSettings
from truc_server.storage.backups import back_up, restore
from truc_server.storage.sql import open_store

OLD, NEW = "a long enough passphrase", "quite another passphrase"
NOW = 1_790_000_000


@pytest.fixture
def data(path) -> Folder:
    return open_folder(path)


@pytest.fixture
def sealed(data) -> Folder:
    """A folder with a present and an earlier key, sealed with OLD."""
    load_identity(data, OLD)
    roll(data, NOW, OLD)
    return data


def words(path: Path, passphrase: str = OLD, mode: int = 0o600) -> Path:
    """Write a passphrase file."""
    path.write_text(f"{passphrase}\nand what follows is not read\n")
    path.chmod(mode)
    return path


def named(path: Path) -> Settings:
    return Settings(store=StoreSettings(passphrase_file=str(path)))


def key_files(data: Folder) -> list[Path]:
    return sorted((data.identity, data.secrets_key, *data.earlier.iterdir()))


# What it seals


def test_every_key_file_is_sealed_and_its_owners_alone(sealed):
    heads = [b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in path.read_bytes() for path in key_files(sealed)]
    assert heads == [True] * 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in key_files(sealed)} == {0o600}


def test_no_file_holds_a_secret_as_it_is(sealed):
    identity = read_identity(sealed, OLD)
    secrets = (identity.at_rest, identity.key.seed(), identity.earlier[0].seed())
    contents = [path.read_bytes() for path in sealed.root.rglob("*") if path.is_file()]
    assert not [secret for secret in secrets for content in contents if secret in content]
    plain = [to_pem(key).splitlines()[1] for key in (identity.key, *identity.earlier)]
    assert not [line for line in plain for content in contents if line in content]


def test_public_part_is_known_without_the_passphrase(sealed):
    public, opened = read_public(sealed), read_identity(sealed, OLD)
    assert (public.key, public.rotations) == (opened.key.public, opened.rotations)


@pytest.mark.parametrize("name", ["identity.pem", "secrets.key"])
def test_other_passphrase_opens_nothing_and_is_not_shown(sealed, name):
    if name == "secrets.key":
        sealed.identity.write_bytes(key_text(read_identity(sealed, OLD).key, NEW))
    with pytest.raises(
        IdentityError, match=rf"{name}: the passphrase does not open it, or it is damaged"
    ) as caught:
        read_identity(sealed, NEW)
    assert NEW not in str(caught.value)


def test_file_that_says_another_key_than_it_holds_is_refused(sealed):
    text = sealed.identity.read_bytes()
    other = read_public(sealed).earlier[0].hex().encode()
    sealed.identity.write_bytes(text.replace(read_public(sealed).key.hex().encode(), other))
    sealed.rolls.unlink()
    for path in sealed.earlier.iterdir():
        path.unlink()
    with pytest.raises(IdentityError, match="another key than its first line says"):
        read_identity(sealed, OLD)


def test_file_that_does_not_say_its_key_is_refused(sealed):
    _, _, rest = sealed.identity.read_bytes().partition(b"\n")
    sealed.identity.write_bytes(rest)
    with pytest.raises(IdentityError, match=r"expected the line 'truc server key \.\.\.' at its head"):
        read_public(sealed)


# Where it comes from


def test_keys_of_a_new_folder_are_sealed_with_the_passphrase_of_the_settings(data, tmp_path):
    settings = named(words(tmp_path / "words"))
    load_identity(data, passphrase_of(settings, data))
    assert unsealed_files(data) == ()
    assert read_identity(data, OLD)


@each_row("mode", [0o604, 0o644, 0o620])
def test_file_open_to_others_is_refused(tmp_path, mode):
    path = words(tmp_path / "words", mode=mode)
    with pytest.raises(
        IdentityError, match=rf"words is open to other users \(mode {mode:04o}\): run chmod 600"
    ):
        read_passphrase(path)


def test_file_that_a_group_may_read_is_taken_as_systemd_gives_it(tmp_path):
    assert read_passphrase(words(tmp_path / "words", mode=0o440)) == OLD


@each_row("text", [b"", b"short", b"x" * 1_024, b"\n" + OLD.encode(), b"\xff" * 20])
def test_what_is_no_passphrase_is_refused_and_not_shown(tmp_path, text):
    path = words(tmp_path / "words")
    path.write_bytes(text + b"\n")
    with pytest.raises(
        IdentityError, match="expected a passphrase of 12 characters to 1023 bytes in its first line"
    ) as caught:
        read_passphrase(path)
    assert not text.strip() or text.decode(errors="replace") not in str(caught.value)


def test_missing_file_is_named(sealed, tmp_path):
    with pytest.raises(IdentityError, match=r"cannot read the passphrase file .*none: No such file"):
        passphrase_of(named(tmp_path / "none"), sealed)


def test_file_for_keys_without_a_passphrase_is_no_silent_nothing(data, tmp_path):
    load_identity(data)
    with pytest.raises(
        IdentityError, match="have no passphrase: give them one with truc-server key passphrase"
    ):
        passphrase_of(named(words(tmp_path / "words")), data)


def test_run_without_terminal_and_file_says_what_is_missing(sealed, call):
    result = call("run")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"truc-server: {sealed.identity} is sealed with a passphrase: name the file that holds it in "
        "store.passphrase_file, or start at a terminal\n"
    )


def at_a_terminal(command: list[str], answers: list[str]) -> tuple[str, str]:
    """Run a command at a terminal of its own and answer what it asks; returns its first line of output, and the terminal.

    The output is no terminal, as it is where another program has started the server.
    """
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        command, stdin=inner, stderr=inner, stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    os.close(inner)
    shown = b""
    for answer in answers:
        while not shown.rstrip().endswith(b":"):
            shown += os.read(outer, 1_000)
        os.write(outer, f"{answer}\n".encode())
        shown += b"|"
    line = process.stdout.readline()
    process.terminate()
    process.wait(20)
    process.stdout.close()
    os.set_blocking(outer, False)
    with suppress(OSError):
        shown += os.read(outer, 10_000)
    os.close(outer)
    return line, shown.decode()


@pytest.mark.slow
def test_run_at_a_terminal_asks_and_starts(sealed):
    command = [sys.executable, "-m", "truc_server", "run", "--host", "127.0.0.1", "--port", "0"]
    line, shown = at_a_terminal([*command, "--data", str(sealed.root)], [OLD])
    assert line.startswith("listening truc://127.0.0.1:")
    assert f"Passphrase of {sealed.identity}:" in shown
    assert OLD not in shown


@pytest.mark.slow
def test_new_passphrase_is_asked_for_twice_at_a_terminal(data):
    load_identity(data)
    command = [sys.executable, "-m", "truc_server", "key", "passphrase", "--data", str(data.root)]
    line, _ = at_a_terminal(command, [NEW, NEW])
    assert line.startswith("The keys are sealed with the new passphrase.")
    assert read_identity(data, NEW)


# Changing it


@pytest.mark.parametrize("new", ["words", "-"], ids=["a file", "standard input"])
def test_passphrase_is_given_by(data, call, tmp_path, monkeypatch, new):
    monkeypatch.chdir(tmp_path)
    words(tmp_path / "words")
    before = load_identity(data)
    given = call("key passphrase", "--new", new, asked=f"{OLD}\n")
    after = read_identity(data, OLD)
    assert (given.exit_code, unsealed_files(data)) == (0, ())
    assert (after.key.seed(), after.at_rest) == (before.key.seed(), before.at_rest)


@each_row(
    "arguments, status, told",
    [
        (["--new", "-"], 1, "standard input: expected a passphrase of 12 characters"),
        (["--remove"], 1, "have no passphrase\n"),
        (["--remove", "--new", "words"], 2, "expected --new or --remove, got both"),
        ([], 1, "truc-server: the new passphrase: expected --new FILE, or a terminal to ask at\n"),
    ],
)
def test_keys_stay_as_they_are_without_a_new_passphrase(data, call, arguments, status, told):
    load_identity(data)
    given = call("key passphrase", *arguments, asked="short\n")
    assert (given.exit_code, told in given.stderr) == (status, True)
    assert read_identity(data)


def test_passphrase_is_changed_and_neither_is_shown(sealed, call, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", str(words(tmp_path / "words")))
    given = call("key passphrase", "--new", str(words(tmp_path / "new", NEW)))
    assert (given.exit_code, read_identity(sealed, NEW).earlier != ()) == (0, True)
    assert not [passphrase for passphrase in (OLD, NEW) if passphrase in given.output]


def test_passphrase_is_removed(sealed, call, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", str(words(tmp_path / "words")))
    assert call("key passphrase", "--remove").exit_code == 0
    assert (len(sealed.secrets_key.read_bytes()), len(read_identity(sealed).earlier)) == (32, 1)


def test_keys_of_a_running_server_are_left(data, call, tmp_path):
    load_identity(data)
    with locked(data):
        result = call("key passphrase", "--new", str(words(tmp_path / "words")))
    assert (result.exit_code, f"in use by process {os.getpid()}" in result.stderr) == (1, True)
    assert read_identity(data)


def test_roll_seals_what_it_writes(sealed, call, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUC_STORE_PASSPHRASE_FILE", str(words(tmp_path / "words")))
    assert call("key roll").exit_code == 0
    assert (unsealed_files(sealed), read_identity(sealed, OLD).serial) == ((), 2)


def test_invite_and_show_need_no_passphrase(sealed, call):
    fingerprint = read_public(sealed).fingerprint
    assert call("invite").stdout.strip().endswith(f"#{fingerprint}")
    shown = call("key show").stdout.splitlines()
    assert (shown[0], shown[3]) == (f"fingerprint  {fingerprint}", "passphrase   on every key file")


def test_revocation_needs_it(sealed, call, tmp_path):
    result = call("key revocation", str(tmp_path / "kept.txt"))
    assert (result.exit_code, (tmp_path / "kept.txt").exists()) == (1, False)
    assert "is sealed with a passphrase" in result.stderr


# Killed in between


def killed_change(data: Folder, steps: int) -> bool:
    """Change the passphrase, killed after so many changes of the file system; tells whether it came to its end before."""
    return killed(lambda: change_passphrase(data, OLD, NEW), steps, (os, "fsync"), (Path, "rmdir"))


def passphrase_in_force(data: Folder) -> str:
    """Return the one passphrase that opens every key as it is now; what does not open at all fails the test."""
    opening = []
    for passphrase in (OLD, NEW):
        try:
            read_identity(data, passphrase)
        except IdentityError:
            continue
        opening.append(passphrase)
    (only,) = opening
    return only


def test_killed_change_is_whole_or_has_not_happened(sealed, tmp_path):
    outcomes = []
    keys, before = {path.name for path in key_files(sealed)}, read_identity(sealed, OLD)
    for steps in range(200):
        data = Folder(shutil.copytree(sealed.root, tmp_path / f"killed{steps}"))
        has_ended = killed_change(data, steps)
        passphrase = passphrase_in_force(data)
        outcomes.append(passphrase)
        after = load_identity(data, passphrase)  # as the next start does
        assert [key.seed() for key in (after.key, *after.earlier)] == [
            key.seed() for key in (before.key, *before.earlier)
        ]
        assert (after.at_rest, passphrase_in_force(data)) == (before.at_rest, passphrase)
        assert ({path.name for path in key_files(data)}, data.next_keys.exists()) == (keys, False)
        if has_ended:
            break
    assert outcomes == sorted(outcomes)  # OLD up to some step, NEW from then on
    assert {OLD, NEW} == set(outcomes)
    assert outcomes.count(NEW) > 5


def test_killed_change_is_repeated(sealed):
    assert not killed_change(sealed, 6)
    change_passphrase(sealed, passphrase_in_force(sealed), NEW)
    assert passphrase_in_force(sealed) == NEW
    assert not [path for path in sealed.root.iterdir() if "keys.next" in path.name]


@pytest.mark.slow
def test_backup_of_a_change_that_was_killed_at_any_point_is_opened_by_the_passphrase_in_force(
    sealed, tmp_path
):
    open_store(f"sqlite:///{sealed.database}").close()
    steps = 0
    while not killed_change(damaged := Folder(shutil.copytree(sealed.root, tmp_path / str(steps))), steps):
        back_up(damaged, tmp_path / f"copy-{steps}", settings_file=None, is_final=False)
        restored = open_folder(tmp_path / f"restored-{steps}")
        restore(tmp_path / f"copy-{steps}", restored, None)
        in_force = passphrase_in_force(damaged)
        assert load_identity(restored, in_force).earlier == read_identity(damaged, in_force).earlier
        steps += 1
    assert steps
