"""What the figures should be: each row a metric, the floor it is set beside, what it must reach, and the goal.

Where a row has a floor, must and goal are ratios to it, and it was measured in the same run; where it has none they are figures.
Rows without a must are told for what they say about the others. Invariant: a row whose figures are not there is left out, and none is guessed.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from benchmarks.engine import PLAIN, WITH_SIDE_BETS
from benchmarks.scenarios import FULL, PACE

CROWD: Final = FULL.crowd

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
        """Which of the two was reached; empty where neither is asked for."""
        target = self.target
        if target.must is None or target.goal is None:
            return ""
        return "goal" if self.is_within(target.goal) else "must" if self.is_within(target.must) else "no"

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
    """Return the microseconds of the main thread for a message of the bare echo."""
    return _us_a_message(results["floor"]["echo"])


def paced_echo_us(results: Results) -> float:
    """Return the same where as many messages a second come as acts do in the open loop, from as many clients."""
    return _us_a_message(results["floor"]["paced_echo"])


def _us_a_message(echo: Results) -> float:
    return float(echo["main_s"] / echo["messages"] * 1e6)


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


def kib_a_table(load: Results) -> float:
    """Return the memory of a table with its match, beside that of its clients."""
    return float((load["rss_playing"] - load["rss_connected"]) / (load["clients"] / 2))


def kib_a_client(load: Results) -> float:
    """Return the memory of a client that is logged in."""
    return float((load["rss_connected"] - load["rss_begun"]) / load["clients"])


def of_threads(results: Results) -> float:
    """Return the signed acts a second that the busier of main thread and workers allows, each with a core to itself."""
    load = results["signed"]["some"]
    return float(load["acts"] / max(load["main_s"], load["others_s"]))


def _of_crowd(results: Results) -> float:
    """Return the share of the main thread that so many tables take; of fewer, in proportion."""
    load = results["crowd"]
    return float(100 * load["main_share"] * CROWD / (load["clients"] / 2))


def _cut(results: Results) -> float:
    load = results["readers"]["with"]
    return float(100 * load["watchers_cut"] / load["watchers"])


def _acts(load: str) -> Read:
    return lambda results: us_an_act(results["acts"][load])


def _signed(load: str) -> Read:
    return lambda results: us_an_act(results["signed"][load])


def _open(who: str, part: str) -> Read:
    return lambda results: float(open_loop(results, who)["latency_ms"][part])


TARGETS: Final = (
    Target("floor", "echo: main thread a message", "µs", echo_us),
    Target("floor", "echo: messages a second", "1/s", echo_rate),
    Target("floor", "echo at the pace of the open loop: main thread a message", "µs", paced_echo_us),
    Target("floor", "one durable commit", "ms", commit_ms),
    Target("floor", "to sign", "µs", lambda results: results["floor"]["sign_us"]),
    Target("floor", "to check a signature", "µs", lambda results: results["floor"]["verify_us"]),
    Target("acts", "main thread an act, guests, few tables", "µs", _acts("few"), echo_us, 3.5, 2.2),
    Target("acts", "main thread an act, guests, some tables", "µs", _acts("some"), echo_us, 3.5, 2.2),
    Target("acts", "of that, the act alone", "µs", lambda results: split_us(results)[0], echo_us),
    Target(
        "acts",
        "a hand around it, with its share of a match",
        "µs",
        lambda results: split_us(results)[1],
        echo_us,
    ),
    Target(
        "acts",
        "acts a second, guests, few tables",
        "1/s",
        lambda r: rate(r["acts"]["few"]),
        echo_rate,
        0.28,
        0.45,
        is_least=True,
    ),
    Target(
        "acts",
        "acts a second, guests, many tables",
        "1/s",
        lambda r: rate(r["acts"]["many"]),
        echo_rate,
        0.2,
        0.35,
        is_least=True,
    ),
    Target(
        "acts",
        "growth of an act from few to many tables",
        "µs",
        _acts("many"),
        _acts("few"),
        2.2,
        1.5,
        slack=2.0,
    ),
    Target("signed", "main thread a signed act, few tables", "µs", _signed("few"), echo_us, 4.0, 2.5),
    Target("signed", "main thread a signed act, some tables", "µs", _signed("some"), echo_us, 4.0, 2.5),
    Target(
        "signed",
        "signed acts a second, by the server's busier thread",
        "1/s",
        of_threads,
        verifications,
        0.8,
        1.3,
        is_least=True,
    ),
    Target(
        "signed",
        "signed acts a second, two cores shared with the generator",
        "1/s",
        lambda r: rate(r["signed"]["two_cores"]),
        verifications,
    ),
    Target(
        "latency",
        "act to opponent, open loop: p50",
        "ms",
        _open("guests", "p50"),
        commit_ms,
        3,
        1.5,
        slack=5.0,
    ),
    Target(
        "latency",
        "act to opponent, open loop: p99",
        "ms",
        _open("guests", "p99"),
        commit_ms,
        12,
        5,
        slack=5.0,
    ),
    Target(
        "latency",
        "main thread an act, guests, open loop",
        "µs",
        lambda r: us_an_act(open_loop(r, "guests")),
        paced_echo_us,
    ),
    Target("latency", "signed act to opponent, open loop: p50", "ms", _open("keys", "p50"), commit_ms),
    Target("latency", "signed act to opponent, open loop: p99", "ms", _open("keys", "p99"), commit_ms),
    Target("crowd", "4,000 tables at human pace: main thread", "%", _of_crowd, None, 50, 30),
    Target(
        "crowd",
        "4,000 tables at human pace: p99",
        "ms",
        lambda r: r["crowd"]["latency_ms"]["p99"],
        None,
        20,
        5,
        slack=5.0,
    ),
    Target(
        "crowd", "memory of a table with its match", "KiB", lambda r: kib_a_table(r["crowd"]), None, 32, 12
    ),
    Target("idle", "memory of an idle client", "KiB", lambda r: kib_a_client(r["idle"]), None, 12, 7),
    Target(
        "idle", "main thread with idle clients", "%", lambda r: 100 * r["idle"]["main_share"], None, 1, 0.1
    ),
    Target(
        "logins",
        "logins with a key a second",
        "1/s",
        lambda r: r["logins"]["logins"] / r["logins"]["seconds"],
        mutual,
        0.4,
        0.7,
        is_least=True,
    ),
    Target(
        "readers",
        "p99 beside watchers that hardly read",
        "ms",
        lambda r: r["readers"]["with"]["latency_ms"]["p99"],
        lambda r: r["readers"]["without"]["latency_ms"]["p99"],
    ),
    Target("readers", "of a hundred such watchers are cut", "", _cut),
    Target("storm", "everybody back after a lost connection", "s", lambda r: r["storm"]["storm_s"]),
    Target(
        "storm", "act to opponent meanwhile: p99", "ms", lambda r: r["storm"]["latency_ms"]["p99"], commit_ms
    ),
    Target(
        "tls",
        "main thread an act, guests, over TLS",
        "µs",
        lambda r: us_an_act(r["tls"]["few"]),
        lambda r: us_an_act(r["acts"]["few"]),
    ),
    Target(
        "tls",
        "logins with a key a second, over TLS",
        "1/s",
        lambda r: r["tls"]["logins"]["logins"] / r["tls"]["logins"]["seconds"],
        mutual,
    ),
    Target(
        "postgresql",
        "acts a second on PostgreSQL, guests, some tables",
        "1/s",
        lambda r: rate(r["postgresql"]["beside"]),
        lambda r: rate(r["postgresql"]["file"]),
        0.6,
        0.8,
        is_least=True,
    ),
    Target(
        "engine",
        "engine, truc-catalan, two seats",
        "1/s",
        lambda r: r["engine"]["truc-catalan 2"],
        None,
        *PLAIN,
        is_least=True,
    ),
    Target(
        "engine",
        "engine, truco-argentino-flor, two seats",
        "1/s",
        lambda r: r["engine"]["truco-argentino-flor 2"],
        None,
        *WITH_SIDE_BETS,
        is_least=True,
    ),
    Target(
        "audit", "audit of 40 hands, truc-catalan", "ms", lambda r: r["audit"]["truc-catalan"], None, 250, 120
    ),
    Target(
        "audit",
        "audit of 40 hands, truco-argentino",
        "ms",
        lambda r: r["audit"]["truco-argentino"],
        None,
        250,
        120,
    ),
    Target(
        "fairness",
        "fairness work of a hand, server",
        "ms",
        lambda r: r["fairness"]["server"],
        lambda r: r["floor"]["verify_us"] / 1000,
    ),
    Target(
        "fairness",
        "fairness work of a hand, client",
        "ms",
        lambda r: r["fairness"]["client"],
        lambda r: r["floor"]["verify_us"] / 1000,
    ),
    Target(
        "start", "from the command to listening", "ms", lambda r: r["start"]["listening_ms"], None, 600, 400
    ),
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
