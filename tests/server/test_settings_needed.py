"""What a command needs of the settings: a mistake in what is for the next start keeps nobody from looking after a server."""

import pytest
from click.testing import CliRunner, Result
from rows import each_row

from truc_server.main import main
from truc_server.settings.folder import Folder

OWN = "A" * 26
NO_TOML = "[listen\n"
WRONG = "chat = true\n[listen]\nport = 'abc'\nprot = 7373\n[chatt]\nlobby = true\n"
"""No section where one is expected, a wrong value, an unknown key and an unknown section."""


def call(folder: Folder, *words: object) -> Result:
    """Call a command on a data folder that the environment names."""
    return CliRunner().invoke(
        main, [*map(str, words)], prog_name="truc-server", env={"TRUC_DATA": str(folder.root)}
    )


@each_row(
    "command",
    [
        "backup COPY",
        "export COPY",
        "key show",
        "key revocation -",
        "key roll",
        "members list",
        "members add " + OWN,
        "invites list",
        "prune --older-than 1",
        "compact",
        "sanctions",
        "ban " + OWN,
        "mute " + OWN,
    ],
)
def test_command_does_what_it_can_with_the_settings_it_needs(data, tmp_path, command):
    data.settings.write_text(WRONG)
    words = [word.replace("COPY", str(tmp_path / command)) for word in command.split()]
    result = call(data, *words)
    assert (result.exit_code, result.exception) == (0, None), result.stderr


@each_row(
    "text",
    ["[store]\nurl = 5\n", "[store]\nulr = ''\n", "[stor]\nurl = ''\n", "store = 5\n", "dat = ''\n", NO_TOML],
)
def test_what_may_lead_elsewhere_is_refused(data, tmp_path, text):
    data.settings.write_text(text)
    result = call(data, "backup", tmp_path / "copy")
    assert (result.exit_code, "truc.toml line" in result.stderr) == (2, True)


def test_backup_holds_the_settings_as_they_are(data, tmp_path):
    data.settings.write_text(WRONG)
    call(data, "backup", tmp_path / "copy")
    assert (tmp_path / "copy" / "truc.toml").read_text() == WRONG


def test_start_and_check_refuse_what_is_wrong_anywhere(data):
    data.settings.write_text("[listen]\nport = 'abc'\n")
    for command in ("run", "check", "settings", "invite"):
        result = call(data, command)
        assert (result.exit_code, "line 2: listen.port expected" in result.stderr) == (2, True)


class TestAdmin:
    @pytest.mark.parametrize("text", [WRONG, NO_TOML], ids=["wrong", "no-toml"])
    def test_whoever_names_the_folder_needs_no_file(self, data, text):
        data.settings.write_text(text)
        by_flag = CliRunner().invoke(main, ["admin", "who", "--data", str(data.root)])
        for result in (by_flag, call(data, "admin", "who")):
            assert f"no server is running in {data.root}" in result.stderr

    def test_file_that_names_the_folder_may_be_wrong_elsewhere(self, data, tmp_path):
        file = tmp_path / "other.toml"
        file.write_text(f'data = "{data.root}"\n{WRONG}')
        result = CliRunner().invoke(main, ["admin", "who", "--settings", str(file)])
        assert f"no server is running in {data.root}" in result.stderr

    def test_file_that_may_name_the_folder_is_to_be_read(self, tmp_path):
        file = tmp_path / "other.toml"
        file.write_text(NO_TOML)
        result = CliRunner().invoke(main, ["admin", "who", "--settings", str(file)])
        assert result.exit_code == 2
        assert result.stderr.endswith("; with --data FOLDER no settings are read\n")
