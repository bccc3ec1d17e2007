"""What the figures should be: each row a metric, the floor it is set beside, what it must reach, and the goal.

Where a row has a floor, must and goal are ratios to it, and it was measured in the same run; where it has none they are figures.
Rows without a must are told for what they say about the others. Invariant: a row whose figures are not there is left out, and none is guessed.
"""

import statistics
from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any, Final, NamedTuple

from benchmarks.engine import PLAIN, WITH_SIDE_BETS
from benchmarks.scenarios import FULL, PACE
from benchmarks.sealed import COUNTS

CROWD: Final = FULL.crowd


class Sealed(NamedTuple):
    """What a hand of mode blind took in the prototype of its chapter.

    Attributes:
        seat_ms: processor time of a seat.
        server_ms: that of a server.
        opened_ms: to make the steps of one opened seat again.
        deal_bytes: from the call to the deal.
    """

    seat_ms: float
    server_ms: float
    opened_ms: float
    deal_bytes: float


PROTOTYPE: Final = {
    2: Sealed(37, 29, 8.2, 8_300),
    4: Sealed(70, 62, 9.3, 18_800),
    6: Sealed(118, 110, 11.4, 32_000),
}
AT_HAND_US, NEW_US = 43.0, 83.0
"""What an exchange of X25519 took there, with a key at hand and with a new one."""
DEAL_MS: Final = {2: 80, 4: 200, 6: 450}

Results = dict[str, Any]
Read = Callable[[Results], float]


class Target(NamedTuple):
    """One row.

    Attributes:
        figure: what was measured, in `unit`.
        floor: what it is set beside; None for a figure that is told as it is.
        is_least: whether must and goal are the least it should reach, not the most.
        slack: how many times worse than must it may be in the short form, on a machine that does other things.
        section: whose figures it reads.
    """

    unit: str
    figure: Read
    floor: Read | None = None
    must: float | None = None
    goal: float | None = None
    is_least: bool = False
    slack: float = 3.0
    section: str = ""
    name: str = ""


Named = dict[str, Target]
"""Rows by their names."""


class Row(NamedTuple):
    """A target and what came; `ratio` is None where there is no floor."""

    target: Target
    figure: float
    ratio: float | None

    @property
    def reached(self) -> str:
        """Which of the two was reached; empty where nothing is asked for."""
        target = self.target
        if target.must is None:
            return ""
        if target.goal is not None and self.is_within(target.goal):
            return "goal"
        return "must" if self.is_within(target.must) else "no"

    @property
    def passes(self) -> bool:
        """Whether it is not so bad that something is broken, however busy the machine is."""
        target = self.target
        if target.must is None:
            return True
        return self.is_within(target.must / target.slack if target.is_least else target.must * target.slack)

    def is_within(self, bound: float) -> bool:
        """Tell whether it is at least, or at most, so much."""
        came = self.figure if self.ratio is None else self.ratio
        return came >= bound if self.target.is_least else came <= bound


def us_an_act(load: Results) -> float:
    """Return the microseconds of the main thread for an act, with its share of everything else in a match."""
    return float(load["main_s"] / load["acts"] * 1e6)


def rate(load: Results) -> float:
    """Return the acts a second."""
    return float(load["acts"] / load["seconds"])


def split_us(results: Results) -> tuple[float, float]:
    """Return the microseconds of an act alone, and of a hand around the acts, with its share of a match.

    They follow from two loads, in one of which the hands have far fewer acts.
    """
    full, brief = results["acts"]["few"], results["acts"]["brief"]
    both = full["acts"] * brief["hands"] - brief["acts"] * full["hands"]
    act = (full["main_s"] * brief["hands"] - brief["main_s"] * full["hands"]) / both
    hand = (full["acts"] * brief["main_s"] - brief["acts"] * full["main_s"]) / both
    return act * 1e6, hand * 1e6


def echo_us(results: Results) -> float:
    """Return the microseconds of the main thread for a message of the bare echo: the one in turns with acts, if there was one."""
    return us_a_message(results.get("acts", results["floor"])["echo"])


def paced_echo_us(results: Results) -> float:
    """Return the same where as many messages a second come as acts do in the open loop, from as many clients."""
    return us_a_message(results["floor"]["paced_echo"])


def us_a_message(load: Results) -> float:
    """Return the microseconds of the main thread for a message and its answer."""
    return float(load["main_s"] / load["messages"] * 1e6)


