"""Each benchmark runs and prints its rows; what they say of time is not asserted."""

import itertools
import json
import re
import sys

import pytest
import trio
from benchmarks import __main__ as whole
from benchmarks import boards, bots, engine, floor, growth, node, picture, reports
from benchmarks.boards import Board, Game, Play, Tally
from benchmarks.generator import spread
from benchmarks.loop import Line, Loop
from benchmarks.reports import BEGIN, END, PageError, write_page
from benchmarks.running import MissingError
from benchmarks.scenarios import LEAST, SECTIONS, measure_floor
from benchmarks.targets import (
    AT_HAND_US,
    NEW_US,
    TARGETS,
    Row,
    at_price,
    beyond_s,
    rate_on_nodes,
    split_us,
    us_on_nodes,
    us_on_two,
)
from chaos.postgres import programs
from rows import each_row
from sqlalchemy import create_engine, func, select

from truc_conform.raw_seat import OVERTAKEN
from truc_rules import preset
from truc_server.storage import schema

LINUX_ALONE = pytest.mark.skipif(sys.platform != "linux", reason="needs epoll, /proc and all of 127.0.0.0/8")
NEEDS = {
    **dict.fromkeys(  # these sections start a server of their own
        ("postgresql", "nodes"),
        pytest.mark.skipif(programs() is None, reason="needs PostgreSQL (Debian's package postgresql)"),
    ),
    "peers": pytest.mark.skipif(  # npm brings the other servers, outside of the tests
        not node.folder().exists(), reason="needs `python -m tests.benchmarks --only peers`"
    ),
}
ELSEWHERE = ("calls", "latency")  # held by test_calls.py, and where the open loop is drawn
MEASURED = [pytest.param(name, marks=NEEDS.get(name, ())) for name in SECTIONS if name not in ELSEWHERE]
MACHINE = reports.machine() if sys.platform == "linux" else {}
LOOSE = {"must": 100.0, "goal": 10.0}


