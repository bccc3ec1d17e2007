"""What a page asks for until somebody sits, and what a second visit asks for; figures that hang on no clock.

`python -m page.loading` tells how long it takes over a slow line.
"""

import re
from collections import Counter
from gzip import compress
from pathlib import Path

import pytest
from chaos.servers import free_port
from client.browser import needs_browser
from page.playing import NAMES, WebServer, people
from page.slow_line import SlowLine, slow_line

from truc_web.tree import PAGE, read_tree

FIRST_FILES = 40
FIRST_BYTES = 90_000
SEATED_FILES = 80
SEATED_BYTES = 160_000
ROOT = Path(__file__).parents[2]


def test_what_comes_first_is_few_files_and_few_bytes():
    tree = read_tree()
    page = tree.page({}, is_link=True)
    links = re.findall(
        r'<link rel="modulepreload" href="/a/\w+/([^"]+)"[^>]*?( fetchpriority="low")?>', page.decode()
    )
    first = [path for path, is_late in links if not is_late]
    beside = ["page/look.css", "words/fr.json", "words/own.json"]

    def size(paths):
        return sum(len(compress(tree.files[path], mtime=0)) for path in paths)

    assert len(first) <= FIRST_FILES - len(beside)
    assert size(first + beside) + len(compress(page, mtime=0)) <= FIRST_BYTES
    assert len(links) <= SEATED_FILES
    told = " ".join((ROOT / "docs" / "hosting" / "web.md").read_text("utf-8").split())
    assert f"at most {SEATED_FILES} modules and {SEATED_BYTES // 1000} KB, packed" in told
    assert f"the first {FIRST_FILES} files bring somebody to a seat" in told
    assert size([path for path, _ in links] + beside) <= SEATED_BYTES
    assert PAGE not in first


@pytest.fixture
def line(tmp_path):
    """Return a line, as fast as can be, to a server of the test's own, and the server."""
    port = free_port()
    server = WebServer(tmp_path / "server", origin_port=str(port))
    server.real.start()
    with slow_line(SlowLine(port, server.web_port, round_trip_s=0)) as line:
        yield line, server
    server.real.stop()


@pytest.mark.slow
@needs_browser
def test_every_module_is_asked_for_once_in_one_wave_and_a_second_visit_asks_for_the_page_alone(chrome, line):
    line, server = line
    with people(chrome, server, 2) as (first, second):
        code = first.create(NAMES[0], "truc-french", 2)
        first.page.wait_until("document.querySelector('.felt')")
        line.asked.clear()
        second.sit(code, NAMES[1])
        second.page.wait_until("document.querySelector('.hand .k')")
        named = set(re.findall(rb'(?:href|src)="([^"]+)"', read_tree().page({}, is_link=True)))
        own = [path for _, path in line.asked if "icon" not in path]
        counted = Counter(own)
        beside = {f"/t/{code}", f"/t/{code}.json", "/ws"}
        words = {path for path in counted if "/words/" in path}
        modules = set(counted) - beside - words
        assert {path.encode() for path in modules} <= named
        assert [path for path, times in counted.items() if times > 1] == []
        assert len(words) == 2
        assert beside <= set(counted)
        line.asked.clear()
        second.page.reload()
        second.page.wait_until("document.querySelector('.hand .k')")
        assert {path for _, path in line.asked} <= beside
