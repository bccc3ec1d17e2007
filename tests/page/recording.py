"""What the page's worker has told it at real tables, as files: from them `looks.py` makes every screen without a server.

`PYTHONPATH=tests:docs .venv/bin/python -m page.recording [NAME ...]` plays until each table has something to show, and
writes `recorded/NAME.json`. The cards are others each time, so pictures made from older files are no measure then.
"""

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from client.browser import Browser
from page.playing import NAMES, Person, WebServer, browsing

FOLDER = Path(__file__).with_name("recorded")
TELLS = """globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given)
    globalThis.beside = this
    globalThis.told = []
    this.addEventListener('message', ({ data }) => told.push(data))
  }
}"""
TOLD = "JSON.stringify(told, (_, value) => value instanceof Uint8Array ? null : value)"
CARDS = "[...document.querySelectorAll('.hand button:not([aria-disabled=true])')]"
ANSWERS = (
    "[...document.querySelectorAll('button:is([data-slot=accept], [data-slot=decline]):not(:disabled)')]"
)
RAISES = "[...document.querySelectorAll('button.ra:not(:disabled)')]"
REST = "[...document.querySelectorAll('.acts button[data-slot]:not(:disabled, [data-slot=concede], [data-slot=resign], [data-slot=signs])')]"
ASKED = "document.querySelector('.say.call') && document.querySelector('button[data-slot=accept]:not(:disabled)') && document.querySelectorAll('.lanes .k, .pt .k').length >= {laid}"
TURN = "document.querySelector('.hand button:not([aria-disabled=true])') && document.querySelectorAll('.pt .k').length >= {laid}"
ENDED = "document.querySelector('[data-dialog=end] .checked')"
HOUSE = ("up", "vault", "line", "server", "me")
MOST_STEPS = 600


class Recorded(NamedTuple):
    """A table that is recorded: its game, how much has to lie on it when it is looked at, and what is awaited then."""

    variant: str
    seats: int
    options: Mapping[str, int | str]
    laid: int
    awaited: str = ASKED


TABLES = {
    "duel-spanish": Recorded("truco-argentino-flor", 2, {"target": 12}, 1),
    "duel-french": Recorded("truc-french", 2, {"match": 1}, 1),
    "four-spanish": Recorded("truco-argentino", 4, {"target": 15}, 2),
    "four-french": Recorded("truco-paulista", 4, {"target": 12}, 2),
    "six-spanish": Recorded("truco-argentino", 6, {"target": 30}, 4, TURN),
    "six-french": Recorded("truco-paulista", 6, {"target": 12}, 2),
    "sample-spanish": Recorded("truco-uruguayo", 6, {"target": 30}, 4, TURN),
}


def press(players: Sequence[Person], chance: random.Random) -> None:
    """Let somebody who can do something do it: the first never asks, so that others do."""
    for player in chance.sample(players, len(players)):
        kinds = (
            (ANSWERS, CARDS, REST)
            if player is players[0] or chance.random() < 0.7
            else (ANSWERS, RAISES, CARDS, REST)
        )
        for kind in kinds:
            if n := player.page.look(f"{kind}.length"):
                player.page.look(f"{kind}[{chance.randrange(n)}].click()")
                time.sleep(0.1)
                return
    time.sleep(0.05)


def until(players: Sequence[Person], condition: str, chance: random.Random) -> None:
    for _ in range(MOST_STEPS):
        if players[0].page.look(f"Boolean({condition})"):
            return
        for player in players[1:]:
            player.page.look("document.querySelector('[data-dialog=end] .b.yes')?.click()")
        press(players, chance)
    raise TimeoutError(condition)


def of_table(told: Sequence[Any], code: str) -> list[Any]:
    return [each for each in told if code in (each.get("table"), each.get("message", {}).get("table"))]


def record(browser: Browser, server: WebServer, name: str, table: Recorded) -> None:
    """Play at a table, and write what its first player's page was told up to the end of a hand that was looked at."""
    players = [Person(browser, server) for _ in range(table.seats)]
    players[0].page.before(TELLS)
    code = players[0].create(NAMES[0], table.variant, table.seats, table.options)
    for player, each in zip(players[1:], NAMES[1:], strict=False):
        player.sit(code, each)
    for player in players:
        player.page.wait_until("document.querySelector('.hand')")
    chance = random.Random(name)
    until(players, table.awaited.format(laid=table.laid), chance)
    if table.seats == 4:
        sign = "document.querySelector('[data-dialog=signs] .choices button')"
        players[2].page.look("document.querySelector('[data-slot=signs]').click()")
        players[2].page.wait_until(sign)
        players[2].page.look(f"{sign}.click()")
        players[0].page.wait_until("document.querySelectorAll('.say').length > 1")
    asked = of_table(json.loads(players[0].page.look(TOLD)), code)
    until(players, ENDED, chance)
    told = json.loads(players[0].page.look(TOLD))
    ended = of_table(told, code)
    write(name, {"code": code, "asked": len(asked), "events": ended})
    write("house", [each for each in told if each["what"] in HOUSE])
    for player in players:
        player.page.close()


def write(name: str, recorded: Any) -> None:
    text = json.dumps(recorded, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / f"{name}.json").write_text(f"{text}\n", "utf-8")


def main() -> None:
    """Record some of them, or all."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument(
        "names", nargs="*", metavar="NAME", choices=[[], *TABLES], help="all, if none is named"
    )
    names = asked.parse_args().names or TABLES
    with browsing() as (browser, server, _):
        for name in names:
            record(browser, server, name, TABLES[name])


if __name__ == "__main__":
    main()
