"""`truc leaderboard` and `truc profile` at a real server, and the library under them."""

from functools import partial
from types import SimpleNamespace

import pytest
import trio
from client.playing import homes, play_out
from client.running import truc as command
from msgspec.structs import replace
from rows import each_row

from truc_client import connect
from truc_protocol.messages import Standing, VariantOffer
from truc_terminal.commands.ratings import _fewest, board
from truc_words import Speech

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
def truc(tmp_path):
    """Return a way to run `truc` in the home of the first player."""
    return partial(command, env={"TRUC_HOME": str(tmp_path / "0")})


async def play_one(url: str, players) -> tuple[int, str]:
    """Let two bots play at a public table; return the side that has won, and the tag of the first player."""
    async with connect(url, players[0]) as first, connect(url, players[1]) as second:
        table = await first.create(GAME, seats=2, options={"match": 1, "target": 3})
        ended, _ = await play_out(table, await second.join(table.code))
        return ended.verdict.winner, first.tag


@pytest.mark.slow
def test_match_is_on_the_board_and_in_the_profile(truc, real_server, tmp_path) -> None:
    winner, tag = trio.run(play_one, real_server.url, homes(tmp_path, False, False))
    head, *places = truc("leaderboard", real_server.url, GAME).stdout.splitlines()
    assert head.split() == ["place", "name", "rating", "played", "won", "tag"]
    assert [line.split()[1:3] for line in places] == [["player", str(winner)], ["player", str(1 - winner)]]
    (own,) = [line for line in places if line.endswith("you")]
    assert tag in own
    profile = truc("profile", real_server.url).stdout
    assert profile.splitlines()[1].split()[:3] == [GAME, "2", str(1 + winner)]
    assert "provisional" in profile
    assert truc("profile", real_server.url, tag).stdout == profile
    assert truc("leaderboard", real_server.url, GAME, "--top", "1").stdout.splitlines()[1:] == places[:1]


def test_who_has_not_played_is_told_what_counts(truc, real_server) -> None:
    told = truc("leaderboard", real_server.url, "put").stdout
    assert told == "nobody is rated in put with 2 seats yet; --seats shows another number of seats\n"
    assert truc("profile", real_server.url, "NOBODY").stdout.startswith("not rated yet: matches at public")


def test_what_cannot_be_asked_is_one_line_and_status_1(truc, real_server) -> None:
    keyless, unknown = truc("profile", real_server.url), truc("leaderboard", real_server.url, "poker")
    why = "this home has no key yet, and only players with a key are rated: expected a tag"
    assert (keyless.exit_code, keyless.stderr) == (1, f"truc: {why}\n")
    assert (unknown.exit_code, unknown.stderr.count("\n")) == (1, 1)
    assert "no_such_variant" in unknown.stderr


@each_row(
    "changes, lang, told",
    [
        (
            {"name": "ann", "points": -312},
            "en",
            [
                "place  name  rating  played  won  tag",
                "    1  ann      688       3    2  T3YF6NWGKNC4VOBLQXRF2VKWLM  provisional",
            ],
        ),
        (
            {"name": "no\x1b[2Jrth\n", "points": 312, "matches": 14, "bot": True},
            "fr",
            [
                "rang  nom       classement  jouées  gagnées  étiquette",
                "   1  no[2Jrth        1312      14        2  T3YF6NWGKNC4VOBLQXRF2VKWLM  bot de l'hôte",
            ],
        ),
    ],
)
def test_places_stand_under_their_heads(changes, lang, told) -> None:
    assert [*board([replace(STANDING, **changes)], None, Speech(lang))] == told


def test_game_for_which_a_server_names_no_number_of_seats_is_asked_about_for_two() -> None:
    offers = (VariantOffer(name="truc-french", seats=()),)
    assert _fewest(SimpleNamespace(info=SimpleNamespace(variants=offers)), "truc-french") == 2
