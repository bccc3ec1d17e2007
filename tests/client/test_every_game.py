"""Every game, to the end of a match, between bots on real sockets; each checks every record, rules included."""

import os

import pytest
from client.playing import homes, play_bots

from truc_protocol.audit import Result
from truc_rules import preset, presets

pytestmark = pytest.mark.slow

OPTIONS = [
    ("truco-argentino", 6, {"pica": "on", "flor": "on", "target": 15}),
    ("truco-argentino-flor", 4, {"reveal": "match", "falta": "malas-15", "fold_bonus": 0, "target": 20}),
    ("truco-argentino-6-flor", 6, {"reveal": "match", "end_check": "hand_end", "target": 10}),
    ("truco-paulista", 4, {"cover_from_trick": 2, "blind": "on", "reveal": "match", "match": 1}),
    ("truco-mineiro", 2, {"cover_from_trick": 2, "blind": "on", "match": 1}),
    ("truco-mineiro-2", 4, {"blind": "on", "match": 1}),
    ("le-truc", 2, {"show": "owner", "reveal": "match", "redeals": "pack"}),
    ("truc-partnership", 4, {"reveal": "match", "signals": "table", "match": 1}),
    ("truc-lanes", 4, {"order": "fr36", "target": 8, "match": 1}),
    ("le-truc", 2, {"ladder": "any", "match": 3}),
]


def tables() -> list[tuple[str, int]]:
    """Return each game with the fewest seats it is played by; with TRUC_EXAMPLES in the environment with all of them."""
    most = None if "TRUC_EXAMPLES" in os.environ else 1
    return [(name, seats) for name in presets() for seats in preset(name).players[:most]]


@pytest.mark.parametrize(("variant", "seats"), tables())
async def test_a_match_is_played_to_a_proven_end(real_server, tmp_path, variant, seats) -> None:
    # a third of the points: protocol/test_audit_honest.py has every game at full length
    target = max(2, preset(variant).scoring.target // 3)
    players = homes(tmp_path, *[False] * seats)
    verdicts = await play_bots(real_server.url, players, variant, match=1, target=target)
    assert [(verdict.result, verdict.level) for verdict in verdicts] == [(Result.PROVEN, "A")] * seats


@pytest.mark.parametrize(("variant", "seats", "options"), OPTIONS)
async def test_so_is_one_with_table_options(real_server, tmp_path, variant, seats, options) -> None:
    verdicts = await play_bots(real_server.url, homes(tmp_path, *[False] * seats), variant, **options)
    assert {verdict.result for verdict in verdicts} == {Result.PROVEN}


@pytest.mark.parametrize(
    ("variant", "guests", "options"),
    [
        ("truco-argentino-flor", (False, True, False, True), {"reveal": "match", "target": 10}),
        ("truco-paulista", (False, True, False, True), {"blind": "on", "cover_from_trick": 2, "match": 1}),
        ("truc-partnership", (False, True, False, True), {"match": 1}),
        ("truc-catalan", (True, True), {"match": 1, "target": 4}),
    ],
)
async def test_guests_play_beside_keys_or_alone(real_server, tmp_path, variant, guests, options) -> None:
    verdicts = await play_bots(real_server.url, homes(tmp_path, *guests), variant, guests=2, **options)
    level = "C" if all(guests) else "B"
    assert {(verdict.result, verdict.level) for verdict in verdicts} == {(Result.PROVEN, level)}
