"""What must hold at every moment, whatever fails: looked at with every commit and with everything that reaches a client.

What the observer knows of the store it knows from the commits themselves, those included whose success nobody was told.
Invariant: it changes nothing.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulation.world import EPOCH_S

from truc_protocol.bodies import Act, Proxy, Rule, Void
from truc_protocol.dealing import DealtCards
from truc_protocol.messages import Direction, MatchRecord, Ok, Request, Setup
from truc_protocol.messages.requests import GuestAct, SignedAct
from truc_protocol.records import Record, parse
from truc_protocol.wire.encoding import SERVER_LIMIT, FrameSplitter, MessageError, decode
from truc_server.storage import AddRecord, DropTable, EndMatch, SaveMatch, SaveSeat, SaveTable, Write

if TYPE_CHECKING:
    from simulation.machine import Machine
    from simulation.network import Socket
    from simulation.world import World

_NO_BLAME: Final = ("pause", "resume")
_SALT: Final = 2  # among the arguments of a played card
_CARRIED: Final = 15  # bytes of a salt that may have come before the rest of it


class Observer:
    """Who sees everything, and says what may not be.

    Attributes:
        stored: every record that is stored, by match and position.
        started: the matches, by id; `ended` is why those that are over are.
        blamed: how often something was held against a seat.
    """

    def __init__(
        self, world: "World", file: Path, is_excused: Callable[[str, int], bool] = lambda _table, _seat: False
    ) -> None:
        self._world = world
        self._is_excused = is_excused
        self._database = sqlite3.connect(f"file:{file}?mode=ro", uri=True, isolation_level=None)
        self.stored: dict[tuple[bytes, int], Record] = {}
        self.started: dict[bytes, SaveMatch] = {}
        self.ended: dict[bytes, str] = {}
        self.blamed = 0
        self._tables: set[str] = set()
        self._seats: set[tuple[str, int]] = set()
        self._salts: set[bytes] = set()
        self._opened: set[bytes] = set()
        self._epochs: dict[int, Machine] = {}
        self._newest: dict[bytes, int] = {}

    def dealt(self, cards: DealtCards) -> None:
        """Note what a server or a client deals: what opens its cards reaches nobody before they are played."""
        self._salts.update(opening.salt for hand in cards.hands for opening in hand)
        self._salts -= self._opened

    def close(self) -> None:
        """Look no more."""
        self._database.close()

    def owner_of(self, code: str) -> str | None:
        """Return the name of the process that owns a table; None if there is no such table."""
        found = self._database.execute("SELECT owner FROM tables WHERE code = ?", [code]).fetchone()
        return None if found is None else str(found[0])

    @contextmanager
    def taking(self, machine: "Machine") -> Iterator[None]:
        """Check that whoever takes tables takes none of a node whose lease has not ended."""
        now_ms = int((EPOCH_S + self._world.now) * 1_000)
        query = "SELECT name, claimed FROM nodes WHERE lease_until_ms IS NULL OR lease_until_ms > ?"
        before = self._database.execute(query, [now_ms]).fetchall()
        owned = self._owned_by_the_living(now_ms)
        yield
        after = set(self._database.execute("SELECT name, claimed FROM nodes").fetchall())
        if gone := [name for name, claimed in before if (name, claimed) not in after]:
            self._world.fail(f"{machine.name} has removed {gone}, whose lease has not ended")
        if taken := [code for code, owner in owned if self.owner_of(code) not in (owner, None)]:
            self._world.fail(f"{machine.name} has taken {taken} of nodes whose lease has not ended")

    def _owned_by_the_living(self, now_ms: int) -> list[tuple[str, str]]:
        query = (
            "SELECT code, owner FROM tables JOIN nodes ON nodes.name = owner"
            " WHERE lease_until_ms IS NULL OR lease_until_ms > ? ORDER BY code"
        )
        return self._database.execute(query, [now_ms]).fetchall()

    def committed(self, machine: "Machine", owner: str, writes: Sequence[Write]) -> None:
        """Note what is in the store from now on, written by a process that the database knows by this name."""
        for write in writes:
            self._world.note(machine.name, f"commits {type(write).__name__}", repr(tuple(write)).encode())
            self._note(machine.name, write)
        newest = {write.mid: write.k for write in writes if isinstance(write, AddRecord)}
        for mid, k in newest.items():
            self._check_owner(machine, owner, mid, k)

    def _note(self, node: str, write: Write) -> None:
        match write:
            case AddRecord():
                self._add(node, write)
            case SaveMatch():
                self.started[write.mid] = write
            case EndMatch():
                self._end(write)
            case SaveTable():
                self._tables.add(write.code)
            case DropTable():
                self._tables.discard(write.code)
            case SaveSeat():
                self._seats.add((write.table, write.seat))
            case _:
                pass

    def _check_owner(self, machine: "Machine", owner: str, mid: bytes, k: int) -> None:
        """Check that a record was written by the only process that has its epoch, and by the owner of its table."""
        query = (
            "SELECT records.epoch, node FROM records LEFT JOIN claims ON claims.epoch = records.epoch"
            " WHERE mid = ? AND k = ?"
        )
        found = self._database.execute(query, [mid, k]).fetchone()
        if found is None:
            self._world.fail(
                f"{machine.name} was told that position {k} of {_name(mid)} is stored, and it is not"
            )
            return
        epoch, node = found
        if node != owner or self._epochs.setdefault(epoch, machine) is not machine:
            self._world.fail(f"{machine.name} writes under epoch {epoch}, which is another's: {node}")
        if epoch < self._newest.setdefault(mid, epoch):
            self._world.fail(f"{machine.name} writes to {_name(mid)} under the earlier epoch {epoch}")
        self._newest[mid] = epoch
        holder = self.owner_of(self.started[mid].table)
        if holder not in (owner, None):
            self._world.fail(f"{machine.name} writes to {_name(mid)}, the table of which {holder} owns")

    def _add(self, node: str, write: AddRecord) -> None:
        place, record = (write.mid, write.k), Record(write.signer, write.body, write.sig)
        if place in self.stored:
            self._world.fail(f"{node} writes position {write.k} of {_name(write.mid)} again")
        if write.k and (write.mid, write.k - 1) not in self.stored:
            self._world.fail(
                f"{node} writes position {write.k} of {_name(write.mid)}, and there is none before"
            )
        self.stored[place] = record
        body = parse(record)
        if isinstance(body, Act | Proxy | Rule) and body.kind == "play":
            salt: Any = body.args[_SALT]
            if isinstance(salt, bytes):  # where the seats deal themselves keys stand there
                self._opened.add(salt)
                self._salts.discard(salt)
        if isinstance(body, Rule) and body.ruling not in _NO_BLAME:
            seats = () if body.seat is None else (body.seat,)
            self._blame(write.mid, seats, f"{body.ruling} {body.kind} against seat {body.seat}")
        elif isinstance(body, Void):
            self._blame(write.mid, body.seats, f"a deal is void, for {body.reason}, by {body.seats}")

    def _blame(self, mid: bytes, seats: Sequence[int], what: str) -> None:
        """Take note of what is held against seats: it may be only if each was away by its own network's fault."""
        self.blamed += 1
        table = self.started[mid].table
        if not seats or not all(self._is_excused(table, seat) for seat in seats):
            self._world.fail(f"{_name(mid)}: {what}")

    def _end(self, write: EndMatch) -> None:
        if write.reason != "won" and not self.blamed:
            self._world.fail(f"{_name(write.mid)} is {write.reason}")
        self.ended[write.mid] = write.reason

    def watch(self, near: "Socket") -> None:
        """Look at everything on a connection, by its client's end."""
        Watched(self, near)

    def check_hidden(self, data: bytes, who: str) -> None:
        """Check that what somebody is sent opens no card that is not open."""
        if any(salt in data for salt in self._salts):
            self._world.fail(f"{who} is sent what opens a card that nobody has played")

    def check_stored(self, match: bytes, k: int, record: Record, who: str) -> None:
        """Check that a record that somebody was told of is stored, with the same bytes."""
        found = self.stored.get((match, k))
        if found != record:
            what = "which is not stored" if found is None else "and another is stored"
            self._world.fail(f"{who} has heard of position {k} of {_name(match)}, {what}")

    def check_started(self, setup: Setup, who: str) -> None:
        """Check that a match that somebody was told of is stored."""
        found = self.started.get(setup.match)
        if found is None or list(found.setup) != [Record(*record) for record in setup.records]:
            self._world.fail(f"{who} has heard of {_name(setup.match)}, which is not stored so")

    def check_answered(self, request: Request, ok: Ok, who: str) -> None:
        """Check that what was acknowledged is in the store."""
        match request:
            case SignedAct(match=bytes(match)) if ok.k is not None:
                found = self.stored.get((match, ok.k))
                if found is None or found.body != request.body:
                    self._world.fail(f"{who} has an act acknowledged that is not stored: {request}")
            case GuestAct() if ok.k is not None and (request.match, ok.k) not in self.stored:
                self._world.fail(f"{who} has a choice acknowledged that is not stored: {request}")
            case _ if ok.table is not None and ok.seat is not None:
                if ok.table not in self._tables or (ok.table, ok.seat) not in self._seats:
                    self._world.fail(f"{who} has a seat at {ok.table} that is not stored")
            case _:
                pass


