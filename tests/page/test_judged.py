"""The page at servers of the conformance kit, honest ones and some that cheat; `python -m page.judged` plays all cases."""

import pytest
from client.browser import needs_browser
from page.judged import perform_in_page, shortcomings

from truc_conform.client_cases import chosen

pytestmark = [pytest.mark.slow, needs_browser]

CASES = [
    *("C3.plays", "C2.plays", "C2.moved", "C3.moved-key", "C3.cheat-signature", "C3.cheat-seat"),
    *("C3.cheat-box", "C3.cheat-shuffle", "C3.cheat-options-line", "C3.cheat-second-call"),
    *("C3.cheat-setup", "C4.revoked-rotation", "C5.again-lock", "C5.cheat-second-mask"),
]


@pytest.mark.parametrize("name", CASES)
def test_page_plays_on_with_the_honest_and_stops_at_a_cheat(chrome, name) -> None:
    (scene,) = chosen(None, [name])
    assert shortcomings(*perform_in_page(chrome, scene)) == []
