"""Milliseconds to audit whole matches, rules replay included: `python tests/benchmarks/audit.py [--rounds N]`.

Matches of honest parties are made in memory from a fixed seed, with every seat keyed. Beside the time stands the time
of verifying as many signatures alone, in the same run: the ratio is what compares between machines.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "protocol"))

from peers import Table, audit

from truc_protocol import keys
from truc_rules import preset, with_options


def median_ms(rounds: int, action: Callable[..., object], *arguments: object) -> float:
    """Return the milliseconds an action takes in the median round."""
    spent = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action(*arguments)
        spent.append((time.perf_counter() - begun) * 1000)
    return statistics.median(spent)


def verify_often(table: Table) -> None:
    """Verify one signature for each record."""
    body = b"x" * 200
    signature = table.server.sign(body)
    for _ in table.records:
        keys.verify(table.server.public, body, signature)


def main() -> None:
    """Print a row for each game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{'game':16} {'hands':>5} {'records':>7} {'audit ms':>9} {'signatures ms':>13} {'ratio':>6}")
    for name, seats in (("truc-french", 2), ("truc-catalan", 2), ("truc-catalan", 4)):
        table = Table(with_options(preset(name), {"target": 60}), seats=seats, seed=7, links=256).run()
        audits = median_ms(rounds, audit, table.document, table.records)
        checks = median_ms(rounds, verify_often, table)
        hands = table.ledger.deal_index - 1
        print(
            f"{name:16} {hands:5} {len(table.records):7} {audits:9.1f} {checks:13.1f} {audits / checks:6.2f}"
        )


if __name__ == "__main__":
    main()
