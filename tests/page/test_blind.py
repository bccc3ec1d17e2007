"""Whole matches in the page at tables whose host sees no card."""

import pytest
from client.browser import needs_browser
from page.playing import SHORT, Match, play_match

pytestmark = [pytest.mark.slow, needs_browser]

DEALS = {**SHORT, "mode": "blind"}
MATCHES = [
    Match("truc-french", 2, 2, DEALS),
    Match("truco-argentino", 2, 1, {**DEALS, "target": 8}),
    Match("truco-paulista", 4, 1, DEALS),
]


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: f"{match.variant}-{match.seats}")
def test_match_whose_host_sees_no_card_comes_to_a_proven_end(chrome, web_server, tmp_path, match):
    play_match(chrome, web_server, tmp_path, match)
