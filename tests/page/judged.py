"""The page as a client that the conformance kit judges: its servers behind what `truc web` runs, the page in Chromium.

`PYTHONPATH=tests:docs .venv/bin/python -m page.judged [GLOB ...]` plays the cases of C3 to C5, or those that are named.
Each visit has a browser of its own, as far as the page can tell. It ends as a program would: with status 0 when the match
is over and its file is saved, with 1 when the page has stopped, at its table or for good. Beside what the kit judges, the
page is held to what people see of it: the screen after a failed check, and the file that other programs judge.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import trio
from client.browser import Browser, Page, chromium
from page.playing import SAID, Person, words

from truc_client.address import Address
from truc_client.line.login import MetServer
from truc_conform.client_cases import JudgingOrder, chosen, perform
from truc_conform.client_harness import ClientHarness
from truc_conform.commands import line
from truc_conform.result import Case, CaseResult, CaseVerdict, Level
from truc_conform.scenes import ClientExit, Scene
from truc_conform.shown import CODE
from truc_protocol.audit import Result, examine, verify
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.messages import Info
from truc_protocol.wire.handshake import Fingerprint, Pin, ServerIdentity, Trust
from truc_terminal.web_carrier import WebCarrier
from truc_web.tree import read_tree

PATIENCE_S: Final = 60.0
LINGERS_S: Final = 0.3
"""For how long a page that has stopped is watched, and pressed, before its visit is over."""
LOOKS_S: Final = 0.03
STATUS: Final = {"over": 0, "stopped": 1, "out": 1, "gone": 1}
"""The exit status of a program that had come to stand like this."""
WORDS: Final = words()
PROOF: Final = WORDS["proof"]
SERVER_NOT_PROVED: Final = WORDS["errors"]["server_not_proved"]
BLAMED: Final = {
    None: PROOF["nobody_blamed"],
    "server": PROOF["blamed"].format(who="the server"),
    "seat 1": PROOF["blamed"].format(who="player 1"),
}
"""What the page says of whom a verifier blames."""
GOOD: Final = (CaseVerdict.PASS, CaseVerdict.INFO)
STAY_OUT: Final = ("C3.hello-", "C3.moved-key", "C4.rotation", "C4.revoked")
FOLLOWED: Final = ("C4.rotation", "C4.rotations")
OPTIONS: Final = "C3.cheat-options-"
OF_TWO: Final = ("C33", "C34", "C36")
"""Checks that two transcripts fail together."""
CHECKS: Final = {"C3.cheat-refused": ["C35"]}
"""Where the case does not name it."""
BEFORE_THE_MATCH: Final = (
    *("C3.cheat-document", "C3.cheat-terms", "C3.cheat-rules", "C3.cheat-seat", "C3.cheat-nonce"),
    "C5.cheat-mode",
)
"""Lies before there is a match of which anything could be kept."""
SEEN_BY_THE_PLAYER: Final = (
    *("C3.cheat-position", "C3.cheat-box", "C3.cheat-refused"),
    *(f"{OPTIONS}{what}" for what in ("again", "foreign", "line", "forbidden", "clear")),
    *("C4.cheat-own-turned", "C4.cheat-share"),
)
"""Lies that only the own key shows, or what came beside the match: one transcript alone says nothing of them."""
SCRIPT: Final = Path(__file__).with_name("visit.js").read_text("utf-8")
SIT_DOWN: Final = f"sitDown({json.dumps({'table': CODE, 'keyTitle': WORDS['key']['title']})})"
STANDS: Final = "stands({})".format(
    json.dumps({"saveWord": SAID["save_file"], "watchedWord": SAID["match_watched"], "goneWord": "closed"})
)
PLAY: Final = f"robot({json.dumps({'isFirst': True, 'saveWord': SAID['save_file']})}).catch(() => {{}}); null"
"""Lets the robot play on by itself: cards first, so that a match lasts."""


class Seen(NamedTuple):
    """How the page stood at the end of a visit.

    Attributes:
        stands: "playing", "over", "stopped" by a check, "out" where it does not come back, "gone" from its table.
        text: what it said then.
        files: what was saved by its buttons: a transcript, and another history where the server has shown two.
        complaints: mistakes of its scripts.
    """

    stands: str
    text: str
    files: tuple[bytes, ...]
    complaints: tuple[str, ...]


class Visitor:
    """Lets the page visit servers of the kit; `seen` is what came of each visit."""

    def __init__(self, browser: Browser, *, watches: bool = False, patience_s: float = PATIENCE_S) -> None:
        self.seen: list[Seen] = []
        self._browser = browser
        self._watches = watches
        self._patience_s = patience_s

    async def __call__(self, server: ClientHarness, home: Path) -> ClientExit:
        """Visit a server once."""
        began = trio.current_time()
        revoked = frozenset({server.revoked.public} if server.takes_revocations else ())
        async with trio.open_nursery() as nursery:
            listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
            origin = f"http://localhost:{listeners[0].socket.getsockname()[1]}"
            goal = f"/w/{CODE}" if self._watches else "/settings"
            carrier = WebCarrier(_met(server), origin, read_tree(), goal, lambda: None, revoked=revoked)
            nursery.start_soon(trio.serve_listeners, carrier.serve, listeners)
            seen = await trio.to_thread.run_sync(self._look_on, server, carrier.link)
            await server.wait_parted(1.0)
            server.is_over = True
            nursery.cancel_scope.cancel()
        self.seen.append(seen)
        return ClientExit(STATUS.get(seen.stands), trio.current_time() - began)

    def _look_on(self, server: ClientHarness, link: str) -> Seen:
        page = Person(self._browser, None).page
        try:
            page.before(SCRIPT)
            page.visit(link)
            if not self._watches:
                page.look(f"{SIT_DOWN}; {PLAY}")
            stands, text = self._until_it_ends(page, server)
            files = _saved(page, stands)
            if stands == "stopped":
                page.look("pressAll()")
                _rest(page, LINGERS_S)
            return Seen(stands, text, files, tuple(map(str, page.complaints)))
        finally:
            server.is_over = server.done.is_set()
            page.close()

    def _until_it_ends(self, page: Page, server: ClientHarness) -> tuple[str, str]:
        """Wait for the end of the visit: the page's, or that of the scene, or of all patience."""
        late = time.monotonic() + self._patience_s
        while True:
            stands, text = page.look(STANDS)
            is_acked = stands != "over" or self._watches or server.is_guest or 0 in server.at_play().acks
            if (stands in STATUS and is_acked) or server.done.is_set() or time.monotonic() > late:
                return stands, text
            _rest(page, LOOKS_S)


