"""Whole matches in the page, by its own controls, with other pages and with bots; each file it saves is proven.

`python -m page.every` plays those of every game and seat count.
"""

import pytest
from client.browser import needs_browser
from page.playing import SHORT, Match, play_match

pytestmark = [pytest.mark.slow, needs_browser]

MATCHES = [
    Match("truco-mineiro", 2, 1, {**SHORT, "blind": "on"}),
    Match("put", 2, 1, SHORT),
    Match("truco-paulista", 4, 2, SHORT),
    Match("trut", 2, 1, SHORT),
    Match("truco-argentino", 6, 1, {**SHORT, "flor": "on", "target": 15}),
]


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: f"{match.variant}-{match.seats}")
def test_match_in_the_page_comes_to_a_proven_end(chrome, web_server, tmp_path, match):
    play_match(chrome, web_server, tmp_path, match)
