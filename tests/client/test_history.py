"""`truc history`: what it lists of a home, what it says of a server, and a transcript that is fetched and verified again."""

import json
import os
import shutil
from functools import partial

import pytest
import trio
from click.testing import CliRunner
from client.playing import play_bots
from client.running import truc
from client.viewed import FRENCH, KEPT
from rich.text import Text

from truc_client import Player, paging
from truc_client.connection import Connection
from truc_client.errors import ConnectError, HomeError
from truc_client.home.home import Home, open_home
from truc_client.paging import list_matches
from truc_protocol.messages import Ok, PlayedMatch
from truc_protocol.transcript import MAGIC
from truc_terminal.commands.history import _described
from truc_terminal.commands.kept_matches import find_transcript, one_match
from truc_terminal.main import main
from truc_words import Speech

IDS = {
    "truc-french": "495bf62a608386d7",
    "put-forfeit": "0f69cfda13c0ef6b",
    "truc-lanes-incomplete": "1656c58ef66ce80d",
}

NAMES = ("keeper", "caller")  # which nobody else has at the server that all tests share
BOTH = '"keeper" against "caller"'


@pytest.fixture
def kept(home) -> Home:
    """Return a home with three matches, an hour between each and the next."""
    for hour, (name, match) in enumerate(IDS.items()):
        path = home.transcripts / f"{match}.truc"
        shutil.copy(KEPT / f"{name}.truc", path)
        os.utime(path, (hour * 3600, hour * 3600))
    return home


def test_matches_are_listed_the_newest_first_with_game_players_score_and_verdict(kept) -> None:
    lines = truc("history").stdout.splitlines()
    assert [line.split("  ")[1] for line in lines] == list(reversed(IDS.values()))
    without_end, ruled, won = lines
    beaten = '"player 1" beat "player 0" (won), 1 game and 8 points to 0 points'
    assert won.split("  ")[2:] == ["truc-french with house rules", "proven", beaten]
    how = "time ran out, by the server's ruling"
    assert ruled.endswith(f'"player 0" beat "player 1" ({how}), 2 points to 1 point')
    assert '  incomplete  "player 0" against "guest 1": no result yet, ' in without_end


def test_verdict_is_in_the_language_of_the_rest_of_its_line(kept) -> None:
    without_end, *_, won = truc("history", "--lang", "es").stdout.splitlines()
    assert [line.split("  ")[3] for line in (without_end, won)] == ["incompleto", "probado"]


def test_torn_transcript_counts_as_far_as_it_is_whole_and_another_file_is_unreadable(home) -> None:
    whole = FRENCH.read_bytes()
    path = home.transcripts / f"{IDS['truc-french']}.truc"
    path.write_bytes(whole[:9000])
    assert "  incomplete  " in truc("history").stdout
    path.write_bytes(b"nothing")
    assert truc("history").stdout.endswith("495bf62a608386d7  -  unreadable  -\n")


def test_programs_get_an_object_for_each_match(kept) -> None:
    newest = json.loads(truc("history", "--json").stdout.splitlines()[0])
    match = IDS["truc-lanes-incomplete"]
    assert newest["file"] == str(kept.transcripts / f"{match}.truc")
    assert (newest["result"], newest["match"][:16]) == ("incomplete", match)


def test_terminal_gets_two_lines_for_a_match(kept) -> None:
    shown = CliRunner(env={"FORCE_COLOR": "1", "TERM": "xterm"}).invoke(main, ["history"])
    *_, head, result = Text.from_ansi(shown.stdout).plain.splitlines()
    assert head.endswith("  495bf62a608386d7  truc-french with house rules  proven")
    assert result == '    "player 1" beat "player 0" (won), 1 game and 8 points to 0 points'


def test_older_matches_are_listed_when_asked_for(home) -> None:
    for n in range(22):
        (home.transcripts / f"{n:016x}.truc").write_bytes(MAGIC)
    assert truc("history").stdout.splitlines()[20:] == ["2 more: truc history --all"]
    assert len(truc("history", "--all").stdout.splitlines()) == 22


def test_empty_home_says_how_to_begin(home) -> None:
    assert "begin with: truc demo" in truc("history").stdout


def test_match_is_found_by_its_first_digits_if_no_other_has_them_and_its_longest_transcript_is_meant(
    kept,
) -> None:
    kept_one = kept.transcripts / "495bf62a608386d7.truc"
    assert find_transcript(kept.transcripts, "495B") == kept_one
    longer = kept_one.rename(kept_one.with_stem("495bf62a608386d7-fetched-1"))
    kept_one.write_bytes(longer.read_bytes()[:4000])
    assert find_transcript(kept.transcripts, "495bf62a") == longer
    with pytest.raises(HomeError, match=r"2 matches begin with aaaa: aaaa0, aaaa1$"):
        one_match("aaaa", ["aaaa0", "aaaa1", "bbbb0"])


