"""The figures of docs/protocol/limits.md and docs/protocol/lobby.md are those that the server keeps to."""

import re
from pathlib import Path

import msgspec
from rows import each_row

from truc_protocol.messages import Create
from truc_protocol.setup import MAX_DELAY_S
from truc_protocol.wire.encoding import LENGTH_BYTES, LOGIN_LIMIT
from truc_server.lobby import followers, lobby, online_players
from truc_server.matches import acceptance
from truc_server.net import listening, peer, usage_limits
from truc_server.requests import lobby_requests
from truc_server.settings import abilities, settings
from truc_server.storage import KEPT_CHAT_LINES
from truc_server.table_data.codes import PRIVATE_CODE, PUBLIC_CODE
from truc_server.tables import talk


def page(name: str) -> str:
    return (Path(__file__).parents[2] / "docs" / "protocol" / name).read_text(encoding="utf-8")


LIMITS_PAGE, LOBBY_PAGE = page("limits.md"), " ".join(page("lobby.md").split())
LIMITS = settings.LimitSettings()


def stated(head="of the lobby and the tables"):
    """Return the figures of a table of the page: of each row the first number after what it is about."""
    table = LIMITS_PAGE.split(f"| {head} |", 1)[1].split("\n\n", 1)[0]
    return {what: int(most) for what, most in re.findall(r"^\| (.+?) \| (\d+)\b", table, re.MULTILINE)}


def test_figures_of_the_lobby_are_those_of_the_server():
    assert stated() == {
        "characters of a line of chat": abilities.CHAT_CHARS,
        f"lines of chat of one player in {abilities.CHAT_SECONDS} seconds": abilities.CHAT_LINES,
        f"characters of chat of one player in {abilities.CHAT_SECONDS} seconds": abilities.CHAT_TOTAL,
        "newest lines of a table sent to who comes later": KEPT_CHAT_LINES,
        "players that one player ignores": lobby_requests.IGNORED,
        "tables in an answer to `tables`": lobby.PAGE,
        "players in an answer to `players`": online_players.PAGE,
        "records in an answer to `history`": abilities.HISTORY_PAGE,
        "matches in an answer to `matches`": abilities.MATCHES_PAGE,
        "seconds of delay for who watches": MAX_DELAY_S,
        f"lists of all tables, by `lobby`, to one player in {abilities.LISTS_SECONDS} seconds": abilities.LISTS,
        "tables at which one player may have a seat": LIMITS.seats_per_player,
        "options of a table": msgspec.inspect.type_info(Create).fields[3].type.max_length,
    }


@each_row(
    "sentence",
    [
        f"{talk.BURST} at once, then {talk.PER_S} a second",
        f"{usage_limits.BURST * LIMITS.connections_per_address} such pages at once, and then "
        f"{LIMITS.connections_per_address} a second",
        f"An address has {LIMITS.acts_per_s} act a second for each connection that it may have, "
        f"a table {LIMITS.table_acts_per_s}, and both may use up {usage_limits.ACTS_S} seconds of it at once.",
        f"counts apart, and may come {usage_limits.STEPS} times as fast",
        f"After `welcome` {LIMITS.outbox_bytes} bytes",
        f"* body that a player signs: {acceptance.LONGEST_BODY} bytes",
        f"* the same in mode blind, where a mask is the longest: {acceptance.LONGEST_STEP} bytes",
        f"as much in chat as {abilities.CHAT_CROWD} players",
        f"as many lists of all tables as {abilities.LISTS_CROWD},",
    ],
)
def test_figure_of_the_page_of_limits_is_that_of_the_server(sentence):
    assert sentence in " ".join(LIMITS_PAGE.split())


@each_row(
    "sentence",
    [
        f"ascending by code: at most {lobby.PAGE}.",
        f"It has {PRIVATE_CODE} characters, that of a public table {PUBLIC_CODE},",
        f"ascending by tag, at most {online_players.PAGE}.",
        f"the public tables where the player sits, at most {lobby_requests.SHOWN},",
        f"`text` has 1 to {abilities.CHAT_CHARS} characters.",
        f"The newest {KEPT_CHAT_LINES} are sent,",
        f"has said {abilities.CHAT_LINES} lines, or {abilities.CHAT_TOTAL} characters, within "
        f"{abilities.CHAT_SECONDS} seconds",
        f"or more than {lobby_requests.IGNORED} players.",
        f"at most for the {online_players.GUESTS} guests who have changed it last.",
        f"At most {followers.AT_ONCE} bytes of such notices, and one more,",
    ],
)
def test_figure_of_the_page_of_the_lobby_is_that_of_the_server(sentence):
    assert sentence in LOBBY_PAGE


def test_page_of_the_lobby_says_how_often_a_follower_is_told():
    assert (1 / followers.BETWEEN_S, followers.STATE_S) == (2, 1)
    assert "A changed table comes at most twice a second" in LOBBY_PAGE
    assert "at most once a second" in LOBBY_PAGE


def test_figures_of_an_address_and_a_player_are_those_of_the_settings():
    assert stated("of one address") == {
        "open connections": LIMITS.connections_per_address,
        "connections in a minute": LIMITS.connects_per_min,
        "failed logins in a minute": LIMITS.failed_logins_per_min,
        "open tables that were made from there": LIMITS.tables_per_address,
    }
    assert stated("of one player") == {
        "tables opened in a minute, by `create` or `seek`": LIMITS.tables_per_min,
        "open tables": LIMITS.tables_per_player,
    }


def test_figures_before_login_are_those_of_the_server():
    assert stated("of a connection before `welcome`") == {
        "bytes that wait to be understood": LOGIN_LIMIT + LENGTH_BYTES + listening.CHUNK,
        "bytes that wait to be sent": peer.LOGIN_OUTBOX,
        "seconds until `welcome`": LIMITS.login_s,
        "mistakes": 1,
    }
