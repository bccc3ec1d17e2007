"""How long it takes from a link to a seat, over a slow line and with a slow processor, by the page's own clock.

`PYTHONPATH=tests:docs .venv/bin/python -m page.loading`; on a machine that does other things, `--round-trip 2000 --slower 1`
tells how many round trips it takes, which is what a page can do something about.

Somebody new follows a link, over and over: once they press as soon as they can, once after a while. The last figures are
those of a second visit.
"""

import argparse
import json
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from gzip import compress
from typing import Any, Final

from chaos.servers import free_port
from client.browser import Browser
from page.playing import NAMES, Person, WebServer, browsing
from page.slow_line import SlowLine, slow_line

from truc_web.tree import Tree

WATCHES: Final = """
globalThis.seen = {}
const note = (name) => { seen[name] ??= performance.now() }
const look = () => {
  const field = document.querySelector('form input[name=name]')
  if (field) note('nickname painted')
  if (field?.form.onsubmit) note('can be pressed')
  if (seen['can be pressed'] && globalThis.isPressing && !seen.pressed) {
    note('pressed')
    field.value = NAME
    field.dispatchEvent(new Event('input', { bubbles: true }))
    field.form.requestSubmit()
  }
  if (document.querySelector('.felt')) note('seated')
  if (document.querySelector('.hand .k')) note('own cards')
  requestAnimationFrame(() => setTimeout(look))
}
look()
new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => { seen.longest = Math.max(seen.longest ?? 0, duration) })).observe({ type: 'longtask', buffered: true })
"""
BESIDE: Final = ("page/look.css", "words/fr-seat.json")
"""What a page needs beside its modules until somebody sits; of the longest catalogue."""
BEHIND: Final = ("page/screens.css", "words/fr.json", "words/own.json")
"""The same of all other screens."""
_NAMED: Final = re.compile(r'<link rel="modulepreload" href="/a/\w+/([^"]+)"[^>]*?( fetchpriority="low")?>')
THINKS_TRIPS: Final = 28
SETTLES_TRIPS: Final = 8


def modules_named(tree: Tree) -> tuple[list[str], list[str]]:
    """Return the modules that the page of a link names: until somebody sits, and after that."""
    links = _NAMED.findall(tree.page({}, is_link=True).decode())
    return [path for path, is_late in links if not is_late], [path for path, is_late in links if is_late]


def packed(tree: Tree, paths: Iterable[str]) -> int:
    """Return how many bytes these files are when they are sent."""
    return sum(len(compress(tree.files[path], mtime=0)) for path in paths)


def first_weight(tree: Tree) -> int:
    """Return how many bytes somebody needs to come to a seat by a link."""
    page = compress(tree.page({}, is_link=True), mtime=0)
    return packed(tree, [*modules_named(tree)[0], *BESIDE]) + len(page)


def main() -> None:
    """Measure, and print a line for each figure."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--round-trip", type=float, default=100, metavar="MS")
    asked.add_argument("--megabits", type=float, default=10, help="a second, of the line")
    asked.add_argument("--slower", type=float, default=4, help="how many times slower the processor is")
    flags = asked.parse_args()
    port = free_port()
    with browsing(origin_port=str(port), TRUC_LIMITS_LOGIN_S="120") as (browser, server, _):
        speed = {"round_trip_s": flags.round_trip / 1000, "bytes_a_s": flags.megabits * 125_000}
        with slow_line(SlowLine(port, server.web_port, **speed)) as line:
            for who, thinks in (("at once", False), ("after a while", True)):
                visits = [
                    dict(visit(browser, server, line, flags, thinks=thinks)) for _ in range(flags.rounds)
                ]
                told = {name: statistics.median(each.get(name, 0) for each in visits) for name in visits[0]}
                print(f"pressed {who}", *lines(told, flags.round_trip), sep="\n  ", flush=True)


def lines(told: Mapping[str, float], round_trip: float) -> Iterator[str]:
    """Yield what there is to say."""
    for name, value in told.items():
        is_count = name.startswith(("requests", "KB"))
        yield f"{name}: {value:.0f}" + ("" if is_count else f" ms, {value / round_trip:.1f} round trips")


def visit(
    browser: Browser, server: WebServer, line: SlowLine, flags: Any, *, thinks: bool
) -> Iterator[tuple[str, float]]:
    """Follow a link to a table where somebody waits; yield the figures."""
    host, guest = (Person(browser, server, is_painted=True) for _ in range(2))
    code = host.create(NAMES[0], "truc-french", 2)
    page = guest.page
    page.before(
        WATCHES.replace("NAME", json.dumps(NAMES[1])) + f"globalThis.isPressing = {json.dumps(not thinks)}"
    )
    page.ask("Emulation.setCPUThrottlingRate", rate=flags.slower)
    line.asked.clear()
    line.carried = 0
    page.visit(server.link(code))
    page.wait_until("seen['can be pressed']")
    if thinks:
        _pause(guest, THINKS_TRIPS * flags.round_trip)
        page.look("globalThis.isPressing = true")
    page.wait_until("seen['own cards']")
    seen = page.look("seen")
    for name in ("nickname painted", "can be pressed", "seated", "own cards"):
        yield name, seen[name]
    for name in ("seated", "own cards"):
        yield f"from the press until {name}", seen[name] - seen["pressed"]
    yield "longest task of the page", seen.get("longest", 0)
    _pause(guest, SETTLES_TRIPS * flags.round_trip)
    yield "requests", len(line.asked)
    yield "KB over the line", line.carried / 1000
    line.asked.clear()
    line.carried = 0
    page.reload()
    page.wait_until("seen['own cards']")
    yield "own cards, in a second visit", page.look("seen['own cards']")
    yield "requests of a second visit", len(line.asked)
    yield "KB of a second visit", line.carried / 1000
    for person in (host, guest):
        person.page.close()


def _pause(person: Person, ms: float) -> None:
    person.page.wait_for(f"new Promise((done) => setTimeout(done, {ms}))")


if __name__ == "__main__":
    main()
