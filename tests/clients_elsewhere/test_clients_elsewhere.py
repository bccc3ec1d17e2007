"""The clients of docs/clients that need nothing of ours, at a real server: whole matches, and lines that are lost."""

import ast
import random
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from clients_elsewhere.hosted import HOSTED_JS, Host, hosted_java
from clients_elsewhere.programs import (
    CLIENTS,
    GUEST_JS,
    GUEST_PY,
    GUESTS,
    KEYED,
    NODE,
    PATIENCE_S,
    bot,
    keyed,
    needs_jdk,
    needs_node,
    relay,
    result_of,
    start,
    told,
)

from truc_conform.raw_client import frame
from truc_protocol.audit import verify

LONGEST = 120
WIDEST = 110


def imported_by(name) -> list[str]:
    return re.findall(r"^import .* from '(.*)'$", (CLIENTS / name).read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", ["guest.mjs", "guest.py"])
def test_guest_has_at_most_120_lines_that_can_be_read(name) -> None:
    lines = (CLIENTS / name).read_text().splitlines()
    assert (len(lines) <= LONGEST, max(map(len, lines)) <= WIDEST) == (True, True)


def test_python_guest_imports_the_standard_library_and_msgpack_only() -> None:
    tree = ast.walk(ast.parse((CLIENTS / "guest.py").read_text()))
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else each.name
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }
    assert {str(module).split(".")[0] for module in imported} - sys.stdlib_module_names == {"msgpack"}


LIBRARY = "../../client/truc_web/lib"


def test_javascript_guest_imports_node_and_the_codec_only() -> None:
    others = [each for each in imported_by("guest.mjs") if not each.startswith("node:")]
    assert others == [f"{LIBRARY}/messages.mjs"]


@pytest.mark.parametrize("name", sorted(path.name for path in CLIENTS.glob("*.mjs")))
def test_javascript_clients_import_node_and_the_library_only(name) -> None:
    others = [each for each in imported_by(name) if not each.startswith("node:")]
    assert set(others) <= {f"{LIBRARY}/{each}.mjs" for each in ("index", "messages", "platform_node")}


HURRIED_JS = """
require('node:timers/promises').setTimeout = async (ms) => { console.log(ms / 1000); process.exit() }
require('node:module').syncBuiltinESMExports()
"""
HURRIED_PY = "import runpy, sys, time; time.sleep = lambda s: sys.exit(str(s)); runpy.run_path(sys.argv.pop(1), run_name='__main__')"
LATER = {"retryable": True, "msg": "", "retry_after_ms": 2**53 - 1, "reconnect_after_ms": 2**53 - 1}


@pytest.mark.parametrize(
    "later", [{"t": "error", "code": "rate_limited", "re": 0}, {"t": "bye", "code": "internal"}]
)
@pytest.mark.parametrize("guest", GUESTS)
def test_guest_waits_no_longer_than_two_minutes_whatever_a_server_asks_for(guest, later, tmp_path) -> None:
    """In place of its first wait it ends, and says how long that would have been."""
    (tmp_path / "hurried.cjs").write_text(HURRIED_JS)
    in_a_hurry = ["--require", tmp_path / "hurried.cjs"] if guest == GUEST_JS else ["-c", HURRIED_PY]
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = ("127.0.0.1", str(server.getsockname()[1]))
        command = [guest[0], *in_a_hurry, *guest[1:], *place]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line, _ = server.accept()
        with line:
            line.sendall(frame({**later, **LATER}))
            said, _ = process.communicate(timeout=PATIENCE_S)
    assert 120 <= float(said) <= 180


