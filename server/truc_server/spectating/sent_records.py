"""The records of one match as they are sent: the newest ones made, and how far it has been shown to those who watch.

Records before the newest are read from the store. Invariants: what is dropped from the tail is durable, so that tail and
store together have no hole; what is told of the match or its table from here says no more than the records shown.
"""

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Any, Final, NamedTuple

from msgspec import Raw, Struct
from msgspec.structs import replace

from truc_protocol.bodies import AnyBody, Call, Close, End, Guest, Placed, SeatTaken, Sub
from truc_protocol.codec import unpack, write
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.facts import Fact
from truc_protocol.messages import MatchRecord, SeatState, Snapshot, TableState
from truc_protocol.records import Record, link, parse_own
from truc_protocol.wire.connection import broadcast_frame
from truc_protocol.wire.encoding import LENGTH_BYTES
from truc_server.net.peer import tag_of
from truc_server.storage import AddRecord, PlayerKind
from truc_server.table_data.seats import Lineup
from truc_server.timing.clock import now_ms

MEANS: Final = write({"means": ()})[:-1]  # the map that is stored, without its list of facts
_FACTS_AT: Final = len(MEANS)


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

    def find(self, record: Record, *, since: int) -> int | None:
        """Return where this signer's body stands, not before position `since`, if it is held.

        A body can have more than one valid signature.
        """
        for item in self.since(since):
            if item.is_of(signer=record.signer, body=record.body):
                return item.k
        return None


def record_of(frame: bytes) -> Record:
    """Return the record in a frame."""
    sent = unpack(frame[LENGTH_BYTES:])
    return Record(sent["signer"], sent["body"], sent["sig"])


def record_frame(table: str, row: AddRecord) -> bytes:
    """Return the frame that carries a record to everybody: the same bytes for all, and again after a restart."""
    facts: Any = Raw(row.means[_FACTS_AT:])  # packed once, to be stored and to be sent
    return broadcast_frame(
        MatchRecord(
            table=table, match=row.mid, k=row.k, signer=row.signer, body=row.body, sig=row.sig, means=facts
        )
    )


class Begun(NamedTuple):
    """Where a hand begins: the position of its first record, and the frame of the record before that."""

    k: int
    before: bytes | None


class ShownMatch:
    """What has been shown of one match.

    Attributes:
        tail: the newest records made.
        k: the next position to be shown.
        begun: where the hand that watchers see begins: at the newest call, or after a close that came later.
        began_ms: when the first record was made, Unix time in milliseconds; None before.
        ended_ms: when the end was made; None before.
    """

    def __init__(self, table: str, lineup: Lineup, tail: Tail) -> None:
        self.setup = lineup.setup
        self.tail = tail
        self.k = 0
        self.begun = Begun(0, None)
        self.began_ms: int | None = None
        self.ended_ms: int | None = None
        self._guests = lineup.guests
        self._seats: tuple[SeatTaken | Guest | Sub, ...] = lineup.setup.seats
        self._table = table
        self._newest: bytes | None = None
        self._hand: list[bytes] = []

    @property
    def is_complete(self) -> bool:
        """Whether every record made has been shown."""
        return self.k == self.tail.end

    def made_at(self, body: AnyBody, at_ms: int) -> None:
        """Note when a record was made, which may be shown later: the first and the end tell how old the match is."""
        if self.began_ms is None:
            self.began_ms = at_ms
        match body:
            case End():
                self.ended_ms = at_ms
            case _:
                pass

    def add(self, frame: bytes, body: AnyBody) -> None:
        """Count the next record as shown."""
        match body:
            case Call():
                self._begin()
            case Sub():
                self._seats = (*self._seats[: body.seat], body, *self._seats[body.seat + 1 :])
            case _:
                pass
        self._hand.append(frame)
        self._newest = frame
        self.k += 1
        match body:
            case Close():
                self._begin()
            case _:
                pass

    def _begin(self) -> None:
        self.begun = Begun(self.k, self._newest)
        self._hand = []

    def hand(self) -> Sequence[bytes]:
        """Return the records of the present hand, as sent."""
        return tuple(self._hand)

    def snapshot(self, *, skipped: bool) -> Snapshot:
        """Return the match in short, up to where its present hand begins."""
        return Snapshot(
            table=self._table,
            match=self.setup.mid,
            k=self.begun.k,
            head=self.setup.mid if self.begun.before is None else _head_after(self.begun.before),
            doc=self.setup.terms.document,
            records=self.setup.records,
            view={} if self.begun.before is None else _state(self.begun.before),
            skipped=skipped,
        )

    def mask(self, state: TableState) -> TableState:
        """Return a table's state as of this match, whatever has become of the table since."""
        of_match = (_seat_state(seat, self._guests.get(seat.seat)) for seat in self._seats)
        seats = tuple(starmap(_masked, zip(of_match, state.seats, strict=True)))
        age_ms = age(self.began_ms)
        return replace(
            state, seats=seats, state="playing", match=self.setup.mid, expires_ms=None, age_ms=age_ms
        )


def age(since_ms: int | None) -> int:
    """Return how long ago a time was, in milliseconds; 0 for one that has not come."""
    return 0 if since_ms is None else max(0, now_ms() - since_ms)


def _masked(of_match: SeatState, now: SeatState) -> SeatState:
    """Return a seat as of a match, and whether its player is connected now, if they still sit there."""
    if of_match.player is None or of_match.player != now.player:
        return of_match
    return replace(of_match, online=now.online)


def _head_after(frame: bytes) -> bytes:
    """Return the head after a record as sent, one that is bound to its position."""
    record = record_of(frame)
    body = parse_own(record)
    if not isinstance(body, Placed):
        raise TypeError(f"expected a record of a match, got {type(body).__name__}")
    return link(body.head, record)


def _state(frame: bytes) -> Fact:
    """Return the fact `state` of a record as sent."""
    state: Fact = unpack(frame[LENGTH_BYTES:])["means"][-1]
    return state


def _seat_state(seat: SeatTaken | Guest | Sub, guest: bytes | None) -> SeatState:
    name = seat.name.decode()
    if isinstance(seat, Guest):
        player = None if guest is None else tag_of(PlayerKind.GUEST, guest)
        return SeatState(seat=seat.seat, kind="guest", name=name, player=player)
    return SeatState(seat=seat.seat, kind="key", name=name, player=fingerprint(seat.pk))
