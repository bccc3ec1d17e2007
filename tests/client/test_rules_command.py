"""`truc rules`: what is played, from the software, a file, a transcript or a server."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from client.playing import homes, play_bots
from client.serving import RealServer
from protocol.peers import Table

from truc_client.connection import Connection
from truc_client.errors import ConnectError
from truc_protocol.audit import Result
from truc_protocol.messages import Ok
from truc_protocol.transcript import MAX_FILE
from truc_rules import preset
from truc_terminal.main import main
from truc_words.house_variants import read_variant
from truc_words.rules_page import games, rules_page
from truc_words.variant_files import variant_file

CLUB_TRUC = 'name = "club-truc"\nversion = 3\nbase = "truc-french"\nmatch = 1\n[scoring]\ntarget = 5\n'
CLUB = read_variant(CLUB_TRUC, "club-truc.toml")


@pytest.fixture
def truc(tmp_path, monkeypatch):
    """Return a way to run `truc rules` in a home of its own."""
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    return lambda *arguments: CliRunner().invoke(main, ["rules", *map(str, arguments)])


@pytest.fixture
def file(tmp_path) -> Path:
    (tmp_path / "club-truc.toml").write_text(CLUB_TRUC)
    return tmp_path / "club-truc.toml"


@pytest.fixture(scope="module")
def club_server(tmp_path_factory):
    """A server process with a game of its host's own."""
    data = tmp_path_factory.mktemp("club")
    (data / "variants").mkdir()
    (data / "variants" / "club-truc.toml").write_text(CLUB_TRUC)
    server = RealServer(data).start()
    yield server
    server.stop()


def test_file_of_a_variant_is_told_as_a_page(truc, file) -> None:
    assert truc(file).stdout == rules_page(CLUB)


def test_file_of_a_variant_is_written_out_with_every_field(truc, file) -> None:
    assert truc(file, "--toml").stdout == variant_file(CLUB)


def test_wrong_file_is_one_line_and_status_1(truc, file) -> None:
    file.write_text(CLUB_TRUC.replace("5", "0"))
    told = truc(file)
    assert (told.exit_code, told.stderr) == (
        1,
        f"truc: {file}: scoring.target: expected more than 1, got 0\n",
    )


def test_missing_file_is_one_line_and_status_1(truc, tmp_path) -> None:
    told = truc(tmp_path / "none.toml")
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert "No such file" in told.stderr


def test_file_that_is_no_text_is_one_line_and_status_1(truc, file) -> None:
    file.write_bytes(b"\xff\xfe")
    told = truc(file)
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)


def test_transcript_tells_the_rules_it_was_played_by(truc, tmp_path) -> None:
    (tmp_path / "match.truc").write_bytes(Table(CLUB).run().file())
    assert truc(tmp_path / "match.truc").stdout == rules_page(CLUB)


def test_file_that_is_no_transcript_is_one_line_and_names_the_check(truc, tmp_path) -> None:
    (tmp_path / "match.truc").write_text("something else")
    told = truc(tmp_path / "match.truc")
    assert (told.exit_code, told.stderr.count("\n"), "C41" in told.stderr) == (1, 1, True)


def test_file_longer_than_any_transcript_is_not_read(truc, tmp_path) -> None:
    with (tmp_path / "match.truc").open("wb") as long:
        long.truncate(MAX_FILE + 1)
    assert f"expected at most {MAX_FILE} bytes" in truc(tmp_path / "match.truc").stderr


def test_file_written_for_a_preset_is_a_variant_to_start_from(truc) -> None:
    written = truc("truc-french", "--toml").stdout
    assert read_variant(written, "x.toml") == replace(preset("truc-french"), name="house-truc-french")


@pytest.mark.slow
def test_games_of_a_server_are_listed(truc, club_server) -> None:
    listed = [line.split()[0] for line in truc("--from", club_server.url).stdout.splitlines()]
    assert listed == [*games(), "club-truc"]


@pytest.mark.slow
def test_rules_of_a_servers_own_game_are_a_page(truc, club_server) -> None:
    assert truc("club-truc", "--from", club_server.url).stdout == rules_page(CLUB)


@pytest.mark.slow
def test_servers_own_game_is_written_as_a_file(truc, club_server) -> None:
    assert truc("club-truc", "--from", club_server.url, "--toml").stdout == variant_file(CLUB)


@pytest.mark.slow
def test_game_that_a_server_does_not_play_is_one_line_and_status_1(truc, club_server) -> None:
    truc("--from", club_server.url)  # the first use of a home tells about its key
    told = truc("poker", "--from", club_server.url)
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert told.stderr.endswith("(no_such_variant)\n")


@pytest.mark.slow
async def test_bots_play_a_servers_own_game_to_a_proven_end(club_server, tmp_path) -> None:
    verdicts = await play_bots(club_server.url, homes(tmp_path, False, False), "club-truc")
    assert {(verdict.result, verdict.variant) for verdict in verdicts} == {(Result.PROVEN, "club-truc")}


class Wordless:
    """A server that answers without a document."""

    async def request(self, build):
        return Ok(re=build(1).id)


async def test_answer_without_a_document_is_an_error() -> None:
    with pytest.raises(ConnectError, match="no rule document"):
        await Connection(Wordless(), None).rules("club-truc")


class Liar:
    """A server whose document is none."""

    async def request(self, build):
        return Ok(re=build(1).id, doc=b"none")


async def test_document_is_handed_on_as_it_came() -> None:
    assert await Connection(Liar(), None).rules("club-truc") == b"none"


@pytest.mark.slow
def test_asking_a_server_for_rules_makes_no_key_and_no_home(truc, club_server, tmp_path) -> None:
    assert truc("--from", club_server.url).exit_code == 0
    assert not (tmp_path / "home").exists()
