"""`truc rules`: what is played, from the software, a file, a transcript or a server."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from client.playing import homes, play_bots
from client.serving import RealServer
from protocol.peers import Table
from rows import each_row

from truc_client.connection import Connection
from truc_client.errors import ConnectError
from truc_client.home.home import master_seed, open_home
from truc_protocol.audit import Result
from truc_protocol.messages import Ok
from truc_rules import preset, presets
from truc_words.house_variants import read_variant, variant_file
from truc_words.rules_page import rules_page

CLUB_TRUC = 'name = "club-truc"\nversion = 3\nbase = "truc-french"\nmatch = 1\n[scoring]\ntarget = 5\n'
CLUB = read_variant(CLUB_TRUC, "club-truc.toml")


@pytest.fixture
def rules(truc):
    """Return a way to run `truc rules` in a home of its own."""
    return partial(truc, "rules")


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
    with RealServer(data) as server:
        yield server


def test_file_of_a_variant_is_told_as_a_page_or_written_out_with_every_field(rules, file) -> None:
    assert rules(file).stdout == rules_page(CLUB)
    assert rules(file, "--toml").stdout == variant_file(CLUB)


@each_row(
    "name, content, said",
    [
        ("own.toml", CLUB_TRUC.replace("5", "0").encode(), "scoring.target: expected more than 1, got 0\n"),
        ("own.toml", b"\xff\xfe", ""),
        ("none.toml", None, "No such file"),
        ("match.truc", b"something else", "C41"),
    ],
)
def test_wrong_file_is_one_line_and_status_1(rules, tmp_path, name, content, said) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    told = rules(tmp_path / name)
    assert (told.exit_code, told.stderr.count("\n"), said in told.stderr) == (1, 1, True)


def test_transcript_tells_the_rules_it_was_played_by(rules, tmp_path) -> None:
    (tmp_path / "match.truc").write_bytes(Table(CLUB).run().file())
    assert rules(tmp_path / "match.truc").stdout == rules_page(CLUB)


def test_file_written_for_a_preset_is_a_variant_to_start_from(rules) -> None:
    written = rules("truc-french", "--toml").stdout
    assert read_variant(written, "x.toml") == replace(preset("truc-french"), name="house-truc-french")


@pytest.mark.slow
def test_games_of_a_server_are_listed_without_a_key_and_a_home(rules, club_server, tmp_path) -> None:
    told = rules("--from", club_server.url)
    assert [line.split()[0] for line in told.stdout.splitlines()] == [*presets(), "club-truc"]
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
def test_rules_of_a_servers_own_game_are_a_page_or_a_file_and_of_none_it_plays_one_line(rules, club_server):
    assert rules("club-truc", "--from", club_server.url).stdout == rules_page(CLUB)
    assert rules("club-truc", "--from", club_server.url, "--toml").stdout == variant_file(CLUB)
    told = rules("poker", "--from", club_server.url)
    assert (told.exit_code, told.stderr.count("\n")) == (1, 1)
    assert told.stderr.endswith("(no_such_variant)\n")


def test_home_that_cannot_be_used_is_not_told_as_a_game_that_cannot_be_read(rules, tmp_path) -> None:
    home = open_home(tmp_path / "home")
    master_seed(home)
    home.state.write_text("this is no database")
    told = rules("put", "--from", "127.0.0.1:1")
    assert (told.exit_code, told.stderr) == (1, f"truc: cannot use {home.state}: file is not a database\n")


@pytest.mark.slow
async def test_bots_play_a_servers_own_game_to_a_proven_end(club_server, tmp_path) -> None:
    verdicts = await play_bots(club_server.url, homes(tmp_path, False, False), "club-truc")
    assert {(verdict.result, verdict.variant) for verdict in verdicts} == {(Result.PROVEN, "club-truc")}


async def test_answer_without_a_document_is_an_error() -> None:
    async def request(build) -> Ok:
        return Ok(re=build(1).id)

    with pytest.raises(ConnectError, match="no rule document"):
        await Connection(SimpleNamespace(line=SimpleNamespace(request=request)), None).rules("club-truc")
