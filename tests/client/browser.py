"""A browser without a screen, for tests of pages: Chromium, spoken to over the pipe that it has for that.

What a reader does in a page, in whichever browser, is `ReadPage`; `client.firefox` has it for Firefox.

One process serves many pages; those of different people have contexts of their own, which share neither storage nor
cache. What a page or one of its workers does wrong is a complaint: an error of a script, a line of the console's above
the level of information, whatever the policy of the page has refused. Invariant: nothing waits for ever.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

FOUND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(FOUND is None, reason="needs Chromium: apt-get install chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--remote-debugging-pipe"),
    "--in-process-gpu",
    # It asks nobody outside for anything.
    *("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    "--disable-sync",
    # Pages of several people are seen at once.
    *("--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows"),
    "--disable-renderer-backgrounding",
    # Each window would have two pages of its own for its address bar, which take as long as a reader's page.
    "--disable-features=CalculateNativeWinOcclusion,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
)
PATIENCE_S = 60
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
    " ": ("Space", 32, " "),
}


class RefusedError(Exception):
    """The browser has refused a command."""


class ReadPage(ABC):
    """A page as its reader uses it, in whichever browser; `complaints` are what it does wrong, `context` is whose it is."""

    context: str
    complaints: list[Any]

    @abstractmethod
    def close(self) -> None:
        """Close it, as its reader would."""

    @abstractmethod
    def before(self, script: str) -> None:
        """Run a script in each document before its own ones."""

    @abstractmethod
    def visit(self, url: str) -> None:
        """Open an address, and wait until it is there."""

    @abstractmethod
    def wait_for(self, expression: str, seconds: float = PATIENCE_S) -> Any:
        """Return what a promise of the page comes to."""

    @abstractmethod
    def look(self, expression: str) -> Any:
        """Return what an expression comes to in the page."""

    @abstractmethod
    def press(self, key: str, *held: str) -> None:
        """Press a key and let it go, with others held."""

    @abstractmethod
    def type(self, text: str) -> None:
        """Write where the focus is."""

    @abstractmethod
    def click_at(self, x: float, y: float) -> None:
        """Press with the mouse at a place."""

    @abstractmethod
    def saved(self, step: Any) -> bytes:
        """Return the file that is downloaded when something is done."""

    def open(self, path: Path) -> None:
        """Open a file, and wait until it is there with its scripts."""
        self.visit(path.as_uri())

    def wait_until(self, expression: str) -> Any:
        """Wait until an expression comes to something true, and return it; looked at whenever the page is drawn."""
        return self.wait_for(
            f"new Promise((found) => {{ const look = () => {{ const it = ({expression}); if (it) found(it); else setTimeout(look, 20) }}; look() }})"
        )

    def click(self, selector: str) -> None:
        """Press with the mouse in the middle of an element, whatever lies there."""
        x, y = self.wait_until(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)}); if (!it) return null; it.scrollIntoView({{ block: 'nearest' }});"
            " const { x, y, width, height } = it.getBoundingClientRect(); return [x + width / 2, y + height / 2] })()"
        )
        self.click_at(x, y)


class ReadBrowser(Protocol):
    """A browser, whichever it is."""

    def page(self, context: str | None = None) -> ReadPage:
        """Open an empty page: somebody's first, or a further one of theirs in their context."""
        ...


