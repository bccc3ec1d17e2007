"""Which server or table a command is about, where the server is not named: the only one known, which it says."""

import pytest
from client.playing import know
from rows import each_row

from truc_protocol.crypto.keys import fingerprint
from truc_words import Sentence

NOBODY, OTHER = "127.0.0.1:1", "cards.example:7373"
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


@pytest.fixture(autouse=True)
def keyed(home) -> None:
    home.seed.write_bytes(bytes(32))


@each_row(
    "known, said",
    [
        ((), f"truc: {Sentence('commands.address_expected')}\n"),
        ((NOBODY,), f"{SAID}truc: cannot reach {NOBODY}: Connection refused\n"),
        ((OTHER,), f"truc: expected the ADDRESS of a server: {NOBODY}, {OTHER}\n"),  # it knows both by then
    ],
)
def test_server_must_be_named_unless_one_alone_is_known_which_is_said_then(truc, home, known, said) -> None:
    for server in known:
        know(home, server)
    for words in WITHOUT_ADDRESS:
        told = truc(*words)
        assert (words, told.exit_code, told.stderr) == (words, 1, said)


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
