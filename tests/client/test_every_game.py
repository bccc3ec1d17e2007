"""Every game, to the end of a match, between bots on real sockets; each checks every record, rules included."""

import pytest
from client.playing import homes, play_bots, tables_in_turn

from truc_protocol.audit import Result

pytestmark = pytest.mark.slow

SHORTER = {
    **{(name, seats): 2 for name in ("trut", "trut-confrerie") for seats in (2, 4)},
    ("trut-5", 4): 2,
    ("truco-argentino-6", 6): 15,
    ("truco-argentino-6-flor", 6): 15,
}
"""Targets of games whose matches are long; protocol/test_audit_honest.py has them all at full length."""
OPTIONS = [
    ("truco-argentino", 6, {"pica": "on", "flor": "on"}),
    ("truco-argentino-flor", 4, {"reveal": "match", "falta": "malas-15", "fold_bonus": 0}),
    ("truco-argentino-6-flor", 6, {"reveal": "match", "end_check": "hand_end"}),
    ("truco-paulista", 4, {"cover_from_trick": 2, "blind": "on", "reveal": "match"}),
    ("truco-mineiro", 2, {"cover_from_trick": 2, "blind": "on"}),
    ("truco-mineiro-2", 4, {"blind": "on", "match": 1}),
    ("le-truc", 2, {"show": "owner", "reveal": "match", "redeals": "pack"}),
    ("truc-partnership", 4, {"reveal": "match", "signals": "table"}),
    ("truc-lanes", 4, {"order": "fr36", "target": 8, "match": 1}),
    ("le-truc", 2, {"ladder": "any", "match": 3}),
]


@pytest.mark.parametrize(("variant", "seats"), tables_in_turn())
async def test_a_match_is_played_to_a_proven_end(real_server, tmp_path, variant, seats) -> None:
    shorter = {"target": SHORTER[variant, seats]} if (variant, seats) in SHORTER else {}
    verdicts = await play_bots(
        real_server.url, homes(tmp_path, *[False] * seats), variant, match=1, **shorter
    )
    assert [(verdict.result, verdict.level) for verdict in verdicts] == [(Result.PROVEN, "A")] * seats


@pytest.mark.parametrize(("variant", "seats", "options"), OPTIONS)
async def test_so_is_one_with_table_options(real_server, tmp_path, variant, seats, options) -> None:
    verdicts = await play_bots(real_server.url, homes(tmp_path, *[False] * seats), variant, **options)
    assert {verdict.result for verdict in verdicts} == {Result.PROVEN}


@pytest.mark.parametrize(
    ("variant", "guests", "options"),
    [
        ("truco-argentino-flor", (False, True, False, True), {"reveal": "match"}),
        ("truco-paulista", (False, True, False, True), {"blind": "on", "cover_from_trick": 2}),
        ("truc-partnership", (False, True, False, True), {}),
        ("truc-catalan", (True, True), {}),
    ],
)
async def test_guests_play_beside_keys_or_alone(real_server, tmp_path, variant, guests, options) -> None:
    verdicts = await play_bots(real_server.url, homes(tmp_path, *guests), variant, guests=2, **options)
    level = "C" if all(guests) else "B"
    assert {(verdict.result, verdict.level) for verdict in verdicts} == {(Result.PROVEN, level)}
