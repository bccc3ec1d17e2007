"""Servers and clients are killed, frozen and cut off again and again, under load, at random instants: the short forms.

The long ones are commands: `python -m chaos.kills`, `python -m chaos.nodes` and `python -m chaos.client_kills`, with `tests` in
PYTHONPATH.
"""

import pytest
from chaos import client_kills, kills, nodes
from chaos.postgres import programs
from chaos.stored import ViolationError, Written

from truc_protocol.records import BLIND

pytestmark = pytest.mark.slow


async def test_nothing_acknowledged_is_lost_by_six_kills_of_the_server(tmp_path):
    plan = kills.Plan(count=6, tables=5, seed=386, acts=30, matches=1)
    figures = (await kills.run(plan, tmp_path)).figures
    assert sum(figures[when.value] for when in kills.When) == 6
    assert all(figures[when.value] for when in kills.When)
    assert figures["matches"] >= 5
    assert figures["leavers"] >= 1
    assert figures["pauses"] >= 1
    assert figures["wishes"] >= 1


@pytest.mark.skipif(programs() is None, reason="needs PostgreSQL (Debian's package postgresql)")
async def test_nothing_acknowledged_is_lost_by_twenty_faults_of_three_nodes(tmp_path):
    # no seed is sure to let a node write on without its lease: for that there is server/test_store_leases.py
    plan = nodes.Plan(20, 4, seed=5, lease_s=1, pace_s=0.3, acts=10, matches=1, twice=0.8, outages=False)
    figures = (await nodes.run(plan, tmp_path)).figures
    assert sum(figures[fault.value] for fault in nodes.Fault) == 20
    assert figures["proven"] == figures["matches"] >= 4
    assert figures["takeovers"] >= 1


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ([(0, 1, "one"), (2, 1, "one")], "expected position 1, found 2"),
        ([(0, 1, "one"), (1, 2, None)], "nobody drew epoch 2"),
        ([(0, 2, "two"), (1, 1, "one")], "epoch 1 after 2"),
    ],
)
def test_records_that_two_nodes_have_written_at_once_are_found(log, found):
    with pytest.raises(ViolationError, match=found):
        nodes.check_epochs([Written(b"mid", *record) for record in log])
    nodes.check_epochs(
        [Written(b"mid", 0, 1, "one"), Written(b"mid", 1, 2, "two"), Written(b"other", 0, 1, "one")]
    )


async def test_nothing_acknowledged_is_lost_at_tables_whose_host_sees_no_card(tmp_path):
    plan = kills.Plan(count=3, tables=2, seed=2, acts=30, matches=1, blind=1.0, freezes=0.7)
    figures = (await kills.run(plan, tmp_path)).figures
    assert sum(figures[when.value] for when in kills.When) == 3
    assert figures["freezes"] >= 1
    assert figures["matches"] >= 2


async def test_nothing_is_signed_twice_and_every_match_is_proven_over_four_kills_of_clients(tmp_path):
    figures = (await client_kills.run(client_kills.Plan(count=4, pairs=1, seed=1), tmp_path)).figures
    assert figures["kills"] >= 4
    assert figures["matches proven"] > 0


async def test_no_step_of_a_deal_is_taken_in_two_ways_by_clients_that_are_killed_and_frozen(tmp_path):
    plan = client_kills.Plan(count=3, pairs=1, seed=3, deal=BLIND, freezes=0.5)
    figures = (await client_kills.run(plan, tmp_path)).figures
    assert figures["kills"] >= 1
    assert figures["freezes"] >= 1
    assert figures["steps of a deal sent"] > 0
    assert figures["matches proven"] > 0


async def test_nobody_is_blamed_but_who_was_away_for_longer_than_the_clocks(tmp_path):
    plan = client_kills.Plan(count=3, pairs=1, seed=23, deal=BLIND, freezes=1.0, away=True, life_s=1.0)
    figures = (await client_kills.run(plan, tmp_path)).figures
    frozen = ("freezes", "freezes beyond the clocks", "freezes of the server")
    assert [figures[which] for which in frozen] == [1, 1, 1]
    assert figures["matches proven"] > 0
