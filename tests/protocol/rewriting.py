"""Rewriting a match: a change in its middle, after which all but the honest seats bind and sign everything again."""

import copy
import random
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec
from protocol.forge import resigned
from protocol.peers import Table

from truc_protocol.bodies import AnyBody
from truc_protocol.ledger import start_ledger
from truc_protocol.records import KIND_OF, Binding, Record, next_head, parse
from truc_protocol.setup import MatchSetup

HONEST = 0
"""The one seat whose key the forgers do not hold."""


class Place(NamedTuple):
    """Where the next record stands: its position, the head before it, and what releases and acks are bound to."""

    mid: bytes
    k: int
    head: bytes
    parallel: tuple[int, bytes]

    def bind(self, body: AnyBody) -> AnyBody:
        at_once = KIND_OF[type(body)].binding is Binding.PARALLEL
        k, head = self.parallel if at_once else (self.k, self.head)
        return msgspec.structs.replace(body, mid=self.mid, k=k, head=head)

    def after(self, record: Record) -> "Place":
        k, head = self.k + 1, next_head(self.head, record)
        at_once = KIND_OF[type(parse(record))].binding is Binding.PARALLEL
        return self._replace(k=k, head=head, parallel=self.parallel if at_once else (k, head))


def covered(table: Table, record: Record) -> list[Record]:
    """Return the match with one more record, and behind it one of the server's, whether or not they pass."""
    place = Place(table.setup.mid, table.ledger.k, table.ledger.head, table.ledger.parallel).after(record)
    behind = resigned(table, place.bind(parse(table.dealer.move(table.ledger))))
    return [*table.records, record, behind]


def start_of(setup: MatchSetup) -> Place:
    return Place(setup.mid, 0, setup.mid, (0, setup.mid))


def relinked(
    table: Table,
    records: Iterable[Record],
    *,
    honest: frozenset[int] = frozenset({HONEST}),
    kept: frozenset[int] = frozenset(),
) -> list[Record]:
    """Bind the records after the setup to each other again; those of honest seats, and at kept places, stay as they are."""
    place, out = start_of(table.setup), []
    for at, record in enumerate(records):
        stays = record.signer - 1 in honest or at in kept
        fresh = record if stays else resigned(table, place.bind(parse(record)))
        out.append(fresh)
        place = place.after(fresh)
    return [*table.setup.records, *out]


def place_of(table: Table, is_wanted: Callable[[AnyBody], bool], *, last: bool = False) -> int:
    """Return where the first, or last, record of a kind stands, counted after the setup."""
    bodies = [parse(record) for record in table.records[len(table.setup.records) :]]
    found = [at for at, body in enumerate(bodies) if is_wanted(body)]
    return found[-1 if last else 0]


def forked(table: Table, at: int) -> Table:
    """Return the same match as it stood before its record `at`, counted after the setup, to be gone on with otherwise."""
    count = len(table.setup.records)
    fork = copy.copy(table)
    fork.dealer, fork.random = copy.copy(table.dealer), random.Random(table.seed)
    fork.ledger, fork.records = start_ledger(table.setup), list(table.setup.records)
    for record in table.records[count : count + at]:
        fork.add(record)
    return fork
