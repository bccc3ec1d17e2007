"""The server and its clients are killed again and again, under load, at random instants: the short forms.

The long ones are commands: `python -m chaos.kills` and `python -m chaos.client_kills`, with `tests` in PYTHONPATH.
"""

import pytest
from chaos import client_kills, kills

pytestmark = pytest.mark.slow


async def test_nothing_acknowledged_is_lost_by_twelve_kills_of_the_server(tmp_path):
    plan = kills.Plan(count=12, tables=5, seed=1, acts=30, matches=1)
    figures = (await kills.run(plan, tmp_path / "data")).figures
    assert sum(figures[when.value] for when in kills.When) == 12
    assert figures["matches"] >= 5
    assert figures["leavers"] >= 1
    assert figures["pauses"] >= 1


async def test_nothing_is_signed_twice_and_every_match_is_proven_over_four_kills_of_clients(tmp_path):
    figures = await client_kills.run(client_kills.Plan(count=4, pairs=1, seed=1), tmp_path)
    assert figures["kills"] >= 4
    assert figures["matches proven"] > 0