def _rest(page: Page, seconds: float) -> None:
    """Let the page be for a while, and hear what it complains of."""
    with suppress(TimeoutError):
        page.browser.until(lambda: False, seconds)


def _saved(page: Page, stands: str) -> tuple[bytes, ...]:
    """Return what the page saves by its button, if it has one."""
    word = {"over": SAID["save_file"], "stopped": PROOF["save_evidence"]}.get(stands)
    button = f"[...document.querySelectorAll('.dock button, [data-dialog] button')].find((it) => it.textContent === {json.dumps(word)})"
    if word is None or not page.look(f"!!{button}"):
        return ()
    return page.all_saved(lambda: page.look(f"{button}.click()"), _histories(page.look(STANDS)[1]))


def _histories(text: str) -> int:
    """Return how many files a page that says this saves: two where it has seen two histories of a match."""
    return 2 if any(check in text for check in OF_TWO) else 1


def _met(server: ClientHarness) -> MetServer:
    """Return what `truc web` would know of a server after it has been there; the page meets it for the first time."""
    key = server.key.public
    place = Address("127.0.0.1", server.doors[0], CODE, Fingerprint(fingerprint(key)))
    identity = ServerIdentity(
        Pin(key, key, 0), Trust.FIRST_CONTACT, 1, bytes(32), msgspec.msgpack.decode(server.info, type=Info)
    )
    return MetServer(place, identity, None)


def perform_in_page(browser: Browser, scene: Scene) -> tuple[list[CaseResult], Seen]:
    """Run a scene of the kit with the page; return what the kit finds, and how the page stood in the end."""
    visitor = Visitor(browser, watches=scene.judged[0][0].name.startswith(Level.C1))
    command = ("the page", "{revocation}")
    results = trio.run(perform, scene, JudgingOrder(command, patience_s=PATIENCE_S), visitor)
    return results, visitor.seen[-1]