class Watched:
    """One connection under observation."""

    def __init__(self, observer: Observer, near: "Socket") -> None:
        self._observer = observer
        self._who = near.machine.name
        self._asked: dict[int, Request] = {}
        self._from_client = FrameSplitter(SERVER_LIMIT)
        self._from_server = FrameSplitter(SERVER_LIMIT)
        self._before = b""
        near.taps.append(self._told)
        near.far.taps.append(self._said)

    def _said(self, data: bytes) -> None:
        for message in _messages(self._from_client, data, Direction.TO_SERVER):
            if isinstance(message, Request):
                self._asked[message.id] = message

    def _told(self, data: bytes) -> None:
        observer = self._observer
        observer.check_hidden(self._before + data, self._who)
        self._before = (self._before + data)[-_CARRIED:]
        for message in _messages(self._from_server, data, Direction.TO_CLIENT):
            match message:
                case MatchRecord():
                    record = Record(message.signer, message.body, message.sig)
                    observer.check_stored(message.match, message.k, record, self._who)
                case Setup():
                    observer.check_started(message, self._who)
                case Ok() if (request := self._asked.pop(message.re, None)) is not None:
                    observer.check_answered(request, message, self._who)
                case _:
                    pass


def _messages(splitter: FrameSplitter, data: bytes, direction: Direction) -> list[Any]:
    splitter.feed(data)
    found = []
    while (frame := splitter.next_frame()) is not None:
        try:
            found.append(decode(frame, direction))
        except MessageError:
            continue
    return found


def _name(match: bytes) -> str:
    return f"match {match.hex()[:8]}"
