"""The hosting page about watching lists what is served, and so do its alerts and the dashboard."""

import json
import re
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner
from server.asking import figures_of, get, telling
from server.conftest import QUICK, running

from truc_server.main import main
from truc_server.metrics import page
from truc_server.metrics.measures import MEASURES
from truc_server.operation.logs import OF_ADDRESS, OF_EVENT
from truc_web.serving.http_connection import HEADER_BYTES

HOSTING = Path(__file__).parents[2] / "docs" / "hosting"
PAGE = (HOSTING / "watching.md").read_text("utf-8")
DASHBOARD = json.loads((HOSTING / "grafana.json").read_text("utf-8"))
NAME = re.compile(r"\b(?:truc|process|python)_[a-z0-9_]+\b")
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> str:
    """What a server serves."""

    async def served() -> str:
        async with running(tmp_path_factory.mktemp("server") / "data", telling(QUICK)) as server:
            return (await get(server, "/metrics")).text

    return trio.run(served)


@pytest.fixture(scope="module")
def served(text) -> set[str]:
    """The names of all figures in it."""
    return {name.partition("{")[0] for name in figures_of(text)}


def families(text: str) -> set[str]:
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}


def test_page_names_only_metrics_that_are_served_and_each_says_what_it_is(text):
    explained = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP ")}
    assert explained == families(text)
    named = {re.sub(r"_(bucket|sum|count)$", "", name) for name in NAME.findall(PAGE)}
    assert named <= families(text) | {"truc_"}


def test_reasons_of_the_page_are_those_of_the_metric():
    (turned,) = [measure.text for measure in MEASURES if measure.name == "truc_turned_away_total"]
    reasons = turned.rpartition(": ")[2].rstrip(".")
    assert all(reason in " ".join(PAGE.split()).replace("`", "") for reason in reasons.split(", "))


def test_every_metric_of_the_table_is_served_and_a_counter_if_its_name_says_so(text):
    kinds = {
        line.split()[2]: line.split()[3] for line in text.splitlines() if line.startswith("# TYPE truc_")
    }
    del kinds["truc_build_info"]
    assert kinds.keys() == {one.name for one in MEASURES}
    assert [name for name, kind in kinds.items() if name.endswith("_total") != (kind == "counter")] == []


def test_alerts_name_figures_that_are_served(served):
    alerts = re.findall(r"^ +expr: (.*)$", PAGE, re.MULTILINE)
    assert len(alerts) == PAGE.count("- alert: ") > 5
    assert {name for alert in alerts for name in NAME.findall(alert)} - served == set()


def test_every_expression_of_the_dashboard_names_figures_that_are_served(served):
    unknown = {
        target["expr"]: missing
        for target in TARGETS
        if (missing := set(NAME.findall(target["expr"])) - served)
    }
    assert (unknown, [target["expr"] for target in TARGETS if not NAME.search(target["expr"])]) == ({}, [])


def test_labels_of_the_dashboard_are_those_of_its_figures():
    labels = {measure.name: {measure.label} - {None} for measure in MEASURES}
    for target in TARGETS:
        for label, name in re.findall(r"sum by \((\w+)\) \(rate\((truc_\w+)\{", target["expr"]):
            assert {label} == labels.get(name, {"le"})
        assert all(f'{name}{{instance="$instance"' in target["expr"] for name in NAME.findall(target["expr"]))


def test_dashboard_shows_every_metric():
    shown = {name for target in TARGETS for name in NAME.findall(target["expr"])}
    plain = {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    assert {measure.name for measure in MEASURES} - plain == set()


def test_panels_of_the_dashboard_do_not_overlap():
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y)
        for at in places
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


def test_command_of_the_page_asks_for_health():
    (command,) = re.findall(r"^curl (.*)$", PAGE, re.MULTILINE)
    assert "http://127.0.0.1:9373/health" in command
    assert PAGE.count("port = 9373") == 1


def test_limits_of_the_page_are_in_force():
    assert f"at most {page.CONNECTIONS} connections at once" in PAGE
    assert f"each has {page.SECONDS:g} seconds and one request of at most {HEADER_BYTES // 1024} KiB" in PAGE
    assert f"at most {OF_ADDRESS} lines a minute for one address and {OF_EVENT} in all" in PAGE


def test_settings_of_the_page_are_taken(tmp_path):
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "truc.toml").write_text(block)
    command = ["check", "--settings", str(tmp_path / "truc.toml"), "--data", str(tmp_path / "data")]
    assert "settings: in range" in CliRunner().invoke(main, command).stdout
