"""The page in real browsers, and who plays in it: a server with a door, people in contexts of their own, a robot."""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from chaos.servers import free_port
from client.browser import Browser, ReadBrowser, ReadPage, chromium
from client.serving import RealServer
from clients_elsewhere.programs import Place

from truc_protocol.audit import Result
from truc_protocol.audit import verify as audited
from truc_protocol.records import BLIND
from truc_words.catalogue import read_text

TESTS = Path(__file__).parents[1]
ROBOT = Path(__file__).with_name("robot.js").read_text("utf-8")
HELD = "globalThis.Worker = class extends Worker { constructor(...given) { super(...given); globalThis.beside = this } }"
"""Keeps the page's worker where a test can ask it for what no screen has a button for."""
UNSEEN = """(() => {
  const begin = () => {
    if (document.documentElement) document.documentElement.style.opacity = 0
    else setTimeout(begin)
  }
  begin()
})()"""
"""Lets a page be laid out, moved and pressed as ever, and not painted: that takes a third of the time of a match."""
SHORT: Mapping[str, int | str] = {"match": 1, "target": 3}
WHOLE_MATCH_S = 200
"""The robot gives up where a match stands still; a test that is given up before its time says what is seen."""
LAST_S = 120
"""Within this bots end that have seen the end of their match."""
NAMES = ("Ada", "Blai", "Caterina", "Dolors", "Eloi", "Fina")


def words(lang: str = "en") -> dict[str, Any]:
    """Return the words of the page."""
    return tomllib.loads(read_text(f"page/{lang}.toml"))


SAID = words()["page"]


class WebServer:
    """A server with a door for browsers, as a process of its own; it can be killed and started again."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.web_port = free_port()
        self.origin = f"http://localhost:{settings.pop('origin_port', self.web_port)}"
        environment = {
            "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
            "TRUC_WEB_LISTEN": f"127.0.0.1:{self.web_port}",
            "TRUC_WEB_ORIGIN": self.origin,
            **settings,
        }
        self.real = RealServer(data, environment, program=("page.wide_server", "run"))

    def __enter__(self) -> Self:
        self.real.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.real.stop()

    def link(self, code: str = "") -> str:
        return f"{self.origin}/t/{code}" if code else f"{self.origin}/"


@contextmanager
def browsing(**settings: str) -> Iterator[tuple[Browser, WebServer, Path]]:
    """Run a browser and a server, and yield them with a folder for what else is kept."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        chromium((folder := Path(name)) / "browser") as browser,
        WebServer(folder / "server", **settings) as server,
    ):
        yield browser, server, folder


class Person:
    """Somebody with a browser of their own at a server; what they see is painted where somebody looks at it."""

    def __init__(
        self,
        browser: ReadBrowser,
        server: WebServer | None,
        context: str | None = None,
        *,
        is_painted: bool = False,
    ) -> None:
        self.page: ReadPage = browser.page(context)
        self.server = server
        self.page.before(HELD)
        self.page.before(ROBOT)
        if not is_painted:
            self.page.before(UNSEEN)

    def sit(self, code: str, name: str) -> None:
        """Open the link of a table, and sit down there as somebody new does."""
        self.page.visit(self.server.link(code))
        self.say_name(name)

    def say_name(self, name: str) -> None:
        """Write a name into the field for it, and sit down by it."""
        self.page.wait_until("document.querySelector('form input[name=name]')")
        # not by the mouse: what comes into the screen meanwhile moves the field
        self.page.look("document.querySelector('form input[name=name]').focus()")
        self.page.type(name)
        self.page.press("Enter")

    def create(
        self,
        name: str,
        variant: str,
        seats: int,
        options: Mapping[str, int | str] = SHORT,
        *,
        is_private: bool = True,
    ) -> str:
        """Open a table, and sit there, as somebody who has come to the server; returns its code."""
        self.page.visit(self.server.link())
        return self.opened(name, variant, seats, options, is_private=is_private)

    def opened(
        self,
        name: str,
        variant: str,
        seats: int,
        options: Mapping[str, int | str] = SHORT,
        *,
        is_private: bool = True,
    ) -> str:
        """Open a table, and sit there; returns its code."""
        self.say_name(name)
        self.page.wait_until(
            f"document.querySelector('header a.chip')?.textContent.startsWith({json.dumps(name)})"
        )
        asked = {"variant": variant, "seats": seats, "options": options, "private": is_private}
        code: str = self.ask("create", asked)["table"]
        self.go(f"/t/{code}")
        self.ask("ready", {"table": code})
        return code

    def go(self, path: str) -> None:
        """Go on to another screen, as a link of the page does."""
        self.page.look(f"history.pushState(null, '', '{path}'); dispatchEvent(new PopStateEvent('popstate'))")

    def seen(self) -> str:
        """Return what the page shows and what it complains of, for whoever looks for a mistake."""
        return f"{self.page.look('document.body.innerText')}\n{json.dumps(self.page.complaints)[:2000]}"

    def ask(self, t: str, fields: Mapping[str, Any]) -> Any:
        """Ask the server for something by the page's worker; returns its answer."""
        wish = json.dumps({"do": "ask", "n": 1_000_000, "t": t, "fields": fields})
        return self.page.wait_for(
            "new Promise((resolve) => { const heard = ({ data }) => { if (data.what !== 'reply' || data.n !== 1000000) return;"
            f" beside.removeEventListener('message', heard); resolve(data.message) }}; beside.addEventListener('message', heard); beside.postMessage({wish}) }})"
        )

    def begin(self, seed: int, *, is_first: bool = False, most: int = 100_000) -> None:
        """Let the robot play on, while others are looked at."""
        given = {"seed": seed, "isFirst": is_first, "saveWord": SAID["save_file"], "most": most}
        self.page.look(f"globalThis.playing = robot({json.dumps(given)}); playing.catch(() => {{}}); null")

    def play(self) -> dict[str, Any]:
        """Wait until the robot has come to the end."""
        return self.page.wait_for("playing", WHOLE_MATCH_S)

    def saved(self) -> bytes:
        """Return the file that the page saves by its own button."""
        button = f"[...document.querySelectorAll('.dock button')].find((it) => it.textContent === {json.dumps(SAID['save_file'])})"
        return self.page.saved(lambda: self.page.look(f"{button}.click()"))


