"""A browser without a screen, for tests of pages: Chromium, spoken to over the pipe that it has for that."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

FOUND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(FOUND is None, reason="needs Chromium: apt-get install chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--remote-debugging-pipe"),
    # It asks nobody outside for anything.
    *("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
)


class Page:
    """A page that is open; `complaints` are the errors of its scripts, and what it was refused."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader, self._writer, self._numbers, self._session = reader, writer, count(1), None
        self.complaints: list[Any] = []
        self._buffer = b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": params}
        self._writer.write(
            json.dumps(command | ({"sessionId": self._session} if self._session else {})).encode()
        )
        self._writer.write(b"\0")
        self._writer.flush()
        return self._until(lambda it: it.get("id") == number)["result"]

    def open(self, path: Path) -> None:
        """Open a file, and wait until it is there with its scripts."""
        self.visit(path.as_uri())

    def visit(self, url: str) -> None:
        """Open an address, and wait until it is there."""
        self.ask("Page.navigate", url=url)
        self._until(lambda it: it.get("method") == "Page.loadEventFired")

    def wait_for(self, expression: str) -> Any:
        """Return what a promise of the page comes to."""
        told = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def look(self, expression: str) -> Any:
        """Return what an expression comes to in the page."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"]
        return result.get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        for what in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=what, key=key)

    def _listen(self, session: str) -> None:
        """Hear of the mistakes of a worker."""
        for domain in ("Runtime", "Log"):
            command = {"id": next(self._numbers), "method": f"{domain}.enable", "sessionId": session}
            self._writer.write(json.dumps(command).encode() + b"\0")
        self._writer.flush()

    def _until(self, is_it: Any) -> Any:
        while True:
            message = json.loads(self._message())
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(message["params"])
            elif message.get("method") == "Target.attachedToTarget":
                self._listen(message["params"]["sessionId"])
            elif message.get("method") == "Runtime.consoleAPICalled" and message["params"]["type"] == "error":
                self.complaints.append(message["params"])
            if is_it(message):
                return message

    def _message(self) -> bytes:
        while b"\0" not in self._buffer:
            came = self._reader.read1()
            if not came:
                raise EOFError("the browser has gone")
            self._buffer += came
        message, _, self._buffer = self._buffer.partition(b"\0")
        return message


@contextmanager
def browser(home: Path) -> Iterator[Page]:
    """Run a browser whose profile is in a folder of its own, with an empty page."""
    (theirs, to_them), (from_them, ours) = os.pipe(), os.pipe()
    # it reads from descriptor 3 and writes to 4
    script = f'exec "$0" "$@" 3<&{theirs} 4>&{ours}'
    words = ["bash", "-c", script, str(FOUND), *FLAGS, f"--user-data-dir={home}", "about:blank"]
    process = subprocess.Popen(words, pass_fds=(theirs, ours), stderr=subprocess.DEVNULL)
    os.close(theirs)
    os.close(ours)
    try:
        with open(from_them, "rb") as reader, open(to_them, "wb") as writer:
            yield Page(reader, writer)
    finally:
        process.terminate()
        process.wait()
