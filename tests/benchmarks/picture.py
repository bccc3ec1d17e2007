"""The picture of a run: latency against load in the open loop, and what an act costs as tables, viewers, lengths and stored matches grow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.reports import told
from benchmarks.targets import us_an_act

DRAWN: Final = ("latency", "growth")
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
        [["latency", "latency"], ["tables", "viewers"], ["length", "stored"]], figsize=(8, 10)
    )
    _draw_latency(places["latency"], results)
    for what in GROWN:
        _draw_growth(places[what], what, results)
    shown.suptitle(told(machine), fontsize=6)
    shown.tight_layout()
    shown.savefig(file, format="svg", metadata={"Date": None})
    plt.close(shown)


def _draw_latency(axes: Any, results: dict[str, Any]) -> None:
    found = results.get("latency")
    if found is None:
        axes.set_axis_off()
        return
    for who in COLOURS:
        _draw_lines(axes, who, found[who])
    commit_ms = results["floor"]["commit_us"] / 1000
    axes.axhline(commit_ms, color="#888888", linewidth=0.8, label="one durable commit")
    axes.set(
        yscale="log", xlabel="acts a second that were due", ylabel="from when it was due to the opponent, ms"
    )
    axes.set_title(f"Act to opponent, open loop, {found['tables']} tables")
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.legend()


def _draw_growth(axes: Any, what: str, results: dict[str, Any]) -> None:
    found = results.get("growth", {}).get(what)
    if found is None:
        axes.set_axis_off()
        return
    words, scale = GROWN[what]
    reached, costs = [int(each) for each in found], list(map(us_an_act, found.values()))
    axes.plot(reached, costs, marker="o", markersize=3)
    axes.set(xscale=scale, xlabel=words, ylabel="main thread an act, µs", ylim=(0, 1.2 * max(costs)))
    axes.set_xticks(reached, [f"{each:,}" for each in reached])
    axes.minorticks_off()
    axes.grid(visible=True, which="major", linewidth=0.3)


def _draw_lines(axes: Any, who: str, loads: Sequence[dict[str, Any]]) -> None:
    wanted = [load["wanted"] for load in loads]
    for part, line in PARTS.items():
        figures = [load["latency_ms"].get(part) for load in loads]
        axes.plot(
            wanted, figures, line, color=COLOURS[who], marker="o", markersize=3, label=f"{WORDS[who]}, {part}"
        )
