"""The newest records of a match, as they were sent: for repeats, for resuming, and for those who watch late.

Older ones are read from the store. Invariant: what is dropped from the tail is durable, so that tail and store
together have no hole.
"""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from msgspec import Raw, Struct

from truc_protocol.codec import pack, unpack
from truc_protocol.facts import Fact
from truc_protocol.messages import MatchRecord
from truc_protocol.records import Record
from truc_protocol.wire.connection import broadcast_frame
from truc_protocol.wire.frames import LENGTH_BYTES
from truc_server.storage import AddRecord

_MEANS: Final = pack({"means": ()})[:-1]  # the map that is stored, without its list of facts


class Item(Struct, frozen=True):
    """A record as sent, with its position and the batch that makes it durable."""

    k: int
    frame: bytes
    gate: int

    @property
    def record(self) -> Record:
        """The record, read again from the frame, which has all of it: hardly any is asked for."""
        return record_of(self.frame)

    def is_of(self, *, signer: int, body: bytes) -> bool:
        """Tell whether this is the record of a body, under any signature."""
        if body not in self.frame:  # looking for the bytes costs a fiftieth of reading the frame
            return False
        record = self.record
        return (record.signer, record.body) == (signer, body)


class Tail:
    """The records since the hand before the present one.

    Attributes:
        first: the position of the first record held, or of the next one.
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self._items: list[Item] = []
        self._keep_from = first

    @property
    def end(self) -> int:
        """The position of the next record to be made."""
        return self.first + len(self._items)

    def add(self, item: Item) -> None:
        """Append the next record."""
        self._items.append(item)

    def close_hand(self, durable: int) -> None:
        """Drop the hand before the one that has just been closed, as far as it is durable."""
        kept = next(
            (i for i, item in enumerate(self._items) if item.k >= self._keep_from or item.gate > durable),
            len(self._items),
        )
        del self._items[:kept]
        self.first += kept
        self._keep_from = self.end

    def since(self, k: int) -> Iterator[Item]:
        """Yield the records from position `k` on."""
        yield from self._items[max(0, k - self.first) :]

    def at(self, k: int) -> Item | None:
        """Return the record at position `k`, if it is held."""
        i = k - self.first
        return self._items[i] if 0 <= i < len(self._items) else None

    def find(self, record: Record) -> int | None:
        """Return where this signer's body stands, if it is held; a body can have more than one valid signature."""
        newest_first = reversed(self._items)
        return next(
            (item.k for item in newest_first if item.is_of(signer=record.signer, body=record.body)), None
        )


def record_of(frame: bytes) -> Record:
    """Return the record in a frame."""
    sent = unpack(frame[LENGTH_BYTES:])
    return Record(sent["signer"], sent["body"], sent["sig"])


def packed_facts(facts: Sequence[Fact]) -> bytes:
    """Return what is stored of what a record means."""
    return _MEANS + pack(facts)


def record_frame(table: str, row: AddRecord) -> bytes:
    """Return the frame that carries a record to everybody: the same bytes for all, and again after a restart."""
    facts = cast(
        "tuple[Fact, ...]", Raw(row.means[len(_MEANS) :])
    )  # packed once, to be stored and to be sent
    return broadcast_frame(
        MatchRecord(
            table=table, match=row.mid, k=row.k, signer=row.signer, body=row.body, sig=row.sig, means=facts
        )
    )
