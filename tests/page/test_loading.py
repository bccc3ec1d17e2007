"""What a page asks for until somebody sits, and what a second visit asks for; figures that hang on no clock.

`python -m page.loading` tells how long it takes over a slow line.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from chaos.servers import free_port
from client.browser import needs_browser
from client.running import Process
from page.loading import BEHIND, BESIDE, first_weight, modules_named, packed
from page.playing import NAMES, WebServer, people
from page.slow_line import SlowLine, slow_line

from truc_web.tree import PAGE, SEAT_WORDS, read_tree

FIRST_FILES = 40
FIRST_BYTES = 60_000
SEATED_FILES = 80
SEATED_BYTES = 160_000
MENU_FILES = 20
MENU_BYTES = 30_000
ROOT = Path(__file__).parents[2]


def test_what_comes_first_is_few_files_and_few_bytes():
    tree = read_tree()
    first, late = modules_named(tree)
    assert len(first) <= FIRST_FILES - len(BESIDE)
    assert first_weight(tree) <= FIRST_BYTES
    assert len(first + late) <= SEATED_FILES
    assert packed(tree, [*first, *late, *BESIDE, *BEHIND]) <= SEATED_BYTES
    menu = [
        path
        for path in tree.files
        if path.startswith("page/") and path.endswith(".mjs") and path not in first + late
    ]
    assert len(menu) <= MENU_FILES
    assert packed(tree, menu) <= MENU_BYTES
    told = " ".join((ROOT / "docs" / "hosting" / "web.md").read_text("utf-8").split())
    assert f"at most {SEATED_FILES} modules and {SEATED_BYTES // 1000} KB, packed" in told
    assert f"at most {MENU_FILES} modules and {MENU_BYTES // 1000} KB more" in told
    assert PAGE not in first


def test_no_class_is_a_state_of_one_element_and_the_name_of_another():
    """A drawer that was `open` was drawn as what lay `open` when a hand was over."""
    files = read_tree().files
    written = "".join(
        text.decode() for path, text in files.items() if path.startswith("page/") and path.endswith(".mjs")
    )
    states = set(re.findall(r"\? ' ([a-z-]+)'", written))
    names = {name for each in re.findall(r"class: '([a-z -]+)'", written) for name in each.split()}
    assert "armed" in states
    assert "veil" in names
    assert states & names == set()


SAID_LATER = "page/words.mjs"  # how everything is said that is said at a table


def test_what_is_said_on_the_way_to_a_seat_comes_with_it():
    """Until somebody sits the page has a part of the words, and everything that its modules ask for is in it."""
    tree = read_tree()
    whole, way = (json.loads(tree.files[f"words/{name}.json"]) for name in ("en", "en-seat"))
    written = "".join(
        tree.files[path].decode()
        for path in modules_named(tree)[0]
        if path.startswith("page/") and path != SAID_LATER
    )
    parts = "|".join(name for name, texts in whole.items() if isinstance(texts, dict))
    asked = set(re.findall(rf"[\"'`]((?:{parts})\.[a-z_]+)(?=[\"'`$])", written)) | {
        "said.and",
        "page.failed",
    }
    asked |= {f"page.flor_{each}" for each in ("on", "off")}
    there = {f"{part}.{name}" for part in SEAT_WORDS for name in way[part]}
    assert asked - {"page.flor_"} == there
    assert way["refused"] == whole["refused"]


@pytest.fixture
def line(tmp_path):
    """Return a line, as fast as can be, to a server of the test's own, and the server."""
    port = free_port()
    with (
        WebServer(tmp_path / "server", origin_port=str(port)) as server,
        slow_line(SlowLine(port, server.web_port, round_trip_s=0)) as line,
    ):
        yield line, server


def all_there() -> str:
    """Return what is true in a page that has been given the modules of all screens, and all that these import."""
    own = (path for path in read_tree().files if path.startswith("page/") and path.endswith(".mjs"))
    screens = [path for path in own if not path.startswith("page/session/")]  # which the worker asks for
    return f"{json.dumps(screens)}.every((path) => performance.getEntriesByType('resource').some((each) => each.name.endsWith(path)))"


@pytest.mark.slow
@needs_browser
def test_modules_come_once_in_one_wave_then_those_of_the_menu_and_a_second_visit_asks_for_the_page_alone(
    chrome, line, tmp_path
) -> None:
    line, server = line
    opening = ("bot", server.real.url, "--create", "truc-french", "--seats", "2")
    with Process(tmp_path / "bot", *opening) as bot, people(chrome, server, 1) as (person,):
        code, page = bot.code(), person.page
        person.sit(code, NAMES[0])
        page.wait_until("document.querySelector('.hand .k')")
        page.wait_until(all_there())
        named = set(re.findall(rb'(?:href|src)="([^"]+)"', read_tree().page({}, is_link=True)))
        asked = [path for _, path in line.asked if "icon" not in path]
        assert [path for path, times in Counter(asked).items() if times > 1] == []
        beside = {f"/t/{code}", f"/t/{code}.json", "/ws"}
        words = {path for path in asked if "/words/" in path}
        modules = [path for path in asked if path not in beside | words]
        later = [path for path in modules if path.encode() not in named]
        assert modules == [path for path in modules if path.encode() in named] + later
        assert later != []
        assert len(words) == 3
        assert beside <= set(asked)
        line.asked.clear()
        page.reload()
        page.wait_until("document.querySelector('.hand .k')")
        page.wait_until(all_there())
        assert {path for _, path in line.asked} <= beside