def shortcomings(results: list[CaseResult], seen: Seen) -> list[str]:
    """Return what was not as it should be: for the kit, for whoever looks at the page, or for a verifier."""
    found = [f"{result.case.name}: {result.outcome.came}" for result in results if result.verdict not in GOOD]
    if seen.complaints:
        found.append(f"complaints: {seen.complaints}")
    for case, *_ in results:
        found += [f"{case.name}: {each}" for each in _wrong(case, seen)]
    return found


def _wrong(case: Case, seen: Seen) -> Iterator[str]:
    """Yield what is wrong on the screen, or in the files."""
    if case.name.startswith(STAY_OUT) and case.name not in FOLLOWED:
        if seen.stands != "out" or SERVER_NOT_PROVED not in seen.text:
            yield f"expected a stranger's server to be refused, got {seen.stands}: {seen.text}"
    elif ".cheat-" in case.name:
        yield from _wrong_stop(case, seen)
    elif seen.stands == "over" and not all(verify(file).result is Result.PROVEN for file in seen.files):
        yield "expected a proven file"


def _wrong_stop(case: Case, seen: Seen) -> Iterator[str]:
    """Yield what is wrong of a page that has been cheated: the check that it names, whom it blames, what it saves."""
    if seen.stands != "stopped":
        yield f"expected the screen of a failed check, got {seen.stands}: {seen.text}"
        return
    expected = CHECKS.get(case.name) or re.findall(r"C\d+", case.expected.rpartition("(")[2])
    check = next(
        (each for each in expected if PROOF["at_position"].partition(",")[0].format(check=each) in seen.text),
        None,
    )
    if check is None and not (case.name.startswith(OPTIONS) and PROOF["unsound"] in seen.text):
        yield f"expected {expected} to be named, got {seen.text}"
    if (not seen.files) != (case.name in BEFORE_THE_MATCH):
        yield f"it saves {len(seen.files)} files"
    if check in OF_TWO:
        found = examine(seen.files).contradictions
        if BLAMED[found[0].found.culprit if found else None] not in seen.text:
            yield f"expected both histories together to show what the page says: {seen.text}"
    elif seen.files:
        yield from _wrong_file(case, seen, check, seen.files[0])


def _wrong_file(case: Case, seen: Seen, check: str | None, file: bytes) -> Iterator[str]:
    """Yield what is wrong with evidence: it shows the check that the page has named, and who is to blame for it."""
    verdict = verify(file)
    if case.name in SEEN_BY_THE_PLAYER:
        if verdict.result is not Result.INCOMPLETE:
            yield f"expected nothing but an incomplete match, got {verdict.result}: {verdict.refutation}"
        return
    refuted = verdict.refutation
    if refuted is None or refuted.check != check:
        yield f"expected a file that {check} refutes, got {verdict.result}: {refuted}"
    elif BLAMED[refuted.culprit] not in seen.text:
        yield f"expected {refuted.culprit} to be blamed, got {seen.text}"


def main() -> int:
    """Play them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("cases", nargs="*", metavar="GLOB", help="those of C3 to C5, if none is named")
    flags = asked.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, chromium(Path(folder)) as running:
        for scene in chosen(None, flags.cases or ["C3.*", "C4.*", "C5.*"]):
            results, seen = perform_in_page(running, scene)
            found = shortcomings(results, seen)
            failed += bool(found)
            for result in results:
                print(line(result, is_traced=False))
            print(
                f"              the page: {seen.stands}; {', '.join(map(str, map(judged_file, seen.files))) or 'no file'}"
            )
            print(
                *(f"              {each}" for each in found), sep="\n", end="\n" if found else "", flush=True
            )
    return min(1, failed)


def judged_file(file: bytes) -> str:
    """Return what a verifier says of a file, in short."""
    verdict = verify(file)
    return f"{verdict.result} by {verdict.refutation}" if verdict.refutation else str(verdict.result)


if __name__ == "__main__":
    sys.exit(main())
