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
        section: whose figures it reads.
        figure: what was measured, in `unit`.
        floor: what it is set beside; None for a figure that is told as it is.
        is_least: whether must and goal are the least it should reach, not the most.
        slack: how many times worse than must it may be in the short form, on a machine that does other things.
    """

    section: str
    name: str
    unit: str
    figure: Read
    floor: Read | None = None
    must: float | None = None
    goal: float | None = None
    is_least: bool = False
    slack: float = 3.0


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


def _growth(name: str, what: str) -> Target:
    return Target(
        "growth",
        name,
        "µs",
        lambda results: grown(results, what, is_most=True),
        lambda results: grown(results, what, is_most=False),
    )


def at_price(results: Results, figure: float) -> float:
    """Return a figure of the prototype at the price that X25519 has in this run."""
    price = results["blind"]["primitives"]
    return float(figure * (price["at_hand_us"] + price["new_us"]) / (AT_HAND_US + NEW_US))


def _sealed(seats: int) -> tuple[Target, ...]:
    """Return the rows of a hand of mode blind with so many seats."""
    then, section = PROTOTYPE[seats], "blind"

    def target(
        name: str, unit: str, place: str, floor: Read | None = None, must: float | None = None
    ) -> Target:
        figure = _at(f"{section} {place}")
        return Target(section, f"mode blind, {seats} seats: {name}", unit, figure, floor, must)

    def priced(figure: float) -> Read:
        return lambda results: at_price(results, figure)

    mine, dealt = f"{seats} blind", f"{section} {seats} dealt"
    deal = target("from call to deal, all seats on one core", "ms", f"{mine} deal_ms", None, DEAL_MS[seats])
    return (
        target("a seat, a hand", "ms", f"{mine} seat_ms", priced(then.seat_ms), 1.3),
        target("the server, a hand", "ms", f"{mine} server_ms", priced(then.server_ms), 1.3),
        target("of that, the main thread", "ms", f"{mine} server_main_ms", _at(f"{dealt} server_main_ms")),
        target(
            "an opened seat made again", "ms", f"primitives opened_ms {seats}", priced(then.opened_ms), 1.3
        ),
        target("bytes of a deal", "", f"{mine} deal_bytes", lambda _: then.deal_bytes, 1.3),
        target("messages one after the other before a deal", "", f"{mine} messages"),
        deal._replace(slack=5.0),
        target("a seat, beside one of mode dealt", "ms", f"{mine} seat_ms", _at(f"{dealt} seat_ms")),
        target("the server, beside mode dealt", "ms", f"{mine} server_ms", _at(f"{dealt} server_ms")),
        target("from call to deal in mode dealt", "ms", f"{seats} dealt deal_ms"),
    )


def _of_nodes(n: int) -> tuple[Target, ...]:
    """Return the rows of so many nodes beside one."""

    def most(results: Results, n: int) -> Results:
        return list(results["nodes"]["paced"][str(n)].values())[-1]

    return (
        Target(
            "nodes",
            f"main thread an act on each of {n} nodes of one machine, beside one",
            "µs",
            lambda results: us_on_nodes(most(results, n)),
            lambda results: us_on_nodes(most(results, 1)),
            1.15,
            1.05,
        ),
        Target(
            "nodes",
            f"acts a second on {n} nodes, all cores shared with generators and database",
            "1/s",
            _at(f"nodes rush {n}", rate_on_nodes),
            _at("nodes rush 1", rate_on_nodes),
        ),
    )


def _counted(name: str, kind: str) -> Target:
    # a figure that does not depend on the machine has no slack; a thin client is given what another finds out by itself
    must, goal = (None, None) if kind == "keys" else (500, 350)
    return Target(
        "calls", name, "", lambda results: float(results["calls"][kind]["act"]), None, must, goal, slack=1.0
    )


TARGETS: Final = (
    Target("floor", "echo: main thread a message", "µs", echo_us),
    Target("floor", "echo: messages a second", "1/s", echo_rate),
    Target("floor", "echo at the pace of the open loop: main thread a message", "µs", paced_echo_us),
    Target("floor", "one durable commit", "ms", commit_ms),
    Target("floor", "to sign", "µs", _at("floor sign_us")),
    Target("floor", "to check a signature", "µs", _at("floor verify_us")),
    Target(
        "acts", "main thread an act, guests, few tables", "µs", _at("acts few", us_an_act), echo_us, 12, 8
    ),
    Target(
        "acts", "main thread an act, guests, some tables", "µs", _at("acts some", us_an_act), echo_us, 12, 8
    ),
    Target("acts", "of that, the act alone", "µs", lambda results: split_us(results)[0], echo_us),
    Target(
        "acts",
        "a hand around it, with its share of a match",
        "µs",
        lambda results: split_us(results)[1],
        echo_us,
    ),
    Target("acts", "acts a second, guests, few tables", "1/s", _at("acts few", rate), echo_rate),
    Target("acts", "acts a second, guests, many tables", "1/s", _at("acts many", rate), echo_rate),
    Target(
        "acts",
        "growth of an act from few to many tables",
        "µs",
        _at("acts many", us_an_act),
        _at("acts few", us_an_act),
        1.2,
        1.0,
    ),
    _counted("function calls an act, guests", "guests"),
    _counted("function calls a signed act", "keys"),
    _counted("function calls a signed act, own options", "keys, own options"),
    Target("signed", "main thread a signed act, few tables", "µs", _at("signed few", us_an_act), echo_us),
    Target("signed", "main thread a signed act, some tables", "µs", _at("signed some", us_an_act), echo_us),
    Target(
        "signed",
        "main thread a signed act, own options, beside one with options sent, at one pace",
        "µs",
        _at("signed own_options", us_an_act),
        _at("signed sent_options", us_an_act),
    ),
    Target(
        "signed",
        "signed acts a second, two cores shared with the generator",
        "1/s",
        _at("signed two_cores", rate),
        verifications,
    ),
    Target(
        "peers",
        "main thread an act, guests, beside a move of boardgame.io",
        "µs",
        _at("peers guests", us_an_act),
        _at("peers boardgame.io", us_an_act),
        1.0,
        0.6,
    ),
    Target(
        "peers",
        "main thread a signed act, beside a move of boardgame.io",
        "µs",
        _at("peers keys", us_an_act),
        _at("peers boardgame.io", us_an_act),
        1.3,
        0.9,
    ),
    Target(
        "peers", "main thread a move of boardgame.io, in memory", "µs", _at("peers boardgame.io", us_an_act)
    ),
    Target(
        "peers",
        "main thread a message of a room without rules, beside the same",
        "µs",
        _at("peers room", us_an_act),
        _at("peers boardgame.io", us_an_act),
    ),
    Target(
        "latency", "act to opponent, open loop: p50", "ms", _open("guests", p50), commit_ms, 6, 3, slack=5.0
    ),
    Target(
        "latency", "act to opponent, open loop: p99", "ms", _open("guests", p99), commit_ms, 40, 12, slack=5.0
    ),
    Target(
        "latency", "main thread an act, guests, open loop", "µs", _open("guests", us_an_act), paced_echo_us
    ),
    Target("latency", "signed act to opponent, open loop: p50", "ms", _open("keys", p50), commit_ms),
    Target("latency", "signed act to opponent, open loop: p99", "ms", _open("keys", p99), commit_ms),
    Target("crowd", "4,000 tables at human pace: main thread", "%", _at("crowd", _of_crowd), None, 50, 30),
    Target("crowd", "4,000 tables at human pace: p99", "ms", _at("crowd", p99), None, 20, 5, slack=5.0),
    Target("crowd", "memory of a table with its match", "KiB", _at("crowd", kib_a_table), None, 32, 12),
    Target("idle", "memory of an idle client", "KiB", _at("idle", kib_a_client), None, 12, 7),
    Target("idle", "main thread with idle clients", "%", lambda r: 100 * r["idle"]["main_share"]),
    Target(
        "logins", "logins with a key a second", "1/s", _at("logins", logins), mutual, 0.3, 0.5, is_least=True
    ),
    Target(
        "readers",
        "p99 beside watchers that hardly read",
        "ms",
        _at("readers with", p99),
        _at("readers without", p99),
    ),
    Target("readers", "of a hundred such watchers are cut", "", _at("readers with", _cut)),
    Target("storm", "everybody back after a lost connection", "s", _at("storm storm_s")),
    Target("storm", "act to opponent meanwhile: p99", "ms", _at("storm", p99), commit_ms),
    Target(
        "tls",
        "main thread an act, guests, over TLS",
        "µs",
        _at("tls few", us_an_act),
        _at("acts few", us_an_act),
    ),
    Target("tls", "logins with a key a second, over TLS", "1/s", _at("tls logins", logins), mutual),
    Target(
        "web",
        "main thread a message and its answer, over the door for browsers",
        "µs",
        _at("web web", us_a_message),
        _at("web tcp", us_a_message),
    ),
    Target(
        "web",
        "each message over the door for browsers: more than over TCP",
        "µs",
        more_at_door_us,
        None,
        20,
        10,
    ),
    Target(
        "web",
        "main thread an act, guests, over the door for browsers",
        "µs",
        _at("web web_acts", us_an_act),
        _at("web tcp_acts", us_an_act),
    ),
    Target(
        "web", "memory of an idle client in a WebSocket", "KiB", _at("web idle", kib_a_client), None, 30, 15
    ),
    Target("web", "main thread a first visit to the page", "ms", _at("web pages", ms_a_load), None, 20, 2),
    Target("web", "main thread a file of it", "µs", _at("web pages", us_a_file), echo_us),
    Target(
        "flood",
        "act to opponent in a flood: p99",
        "ms",
        _at("flood flooded", p99),
        _at("flood quiet", p99),
        2,
    ),
    Target(
        "postgresql",
        "acts a second on PostgreSQL, guests, some tables",
        "1/s",
        _at("postgresql beside", rate),
        _at("postgresql file", rate),
        0.6,
        0.8,
        is_least=True,
    ),
    Target(
        "nodes",
        "main thread an act on one node of a cluster, beside a server alone on PostgreSQL",
        "µs",
        lambda results: us_on_nodes(list(results["nodes"]["paced"]["1"].values())[-1]),
        _at("nodes alone", us_an_act),
    ),
    *_of_nodes(2),
    *_of_nodes(3),
    Target(
        "nodes",
        "main threads an act, one of two seats brought from another node, beside both where the table is",
        "µs",
        _at("nodes far", us_on_two),
        _at("nodes near", us_on_two),
    ),
    Target(
        "nodes", "the same from act to opponent: p50", "ms", _at("nodes far", p50), _at("nodes near", p50)
    ),
    Target(
        "nodes",
        "changes of the lobby a second, made at one node and told at another",
        "1/s",
        lambda results: results["nodes"]["lobby"]["changes"] / results["nodes"]["lobby"]["seconds"],
    ),
    Target(
        "nodes",
        "main threads of both, a change",
        "µs",
        lambda results: results["nodes"]["lobby"]["main_s"] / results["nodes"]["lobby"]["changes"] * 1e6,
    ),
    Target(
        "nodes",
        "from a change to who follows the lobby at the other: p50",
        "ms",
        _at("nodes lobby late_ms p50"),
    ),
    Target(
        "nodes",
        "a killed node is missed longer than its lease",
        "s",
        _at("nodes missed_s", beyond_s),
        None,
        2.0,
        0.5,
        slack=5.0,
    ),
    Target(
        "engine",
        "engine, truc-catalan, two seats",
        "1/s",
        _at("engine truc-catalan"),
        None,
        *PLAIN,
        is_least=True,
    ),
    Target(
        "engine",
        "engine, truco-argentino-flor, two seats",
        "1/s",
        _at("engine truco-argentino-flor"),
        None,
        *WITH_SIDE_BETS,
        is_least=True,
    ),
    Target(
        "audit",
        "verifying a file of 40 hands, truc-catalan, two seats",
        "ms",
        _at("audit truc-catalan verified_ms"),
        _at("audit truc-catalan signatures_ms"),
        1.75,
        1.3,
    ),
    Target(
        "audit",
        "the same in Node, truc-catalan",
        "ms",
        _at("audit truc-catalan node_ms"),
        _at("audit truc-catalan verified_ms"),
        3,
    ),
    Target(
        "audit",
        "verifying a file of 40 hands, truco-argentino, two seats",
        "ms",
        _at("audit truco-argentino verified_ms"),
        _at("audit truco-argentino signatures_ms"),
        1.75,
        1.3,
    ),
    Target(
        "audit",
        "the same in Node, truco-argentino",
        "ms",
        _at("audit truco-argentino node_ms"),
        _at("audit truco-argentino verified_ms"),
        3,
    ),
    Target("blind", "X25519 with a key at hand", "µs", _at("blind primitives at_hand_us")),
    Target("blind", "X25519 with a new key", "µs", _at("blind primitives new_us")),
    *(row for seats in COUNTS for row in _sealed(seats)),
    Target(
        "verify",
        "verifying many matches, beside few as many times",
        "s",
        _at("verify many_s"),
        _at("verify", few_as_often),
        1.1,
        1.0,
    ),
    Target("verify", "the same on all cores", "s", _at("verify all_cores_s"), _at("verify", few_as_often)),
    _growth("growth of an act to 4,000 busy tables", "tables"),
    _growth("growth of an act as its match becomes long", "length"),
    _growth("growth of an act to 10,000 stored matches", "stored"),
    Target("growth", "each viewer of a table: main thread a record", "µs", us_a_viewer, echo_us),
    Target("start", "from the command to listening", "ms", _at("start listening_ms"), None, 600, 400),
    Target("start", "truc --version", "ms", _at("start version_ms"), None, 500, 250),
    Target("start", "truc --help", "ms", _at("start help_ms"), None, 500, 250),
    Target("start", "truc, completing a command", "ms", _at("start completion_ms"), None, 500, 250),
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
