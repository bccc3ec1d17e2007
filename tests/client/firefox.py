"""Firefox without a screen, for tests of pages: spoken to by WebDriver BiDi, in the WebSocket that it opens for that.

What a reader does in a page is that of `client.browser`; here is how Firefox is told to do it. What a script of a page
does wrong, or says above the level of information, is a complaint. Invariant: nothing waits for ever.
"""

import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from client.browser import PATIENCE_S, ReadPage, RefusedError
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, Request, TextMessage

FOUND = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
needs_firefox = pytest.mark.skipif(FOUND is None, reason="needs Firefox: apt-get install firefox-esr")
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Escape": "\ue00c"}
READ_BYTES = 1 << 16
POLL_S = 0.05
SETTINGS: dict[str, bool | int | str] = {
    # It asks nobody outside for anything.
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.update.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.region.network.url": "",
    "browser.search.update": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "network.prefetch-next": False,
    "services.settings.server": "http://localhost:1/",
    "toolkit.telemetry.enabled": False,
    "browser.startup.page": 0,
    # Pages of several people are seen at once.
    "dom.min_background_timeout_value": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    # What is saved is saved at once.
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.helperApps.neverAsk.saveToDisk": "application/octet-stream",
}


class Firefox:
    """A running Firefox, and its pages."""

    def __init__(self, line: socket.socket, downloads: Path) -> None:
        self._socket = line
        self._words = WSConnection(ConnectionType.CLIENT)
        self._pieces: list[str] = []
        self._numbers = count(1)
        self._answers: dict[int, Any] = {}
        self._pages: dict[str, FirefoxPage] = {}
        self._is_open = False
        self.downloads = downloads
        host, port = line.getpeername()
        self._socket.sendall(self._words.send(Request(host=f"{host}:{port}", target="/session")))
        self._listen(lambda: self._is_open, PATIENCE_S)
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])

    def page(self, context: str | None = None) -> "FirefoxPage":
        """Open an empty page: somebody's first, or a further one of theirs in their context."""
        if context is None:
            context = self.ask("browser.createUserContext")["userContext"]
        opened = self.ask("browsingContext.create", type="window", userContext=context)["context"]
        page = self._pages[opened] = FirefoxPage(self, context, opened)
        return page

    def ask(self, method: str, seconds: float = PATIENCE_S, **params: Any) -> Any:
        """Send a command and return its result."""
        number = next(self._numbers)
        command = json.dumps({"id": number, "method": method, "params": params})
        self._socket.sendall(self._words.send(TextMessage(command)))
        self._listen(lambda: number in self._answers, seconds)
        answer = self._answers.pop(number)
        if answer["type"] == "error":
            raise RefusedError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def _listen(self, is_so: Any, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            self._socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                came = self._socket.recv(READ_BYTES)
            except TimeoutError:
                raise TimeoutError("what was waited for did not happen in Firefox") from None
            if not came:
                raise EOFError("Firefox has gone")
            self._words.receive_data(came)
            for event in self._words.events():
                self._hear(event)

    def _hear(self, event: Any) -> None:
        match event:
            case AcceptConnection():
                self._is_open = True
            case TextMessage():
                self._pieces.append(event.data)
                if event.message_finished:
                    self._take(json.loads("".join(self._pieces)))
                    self._pieces.clear()
            case Ping():
                self._socket.sendall(self._words.send(event.response()))
            case CloseConnection() | BytesMessage():
                raise EOFError("Firefox has ended the session")

    def _take(self, message: Any) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        told = message["params"]
        page = self._pages.get(told.get("source", {}).get("context", ""))
        if page is not None and told["level"] in ("warn", "error"):
            page.complaints.append(told)


class FirefoxPage(ReadPage):
    """A page that is open in Firefox."""

    def __init__(self, browser: Firefox, context: str, opened: str) -> None:
        self.browser, self.context, self._opened = browser, context, opened
        self.complaints = []

    def close(self) -> None:
        self.browser.ask("browsingContext.close", context=self._opened)

    def before(self, script: str) -> None:
        declared = f"() => {{ {script}\n}}"
        self.browser.ask("script.addPreloadScript", functionDeclaration=declared, contexts=[self._opened])

    def visit(self, url: str) -> None:
        self.browser.ask("browsingContext.navigate", context=self._opened, url=url, wait="complete")

    def wait_for(self, expression: str, seconds: float = PATIENCE_S) -> Any:
        return self._evaluate(expression, seconds, awaits=True)

    def look(self, expression: str) -> Any:
        return self._evaluate(expression, PATIENCE_S, awaits=False)

    def _evaluate(self, expression: str, seconds: float, *, awaits: bool) -> Any:
        told = self.browser.ask(
            "script.evaluate",
            seconds,
            expression=expression,
            target={"context": self._opened},
            awaitPromise=awaits,
        )
        assert told["type"] == "success", told["exceptionDetails"]
        return _plain(told["result"])

    def press(self, key: str, *held: str) -> None:
        assert not held, "keys held are of no test in Firefox so far"
        self._type([KEYS.get(key, key)])

    def type(self, text: str) -> None:
        self._type([*text])

    def _type(self, keys: list[str]) -> None:
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": steps})

    def click_at(self, x: float, y: float) -> None:
        steps: list[dict[str, Any]] = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})

    def _act(self, source: dict[str, Any]) -> None:
        self.browser.ask("input.performActions", context=self._opened, actions=[source])

    def saved(self, step: Any) -> bytes:
        folder, end = self.browser.downloads, time.monotonic() + PATIENCE_S
        before = set(folder.iterdir())
        step()
        while not (whole := _saved(folder, before)):
            assert time.monotonic() < end, "nothing was saved"
            time.sleep(POLL_S)  # BiDi tells of no download's end: the folder alone does
        return whole[0].read_bytes()


