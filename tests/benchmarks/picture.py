"""The picture of a run: latency against load in the open loop, what an act costs as tables, viewers, lengths and stored matches grow, and on nodes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.reports import told
from benchmarks.targets import us_an_act, us_on_nodes

DRAWN: Final = ("latency", "growth", "nodes")
"""The sections whose figures are drawn."""
COLOURS: Final = {"guests": "#2a6f97", "keys": "#bc4b51"}
PARTS: Final = {"p50": "-", "p99": "--"}
WORDS: Final = {"guests": "guests", "keys": "keys at every seat"}
GROWN: Final = {
    "tables": ("busy tables", "log"),
    "viewers": ("viewers of one table", "linear"),
    "length": ("records of a match so far", "linear"),
    "stored": ("stored matches", "linear"),
}
"""What grows: the words below its panel, and the scale."""


def draw(file: Path, results: dict[str, Any], machine: dict[str, Any]) -> None:
    """Draw the figures of the open loop and of growth into an SVG file, the same bytes for the same figures."""
    # Slow to import, and needed here alone.
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "truc"
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["font.size"] = 8
    from matplotlib import pyplot as plt

    shown, places = plt.subplot_mosaic(
        [["latency", "latency"], ["tables", "viewers"], ["length", "stored"], ["nodes", "missed"]],
        figsize=(8, 13),
    )
    grown, nodes = results.get("growth", {}), results.get("nodes", {})
    panels = {
        "latency": (results.get("latency"), partial(_draw_latency, floor=results.get("floor"))),
        **{what: (grown.get(what), partial(_draw_growth, what=what)) for what in GROWN},
        "nodes": (nodes.get("paced"), _draw_nodes),
        "missed": (nodes.get("missed_s"), _draw_missed),
    }
    for name, (found, panel) in panels.items():
        if found is None:
            places[name].set_axis_off()
        else:
            panel(places[name], found)
            places[name].grid(visible=True, which="major", linewidth=0.3)
    shown.suptitle(told(machine), fontsize=6)
    shown.tight_layout()
    shown.savefig(file, format="svg", metadata={"Date": None})
    plt.close(shown)


def _draw_latency(axes: Any, found: dict[str, Any], floor: dict[str, float]) -> None:
    for who in COLOURS:
        _draw_lines(axes, who, found[who])
    commit_ms = floor["commit_us"] / 1000
    axes.axhline(commit_ms, color="#888888", linewidth=0.8, label="one durable commit")
    axes.set(
        yscale="log", xlabel="acts a second that were due", ylabel="from when it was due to the opponent, ms"
    )
    axes.set_title(f"Act to opponent, open loop, {found['tables']} tables")
    axes.legend()


def _draw_growth(axes: Any, found: dict[str, Any], what: str) -> None:
    words, scale = GROWN[what]
    reached, costs = [int(each) for each in found], list(map(us_an_act, found.values()))
    axes.plot(reached, costs, marker="o", markersize=3)
    axes.set(xscale=scale, xlabel=words, ylabel="main thread an act, µs", ylim=(0, 1.2 * max(costs)))
    axes.set_xticks(reached, [f"{each:,}" for each in reached])
    axes.minorticks_off()


def _draw_nodes(axes: Any, found: dict[str, Any]) -> None:
    for n, by_tables in found.items():
        tables, costs = [int(each) for each in by_tables], list(map(us_on_nodes, by_tables.values()))
        axes.plot(tables, costs, marker="o", markersize=3, label=f"{n} node{'s' * (n != '1')}")
        axes.set_xticks(tables, [f"{each:,}" for each in tables])
    axes.set(xlabel="tables of each node, one act a second", ylabel="main thread an act, µs", ylim=(0, None))
    axes.legend()


def _draw_missed(axes: Any, found: dict[str, Any]) -> None:
    for lease_s, took in found.items():
        axes.plot([int(lease_s)] * len(took), list(took.values()), "o", markersize=3, color="#2a6f97")
    most = max(map(int, found))
    axes.plot([0, most], [0, most], color="#888888", linewidth=0.8, label="the lease itself")
    axes.set(xlabel="lease, s", ylabel="from the kill of a node to a seat at another, s", ylim=(0, None))
    axes.legend()


def _draw_lines(axes: Any, who: str, loads: Sequence[dict[str, Any]]) -> None:
    wanted = [load["wanted"] for load in loads]
    for part, line in PARTS.items():
        figures = [load["latency_ms"].get(part) for load in loads]
        axes.plot(
            wanted, figures, line, color=COLOURS[who], marker="o", markersize=3, label=f"{WORDS[who]}, {part}"
        )
