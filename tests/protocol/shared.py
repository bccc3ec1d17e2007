"""A table at which partners must be shown each other's cards."""

from dataclasses import replace

from protocol.peers import Table

from truc_protocol.bodies import Share
from truc_protocol.records import parse
from truc_rules import LastPoint, preset


def sharing_table(*, guests: tuple[int, ...] = (), boxed: bool = False) -> Table:
    """Four seats of Catalan at the deal where a side at its last point is shown its partners' cards."""
    variant = replace(
        preset("truc-catalan"), last_point=LastPoint(at=11, stake=3, decline=1, share=True), name="shared"
    )
    table = Table(variant, seats=4, guests=guests, boxed_guests=boxed)
    table.run(until=lambda ledger: owes_share(table))
    return table


def owes_share(table: Table) -> bool:
    record = table.dealer.next_record(table.ledger)
    return record is not None and isinstance(parse(record), Share)