def printed(main, monkeypatch, capsys, *arguments):
    """Run a benchmark's main; return the lines it prints, as words."""
    monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
    main()
    return [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_engine_prints_a_row_for_each_number_of_seats(monkeypatch, capsys):
    monkeypatch.setattr(engine, "ACTIONS", 100)
    lines = printed(engine.main, monkeypatch, capsys, "--rounds", "1", "truc-catalan")
    assert [int(line[1]) for line in lines[2:]] == list(preset("truc-catalan").players)


@pytest.mark.slow
def test_bots_prints_a_row_for_each_pair_of_styles(monkeypatch, capsys):
    lines = printed(bots.main, monkeypatch, capsys, "--games", "2", "--rollouts", "8", "truc-french")
    assert [tuple(line[1:3]) for line in lines[2:]] == list(bots.LEAST)


def test_interval_of_a_rate_is_wilsons():
    assert [round(bound, 3) for bound in bots.Rate(won=81, played=263).interval] == [0.255, 0.366]


@pytest.fixture(scope="module")
def measured_floor(tmp_path_factory):
    """Return the floor that sections stand beside, measured once: each would measure its own again."""
    return trio.run(measure_floor, tmp_path_factory.mktemp("floor"), LEAST)


@pytest.mark.slow
@LINUX_ALONE
@pytest.mark.parametrize("section", MEASURED)
def test_section_gives_every_row_that_the_targets_ask_of_it(
    section, measured_floor, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(whole, "measure_floor", given(measured_floor))
    check_section(section, tmp_path / "report.json", capsys)


def check_section(section, file, capsys, *arguments):
    """Measure a section; hold it to its rows, and its loads to be without a fault."""
    status = whole.main(["--only", section, "--json", str(file), *arguments], scale=LEAST)
    said = capsys.readouterr()
    report = json.loads(file.read_text())
    wanted = {target.name for target in TARGETS if target.section == section and target.name not in BESIDE}
    assert (status, {row["name"] for row in report["rows"] if row["section"] == section}) == (0, wanted), (
        said.err
    )
    assert [name for name in wanted if name not in said.out] == []
    loads = [load for _, load in reports.loads(report["results"])]
    assert [load for load in loads if load["faults"] or is_refused(load)] == []


def is_refused(load):
    """Tell whether more was refused than what comes too late."""
    return bool(set(load.get("refused", ())) - set(OVERTAKEN))


BESIDE = ("main thread an act, guests, over TLS",)  # set beside a figure of another section


@pytest.mark.slow
@LINUX_ALONE
def test_peers_are_left_out_with_a_line_where_npm_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(node, "PROGRAMS", ("node", "no-such-npm"))
    assert whole.main(["--only", "peers"], scale=LEAST) == 0
    said = capsys.readouterr()
    assert "peers is left out: needs Node and npm" in said.err
    assert "boardgame.io" not in said.out


@pytest.mark.parametrize("npm", ["echo no such package >&2; exit 1", "exec sleep 60"])
@LINUX_ALONE
def test_peers_that_npm_does_not_install_leave_nothing_behind(npm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(node, "PROGRAMS", ("sh",))
    monkeypatch.setattr(node, "NPM", ("sh", "-c", npm))
    monkeypatch.setattr(node, "INSTALL_S", 0.1)
    with pytest.raises(MissingError, match=r"no such package|has not installed"):
        node.install()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@LINUX_ALONE
def test_open_loop_gives_its_rows_and_is_drawn_and_put_into_a_page(
    measured_floor, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(whole, "measure_floor", given(measured_floor))
    page, svg = tmp_path / "page.md", tmp_path / "picture.svg"
    page.write_text(f"# Before\n{BEGIN}\nold\n{END}\nAfter\n")
    files = ["--picture", str(svg), "--write", str(page)]
    check_section("latency", tmp_path / "report.json", capsys, *files)
    text = page.read_text()
    assert (text.partition(BEGIN)[0], text.rpartition(END)[2]) == ("# Before\n", "\nAfter\n")
    assert ("act to opponent, open loop: p99" in text, "old" in text) == (True, False)
    drawn = svg.read_text()
    assert [words for words in ("guests, p50", "keys at every seat, p99") if words not in drawn] == []


@pytest.mark.slow
@LINUX_ALONE
def test_picture_has_a_panel_for_each_thing_that_grows_and_lines_for_nodes(tmp_path):
    loads = {"25": {"main_s": 1.0, "acts": 4_000}, "1700": {"main_s": 1.0, "acts": 5_000}}
    paced = {str(n): {tables: {"one": load} for tables, load in loads.items()} for n in (1, 2, 3)}
    nodes = {"paced": paced, "missed_s": {"2": {"0": 2.1, "1": 2.3}}}
    picture.draw(
        tmp_path / "picture.svg", {"growth": dict.fromkeys(picture.GROWN, loads), "nodes": nodes}, MACHINE
    )
    drawn = (tmp_path / "picture.svg").read_text()
    grown = [words for words, _ in picture.GROWN.values()]
    wanted = (*grown, ">1 node<", ">2 nodes<", ">3 nodes<", "from the kill of a node")
    assert [words for words in wanted if words not in drawn] == []
    assert drawn.count(">1,700<") == len(grown) + 1


def test_acts_on_nodes_are_paid_for_together_and_a_node_is_missed_beyond_the_lease():
    loads = {
        "one": {"main_s": 1.0, "acts": 1_000, "seconds": 2},
        "two": {"main_s": 2.0, "acts": 2_000, "seconds": 2},
    }
    assert (us_on_nodes(loads), rate_on_nodes(loads)) == (1_000.0, 1_500.0)
    assert us_on_two({"main_s": 1.0, "far_main_s": 0.5, "acts": 1_000}) == 1_500.0
    longest = {"1": {"0": 1.4, "1": 1.2, "2": 1.3}, "5": {"0": 5.1}}
    assert beyond_s(longest) == pytest.approx(0.3)


@LINUX_ALONE
def test_copies_of_a_match_are_stored_and_nothing_is_left_that_is_played(tmp_path):
    metadata_to = create_engine(f"sqlite:///{tmp_path / 'truc.db'}")
    schema.metadata.create_all(metadata_to)
    assert not growth.fill(tmp_path / "truc.db", 3)  # no match is over
    with metadata_to.begin() as made:
        match = {"table": "OVER", "document": b"", "setup": b"", "seats": 2, "readers": "seats"}
        over = {**match, "mid": b"over", "th": b"1", "reason": "won", "ended_ms": 1}
        made.execute(schema.matches.insert(), [over])
        record = {"signer": 0, "body": b"", "sig": b"", "means": b"", "at_ms": 1, "clocks": b""}
        made.execute(schema.records.insert(), [{**record, "mid": b"over", "k": k} for k in range(5)])
        made.execute(schema.secrets.insert(), [{"th": b"2", "sealed": b""}])
    assert growth.fill(tmp_path / "truc.db", 3)
    with metadata_to.begin() as read:
        held = [
            read.execute(select(func.count()).select_from(each)).scalar()
            for each in (schema.matches, schema.records, schema.secrets)
        ]
    assert held == [1 + 3, 5 + 3 * 5, 0]


@LINUX_ALONE
def test_page_without_a_place_for_the_report_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Words\n")
    with pytest.raises(PageError, match="nothing was written"):
        write_page(page, [], MACHINE)
    assert page.read_text() == "# Words\n"


def board(pace, monkeypatch):
    """Return a table whose first seat takes whatever it is told to do, its tally, and a clock that stands until it is moved."""
    now = [100.0]
    monkeypatch.setattr(boards.time, "perf_counter", lambda: now[0])
    tally = Tally()
    made = Board(Line(Loop(), 0), 1, Game("put"), Play(pace=pace), tally)
    monkeypatch.setattr(made.seats[0], "act", lambda at, option: True)
    made.go()
    return made, tally, now


OPTIONS = [{"key": "play 7e", "kind": "play", "hints": {}}]


@LINUX_ALONE
def test_everything_that_was_due_while_a_server_halts_is_charged_to_it(monkeypatch):
    made, tally, now = board(10.0, monkeypatch)
    made.offer(made.seats[0], 0, OPTIONS)
    now[0] += 5.0  # nothing comes for five seconds, in which some fifty acts were due
    for at in itertools.count(1):
        if not made.is_behind:
            break
        made.offer(made.seats[0], at, OPTIONS)
        made.see(1, {"k": at, "means": []})
    late = [latency for latency in tally.latencies if latency > 1.0]
    assert 25 < len(late) < 60
    assert max(late) > 4.5


@LINUX_ALONE
def test_act_without_a_pace_is_timed_from_when_it_is_made(monkeypatch):
    made, tally, now = board(0.0, monkeypatch)
    now[0] += 5.0
    made.offer(made.seats[0], 0, OPTIONS)
    now[0] += 0.25
    made.see(1, {"k": 0, "means": []})
    assert tally.latencies == [0.25]


def test_act_and_hand_are_told_apart_by_two_loads_and_bounds_are_at_the_price_of_the_run():
    full = {"acts": 1000, "hands": 100, "main_s": 1000 * 50e-6 + 100 * 400e-6}
    brief = {"acts": 1000, "hands": 500, "main_s": 1000 * 50e-6 + 500 * 400e-6}
    assert split_us({"acts": {"few": full, "brief": brief}}) == pytest.approx((50, 400))
    primitives = {"at_hand_us": AT_HAND_US / 2, "new_us": NEW_US / 2}
    assert at_price({"blind": {"primitives": primitives}}, 37) == 18.5


def test_row_says_what_was_reached_and_its_gate_is_several_times_the_must():
    target = TARGETS[0]._replace(**LOOSE, slack=3.0)
    rows = {ratio: Row(target, 1.0, ratio) for ratio in (9.0, 10.0, 50.0, 101.0, 299.0, 301.0)}
    assert [row.reached for row in rows.values()] == ["goal", "goal", "must", "no", "no", "no"]
    assert [ratio for ratio, row in rows.items() if not row.passes] == [301.0]
    least = target._replace(is_least=True)
    assert [Row(least, 1.0, ratio).passes for ratio in (34.0, 33.0)] == [True, False]


FLOOR = {"commit_us": 400.0, "sign_us": 20.0, "verify_us": 60.0}


def given(answer):
    """Return a section that gives these figures, or ends in this way."""

    async def section(folder, scale):
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return section


@LINUX_ALONE
def test_section_that_fails_in_any_way_costs_no_figure_of_another(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(whole, "measure_floor", given(FLOOR))
    monkeypatch.setitem(SECTIONS, "tls", given(ExceptionGroup("tasks", [OSError("no sockets left")])))
    monkeypatch.setitem(SECTIONS, "start", given({"listening_ms": 321.0}))
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    assert whole.main(["--only", "tls", "--only", "start", "--write", str(page)]) == 1
    assert re.search("^from the command to listening +321 ms", page.read_text(), re.MULTILINE)
    said = capsys.readouterr().err
    assert [
        words
        for words in ("tls could not be measured: ExceptionGroup", "no sockets left")
        if words not in said
    ] == []


@LINUX_ALONE
def test_run_that_is_ended_leaves_what_it_had_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(whole, "measure_floor", given(FLOOR))
    monkeypatch.setitem(SECTIONS, "start", given({"listening_ms": 321.0}))
    monkeypatch.setitem(SECTIONS, "tls", given(KeyboardInterrupt()))
    kept = tmp_path / "report.json"
    with pytest.raises(KeyboardInterrupt):
        whole.main(["--only", "start", "--only", "tls", "--json", str(kept)])
    assert json.loads(kept.read_text())["results"] == {"floor": FLOOR, "start": {"listening_ms": 321.0}}


FAR = Row(TARGETS[0]._replace(**LOOSE), 1.0, 1000.0)


@each_row(
    "results, rows, is_gated, status, said",
    [
        ({}, [FAR], True, 1, "far beyond what it must reach"),
        ({}, [FAR], False, 0, ""),
        ({"failed": {"tls": "no"}}, [], False, 1, "tls could not be measured: no\n"),
        ({"left_out": {"peers": "needs npm"}}, [], True, 0, "peers is left out: needs npm\n"),
    ],
)
def test_verdict_says_what_was_missed_and_what_costs_the_status(
    capsys, *, results, rows, is_gated, status, said
):
    assert whole.verdict(results, rows, is_gated=is_gated) == status
    assert said in capsys.readouterr().err


def test_generator_without_time_left_and_tables_behind_their_schedule_are_said():
    full = {"own_share": 0.93, "faults": [], "behind": 0, "clients": 2}
    late = {"pace": 4.0, "own_share": 0.1, "faults": [], "behind": 9, "clients": 20}
    assert reports.doubts({"crowd": full, "latency": {"guests": [late]}}) == [
        "crowd: the generator used 93% of its core",
        "latency guests 4.0/s: 9 tables were behind their schedule at the end",
    ]


def test_spread_of_too_few_figures_is_their_number():
    assert spread([1.0]) == {"n": 1}
    assert spread([1.0, 2.0, 3.0])["p50"] == 2.0


@LINUX_ALONE
def test_floor_commits_are_durable(tmp_path):
    assert floor.commit_us(tmp_path, commits=3) > 0
    with floor.database(tmp_path) as opened:
        settings = [
            opened.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        ]
        assert (settings, opened.execute("SELECT count(*) FROM row").fetchone()) == (["wal", 2], (3,))
