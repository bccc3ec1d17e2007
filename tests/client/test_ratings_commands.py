"""`truc leaderboard` and `truc profile` at a real server, and the library under them."""

import pytest
import trio
from click.testing import CliRunner
from client.playing import eager_bot, homes
from msgspec.structs import replace
from rows import each_row

from truc_client import MatchEnded, connect
from truc_client.bots import play_match
from truc_protocol.messages import Standing
from truc_terminal.commands.ratings import place_line
from truc_terminal.main import main
from truc_words import LANGUAGES, Speech

GAME = "truco-mineiro"
STANDING = Standing(
    player="T3YF6NWGKNC4VOBLQXRF2VKWLM",
    name="north",
    variant=GAME,
    seats=2,
    rank=1,
    points=-12,
    doubt=700,
    matches=3,
    won=2,
)


@pytest.fixture
def truc(tmp_path, monkeypatch):
    """Return a way to run `truc` in the home of the first player."""
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "0"))
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    return lambda *arguments: CliRunner().invoke(main, arguments)


async def play_one(url: str, players) -> tuple[int, str]:
    """Let two bots play at a public table; return the side that has won, and the tag of the first player."""
    ends: list[MatchEnded] = []

    async def play(table) -> None:
        await table.ready()
        ends.append(await play_match(table, eager_bot(1)))

    async with connect(url, players[0]) as first, connect(url, players[1]) as second:
        table = await first.create(GAME, seats=2, options={"match": 1, "target": 3})
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(play, table)
                nursery.start_soon(play, await second.join(table.code))
        return ends[0].verdict.winner, first.tag


@pytest.mark.slow
def test_match_is_on_the_board_and_in_the_profile(truc, real_server, tmp_path) -> None:
    winner, tag = trio.run(play_one, real_server.url, homes(tmp_path, False, False))
    board = truc("leaderboard", real_server.url, GAME).stdout.splitlines()
    assert [line.split()[1:3] for line in board] == [["player", str(winner)], ["player", str(1 - winner)]]
    (own,) = [line for line in board if line.endswith("you")]
    assert tag in own
    profile = truc("profile", real_server.url).stdout
    assert profile.split()[:5] == [GAME, "2", "seats", "place", str(1 + winner)]
    assert truc("profile", real_server.url, tag).stdout == profile
    assert truc("leaderboard", real_server.url, GAME, "--top", "1").stdout.splitlines() == board[:1]


def test_who_has_not_played_is_told_what_counts(truc, real_server) -> None:
    told = truc("leaderboard", real_server.url, "put").stdout
    assert told == "nobody is rated in put with 2 seats yet; --seats shows another number of seats\n"
    assert truc("profile", real_server.url, "NOBODY").stdout.startswith("not rated yet: matches at public")


def test_what_cannot_be_asked_is_one_line_and_status_1(truc, real_server) -> None:
    keyless, unknown = truc("profile", real_server.url), truc("leaderboard", real_server.url, "poker")
    assert (keyless.exit_code, keyless.stderr) == (
        1,
        "truc: this home has no key yet, and only players with a key are rated: expected a tag\n",
    )
    assert (unknown.exit_code, unknown.stderr.count("\n")) == (1, 1)
    assert "no_such_variant" in unknown.stderr


def test_places_take_no_more_room_than_their_names() -> None:
    line = place_line(replace(STANDING, name="ann"), None, width=3)
    assert line == "   1  ann  points   -12  played    3  won    2  T3YF6NWGKNC4VOBLQXRF2VKWLM"


@each_row("lang", LANGUAGES)
def test_one_is_told_in_the_words_for_several(lang) -> None:
    one, several = (
        place_line(replace(STANDING, points=n, matches=n, won=n), None, Speech(lang)) for n in (1, 7)
    )
    assert one == several.replace(" 7  ", " 1  ")
    assert "1 p" not in one


def test_place_is_one_line_whatever_the_name() -> None:
    line = place_line(replace(STANDING, name="no\x1b[2Jrth\n", bot=True), None)
    assert line == (
        "   1  no[2Jrth              points   -12  played    3  won    2  T3YF6NWGKNC4VOBLQXRF2VKWLM  bot of the host"
    )