@pytest.fixture(scope="module")
def after_a_match(real_server, tmp_path_factory) -> tuple[str, Home]:
    """Return the address of a server, and the home of somebody who has played a match there."""
    folder = tmp_path_factory.mktemp("players")
    players = [Player(open_home(folder / name), name) for name in NAMES]
    trio.run(lambda: play_bots(real_server.url, players, "truc-french"))
    return real_server.url, players[0].home


@pytest.mark.slow
def test_server_is_asked_for_the_matches_played_there(after_a_match, monkeypatch) -> None:
    url, home = after_a_match
    monkeypatch.setenv("TRUC_HOME", str(home.root))
    (path,) = home.transcripts.glob("*.truc")
    (line,) = truc("history", url).stdout.splitlines()
    assert line.split("  ")[1:] == [path.stem, "truc-french", "won", f"{BOTH}; its transcript is here"]


@pytest.fixture
def new_machine(after_a_match, home) -> tuple[str, Home]:
    """Return the address of the server, and a home that has nothing of that somebody but the key."""
    url, before = after_a_match
    home.seed.write_bytes(before.seed.read_bytes())
    home.seed.chmod(0o600)
    return url, home


@pytest.mark.slow
def test_matches_of_a_key_are_fetched_once_and_verified_on_a_new_machine(new_machine) -> None:
    url, home = new_machine
    listed, fetched, row = truc("history", url, "--fetch").stdout.splitlines()
    (path,) = home.transcripts.glob("*.truc")
    assert listed.endswith(f"{BOTH}; no transcript of it is here")
    assert fetched == f"fetched: {path}"
    assert row.split("  ")[1:4] == [path.stem, "truc-french", "proven"]
    assert truc("history").stdout == f"{row}\n"
    again = truc("history", url, "--fetch")
    assert (len(again.stdout.splitlines()), again.exit_code) == (1, 0)
    assert len(list(home.transcripts.iterdir())) == 1


@pytest.mark.slow
def test_transcript_that_does_not_verify_shows_in_the_row_and_the_status(new_machine, monkeypatch) -> None:
    url, _home = new_machine
    whole = paging.write_transcript
    monkeypatch.setattr(
        paging, "write_transcript", lambda document, records: whole(document, records[:-4] + records[-3:])
    )
    shown = truc("history", url, "--fetch")
    assert (shown.exit_code, "proven" in shown.stdout) == (1, False)


@pytest.mark.slow
def test_server_that_does_not_list_is_to_be_asked_for_one(after_a_match, monkeypatch) -> None:
    monkeypatch.setattr(Connection, "capabilities", {})
    assert "name one with --get" in truc("history", after_a_match[0]).stderr


class Listing:
    """A line to a server that lists these pages."""

    def __init__(self, *pages: list[int]) -> None:
        listed = partial(PlayedMatch, seat=0)
        self.pages = [[listed(match=bytes([n]) * 32, since_ms=n) for n in page] for page in pages]
        self.asked: list[bytes | None] = []

    async def request(self, build):
        self.asked.append(build(1).after)
        page = self.pages[len(self.asked) - 1]
        return Ok(re=1, matches=tuple(page), more=len(self.asked) < len(self.pages))


async def test_pages_are_asked_for_until_there_are_enough() -> None:
    line = Listing([9, 8], [7, 6], [5])
    assert [match.since_ms for match in await list_matches(line, newest=3)] == [9, 8, 7]
    assert line.asked == [None, b"\x08" * 32]


async def test_server_that_lists_in_a_circle_is_not_followed() -> None:
    with pytest.raises(ConnectError, match="twice"):
        await list_matches(Listing([9, 8], [8, 7]), newest=None)


@pytest.mark.slow
def test_transcript_is_fetched_and_verified_with_the_one_that_is_here(new_machine, after_a_match) -> None:
    url, home = new_machine
    shutil.copytree(after_a_match[1].transcripts, home.transcripts, dirs_exist_ok=True)
    (path,) = home.transcripts.glob("*.truc")
    shown = truc("history", url, "--get", path.stem[:8])
    first, *lines = shown.stdout.splitlines()
    assert (shown.exit_code, first) == (0, f"fetched: {path.with_stem(f'{path.stem}-fetched-1')}")
    assert lines[-1].startswith("2 transcripts of one match agree up to record ")


@pytest.mark.slow
def test_server_where_nobody_was_is_said_to_have_nothing(real_server, home) -> None:
    shown = truc("history", real_server.url)
    assert shown.stdout.startswith("no match was played with your key at 127.0.0.1:")
    assert "no match begins with 495b" in truc("history", real_server.url, "--get", "495b").stderr
    shown = truc("history", real_server.url, "--get", "0" * 64)
    assert (shown.exit_code, "(no_such_match)" in shown.stderr) == (1, True)


@pytest.mark.parametrize("reason", ["of tomorrow", "{", "{0}", "{unit.__class__}"])
def test_reason_without_words_is_told_as_the_server_says_it(reason) -> None:
    played = PlayedMatch(match=bytes(32), seat=0, since_ms=2**53 - 1, reason=reason, names=("north",) * 15)
    assert f"  {reason}  " in _described(played, Speech("en"))
