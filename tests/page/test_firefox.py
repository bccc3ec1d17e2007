"""In Firefox: the vectors of the library, and a whole match in the page."""

import json
from collections import Counter

import pytest
from client.firefox import firefox, needs_firefox
from page.playing import SHORT, Match, play_match
from verifiers.test_platforms import JUDGE, ROOT, VECTORS, served

pytestmark = [pytest.mark.slow, needs_firefox]


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    """Return a Firefox that the tests share; each opens pages of its own in it."""
    with firefox(tmp_path_factory.mktemp("firefox")) as running:
        yield running


def test_every_vector_is_agreed_on(fox):
    paths = [f"/{path.relative_to(ROOT).as_posix()}" for path in VECTORS]
    with served() as address:
        page = fox.page()
        page.visit(f"{address}/client/truc_web/lib/")
        told = json.loads(page.wait_for(f"{JUDGE}({json.dumps(paths)})"))
        page.close()
    assert [each for each in told if each[0] == "disagree"] == []
    assert Counter(outcome for outcome, *_ in told)["agree"] > 1400


def test_a_match_in_the_page_comes_to_a_proven_end(fox, web_server, tmp_path):
    assert "card" in play_match(fox, web_server, tmp_path, Match("truc-french", 2, 2, SHORT))
