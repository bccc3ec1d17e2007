"""Every screen of the page without a server behind it: its worker is one that tells what was recorded at real tables.

The clock stands still and nothing moves, so what is drawn depends on the page, the browser and its fonts alone.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from client.browser import Browser, Page

FOLDER: Final = Path(__file__).with_name("recorded")
CHECKS: Final = Path(__file__).with_name("checks.js").read_text("utf-8")
SIZES: Final = {"desktop": (1280, 800), "tablet": (820, 1180), "phone": (390, 844)}
NOW_MS: Final = 1000
ONE_PACK: Final = ("sample",)
"""Six at a table with a card turned up, the sample, and a value of one's own, in the game that has both."""

FAKE = """
performance.now = () => %(now)d
globalThis.Worker = class {
  constructor() {
    globalThis.beside = this
    setTimeout(() => this.tell({ what: 'up' }))
  }
  postMessage(wish) {
    if (wish.do === 'begin') for (const event of %(house)s) this.tell(event)
    if (wish.n === undefined) return
    const message = %(answers)s[wish.t ?? wish.do] ?? { t: 'ok' }
    setTimeout(() => this.tell({ what: 'reply', n: wish.n, message }))
  }
  tell(data) {
    if (data.what !== 'up') this.onmessage?.({ data })
    else this.onmessage({ data })
  }
}
globalThis.go = (path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')) }
globalThis.drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))
"""


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def house() -> list[Any]:
    """Return what is told when a visit begins; the name is one that was chosen."""
    last = {each["what"]: each for each in read("house") if each["what"] not in ("up", "line")}
    vault = {"what": "vault", "name": "Ada", "isNew": False}
    me = {**last["me"], "name": "Ada", "tag": "ADA2ADA2ADA2ADA2ADA2ADA2AD"}
    return [vault, {"what": "line", "state": "ready"}, last["server"], me]


def messages(name: str, kind: str) -> list[Any]:
    events = read(name)["events"]
    return [each["message"] for each in events if each["what"] == "told" and each["message"]["t"] == kind]


def listed(code: str, name: str, *, taken: int, state: str = "open") -> dict[str, Any]:
    """Return a public table like a recorded one, with so many seats taken."""
    table = next(each for each in messages(name, "table") if all(s["kind"] != "empty" for s in each["seats"]))
    seats = [
        seat if at < taken else {"seat": at, "kind": "empty"}
        for at, seat in enumerate(table["seats"][1:] + table["seats"][:1])
    ]
    seats = [{**seat, "seat": at} for at, seat in enumerate(seats)]
    return {
        "what": "told",
        "message": {**table, "table": code, "private": False, "state": state, "seats": seats},
    }


def story(name: str) -> dict[str, Any]:
    """Return what the replay is told of a match."""
    setup = messages(name, "setup")[0]
    table = messages(name, "table")[-1]
    records = [[each["k"], each["means"]] for each in messages(name, "record")]
    names = [seat.get("name") for seat in table["seats"]]
    kept = {"match": setup["match"], "rules": setup["rules"], "names": names, "seat": 0, "story": records}
    return {"t": "ok", "kept": kept}


def answers(name: str) -> Mapping[str, Any]:
    """Return what is answered to wishes, by their kind."""
    place = {"player": "B", "name": "Blai", "rank": 1, "points": 232, "matches": 41, "won": 30}
    match = {
        "match": "ab" * 32,
        "variant": "truco-argentino",
        "names": ["Ada", "Blai"],
        "seat": 0,
        "winner": 0,
    }
    past = {
        **match,
        "isOver": True,
        "failed": None,
        "score": [[0, 12, 0], [0, 9, 0]],
        "ended": 1_790_000_000_000,
    }
    return {
        "rules": {"t": "ok", "rules": messages("four-spanish", "setup")[0]["rules"]},
        "leaderboard": {"t": "ok", "standings": [place]},
        "matches": {"t": "ok", "kept": [past], "matches": []},
        "key": {"t": "ok", "text": "truc-key:v1:" + "ABCD" * 13, "isSaved": False},
        "story": story(name),
        "verify": {"t": "ok", "result": "proven", "check": None, "culprit": None},
    }