def is_proven(file: bytes) -> bool:
    return audited(file).result is Result.PROVEN


@contextmanager
def people(
    browser: ReadBrowser, server: WebServer | None, n: int, *, is_painted: bool = False
) -> Iterator[list[Person]]:
    """Let so many people come, each with a browser of their own; none of their pages may have a complaint."""
    came = [Person(browser, server, is_painted=is_painted) for _ in range(n)]
    try:
        yield came
        assert [person.page.complaints for person in came] == [[] for _ in came]
    except BaseException as error:
        for person in came:
            error.add_note(person.seen())
        raise
    finally:
        for person in came:
            person.page.close()


def without_lost_connections(page: ReadPage) -> None:
    """A server that is gone is no mistake of the page."""
    page.complaints[:] = [
        each for each in page.complaints if "WebSocket" not in str(each) and "ERR_" not in str(each)
    ]


@contextmanager
def bots(server: WebServer, code: str, n: int, home: Path) -> Iterator[None]:
    """Let so many bots sit down at a table."""
    link = str(Place(server.real.port, code, str(server.real.address.fingerprint)))
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "truc_terminal", "bot", link, "--name", f"bot{i}", "--seed", str(i)],
            env={**os.environ, "TRUC_HOME": str(home / f"bot{i}")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for i in range(n)
    ]
    try:
        yield
        assert [bot.wait(LAST_S) for bot in running] == [0] * n
    finally:
        for bot in running:
            bot.kill()
            bot.communicate()


class Match(NamedTuple):
    """What is played: so many of the seats have pages, bots the others."""

    variant: str
    seats: int = 2
    pages: int = 1
    options: Mapping[str, int | str] = {}


def play_match(browser: ReadBrowser, server: WebServer, home: Path, match: Match) -> set[str]:
    """Play a match; returns the kinds of what was pressed. Every page saves a proven file, by its own button."""
    with begun_match(browser, server, home, match) as finish:
        return finish()


@contextmanager
def begun_match(
    browser: ReadBrowser, server: WebServer, home: Path, match: Match
) -> Iterator[Callable[[], set[str]]]:
    """Let a match begin, which goes on while others are looked at; what is yielded waits for its end."""
    variant, seats, pages, options = match
    with people(browser, server, pages) as players:
        code = players[0].create(NAMES[0], variant, seats, options)
        for player, name in zip(players[1:], NAMES[1:], strict=False):
            player.sit(code, name)
        with bots(server, code, seats - pages, home):
            for seed, player in enumerate(players):
                player.begin(seed + 1, is_first=seed == 1)
            yield lambda: _finished(players, deals=options.get("mode") == BLIND)


def _finished(players: list[Person], *, deals: bool) -> set[str]:
    told = [player.play() for player in players]
    verdicts = [audited(player.saved()) for player in players]
    assert [(verdict.result, verdict.host_saw_no_card) for verdict in verdicts] == [
        (Result.PROVEN, deals) for _ in players
    ]
    return {kind for each in told for kind in each["kinds"]}
