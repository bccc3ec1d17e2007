"""The figures of docs/protocol/limits.md are those that the server keeps to."""

import re
from pathlib import Path

import msgspec
from rows import each_row

from truc_protocol.messages import Create
from truc_protocol.setup import MAX_DELAY_S
from truc_protocol.wire.encoding import LENGTH_BYTES, LOGIN_LIMIT
from truc_server.lobby import lobby, online_players
from truc_server.matches import acceptance
from truc_server.net import listening, peer, usage_limits
from truc_server.requests import lobby_requests
from truc_server.settings import abilities, settings
from truc_server.storage import KEPT_CHAT_LINES
from truc_server.tables import talk

PAGE = (Path(__file__).parents[2] / "docs" / "protocol" / "limits.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


def stated(head="of the lobby and the tables"):
    """Return the figures of a table of the page: of each row the first number after what it is about."""
    table = PAGE.split(f"| {head} |", 1)[1].split("\n\n", 1)[0]
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
        "tables at which one player may have a seat": settings.LimitSettings().seats_per_player,
        "options of a table": msgspec.inspect.type_info(Create).fields[3].type.max_length,
    }


LIMITS = settings.LimitSettings()


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
def test_figure_of_the_page_is_that_of_the_server(sentence):
    assert sentence in TEXT


def test_figures_of_an_address_and_a_player_are_those_of_the_settings():
    limits = settings.LimitSettings()
    assert stated("of one address") == {
        "open connections": limits.connections_per_address,
        "connections in a minute": limits.connects_per_min,
        "failed logins in a minute": limits.failed_logins_per_min,
        "open tables that were made from there": limits.tables_per_address,
    }
    assert stated("of one player") == {
        "tables opened in a minute, by `create` or `seek`": limits.tables_per_min,
        "open tables": limits.tables_per_player,
    }


def test_figures_before_login_are_those_of_the_server():
    assert stated("of a connection before `welcome`") == {
        "bytes that wait to be understood": LOGIN_LIMIT + LENGTH_BYTES + listening.CHUNK,
        "bytes that wait to be sent": peer.LOGIN_OUTBOX,
        "seconds until `welcome`": settings.LimitSettings().login_s,
        "mistakes": 1,
    }
