"""`truc-server init`: a data folder, a settings file and keys from nothing, and nothing overwritten."""

import os
import stat
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from rows import each_row
from server.commands import call
from server.conftest import no_file_longer_than

from truc_server.identity.identity import load_identity, read_identity, unsealed_files
from truc_server.main import main
from truc_server.settings.folder import Folder, locked, open_folder
from truc_server.settings.settings import Settings
from truc_server.settings.settings_file import load

WORDS = "a long enough passphrase"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """Look for no data folder of the user's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(path) -> Folder:
    return Folder(path)


@pytest.fixture
def init(folder):
    return partial(call, folder, "init")


def settings_of(path) -> Settings:
    return load(file=(str(path), path.read_text()), environ={}, flags={})


def test_folder_settings_and_keys_are_made_its_owners_alone(init, folder):
    result = init()
    assert (result.exit_code, read_identity(folder).serial) == (0, 0)
    assert settings_of(folder.settings) == Settings()
    assert f"has the fingerprint {read_identity(folder).fingerprint}\n" in result.stdout
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder.root, *folder.root.iterdir())}
    assert modes == {
        "data": 0o700,
        "truc.toml": 0o600,
        "identity.pem": 0o600,
        "secrets.key": 0o600,
        "lock": 0o600,
    }


def test_given_values_stand_in_the_file_uncommented_among_the_explained_defaults(init, folder):
    flags = "--public-host truc.example.org --host :: --port 7400 --tls --members invite --metrics-port 9100"
    init("--name", "La Penya", *flags.split(), "--log-format", "json")
    lines = folder.settings.read_text().splitlines()
    assert [line for line in lines if line and line[0] not in "#["] == [
        'name = "La Penya"',
        'hosts = ["::"]',
        "port = 7400",
        'public_host = "truc.example.org"',
        "tls = true",
        'members = "invite"',
        'format = "json"',
        "port = 9100",
    ]
    assert '#motd = ""' in lines


@pytest.mark.parametrize(
    ("flags", "expected", "shown"),
    [
        ([], ("127.0.0.1:7374", "", ()), "http://localhost:7374/"),
        (["http://localhost:8080"], ("127.0.0.1:8080", "", ()), "http://localhost:8080/"),
        (["http://192.168.1.7:8080"], ("0.0.0.0:8080", "http://192.168.1.7:8080", ()), None),
        (["https://truc.example"], ("127.0.0.1:7374", "https://truc.example", ("127.0.0.1",)), None),
    ],
)
def test_web_serves_browsers_where_they_are_told_to_come(init, folder, flags, expected, shown):
    result = init("--web", *flags, "--tls")
    web = settings_of(folder.settings).web
    assert (web.listen, web.origin, web.proxies) == expected
    link = shown or f"{flags[0]}/"
    assert f"{link}: what to open in a browser, once the server runs\n" in result.stdout
    invited = CliRunner().invoke(main, ["invite", "--data", str(folder.root)]).stdout.splitlines()
    assert invited[1] == link


@each_row("command", ["init", "check", "run", "backup x", "admin status"])
def test_home_folder_of_nobody_is_said(monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    result = call(Path("~nobody-of-that-name/truc"), command)
    told = "truc-server: ~nobody-of-that-name/truc: no such home folder; choose another with --data\n"
    assert (result.exit_code, result.stderr, list(tmp_path.iterdir())) == (1, told, [])


def test_user_without_a_home_folder_is_told_so(monkeypatch, tmp_path):
    def unknown(_number):
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for variable in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["init"])
    told = "truc-server: ~/.local/share/truc-server: no such home folder; choose another with --data\n"
    assert (result.exit_code, result.stderr, list(tmp_path.iterdir())) == (1, told, [])


def test_next_steps_are_commands_that_work_as_they_stand(init, folder, tmp_path, monkeypatch):
    output = init("--public-host", "truc.example.org", "--port", "0").stdout
    steps = [line.split("  ")[1].strip() for line in output.splitlines() if line.startswith("  truc-server")]
    assert [step.split()[1] for step in steps] == ["check", "run", "invite", "key", "backup"]
    for step in steps:
        assert step.endswith(f" --data {folder.root}")
    check, _, invite, revocation, backup = (step.split()[1:] for step in steps)
    assert CliRunner().invoke(main, check).exit_code == 0
    assert CliRunner().invoke(main, invite).stdout.startswith("truc://truc.example.org:")
    kept = [word.replace("/media/usb", str(tmp_path)) for word in revocation]
    assert CliRunner().invoke(main, kept).exit_code == 0
    assert (tmp_path / "revocation.txt").exists()
    assert backup[0] in main.commands


def test_settings_that_are_there_are_not_overwritten(init, folder, tmp_path):
    (tmp_path / "etc.toml").write_text("# mine\n")
    assert init("--settings", str(tmp_path / "etc.toml")).exit_code == 1
    assert ((tmp_path / "etc.toml").read_text(), folder.root.exists()) == ("# mine\n", False)
    open_folder(folder.root).settings.write_text("# mine\n")
    result = init()
    assert (result.exit_code, folder.settings.read_text()) == (1, "# mine\n")
    assert result.stderr == f"truc-server: {folder.settings} is there already: nothing was changed\n"
    assert not folder.identity.exists()


def test_keys_that_are_there_are_kept(init, folder):
    before = load_identity(open_folder(folder.root))
    assert init().exit_code == 0
    assert read_identity(folder).key.public == before.key.public


def test_init_that_was_killed_is_repeated(init, folder, monkeypatch):
    def killed(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("truc_server.commands.setting_up._write", killed)
        init()
    before = read_identity(folder)
    assert init().exit_code == 0
    assert (read_identity(folder).key.public, folder.settings.exists()) == (before.key.public, True)


def test_settings_that_the_disk_has_no_room_for_are_not_there_and_the_same_command_goes_on(init, tmp_path):
    file = tmp_path / "etc" / "truc.toml"
    file.parent.mkdir()
    with no_file_longer_than(4_096):
        result = init("--settings", str(file))
    assert (result.exit_code, result.stderr) == (1, f"truc-server: {file}: File too large\n")
    assert list(file.parent.iterdir()) == []
    assert init("--settings", str(file)).exit_code == 0


def test_folder_of_a_running_server_is_left(init, folder):
    open_folder(folder.root)
    with locked(folder):
        result = init()
    assert (result.exit_code, f"in use by process {os.getpid()}" in result.stderr) == (1, True)
    assert not folder.settings.exists()


@each_row(
    "flag, value, told",
    [
        ("--port", "70000", "--port: listen.port expected a whole number from 0 to 65535, got 70000\n"),
        ("--web", "truc.example/t", "--web"),
        ("--web", "", "--web"),
    ],
)
def test_wrong_value_makes_nothing(init, folder, flag, value, told):
    result = init(flag, value)
    assert (result.exit_code, folder.root.exists(), told in result.stderr) == (2, False, True)


def test_settings_elsewhere_name_the_data_folder(init, folder, tmp_path):
    file = tmp_path / "etc.toml"
    output = init("--settings", str(file)).stdout
    assert settings_of(file).data == str(folder.root)
    assert not folder.settings.exists()
    assert f"truc-server run --settings {file} " in output


def test_place_that_cannot_be_written_is_named(init, tmp_path):
    result = init("--settings", str(tmp_path / "none" / "etc.toml"))
    assert (result.exit_code, result.stderr) == (
        1,
        f"truc-server: {tmp_path}/none/etc.toml: No such file or directory\n",
    )


def test_users_own_folder_needs_no_flag_and_the_environment_names_another_and_nothing_else(
    tmp_path, monkeypatch
):
    output = CliRunner().invoke(main, ["init"]).stdout
    assert (tmp_path / "home" / "truc-server" / "truc.toml").exists()
    assert "--data" not in output
    monkeypatch.setenv("TRUC_DATA", str(tmp_path / "there"))
    monkeypatch.setenv("TRUC_NAME", "Elsewhere")
    CliRunner().invoke(main, ["init"])
    assert settings_of(tmp_path / "there" / "truc.toml") == Settings()


def test_keys_are_sealed_with_the_passphrase_and_neither_is_printed(init, folder, tmp_path):
    (tmp_path / "words").write_text(WORDS)
    (tmp_path / "words").chmod(0o600)
    result = init("--passphrase-file", str(tmp_path / "words"))
    identity = read_identity(folder, WORDS)
    assert (result.exit_code, unsealed_files(folder), identity.serial) == (0, (), 0)
    assert settings_of(folder.settings).store.passphrase_file == str(tmp_path / "words")
    secrets = (WORDS, identity.key.seed().hex(), identity.at_rest.hex())
    assert not [secret for secret in secrets if secret in result.output]
