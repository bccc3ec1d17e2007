"""The page of the protocol about the lobby says what the server does, figure by figure."""

from pathlib import Path

from rows import each_row

from truc_server.lobby import followers, lobby, online_players
from truc_server.requests import lobby_requests
from truc_server.settings import abilities
from truc_server.storage import KEPT_CHAT_LINES
from truc_server.table_data.codes import PRIVATE_CODE, PUBLIC_CODE

PAGE = " ".join(
    (Path(__file__).parents[2] / "docs" / "protocol" / "lobby.md").read_text(encoding="utf-8").split()
)


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
def test_figure_of_the_page_is_that_of_the_server(sentence):
    assert sentence in PAGE


def test_page_says_how_often_a_follower_is_told():
    assert (1 / followers.BETWEEN_S, followers.STATE_S) == (2, 1)
    assert "A changed table comes at most twice a second" in PAGE
    assert "at most once a second" in PAGE