class Looks:
    """A page of somebody who goes from screen to screen; `pack` is `spanish` or `french`."""

    def __init__(self, browser: Browser, origin: str, pack: str = "spanish") -> None:
        self.page: Page = browser.page()
        self.origin, self.pack = origin, pack
        given = {"now": NOW_MS, "house": json.dumps(house()), "answers": json.dumps(answers(f"duel-{pack}"))}
        self.page.before(FAKE % given)

    def open(self, **settings: object) -> None:
        """Load the page anew, with settings that were made before."""
        kept = json.dumps(json.dumps({"isStill": True, **settings}))
        if self.page.look("location.origin") != self.origin:  # whose settings they are
            self.page.visit(f"{self.origin}/play")
        self.page.look(f"localStorage.setItem('truc-settings', {kept})")
        self.page.visit(f"{self.origin}/play")
        self.page.wait_until("document.querySelector('h1')")
        self.page.look(CHECKS)

    def tell(self, events: list[Any]) -> None:
        self.page.look(f"for (const event of {json.dumps(events)}) beside.tell(event)")

    def go(self, path: str) -> None:
        self.page.look(f"go({json.dumps(path)})")
        self.page.wait_for("drawn()")
        self.page.wait_until("document.querySelector('h1') && !document.querySelector('.wait')")

    def table(self, kind: str, upto: str = "asked") -> None:
        """Sit at a recorded table: when somebody asks, or when the hand is over; some were recorded with one pack alone."""
        told = read(f"{kind}-{'spanish' if kind in ONE_PACK else self.pack}")
        events = told["events"][: told["asked"]] if upto == "asked" else told["events"]
        self.tell([{"what": "left", "table": told["code"]}, *events])
        self.go(f"/t/{told['code']}")
        shut = "document.querySelector('[data-dialog=end] .b.yes')?.click()"
        playing = f"({shut}, document.querySelector('.hand') && !document.querySelector('[data-dialog]'))"
        self.page.wait_until(playing if upto == "asked" else "document.querySelector('.checked')")

    def over(self, kind: str) -> None:
        """See a recorded table after its match, in which a side resigned when it was asked."""
        told = read(f"{kind}-{self.pack}")
        events = told["events"][: told["asked"]]
        last = next(
            each["message"] for each in reversed(events) if each.get("message", {}).get("t") == "record"
        )
        state = next(each for each in last["means"] if each["what"] == "state")
        means = [{"what": "match_ended", "winner": 1, "reason": "resigned"}, {**state, "waiting": []}]
        end = {"what": "told", "message": {**last, "k": last["k"] + 1, "means": means}}
        self.tell([{"what": "left", "table": told["code"]}, *events, end])
        self.go(f"/t/{told['code']}")
        self.page.wait_until("document.querySelector('.felt') && !document.querySelector('.hand')")

    def sheet(self, name: str, kind: str = "four") -> None:
        """Open what lies over a table: by the button that opens it."""
        self.table(kind)
        opener = {"signs": "[data-slot=signs]", "menu": ".bar .ic:last-child", "proof": ".badge"}[name]
        self.page.look(f"document.querySelector('{opener}').click()")
        self.page.wait_until(f"document.querySelector('[data-dialog={name}]')")

    def show(self, name: str) -> None:
        """Go to a screen by its name."""
        match name:
            case "sit":
                self.tell([listed("K7PQ2", f"duel-{self.pack}", taken=1)])
                self.go("/t/K7PQ2")
            case "lobby":
                tables = [
                    ("K7PQ2", "duel-spanish", 1, "open"),
                    ("M3XQA", "four-french", 3, "open"),
                    ("2FZ7K", "four-spanish", 4, "playing"),
                ]
                self.tell(
                    [listed(code, table, taken=taken, state=state) for code, table, taken, state in tables]
                )
                self.tell(
                    [{"what": "told", "message": {"t": "lobby", "online": 14, "tables": 3, "playing": 1}}]
                )
                self.tell([{"what": "told", "message": {"t": "chat", "name": "Blai", "text": "Bona tarda!"}}])
                self.go("/")
            case "replay":
                self.go(f"/m/{story(f'duel-{self.pack}')['kept']['match']}")
                self.page.wait_until("document.querySelector('.replay .badge')")
            case "end":
                self.table("duel", "end")
            case "duel" | "four" | "six" | "sample":
                self.table(name)
            case "signs" | "menu" | "proof":
                self.sheet(name)
            case _:
                self.go(f"/{name}")
        self.page.wait_for("drawn()")


SCREENS: Final = (
    *("sit", "lobby", "play", "best", "history", "settings", "learn", "duel", "four", "six", "sample"),
    *("end", "signs", "menu", "proof", "replay"),
)