class Browser:
    """A running browser, and its pages."""

    def __init__(self, reader: Any, writer: Any, downloads: Path) -> None:
        self._reader, self._writer, self._numbers, self._buffer = reader, writer, count(1), b""
        self._heard: dict[str, Page] = {}  # by their sessions, those of their workers among them
        self._answers: dict[int, Any] = {}
        self.downloads = downloads

    def page(self, context: str | None = None, *, size: tuple[int, int] = (1280, 800)) -> "Page":
        """Open an empty page: somebody's first, or a further one of theirs in their context."""
        if context is None:
            context = self.ask("Target.createBrowserContext")["browserContextId"]
            allowed = {"behavior": "allowAndName", "downloadPath": str(self.downloads)}
            self.ask("Browser.setDownloadBehavior", browserContextId=context, eventsEnabled=True, **allowed)
        opened = self.ask("Target.createTarget", url="about:blank", browserContextId=context, newWindow=True)
        return Page(self, context, opened["targetId"], size)

    @contextmanager
    def somebody(self) -> Iterator["Page"]:
        """Open an empty page for somebody new, and close it in the end."""
        page = self.page()
        try:
            yield page
        finally:
            page.close()

    def ask(self, method: str, session: str | None = None, seconds: float = PATIENCE_S, **params: Any) -> Any:
        """Send a command and return its result."""
        number = self.send(method, session, **params)
        self.until(lambda: number in self._answers, seconds)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RefusedError(f"{method}: {answer['error']}")
        return answer["result"]

    def send(self, method: str, session: str | None = None, **params: Any) -> int:
        """Send a command; returns the number of its answer."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": params}
        self._writer.write(json.dumps(command | ({"sessionId": session} if session else {})).encode() + b"\0")
        self._writer.flush()
        return number

    def attend(self, session: str, page: "Page") -> None:
        """From now on a page hears what is told in a session."""
        self._heard[session] = page

    def until(self, is_so: Any, seconds: float = PATIENCE_S) -> None:
        """Listen until something is so."""
        end = time.monotonic() + seconds
        while not is_so():
            message = json.loads(self._message(end))
            if "id" in message:
                self._answers[message["id"]] = message
            elif (page := self._heard.get(message.get("sessionId", ""))) is not None:
                page.hear(message["method"], message["params"])
            elif message["method"] == "Browser.downloadProgress":
                for page in set(self._heard.values()):
                    page.hear(message["method"], message["params"])

    def _message(self, end: float) -> bytes:
        while b"\0" not in self._buffer:
            if not select.select([self._reader], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("what was waited for did not happen in the browser")
            came = self._reader.read1()
            if not came:
                raise EOFError("the browser has gone")
            self._buffer += came
        message, _, self._buffer = self._buffer.partition(b"\0")
        return message


class Page(ReadPage):
    """A page that is open; `complaints` are the errors of its scripts and workers, and what it was refused."""

    def __init__(self, browser: Browser, context: str, target: str, size: tuple[int, int]) -> None:
        self.browser, self.context, self.target = browser, context, target
        self.complaints = []
        self._events: list[str] = []
        self._saved: list[str] = []
        self._workers: list[str] = []  # their sessions
        self._session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.attend(self._session, self)
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        self.resize(*size)

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        return self.browser.ask(method, self._session, **params)

    def close(self) -> None:
        self.browser.ask("Target.closeTarget", targetId=self.target)

    def before(self, script: str) -> None:
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=script)

    def visit(self, url: str) -> None:
        self.loaded(lambda: self.ask("Page.navigate", url=url))

    def reload(self) -> None:
        """Load the page again, and wait until it is there."""
        self.loaded(lambda: self.ask("Page.reload"))

    def loaded(self, step: Any) -> None:
        """Wait until what is done has brought another document."""
        self._events.clear()
        step()
        self.browser.until(lambda: "Page.loadEventFired" in self._events)

    def wait_for(self, expression: str, seconds: float = PATIENCE_S) -> Any:
        given = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        told = self.ask("Runtime.evaluate", seconds=seconds, **given)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def look(self, expression: str) -> Any:
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"]
        return result.get("value")

    def press(self, key: str, *held: str) -> None:
        code, number, text = KEYS.get(key, (key, 0, key if len(key) == 1 and not held else ""))
        about: dict[str, Any] = {"key": key, "code": code, "modifiers": sum(MODIFIERS[each] for each in held)}
        if number:
            about["windowsVirtualKeyCode"] = number
        self.ask("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        self.ask("Input.insertText", text=text)

    def click_at(self, x: float, y: float) -> None:
        for what in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)

    def resize(self, width: int, height: int, *, is_phone: bool = False) -> None:
        """Give it another size."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=is_phone,
        )

    def prefer(self, **features: str) -> None:
        """Have a reader with wishes, such as `prefers_reduced_motion="reduce"`."""
        told = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.ask("Emulation.setEmulatedMedia", features=told)

    def network(self, *, is_there: bool) -> None:
        """Take the network away, and with it what its workers have open, or give it back."""
        self._have_network()
        self.ask(
            "Network.emulateNetworkConditions",
            offline=not is_there,
            latency=0,
            downloadThroughput=-1,
            uploadThroughput=-1,
        )
        for worker in (
            () if is_there else self._workers
        ):  # what is open stays so in the browser's own pretence
            ask = partial(self.browser.ask, session=worker)
            kind = ask("Runtime.evaluate", expression="WebSocket.prototype")["result"]["objectId"]
            found = ask("Runtime.queryObjects", prototypeObjectId=kind)["objects"]["objectId"]
            close = "function () { for (const each of this) each.close() }"
            ask("Runtime.callFunctionOn", objectId=found, functionDeclaration=close)

    def withheld(self, *urls: str) -> None:
        """From now on nothing is loaded whose address matches one of these, in the page and the workers that it has by now."""
        for session in self._have_network():
            self.browser.ask("Network.setBlockedURLs", session, urls=list(urls))

    def _have_network(self) -> tuple[str, ...]:
        """Let its network be changed; returns whose: not from the start, since each request is told of from then on."""
        sessions = (self._session, *self._workers)
        for session in sessions:
            self.browser.ask("Network.enable", session)
        return sessions

    def room(self, origin: str, quota: int | None) -> None:
        """Let a site store no more than so many bytes, or as much as it likes again."""
        limit = {} if quota is None else {"quotaSize": quota}
        self.ask("Storage.overrideQuotaForOrigin", origin=origin, **limit)

    def freeze(self, *, is_frozen: bool) -> None:
        """Freeze it as a phone does with what is not seen, or thaw it."""
        self.ask("Emulation.setFocusEmulationEnabled", enabled=not is_frozen)  # what is seen is never frozen
        self.ask("Page.setWebLifecycleState", state="frozen" if is_frozen else "active")

    def heap(self) -> int:
        """Return how many bytes JavaScript holds, of the page and its workers, once what nobody needs any more is gone."""
        used = 0
        for session in (self._session, *self._workers):
            with suppress(RefusedError):  # a worker may end just now
                self.browser.ask("HeapProfiler.collectGarbage", session)
                used += int(self.browser.ask("Runtime.getHeapUsage", session)["usedSize"])
        return used

    def picture(self) -> bytes:
        """Return what is seen, as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot")["data"])

    def saved(self, step: Any) -> bytes:
        return self.all_saved(step, 1)[0]

    def all_saved(self, step: Any, n: int) -> tuple[bytes, ...]:
        """Return so many files that are downloaded when something is done."""
        before = len(self._saved)
        step()
        self.browser.until(lambda: len(self._saved) >= before + n)
        return tuple((self.browser.downloads / name).read_bytes() for name in self._saved[before:])

    def hear(self, method: str, params: Any) -> None:
        """Take what the browser tells of it."""
        self._events.append(method)
        if _is_wrong(method, params):
            self.complaints.append(params)
        match method:
            case "Target.attachedToTarget" | "Target.detachedFromTarget":
                self._follow(params["sessionId"], is_there=method == "Target.attachedToTarget")
            case "Browser.downloadProgress" if params["state"] == "completed":
                self._saved.append(params["guid"])

    def _follow(self, session: str, *, is_there: bool) -> None:
        """Hear of the mistakes of a worker, as long as it is there."""
        if not is_there:
            self._workers = [each for each in self._workers if each != session]
            return
        self._workers.append(session)
        self.browser.attend(session, self)
        for domain in ("Runtime", "Log"):
            self.browser.send(f"{domain}.enable", session)


def _is_wrong(method: str, params: Any) -> bool:
    match method:
        case "Runtime.exceptionThrown":
            return True
        case "Runtime.consoleAPICalled":
            return params["type"] in ("error", "warning", "assert")
        case (
            "Log.entryAdded"
        ):  # below that it tells such things as that somebody was quicker than `autofocus`
            return params["entry"]["level"] in ("error", "warning")
    return False


@contextmanager
def chromium(home: Path) -> Iterator[Browser]:
    """Run a browser whose profile is in a folder of its own."""
    (theirs, to_them), (from_them, ours) = os.pipe(), os.pipe()
    # it reads from descriptor 3 and writes to 4
    script = f'exec "$0" "$@" 3<&{theirs} 4>&{ours}'
    words = ["bash", "-c", script, str(FOUND), *FLAGS, f"--user-data-dir={home}", "about:blank"]
    process = subprocess.Popen(words, pass_fds=(theirs, ours), stderr=subprocess.DEVNULL)
    os.close(theirs)
    os.close(ours)
    try:
        with open(from_them, "rb") as reader, open(to_them, "wb") as writer:
            yield Browser(reader, writer, home / "downloads")
    finally:
        process.terminate()
        process.wait()
