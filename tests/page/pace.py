"""How fast the page is while somebody plays, and what it weighs: from a press to what shows it, from a message to what it draws.

`PYTHONPATH=tests:docs .venv/bin/python -m page.pace` lets the robot play a match against bots in Chromium and prints figures
by the page's own clock, each up to the frame that shows what has come; no bounds. Memory is what JavaScript holds after a
collection, of the page and of its worker together.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from client.browser import Browser, Page
from page.loading import first_weight
from page.playing import NAMES, WebServer, bots, browsing, is_proven, people

from truc_web.tree import read_tree

WATCHES: Final = """
globalThis.pace = { pressed: [], drawn: [], longest: 0, hands: 0 }
// behind the frame that was asked for before, and behind all that is drawn in it
const whenShown = (list) => {
  const from = performance.now()
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => list.push(performance.now() - from)
    port2.postMessage(null)
  })
}
addEventListener('click', () => whenShown(pace.pressed), { capture: true })
const watch = () => globalThis.beside === undefined ? setTimeout(watch) : beside.addEventListener('message', ({ data }) => {
  if (data.message?.t === 'record') whenShown(pace.drawn)
  if (data.what === 'proved') pace.hands = data.hands
})
watch()
new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => { pace.longest = Math.max(pace.longest, duration) })).observe({ type: 'longtask', buffered: true })
"""
MB: Final = 1_000_000


def main() -> None:
    """Play, and print a line for each figure."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--game", default="truco-argentino", metavar="NAME")
    asked.add_argument("--seats", type=int, default=2, help="bots have all but one")
    asked.add_argument("--target", type=int, metavar="POINTS", help="the game's own, if not given")
    asked.add_argument("--slower", type=float, default=1, help="how many times slower the processor is")
    flags = asked.parse_args()
    print(f"weight until a seat, packed: {first_weight(read_tree()) / 1000:.0f} KB")
    with browsing() as (browser, server, folder):
        for line in played(browser, server, folder / "bots", flags):
            print(line, flush=True)


def played(browser: Browser, server: WebServer, home: Path, flags: Any) -> Iterator[str]:
    """Play a match; yield the figures."""
    with people(browser, server, 1, is_painted=True) as (player,):
        page = player.page
        page.before(WATCHES)
        page.ask("Performance.enable", timeDomain="threadTicks")
        page.ask("Emulation.setCPUThrottlingRate", rate=flags.slower)
        options = {"match": 1, **({"target": flags.target} if flags.target else {})}
        code = player.create(NAMES[0], flags.game, flags.seats, options)
        with bots(server, code, flags.seats - 1, home):
            player.begin(1)
            page.wait_until("document.querySelector('.hand .k')")
            before, worked = page.heap(), busy(page)
            player.play()
            worked = busy(page) - worked
            pace = page.look("pace")
            yield f"press to pressed: {spread(pace['pressed'])}"
            yield f"message to drawn: {spread(pace['drawn'])}"
            yield f"longest task of the page: {pace['longest']:.0f} ms"
            yield f"processor, the page's main thread for a message: {1000 * worked / len(pace['drawn']):.1f} ms"
            yield f"memory: {before / MB:.1f} MB with the first cards, {page.heap() / MB:.1f} MB after {pace['hands']} hands"
            assert is_proven(player.saved())


def busy(page: Page) -> float:
    """Return for how many seconds the page's main thread has had a processor."""
    told = page.ask("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in told if each["name"] == "TaskDuration")


def spread(times: Sequence[float]) -> str:
    """Return a sentence of how times in milliseconds are spread."""
    ordered = sorted(times)
    half, most = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.95))
    return f"half within {half:.1f} ms, 95 % within {most:.1f} ms, all within {ordered[-1]:.1f} ms, of {len(ordered)}"


if __name__ == "__main__":
    main()