@pytest.mark.slow
@needs_node
def test_guests_without_a_table_find_each_other_and_pass_by_one_that_admits_none(real_server, tmp_path):
    address = (real_server.address.host, str(real_server.port))
    with bot(real_server, tmp_path, "truc-french", "match=1"):
        first, second = (
            subprocess.Popen([*guest, *address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for guest in (GUEST_JS, GUEST_PY)
        )
        assert told(first) == told(second)
    assert first.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("game", ["truco-argentino-flor", "truco-paulista", "put"])
def test_guest_plays_a_match_of_any_game(real_server, tmp_path, guest, game) -> None:
    with bot(real_server, tmp_path, game, "guests=1", "match=1", "target=9") as (place, opponent):
        ended = told(start(guest, place))
        assert (ended.code, ended.errors, opponent.wait(60)) == (0, "", 0)


GAMES = ("truc-french", "truco-argentino-flor", "truco-mineiro", "truc-lanes")


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("hosted", ["javascript", pytest.param("java", marks=needs_jdk)])
def test_keyed_client_plays_matches_that_are_proven_by_both_verifiers(real_server, tmp_path, hosted, request):
    command = HOSTED_JS if hosted == "javascript" else hosted_java(request.getfixturevalue("keyed_java"))
    homes = [tmp_path / game for game in GAMES]
    with Host(command) as host:
        for game, home in zip(GAMES, homes, strict=True):
            home.mkdir()
            with bot(real_server, home, game, "match=1", "target=9") as (place, opponent):
                assert (host.play(*keyed(home, ()), str(place)), opponent.wait(60)) == (0, 0)
    files = [str(home / "match.truc") for home in homes]
    other = [NODE, str(CLIENTS.parent / "verifiers" / "verify.mjs"), *files]
    assert [result_of(home) for home in homes] == ["proven"] * len(GAMES)
    assert subprocess.run(other, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@needs_node
def test_keyed_client_plays_with_the_cryptography_of_a_browser(real_server, tmp_path) -> None:
    program = str(Path(__file__).with_name("keyed_by_web.mjs"))
    with bot(real_server, tmp_path, "truc-french", "match=1", "target=9") as (place, opponent):
        ended = told(start((NODE, program, *keyed(tmp_path)[2:]), place))
        assert (ended.code, opponent.wait(60)) == (0, 0), ended.errors
    assert result_of(tmp_path) == "proven"


@pytest.mark.slow
@needs_node
def test_four_clients_of_three_kinds_play_together(real_server, tmp_path) -> None:
    options = ("guests=2", "match=1", "target=9")
    with bot(real_server, tmp_path, "truc-catalan", *options, seats=4) as (place, opponent):
        players = [start(command, place) for command in (GUEST_JS, GUEST_PY, keyed(tmp_path))]
        assert [told(player).code for player in players] == [0, 0, 0]
        assert opponent.wait(60) == 0
    assert result_of(tmp_path) == "proven"


@pytest.mark.slow
@needs_node
def test_keyed_clients_deal_with_a_bot_of_ours_where_the_host_sees_no_card(real_server, tmp_path) -> None:
    homes = [tmp_path / f"{seat}" for seat in range(3)]
    for home in homes:
        home.mkdir()
    options = ("mode=blind", "match=1", "target=2")  # at the last point a side sees its partners' cards
    with bot(real_server, tmp_path, "truco-paulista", *options, seats=4) as (place, opponent):
        players = [start(keyed(home), place) for home in homes]
        assert [told(player)[::2] for player in players] == [(0, "")] * 3
        assert opponent.wait(60) == 0
    files = [(home / "match.truc").read_bytes() for home in homes]
    assert [verify(file).host_saw_no_card for file in files] == [True] * 3
    assert b"truc/1/lend" in files[0]


SEEDS = (143, 2)
"""One for each client; the fourth cut of these comes within six kilobytes, which the shortest match has."""


def cut(clients):
    """Return clients as rows of their own: each with the seed of its cuts."""
    return [
        pytest.param(*client.values, seed, marks=client.marks, id=client.id)
        for client, seed in zip(clients, SEEDS, strict=True)
    ]


def lasts(seed: int) -> list[int]:
    """Return how long connections last: some but for a moment, some for a good part of a match."""
    source = random.Random(seed)
    return [source.choice((40, 700, 2_000, 6_000, 20_000)) + source.randrange(2_000) for _ in range(8)]


@pytest.mark.slow
@pytest.mark.parametrize(("guest", "seed"), cut(GUESTS))
def test_guest_comes_back_wherever_its_connection_is_cut(real_server, tmp_path, guest, seed) -> None:
    with (
        bot(real_server, tmp_path, "truc-french", "guests=1", "match=1") as (place, _),
        relay(place, lasts(seed)) as (line, way),
    ):
        ended = told(start(guest, way))
        assert (ended.code, ended.errors, line.cuts > 3) == (0, "", True)


@pytest.mark.slow
@pytest.mark.parametrize(("client", "seed"), cut(KEYED), indirect=["client"])
def test_keyed_client_comes_back_wherever_its_connection_is_cut(real_server, tmp_path, seed, client) -> None:
    with (
        bot(real_server, tmp_path, "truc-french", "match=1") as (place, _),
        relay(place, lasts(seed)) as (line, way),
    ):
        ended = told(start(keyed(tmp_path, client), way))
        assert (ended.code, ended.errors, line.cuts > 3) == (0, "", True)
    assert result_of(tmp_path) == "proven"


@pytest.mark.slow
@pytest.mark.parametrize("client", KEYED, indirect=True)
def test_keyed_client_that_is_killed_goes_on_from_what_it_keeps(real_server, tmp_path, client) -> None:
    with (
        bot(real_server, tmp_path, "truc-french", "match=1") as (place, _),
        relay(place, [900, 3_000, 4_000, 5_000, 30_000]) as (line, way),
    ):
        codes = []
        while codes[-1:] != [0]:
            player = start(keyed(tmp_path, client), way)
            line.cut = player.kill
            codes.append(told(player).code)
            assert set(codes) <= {0, -9}
        assert codes.count(-9) >= 4
    assert result_of(tmp_path) == "proven"


@pytest.mark.slow
@needs_node
def test_keyed_client_plays_over_a_line_that_brings_single_bytes(real_server, tmp_path) -> None:
    """The guests do at the tables of the kit."""
    with (
        bot(real_server, tmp_path, "truc-french", "match=1", "target=2") as (place, _),
        relay(place, size=1) as (_, way),
    ):
        assert told(start(keyed(tmp_path), way)).code == 0


@pytest.mark.slow
@needs_node
def test_keyed_client_tells_nothing_to_a_server_of_another_key_and_keeps_what_it_has_for_its_owner_alone(
    real_server, tmp_path
) -> None:
    with bot(real_server, tmp_path, "truc-french", "match=1") as (place, _):
        ended = told(start(keyed(tmp_path), place._replace(fingerprint="A" * 26)))
    assert (ended.code, ended.errors.strip()) == (
        3,
        "stopped at position 0: C37 fails, nobody is shown to blame",
    )
    assert stat.S_IMODE((tmp_path / "keep.json").stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("guest", GUESTS)
def test_guest_that_finds_no_table_says_so(real_server, tmp_path, guest) -> None:
    with bot(real_server, tmp_path, "truc-french", "guests=1", "match=1") as (place, _):
        ended = told(start(guest, place._replace(table="NONE")))
    assert (ended.code, ended.errors.count("\n")) == (1, 1)
