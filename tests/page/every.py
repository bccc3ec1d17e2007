"""Whole matches in the page, of every game and seat count: page against page, and page against bots.

`PYTHONPATH=tests:docs .venv/bin/python -m page.every [GAME ...]`; whoever has not come to a proven end is told, and the
exit status is 1 then. Several matches are played at a time, all in one browser.
"""

import argparse
import sys
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from client.browser import Browser
from page.playing import SHORT, Match, WebServer, begun_match, browsing

from truc_rules import preset, presets

LONGER = 15
"""A target that a bet beside the hand does not reach at once."""


def main() -> int:
    """Play them all."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("games", nargs="*", metavar="GAME", help="every game, if none is named")
    asked.add_argument("--whole", action="store_true", help="to the game's own target, and all its games")
    asked.add_argument("--at-once", type=int, default=2, metavar="N", help="how many matches (default: 2)")
    flags = asked.parse_args()
    failed, running = 0, deque[Iterator[bool]]()
    with browsing() as (browser, server, folder):
        for number, match in enumerate(_matches(flags.games or presets(), is_whole=flags.whole)):
            if len(running) == flags.at_once:
                failed += next(running.popleft(), False)
            running.append(_played(browser, server, folder / f"{number}", match))
            failed += next(running[-1])
        failed += sum(next(each, False) for each in running)
    return min(1, failed)


def _matches(games: Sequence[str], *, is_whole: bool) -> Iterator[Match]:
    for name in games:
        has_contests = preset(name).envido is not None or preset(name).flor is not None
        short = SHORT | {"target": LONGER} if has_contests else SHORT
        for seats in preset(name).players:
            for pages in sorted({1, seats}):
                yield Match(name, seats, pages, {} if is_whole else short)


def _played(browser: Browser, server: WebServer, home: Path, match: Match) -> Iterator[bool]:
    """Let a match begin; when asked again, wait for its end. Tells each time whether something has failed."""
    about = f"{match.variant}, {match.seats} seats, {match.pages} pages"
    try:
        with begun_match(browser, server, home, match) as finish:
            yield False
            pressed = finish()
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1].line
        print(f"{about}: {error!r} in {where}", *getattr(error, "__notes__", ()), sep="\n", flush=True)
        yield True
    else:
        print(f"{about}: proven; {', '.join(sorted(pressed))}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
