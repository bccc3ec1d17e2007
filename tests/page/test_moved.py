"""A page that `truc web` serves on the player's own machine follows a server that has moved, as other programs do.

A page that a server serves itself stays at its origin, and says where the server is. `page.judged` holds the first to the kit's cases.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from client.browser import needs_browser
from client.running import Process
from client.serving import RealServer
from page.playing import NAMES, SAID, Person, WebServer, bots, is_proven

from truc_client.address import Address
from truc_client.line.line import STEADY_S
from truc_client.line.opening import MAX_MOVES
from truc_protocol.errors import Code
from truc_protocol.messages import Pong, bye, refusal
from truc_protocol.wire.encoding import encode
from truc_terminal.web_carrier import ServerPlace

FIRST = Address("first.example", 7373)
FEW = 1  # presses before the server moves
READS = """
globalThis.hasRead = false
new MutationObserver(() => { hasRead ||= document.body.innerText.includes(%s) }).observe(document.body, { childList: true, subtree: true })
null"""
"""Keeps in mind whether the page has said something."""


def heard(where: ServerPlace, *messages, now: float = 100.0) -> list[bool]:
    return [where.hear(encode(each), now) for each in messages]


def moved(to: str):
    return bye(Code.MOVED, "this server has moved", to=to)


def test_a_server_that_has_moved_is_looked_for_where_it_says():
    where = ServerPlace(FIRST._replace(is_tls=True))
    assert heard(where, moved("second.example:8000")) == [False]
    assert where.address == Address("second.example", 8000, is_tls=True)
    heard(where, bye(Code.KICKED, "away", to="third.example:1"), moved("no address"), Pong(n=1, now_ms=2))
    assert where.hear(b"\xa3bye", 100.0) is False
    assert where.address.host == "second.example"
    where.miss()
    assert where.address == FIRST._replace(is_tls=True)


def test_a_server_that_moves_on_and_on_is_looked_for_where_it_was_first():
    where = ServerPlace(FIRST)
    for n in range(MAX_MOVES):
        heard(where, *2 * [moved(f"{n}.example:1")])  # over two connections
        assert where.address.host == f"{n}.example"
    heard(where, moved("once-more.example:1"))
    assert where.address == FIRST


def test_a_while_without_a_move_ends_a_row():
    where = ServerPlace(FIRST)
    for n in range(2 * MAX_MOVES):
        heard(where, moved(f"{n}.example:1"), now=100 + n * STEADY_S)
        assert where.address.host == f"{n}.example"


def test_encryption_is_taken_up_and_never_given_up():
    where = ServerPlace(FIRST)
    asks_for_tls = refusal(Code.UNSUPPORTED, "TLS only", detail={"tls": True})
    assert heard(where, asks_for_tls, asks_for_tls, refusal(Code.UNSUPPORTED, "no")) == [True, False, False]
    assert where.address == FIRST._replace(is_tls=True)


@contextmanager
def own_machine(server: RealServer, home: Path) -> Iterator[str]:
    """Run `truc web` for a server; yields the link that it prints."""
    with Process(home, "web", server.url, "--port", "0", "--no-browser") as running:
        links = (re.search(r"http://localhost:\S+/open/\S+", line) for line in running.process.stdout)
        yield next(found[0] for found in links if found is not None)


@pytest.mark.slow
@needs_browser
def test_a_match_goes_on_in_the_page_where_its_server_has_moved(chrome, tmp_path) -> None:
    old, new = WebServer(tmp_path / "old"), WebServer(tmp_path / "new")
    person = Person(chrome, None)
    page = person.page
    with ExitStack() as ends:
        ends.callback(page.close)
        old.real.start()
        ends.callback(old.real.stop)
        page.visit(ends.enter_context(own_machine(old.real, tmp_path / "home")))
        page.look(READS % json.dumps(SAID["moved"]))
        code = person.opened(NAMES[0], "truc-french", 2, {"match": 1, "target": 3})
        with bots(old, code, 1, tmp_path / "bots"):
            person.begin(1, is_first=True, most=FEW)
            assert not person.play()["isOver"]
            old.real.stop()
            shutil.copytree(old.real.data, new.real.data)
            new.real.start()
            ends.callback(new.real.stop)
            old.real.environment["TRUC_ACCESS_MOVED_TO"] = f"127.0.0.1:{new.real.port}"
            old.real.start()
            person.begin(2, is_first=True)
            assert person.play()["isOver"]
        assert is_proven(person.saved())
        assert not page.look("hasRead")
