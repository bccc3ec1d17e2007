"""The picture of latency against load: p50 and p99 from act to opponent, in the open loop, for guests and for keys."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.reports import told

COLOURS: Final = {"guests": "#2a6f97", "keys": "#bc4b51"}
PARTS: Final = {"p50": "-", "p99": "--"}
WORDS: Final = {"guests": "guests", "keys": "keys at every seat"}


def draw(file: Path, results: dict[str, Any], machine: dict[str, Any]) -> None:
    """Draw the open loop's figures into an SVG file, the same bytes for the same figures."""
    # Slow to import, and needed here alone.
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "truc"
    mpl.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    shown, axes = plt.subplots(figsize=(8, 4.5))
    for who in COLOURS:
        _draw_lines(axes, who, results["latency"][who])
    commit_ms = results["floor"]["commit_us"] / 1000
    axes.axhline(commit_ms, color="#888888", linewidth=0.8, label="one durable commit")
    axes.set(
        yscale="log", xlabel="acts a second that were due", ylabel="from when it was due to the opponent, ms"
    )
    axes.set_title(
        f"Act to opponent, open loop, {results['latency']['tables']} tables\n{told(machine)}", fontsize=7
    )
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.legend(fontsize=8)
    shown.tight_layout()
    shown.savefig(file, format="svg", metadata={"Date": None})
    plt.close(shown)


def _draw_lines(axes: Any, who: str, loads: Sequence[dict[str, Any]]) -> None:
    wanted = [load["wanted"] for load in loads]
    for part, line in PARTS.items():
        figures = [load["latency_ms"].get(part) for load in loads]
        axes.plot(
            wanted, figures, line, color=COLOURS[who], marker="o", markersize=3, label=f"{WORDS[who]}, {part}"
        )
