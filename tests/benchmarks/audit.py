"""Milliseconds to audit forty hands: `python tests/benchmarks/audit.py [--rounds N] [--hands N]`.

Matches of honest parties are made in memory from a fixed seed, with every seat keyed, and ended by the server after the
last of the hands. An audit tells the rules every hand twice, as it comes and with all cards open; the engine is measured
alone on the same moves, and the audit without it is the difference. What it must reach stands in targets.py.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measuring import spent_us
from protocol.peers import Table, audit

from truc_client.all_cores import cores
from truc_protocol.audit import Auditor, ClosedHand, verify
from truc_protocol.crypto import keys
from truc_protocol.ledger import replayed
from truc_protocol.records import Phase
from truc_rules import Card, preset, with_options

HANDS = 40
GAMES = (("truc-catalan", 2), ("truc-catalan", 4), ("truco-argentino", 4))


class Figures(NamedTuple):
    """Milliseconds: the audit, the rules engine alone, and one signature check for each record."""

    audit: float
    rules: float
    signatures: float


def played(name: str, *, seats: int, hands: int) -> Table:
    """Return a match that the server ends after a number of hands."""
    table = Table(with_options(preset(name), {"target": 250}), seats=seats, seed=7, links=256)
    table.run(until=lambda ledger: ledger.phase is Phase.BETWEEN and ledger.deal_index > hands)
    table.add(table.dealer.abandon(table.ledger, "server"))
    return table.run()


def replay(auditor: Auditor) -> None:
    """Tell the rules every hand twice."""
    for hand in auditor.hands:
        for _ in range(2):
            replayed(hand.log, cards(hand))


def cards(hand: ClosedHand) -> tuple[tuple[tuple[Card, ...], ...], ...]:
    """Return the cards of each deal of a hand, by seat and slot."""
    return tuple(
        tuple(tuple(Card(opening.card) for opening in opened) for opened in dealt.hands)
        for dealt in hand.dealt
    )


def verify_all(table: Table) -> None:
    """Verify one signature for each record."""
    body = b"x" * 200
    signature = table.server.sign(body)
    for _ in table.records:
        keys.verify(table.server.public, body, signature)


def measure(table: Table, rounds: int) -> Figures:
    """Measure a match; medians."""
    auditor = audit(table.document, table.records)
    measured = [
        (
            spent_us(audit, table.document, table.records) / 1000,
            spent_us(replay, auditor) / 1000,
            spent_us(verify_all, table) / 1000,
        )
        for _ in range(rounds)
    ]
    return Figures(*map(statistics.median, zip(*measured, strict=True)))


def measure_file(table: Table, rounds: int) -> tuple[float, float]:
    """Return the milliseconds to verify a match's file, with the signatures on all cores, and those of its signatures alone.

    The former are those that pass, which no processor time tells where several cores work.
    """
    file = table.file()
    verified = min(_passed_ms(verify, file, threads=cores()) for _ in range(rounds))
    return verified, min(_passed_ms(verify_all, table) for _ in range(rounds))


def _passed_ms(action: Callable[..., object], *arguments: object, **fields: object) -> float:
    begun = time.perf_counter()
    action(*arguments, **fields)
    return (time.perf_counter() - begun) * 1000


def row(name: str, table: Table, figures: Figures) -> str:
    """Write a match's row."""
    return (
        f"{name:16} {table.ledger.seats:5} {len(table.records):7} {figures.signatures:10.1f}"
        f" {figures.audit:7.1f} {figures.audit - figures.rules:13.1f}"
    )


def main() -> None:
    """Print a row for each game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--hands", type=int, default=HANDS)
    arguments = parser.parse_args()
    print(f"audits of {arguments.hands} hands, in ms")
    print(f"{'game':16} {'seats':>5} {'records':>7} {'signatures':>10} {'audit':>7} {'without rules':>13}")
    for name, seats in GAMES:
        table = played(name, seats=seats, hands=arguments.hands)
        print(row(name, table, measure(table, arguments.rounds)), flush=True)


if __name__ == "__main__":
    main()
