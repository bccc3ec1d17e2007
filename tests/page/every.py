"""Whole matches in the page, of every game and seat count: page against page, and page against bots.

`PYTHONPATH=tests:docs .venv/bin/python -m page.every [GAME ...]`; whoever has not come to a proven end is told, and the
exit status is 1 then.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from client.browser import Browser, chromium
from page.playing import SHORT, Match, WebServer, play_match

from truc_rules import preset, presets

LONGER = 15
"""A target that a bet beside the hand does not reach at once."""


def main() -> int:
    """Play them all."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("games", nargs="*", metavar="GAME", help="every game, if none is named")
    asked.add_argument("--whole", action="store_true", help="to the game's own target, and all its games")
    flags = asked.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "browser") as running:
        server = WebServer(Path(folder) / "server")
        server.real.start()
        for name in flags.games or presets():
            has_contests = preset(name).envido is not None or preset(name).flor is not None
            short = SHORT | {"target": LONGER} if has_contests else SHORT
            options = {} if flags.whole else short
            for seats in preset(name).players:
                for pages in sorted({1, seats}):
                    match = Match(name, seats, pages, options)
                    failed += not _is_played(running, server, Path(folder) / f"{name}-{seats}-{pages}", match)
        server.real.stop()
    return min(1, failed)


def _is_played(running: Browser, server: WebServer, home: Path, match: Match) -> bool:
    about = f"{match.variant}, {match.seats} seats, {match.pages} pages"
    try:
        pressed = play_match(running, server, home, match)
    except Exception as error:
        print(f"{about}: {error!r}", *getattr(error, "__notes__", ()), sep="\n", flush=True)
        return False
    print(f"{about}: proven; {', '.join(sorted(pressed))}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
