"""Which server or table a command is about, where the server is not named: the only one known, which it says."""

import pytest
from client.playing import know
from rows import each_row

from truc_client.home.home import open_home
from truc_protocol.crypto.keys import fingerprint
from truc_words import Sentence

NOBODY = "127.0.0.1:1"
SAID = f"to {NOBODY}, the only server known here\n"
TAG = fingerprint(bytes(32))
WITHOUT_ADDRESS = [
    ("play",),
    ("create", "truc-french"),
    ("join", "k7pqa"),
    ("watch", "K7PQA"),
    ("watch", "K7PQAK7PQAK7PQA2"),
    ("tables",),
    ("leaderboard", "truc-french"),
    ("profile", TAG),
    ("bot",),
    ("history", "--fetch"),
    ("history", "--get", "495bf62a"),
    ("forget", "--yes"),
]


@pytest.fixture
def home(truc, tmp_path):
    home = open_home(tmp_path / "home")
    home.seed.write_bytes(bytes(32))
    return home


@each_row("words", WITHOUT_ADDRESS)
def test_only_server_known_is_meant_and_said_in_one_line(truc, home, words) -> None:
    know(home, NOBODY)
    told = truc(*words)
    assert told.stderr == f"{SAID}truc: cannot reach {NOBODY}: Connection refused\n"


@each_row("words", WITHOUT_ADDRESS)
def test_of_several_servers_known_one_must_be_named(truc, home, words) -> None:
    know(home, NOBODY)
    know(home, "cards.example:7373")
    told = truc(*words)
    expected = f"truc: expected the ADDRESS of a server: {NOBODY}, cards.example:7373\n"
    assert (told.exit_code, told.stderr) == (1, expected)


@each_row("words", WITHOUT_ADDRESS)
def test_without_a_server_known_one_must_be_named(truc, home, words) -> None:
    told = truc(*words)
    assert (told.exit_code, told.stderr) == (1, f"truc: {Sentence('commands.address_expected')}\n")


def test_server_that_was_named_is_not_said(truc, home) -> None:
    know(home, NOBODY)
    assert truc("tables", "127.0.0.1:2").stderr == "truc: cannot reach 127.0.0.1:2: Connection refused\n"


@each_row(
    "words, said",
    [
        (("profile",), SAID),
        (("keys", "revocation"), SAID),
        (("leaderboard", "cards.example"), "expected the name of a game"),
        (("join", "localhost"), "to list them: truc tables localhost:7373"),
        (("keys", "forget"), "Missing argument"),  # only by its name
    ],
)
def test_only_server_known_is_meant_where_nothing_else_can_be(truc, home, words, said) -> None:
    know(home, NOBODY)
    assert said in truc(*words).stderr