def more_at_door_us(results: Results) -> float:
    """Return the microseconds that a WebSocket adds to a message, in or out."""
    return (us_a_message(results["web"]["web"]) - us_a_message(results["web"]["tcp"])) / 2


def ms_a_load(load: Results) -> float:
    """Return the milliseconds of the main thread for all files of a first visit."""
    return float(load["main_s"] / load["loads"] * 1e3)


def us_a_file(load: Results) -> float:
    """Return the microseconds of the main thread for one of them."""
    return ms_a_load(load) / float(load["files"]) * 1e3


def echo_rate(results: Results) -> float:
    """Return the messages a second of the bare echo."""
    echo = results["floor"]["echo"]
    return float(echo["messages"] / echo["seconds"])


def commit_ms(results: Results) -> float:
    """Return the milliseconds of one durable commit."""
    return float(results["floor"]["commit_us"] / 1000)


def verifications(results: Results) -> float:
    """Return how many signatures one core can check in a second."""
    return 1e6 / float(results["floor"]["verify_us"])


def mutual(results: Results) -> float:
    """Return how often one core can sign once and check once in a second."""
    return 1e6 / float(results["floor"]["verify_us"] + results["floor"]["sign_us"])


def open_loop(results: Results, who: str) -> Results:
    """Return the load of the open loop at the pace of the targets."""
    return next(load for load in results["latency"][who] if load["pace"] == PACE)


def grown(results: Results, what: str, *, is_most: bool) -> float:
    """Return the microseconds of an act where something is fewest, or where it is most."""
    loads = list(results["growth"][what].values())
    return us_an_act(loads[-1 if is_most else 0])


def us_a_viewer(results: Results) -> float:
    """Return the microseconds that each viewer of a table adds to a record."""
    loads = results["growth"]["viewers"]
    none, most = loads["0"], list(loads.values())[-1]
    added = most["main_s"] / most["records"] - none["main_s"] / none["records"]
    return float(added / most["viewers"] * 1e6)


def kib_a_table(load: Results) -> float:
    """Return the memory of a table with its match, beside that of its clients."""
    return float((load["rss_playing"] - load["rss_connected"]) / (load["clients"] / 2))


def kib_a_client(load: Results) -> float:
    """Return the memory of a client that is logged in."""
    return float((load["rss_connected"] - load["rss_begun"]) / load["clients"])


def p50(load: Results) -> float:
    """Return the milliseconds from act to opponent that half of them take at most."""
    return float(load["latency_ms"]["p50"])


def p99(load: Results) -> float:
    """Return the milliseconds from act to opponent that all but one in a hundred take at most."""
    return float(load["latency_ms"]["p99"])


def logins(load: Results) -> float:
    """Return the logins a second."""
    return float(load["logins"] / load["seconds"])


def few_as_often(figures: Results) -> float:
    """Return the seconds for many files at the rate of few."""
    return float(figures["few_s"] * figures["many"] / figures["few"])


def us_on_nodes(loads: Results) -> float:
    """Return the microseconds of the main thread for an act on each of the nodes of a cluster."""
    return float(
        sum(load["main_s"] for load in loads.values()) / sum(load["acts"] for load in loads.values()) * 1e6
    )


def rate_on_nodes(loads: Results) -> float:
    """Return the acts a second of all nodes together."""
    return sum(map(rate, loads.values()))


def us_on_two(load: Results) -> float:
    """Return the microseconds that the main threads of two nodes take for an act at a table of one of them."""
    return float((load["main_s"] + load["far_main_s"]) / load["acts"] * 1e6)


def beyond_s(missed: Results) -> float:
    """Return by how many seconds a node is missed longer than its lease, by the middle of some times, and the lease where it is longest."""
    return max(statistics.median(took.values()) - int(lease_s) for lease_s, took in missed.items())


def _of_crowd(load: Results) -> float:
    """Return the share of the main thread that so many tables take; of fewer, in proportion."""
    return float(100 * load["main_share"] * CROWD / (load["clients"] / 2))


def _cut(load: Results) -> float:
    return float(100 * load["watchers_cut"] / load["watchers"])


def _at(place: str, figure: Read = float) -> Read:
    """Return what reads a figure of the results at a place: a section, then names in it."""
    return lambda results: figure(reduce(getitem, place.split(), results))


