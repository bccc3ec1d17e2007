"""`truc watch` and `truc forget`: what is printed, and what a wrong command line says."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from client.serving import RealServer

from truc_client import (
    ChatSaid,
    Interrupted,
    MatchStarted,
    PhraseSaid,
    RecordSeen,
    RecordUnchecked,
    Resumed,
    SnapshotTaken,
    Substituted,
    TableClosed,
)
from truc_client.cli.watch import Commentary
from truc_client.home import master_seed, open_home
from truc_client.main import main

STATE = {"what": "state", "score": [[0, 0, 2], [0, 0, 1]]}
ASKED = {"what": "stake_asked", "seat": 0, "stake": 2}


@pytest.fixture
def commentary() -> Commentary:
    told = Commentary("en")
    list(told.lines(MatchStarted(bytes(32), "truc-french", (), ("north", "east"), None, "A", "x.truc")))
    return told


def lines(commentary: Commentary, happening) -> list[str]:
    return list(commentary.lines(happening))


def test_what_happens_is_told_in_sentences(commentary) -> None:
    assert lines(commentary, RecordSeen(3, "act", (ASKED, STATE))) == ['"north" asks for 2']


def test_what_is_not_checked_says_so_in_each_line(commentary) -> None:
    told = lines(commentary, RecordUnchecked(3, "act", (ASKED, STATE)))
    assert told[1:] == ['unchecked: "north" asks for 2']


def test_why_nothing_can_be_checked_is_said_once(commentary) -> None:
    unchecked = RecordUnchecked(3, "act", (ASKED, STATE))
    told = lines(commentary, unchecked) + lines(commentary, unchecked)
    assert [line.startswith("the server does not give out") for line in told] == [True, False, False]


def test_score_is_told_at_the_end_of_a_hand(commentary) -> None:
    closed = ({"what": "hand_closed", "reason": "hand"}, STATE)
    assert lines(commentary, RecordSeen(9, "close", closed)) == ['score: "north" 2 points, "east" 1 point']


def test_snapshot_tells_the_score_and_that_nothing_is_checked(commentary) -> None:
    assert lines(commentary, SnapshotTaken(bytes(32), 7, STATE, skipped=False)) == [
        'score: "north" 2 points, "east" 1 point',
        "it goes on with record 7; what stood before it is not checked yet",
    ]


def test_snapshot_at_the_beginning_has_no_score(commentary) -> None:
    assert len(lines(commentary, SnapshotTaken(bytes(32), 0, {}, skipped=False))) == 1


def test_snapshot_that_skips_says_that_this_client_was_slow(commentary) -> None:
    told = lines(commentary, SnapshotTaken(bytes(32), 7, STATE, skipped=True))
    assert told[0] == "too much has happened while this client did not read"


@pytest.mark.parametrize(
    ("happening", "line"),
    [
        (Resumed(7), "every record before 7 is here, and has passed its checks"),
        (TableClosed("expired", "K7PQ"), "the table is gone: expired"),
        (Interrupted("it was lost"), "it was lost; connecting again"),
        (ChatSaid("TAG", "north", "hello"), '"north" (TAG): hello'),
        (Substituted(1, "west"), '"west" takes the seat of "east"'),
        (PhraseSaid(1, "come"), '"east": come (Play your lowest card)'),
    ],
)
def test_line_for_what_happens_beside_the_cards(commentary, happening, line) -> None:
    assert lines(commentary, happening) == [line]


def test_substitute_has_the_name_from_then_on(commentary) -> None:
    lines(commentary, Substituted(0, "west"))
    assert lines(commentary, RecordSeen(3, "act", (ASKED, STATE))) == ['"west" asks for 2']


def test_watch_without_a_table_asks_for_one(tmp_path) -> None:
    told = CliRunner().invoke(main, ["watch", "host"], env={"TRUC_HOME": str(tmp_path)})
    assert told.exit_code == 1
    assert told.stderr == "truc: expected ADDRESS/TABLE: which table at host:7373? truc tables host:7373\n"


def test_forget_asks_first(tmp_path) -> None:
    master_seed(open_home(tmp_path))
    told = CliRunner().invoke(main, ["forget", "127.0.0.1:1"], input="n\n", env={"TRUC_HOME": str(tmp_path)})
    assert told.exit_code == 1
    assert "forget you?" in told.output


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ([], "truc: this home has no key yet: at 127.0.0.1:1 there is nobody to forget\n"),
        (["--guest"], "truc: this home is no guest at 127.0.0.1:1: there is nobody to forget\n"),
    ],
    ids=["key", "guest"],
)
def test_forget_in_a_home_that_is_nobody_there_says_so_and_connects_nowhere(tmp_path, flags, line) -> None:
    told = CliRunner().invoke(
        main, ["forget", "127.0.0.1:1", "--yes", *flags], env={"TRUC_HOME": str(tmp_path)}
    )
    assert (told.exit_code, told.stderr) == (1, line)
    assert not (tmp_path / "master.seed").exists()


def truc(home, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "truc_client", *arguments],
        env={**os.environ, "TRUC_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )


@pytest.mark.slow
def test_watch_tells_a_match_of_bots_to_its_verdict(tmp_path) -> None:
    server = RealServer(tmp_path / "server", {"TRUC_MATCH_SPECTATORS": "live"}).start()
    bot = [sys.executable, "-m", "truc_client", "bot", server.url]
    create = ["--create", "truc-french", "--option", "match=1"]
    home = {**os.environ, "TRUC_HOME": str(tmp_path / "bots")}
    try:
        first = subprocess.Popen([*bot, *create], env=home, stdout=subprocess.PIPE, text=True)
        code = first.stdout.readline().split("/")[-1].split("#")[0].strip()
        second = subprocess.Popen([*bot, "--table", code], env=home, stdout=subprocess.DEVNULL)
        told = truc(tmp_path / "home", "watch", f"{server.url}/{code}")
        first.communicate(timeout=40)
        second.wait(40)
    finally:
        server.stop()
    assert told.returncode == 0
    assert "PROVEN" in told.stdout


@pytest.mark.slow
def test_forget_says_who_was_forgotten(real_server, tmp_path) -> None:
    assert truc(tmp_path / "home", "tables", real_server.url).returncode == 0
    told = truc(tmp_path / "home", "forget", real_server.url, "--yes")
    assert (told.returncode, told.stdout.startswith(f"{real_server.url} has forgotten ")) == (0, True)


@pytest.mark.slow
def test_watch_of_a_table_that_is_not_there_is_one_line(real_server, tmp_path) -> None:
    told = truc(tmp_path / "home", "watch", f"{real_server.url}/NOPE1")
    assert told.returncode == 1
    assert told.stderr.strip().splitlines()[-1].endswith("(no_such_table)")
