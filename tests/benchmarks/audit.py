"""The audit of a match's file: of honest parties made in memory from a fixed seed, with every seat keyed.

The server ends it after the last of the hands. What the audit must reach stands in targets.py.
"""

import time
from collections.abc import Callable

from protocol.peers import Table

from truc_client.all_cores import cores
from truc_protocol.audit import verify
from truc_protocol.crypto import keys
from truc_protocol.records import Phase
from truc_rules import preset, with_options

HANDS = 40


def played(name: str, *, seats: int, hands: int) -> Table:
    """Return a match that the server ends after a number of hands."""
    table = Table(with_options(preset(name), {"target": 250}), seats=seats, seed=7, links=256)
    table.run(until=lambda ledger: ledger.phase is Phase.BETWEEN and ledger.deal_index > hands)
    table.add(table.dealer.abandon(table.ledger, "server"))
    return table.run()


def verify_all(table: Table) -> None:
    """Verify one signature for each record."""
    body = b"x" * 200
    signature = table.server.sign(body)
    for _ in table.records:
        keys.verify(table.server.public, body, signature)


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
