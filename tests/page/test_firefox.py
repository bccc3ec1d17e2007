"""In Firefox: vectors of the library, and a whole match in the page."""

import pytest
from client.firefox import firefox, needs_firefox
from page.playing import SHORT, Match, play_match
from verifiers.test_platforms import check_vectors

pytestmark = [pytest.mark.slow, needs_firefox]


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    """Return a Firefox that the tests share; each opens pages of its own in it."""
    with firefox(tmp_path_factory.mktemp("firefox")) as running:
        yield running


def test_vectors_are_agreed_on(fox):
    page = fox.page()
    check_vectors(page)
    page.close()


def test_a_match_in_the_page_comes_to_a_proven_end(fox, web_server, tmp_path):
    assert "card" in play_match(fox, web_server, tmp_path, Match("truc-french", 2, 1, SHORT))
