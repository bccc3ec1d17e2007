"""The figures of docs/protocol/limits.md are those that the server keeps to."""

import re
from pathlib import Path

import msgspec

from truc_protocol.messages import Create
from truc_server import abilities, company, lobby, presence, settings, talk
from truc_server.store import KEPT_LINES

PAGE = (Path(__file__).parents[2] / "docs" / "protocol" / "limits.md").read_text(encoding="utf-8")


def stated():
    table = PAGE.split("| of the lobby and the tables |", 1)[1].split("\n\n", 1)[0]
    return {what: int(most) for what, most in re.findall(r"^\| (.+?) \| (\d+) \|$", table, re.MULTILINE)}


def test_figures_of_the_lobby_are_those_of_the_server():
    assert stated() == {
        "characters of a line of chat": abilities.CHAT_CHARS,
        f"lines of chat of one player in {abilities.CHAT_SECONDS} seconds": abilities.CHAT_LINES,
        f"characters of chat of one player in {abilities.CHAT_SECONDS} seconds": abilities.CHAT_TOTAL,
        "newest lines of a table sent to who comes later": KEPT_LINES,
        "players that one player ignores": company.IGNORED,
        "tables in an answer to `tables`": lobby.PAGE,
        "players in an answer to `players`": presence.PAGE,
        "records in an answer to `history`": abilities.HISTORY_PAGE,
        "seconds of delay for who watches": settings.MAX_DELAY_S,
        f"lists of all tables, by `lobby`, to one player in {abilities.LISTS_SECONDS} seconds": abilities.LISTS,
        "tables at which one player may have a seat": settings.Limits().seats_per_player,
        "options of a table": msgspec.inspect.type_info(Create).fields[3].type.max_length,
    }


def test_pace_of_phrases_and_signs_is_that_of_the_server():
    assert f"{talk.BURST} at once, then {talk.PER_S} a second" in PAGE