def _saved(folder: Path, before: set[Path]) -> list[Path]:
    """Return the new files, once none is being written."""
    new = [path for path in folder.iterdir() if path not in before]
    is_written = any(path.suffix == ".part" or not path.stat().st_size for path in new)
    return [] if is_written else new


def _plain(told: dict[str, Any]) -> Any:
    """Return a value that a script came to; an element is one of no value."""
    match told:
        case {"type": "array", "value": items}:
            return [_plain(item) for item in items]
        case {"type": "object", "value": items}:
            return {name: _plain(item) for name, item in items}
        case {"type": "string" | "number" | "boolean", "value": value}:
            return value
        case {"type": "null" | "undefined"}:
            return None
        case _:
            return {}


@contextmanager
def firefox(home: Path) -> Iterator[Firefox]:
    """Run a Firefox whose profile is in a folder of its own."""
    downloads = home / "downloads"
    downloads.mkdir(parents=True)
    settings = SETTINGS | {"browser.download.dir": str(downloads)}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items()]
    (home / "user.js").write_text("\n".join(lines), "utf-8")
    told = home / "told.txt"
    command = [
        str(FOUND),
        "--headless",
        "--no-remote",
        "--profile",
        str(home),
        "--remote-debugging-port",
        "0",
    ]
    with told.open("w") as file, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file) as process:
        try:
            with socket.create_connection(("127.0.0.1", _port_of(told)), PATIENCE_S) as line:
                yield Firefox(line, downloads)
        finally:
            process.terminate()


def _port_of(told: Path) -> int:
    """Wait until Firefox has told on which port it listens."""
    end = time.monotonic() + PATIENCE_S
    while (found := re.search(r"ws://127\.0\.0\.1:(\d+)", told.read_text("utf-8"))) is None:
        assert time.monotonic() < end, "Firefox did not say on which port it listens"
        time.sleep(POLL_S)  # the port is told in a file, which nobody can wait for
    return int(found[1])