def _open(who: str, figure: Read) -> Read:
    return lambda results: figure(open_loop(results, who))


def _growth(what: str) -> Target:
    return Target(
        "µs",
        lambda results: grown(results, what, is_most=True),
        lambda results: grown(results, what, is_most=False),
    )


def at_price(results: Results, figure: float) -> float:
    """Return a figure of the prototype at the price that X25519 has in this run."""
    price = results["blind"]["primitives"]
    return float(figure * (price["at_hand_us"] + price["new_us"]) / (AT_HAND_US + NEW_US))


def _sealed(seats: int) -> Named:
    """Return the rows of a hand of mode blind with so many seats."""
    then = PROTOTYPE[seats]
    deal_ms, server_main_ms, seat_ms, server_ms = (
        {mode: _at(f"blind {seats} {mode} {figure}") for mode in ("blind", "dealt")}
        for figure in ("deal_ms", "server_main_ms", "seat_ms", "server_ms")
    )

    def priced(figure: float) -> Read:
        return lambda results: at_price(results, figure)

    rows = {
        "a seat, a hand": Target("ms", seat_ms["blind"], priced(then.seat_ms), 1.3),
        "the server, a hand": Target("ms", server_ms["blind"], priced(then.server_ms), 1.3),
        "of that, the main thread": Target("ms", server_main_ms["blind"], server_main_ms["dealt"]),
        "an opened seat made again": Target(
            "ms", _at(f"blind primitives opened_ms {seats}"), priced(then.opened_ms), 1.3
        ),
        "bytes of a deal": Target("", _at(f"blind {seats} blind deal_bytes"), lambda _: then.deal_bytes, 1.3),
        "messages one after the other before a deal": Target("", _at(f"blind {seats} blind messages")),
        "from call to deal, all seats on one core": Target(
            "ms", deal_ms["blind"], None, DEAL_MS[seats], slack=5.0
        ),
        "a seat, beside one of mode dealt": Target("ms", seat_ms["blind"], seat_ms["dealt"]),
        "the server, beside mode dealt": Target("ms", server_ms["blind"], server_ms["dealt"]),
        "from call to deal in mode dealt": Target("ms", deal_ms["dealt"]),
    }
    return {f"mode blind, {seats} seats: {name}": row for name, row in rows.items()}


def _at_most(n: int) -> Read:
    """Return what reads the microseconds of an act on so many nodes, at most tables."""
    return lambda results: us_on_nodes(list(results["nodes"]["paced"][str(n)].values())[-1])


def _of_nodes(n: int) -> Named:
    """Return the rows of so many nodes beside one."""
    return {
        f"main thread an act on each of {n} nodes of one machine, beside one": Target(
            "µs", _at_most(n), _at_most(1), 1.15, 1.05
        ),
        f"acts a second on {n} nodes, all cores shared with generators and database": Target(
            "1/s", _at(f"nodes rush {n}", rate_on_nodes), _at("nodes rush 1", rate_on_nodes)
        ),
    }


def _counted(kind: str) -> Target:
    # a figure that does not depend on the machine has no slack; a thin client is given what another finds out by itself
    must, goal = (None, None) if kind == "keys" else (500, 350)
    return Target("", lambda results: float(results["calls"][kind]["act"]), None, must, goal, slack=1.0)


def _audited(game: str) -> Named:
    """Return the rows of the file of a match of forty hands."""
    ours = _at(f"audit {game} verified_ms")
    return {
        f"verifying a file of 40 hands, {game}, two seats": Target(
            "ms", ours, _at(f"audit {game} signatures_ms"), 1.75, 1.3
        ),
        f"the same in Node, {game}": Target("ms", _at(f"audit {game} node_ms"), ours, 3),
    }


_ROWS: Final[dict[str, Named]] = {
    "floor": {
        "echo: main thread a message": Target("µs", echo_us),
        "echo: messages a second": Target("1/s", echo_rate),
        "echo at the pace of the open loop: main thread a message": Target("µs", paced_echo_us),
        "one durable commit": Target("ms", commit_ms),
        "to sign": Target("µs", _at("floor sign_us")),
        "to check a signature": Target("µs", _at("floor verify_us")),
    },
    "acts": {
        "main thread an act, guests, few tables": Target("µs", _at("acts few", us_an_act), echo_us, 12, 8),
        "main thread an act, guests, some tables": Target("µs", _at("acts some", us_an_act), echo_us, 12, 8),
        "of that, the act alone": Target("µs", lambda results: split_us(results)[0], echo_us),
        "a hand around it, with its share of a match": Target(
            "µs", lambda results: split_us(results)[1], echo_us
        ),
        "acts a second, guests, few tables": Target("1/s", _at("acts few", rate), echo_rate),
        "acts a second, guests, many tables": Target("1/s", _at("acts many", rate), echo_rate),
        "growth of an act from few to many tables": Target(
            "µs", _at("acts many", us_an_act), _at("acts few", us_an_act), 1.2, 1.0
        ),
    },
    "calls": {
        "function calls an act, guests": _counted("guests"),
        "function calls a signed act": _counted("keys"),
        "function calls a signed act, own options": _counted("keys, own options"),
    },
    "signed": {
        "main thread a signed act, few tables": Target("µs", _at("signed few", us_an_act), echo_us),
        "main thread a signed act, some tables": Target("µs", _at("signed some", us_an_act), echo_us),
        "main thread a signed act, own options, beside one with options sent, at one pace": Target(
            "µs", _at("signed own_options", us_an_act), _at("signed sent_options", us_an_act)
        ),
        "signed acts a second, two cores shared with the generator": Target(
            "1/s", _at("signed two_cores", rate), verifications
        ),
    },
    "peers": {
        "main thread an act, guests, beside a move of boardgame.io": Target(
            "µs", _at("peers guests", us_an_act), _at("peers boardgame.io", us_an_act), 1.0, 0.6
        ),
        "main thread a signed act, beside a move of boardgame.io": Target(
            "µs", _at("peers keys", us_an_act), _at("peers boardgame.io", us_an_act), 1.3, 0.9
        ),
        "main thread a move of boardgame.io, in memory": Target("µs", _at("peers boardgame.io", us_an_act)),
        "main thread a message of a room without rules, beside the same": Target(
            "µs", _at("peers room", us_an_act), _at("peers boardgame.io", us_an_act)
        ),
    },
    "latency": {
        "act to opponent, open loop: p50": Target("ms", _open("guests", p50), commit_ms, 6, 3, slack=5.0),
        "act to opponent, open loop: p99": Target("ms", _open("guests", p99), commit_ms, 40, 12, slack=5.0),
        "main thread an act, guests, open loop": Target("µs", _open("guests", us_an_act), paced_echo_us),
        "signed act to opponent, open loop: p50": Target("ms", _open("keys", p50), commit_ms),
        "signed act to opponent, open loop: p99": Target("ms", _open("keys", p99), commit_ms),
    },
    "crowd": {
        "4,000 tables at human pace: main thread": Target("%", _at("crowd", _of_crowd), None, 50, 30),
        "4,000 tables at human pace: p99": Target("ms", _at("crowd", p99), None, 20, 5, slack=5.0),
        "memory of a table with its match": Target("KiB", _at("crowd", kib_a_table), None, 32, 12),
    },
    "idle": {
        "memory of an idle client": Target("KiB", _at("idle", kib_a_client), None, 12, 7),
        "main thread with idle clients": Target("%", lambda results: 100 * results["idle"]["main_share"]),
    },
    "logins": {
        "logins with a key a second": Target("1/s", _at("logins", logins), mutual, 0.3, 0.5, is_least=True),
    },
    "readers": {
        "p99 beside watchers that hardly read": Target(
            "ms", _at("readers with", p99), _at("readers without", p99)
        ),
        "of a hundred such watchers are cut": Target("", _at("readers with", _cut)),
    },
    "storm": {
        "everybody back after a lost connection": Target("s", _at("storm storm_s")),
        "act to opponent meanwhile: p99": Target("ms", _at("storm", p99), commit_ms),
    },
    "tls": {
        "main thread an act, guests, over TLS": Target(
            "µs", _at("tls few", us_an_act), _at("acts few", us_an_act)
        ),
        "logins with a key a second, over TLS": Target("1/s", _at("tls logins", logins), mutual),
    },
    "web": {
        "main thread a message and its answer, over the door for browsers": Target(
            "µs", _at("web web", us_a_message), _at("web tcp", us_a_message)
        ),
        "each message over the door for browsers: more than over TCP": Target(
            "µs", more_at_door_us, None, 20, 10
        ),
        "main thread an act, guests, over the door for browsers": Target(
            "µs", _at("web web_acts", us_an_act), _at("web tcp_acts", us_an_act)
        ),
        "memory of an idle client in a WebSocket": Target("KiB", _at("web idle", kib_a_client), None, 30, 15),
        "main thread a first visit to the page": Target("ms", _at("web pages", ms_a_load), None, 20, 2),
        "main thread a file of it": Target("µs", _at("web pages", us_a_file), echo_us),
    },
    "flood": {
        "act to opponent in a flood: p99": Target(
            "ms", _at("flood flooded", p99), _at("flood quiet", p99), 2
        ),
    },
    "postgresql": {
        "acts a second on PostgreSQL, guests, some tables": Target(
            "1/s", _at("postgresql beside", rate), _at("postgresql file", rate), 0.6, 0.8, is_least=True
        ),
    },
    "nodes": {
        "main thread an act on one node of a cluster, beside a server alone on PostgreSQL": Target(
            "µs", _at_most(1), _at("nodes alone", us_an_act)
        ),
        **_of_nodes(2),
        **_of_nodes(3),
        "main threads an act, one of two seats brought from another node, beside both where the table is": Target(
            "µs", _at("nodes far", us_on_two), _at("nodes near", us_on_two)
        ),
        "the same from act to opponent: p50": Target("ms", _at("nodes far", p50), _at("nodes near", p50)),
        "changes of the lobby a second, made at one node and told at another": Target(
            "1/s", _at("nodes lobby", lambda lobby: lobby["changes"] / lobby["seconds"])
        ),
        "main threads of both, a change": Target(
            "µs", _at("nodes lobby", lambda lobby: lobby["main_s"] / lobby["changes"] * 1e6)
        ),
        "from a change to who follows the lobby at the other: p50": Target(
            "ms", _at("nodes lobby late_ms p50")
        ),
        "a killed node is missed longer than its lease": Target(
            "s", _at("nodes missed_s", beyond_s), None, 2.0, 0.5, slack=5.0
        ),
    },
    "engine": {
        "engine, truc-catalan, two seats": Target(
            "1/s", _at("engine truc-catalan"), None, *PLAIN, is_least=True
        ),
        "engine, truco-argentino-flor, two seats": Target(
            "1/s", _at("engine truco-argentino-flor"), None, *WITH_SIDE_BETS, is_least=True
        ),
    },
    "audit": {**_audited("truc-catalan"), **_audited("truco-argentino")},
    "blind": {
        "X25519 with a key at hand": Target("µs", _at("blind primitives at_hand_us")),
        "X25519 with a new key": Target("µs", _at("blind primitives new_us")),
        **{name: row for seats in COUNTS for name, row in _sealed(seats).items()},
    },
    "verify": {
        "verifying many matches, beside few as many times": Target(
            "s", _at("verify many_s"), _at("verify", few_as_often), 1.1, 1.0
        ),
        "the same on all cores": Target("s", _at("verify all_cores_s"), _at("verify", few_as_often)),
    },
    "growth": {
        "growth of an act to 4,000 busy tables": _growth("tables"),
        "growth of an act as its match becomes long": _growth("length"),
        "growth of an act to 10,000 stored matches": _growth("stored"),
        "each viewer of a table: main thread a record": Target("µs", us_a_viewer, echo_us),
    },
    "start": {
        "from the command to listening": Target("ms", _at("start listening_ms"), None, 600, 400),
        "truc --version": Target("ms", _at("start version_ms"), None, 500, 250),
        "truc --help": Target("ms", _at("start help_ms"), None, 500, 250),
        "truc, completing a command": Target("ms", _at("start completion_ms"), None, 500, 250),
    },
}
"""The rows of each section by their names, in the order of the report."""
TARGETS: Final = tuple(
    row._replace(section=section, name=name)
    for section, named in _ROWS.items()
    for name, row in named.items()
)


def rows(results: Results) -> list[Row]:
    """Return a row for each target whose figures are there."""
    found = []
    for target in TARGETS:
        try:
            figure = target.figure(results)
            floor = None if target.floor is None else target.floor(results)
        except (KeyError, StopIteration, ZeroDivisionError):
            continue  # another section, not measured in this run; or nothing has happened in it
        found.append(Row(target, figure, None if floor is None else figure / floor))
    return found
