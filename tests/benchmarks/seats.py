"""Thin seats of the load generator: they play what they are offered, and check nothing but the order of records.

A guest chooses by key; a seat with a key signs, opens its links and its boxes, but verifies nobody: what a client must check is
measured elsewhere, and the server does the same work for either. Invariant: whatever ends a seat's play, and was not asked for, is
in the tally as a fault; a request that was refused is counted by its code.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from hashlib import sha256
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Final

from benchmarks.loop import Line, Wire, packed, tag_of, unpacked
from chaos.thin import is_awaited

from truc_conform.expectations import Map
from truc_protocol import boxes
from truc_protocol.bodies import Ack, Act, Release, SeatTaken
from truc_protocol.codec import dec
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.records import Record, encode, next_head
from truc_protocol.wire.handshake import Auth

if TYPE_CHECKING:
    from benchmarks.boards import Board

Script = Generator[int, Map, None]


class Seat(ABC):
    """A player on one wire.

    Attributes:
        next: the position that comes next.
        match: the match that is played; empty before the first.
        token: what a guest comes back by.
    """

    WANT: tuple[str, ...] = ()

    def __init__(self, line: Line, name: str, board: "Board", index: int) -> None:
        self.name = name
        self.next = 0
        self.match = b""
        self.token = ""
        self.board = board
        self.index = index
        self.dice = random.Random(name)
        self.wire: Wire
        self._frame = memoryview(b"")
        self._line = line
        self._ids = 0
        self._acts: set[int] = set()
        self._awaited = -1
        self._script: Script | None = None
        self._then: Callable[[], object] | None = None
        self._chosen: tuple[bytes, int, Map] = (b"", -1, {})

    # What is said.

    def follow(self, script: Script, then: Callable[[], object]) -> None:
        """Make the requests of a script one after the other, then a call."""
        self._script, self._then = script, then
        self._awaited = next(script)

    def connect(self) -> None:
        """Open a connection, which takes the place of any that was lost."""
        self.wire = self._line.connect(self)

    def ask(self, tag: str, **fields: Any) -> int:
        """Send a request; return its number."""
        self._ids += 1
        self.wire.send(packed({"t": tag, "id": self._ids, **fields}))
        return self._ids

    def enter(self) -> Script:
        """Connect, say hello, and log in."""
        self.connect()
        cn = token_bytes(32)
        hello = yield self.ask("hello", proto=[1], want=self.WANT, cn=cn)
        welcome = yield self.ask("login", **self.login(hello, cn))
        self.token = welcome.get("token", self.token)

    @abstractmethod
    def login(self, hello: Map, cn: bytes) -> Map:
        """Return what logs this player in."""

    def come_back(self) -> Script:
        """Log in on a new connection, and resume."""
        yield from self.enter()
        if self.match:
            yield self.ask("resume", table=self.board.code, match=self.match, next=self.next)
        else:
            yield self.ask("join", table=self.board.code)

    def drop(self) -> None:
        """Lose the connection."""
        self.wire.close()
        self._acts.clear()

    def ready(self) -> None:
        """Agree to the next match."""
        self.ask("ready", table=self.board.code)

    # What is heard.

    def take(self, frame: memoryview) -> None:
        """Take a frame; what no seat need know is not even decoded."""
        react = _REACTIONS.get(tag_of(frame))
        if react is not None:
            self._frame = frame
            react(self, unpacked(frame))

    def lose(self) -> None:
        """The server has closed the connection."""
        self.board.tally.blame(f"{self.name}: the server has closed the connection")

    def reply(self, message: Map) -> None:
        """Take a reply: of the script that runs, or of an act."""
        number = message["re"]
        if number == self._awaited and self._script is not None:
            self._advance(message)
        elif number in self._acts:
            self._acts.discard(number)
            self.board.tally.acts += not message.get("dup", False)

    def _advance(self, message: Map) -> None:
        try:
            self._awaited = self._script.send(message)
        except StopIteration:
            self._script, self._awaited = None, -1
            self._then()

    def error(self, message: Map) -> None:
        """Count what was refused; a script that was refused does not go on."""
        number, code = message.get("re", -1), message["code"]
        self.board.tally.refused[code] += 1
        self._acts.discard(number)
        if number == self._awaited:
            self.board.tally.blame(f"{self.name}: {code}: {message['msg']}")

    def bye(self, message: Map) -> None:
        """The server says goodbye."""
        self.board.tally.blame(f"{self.name}: bye, {message['code']}: {message['msg']}")

    def ping(self, message: Map) -> None:
        """Show a sign of life."""
        self.wire.send(packed({"t": "pong", "n": message["n"]}))

    @abstractmethod
    def terms(self, message: Map) -> None:
        """Take the terms of a match."""

    def begin_match(self, message: Map) -> None:
        """Take the setup of a match."""
        self.match, self.next = message["match"], 0
        self.board.begin(self.index)

    def record(self, message: Map) -> None:
        """Take a record, and do what is due after it."""
        if message["k"] != self.next or message["match"] != self.match:
            return  # of a match before, or known already
        self.next += 1
        self.board.see(self.index, message)
        self.follow_up(message)

    def follow_up(self, message: Map) -> None:
        """Do what is due after a record."""
        if any(fact["what"] == "match_ended" for fact in message["means"]):
            self.ready()

    def offered(self, message: Map) -> None:
        """Take options, if the hand waits for this seat."""
        options = self.options_of(message)
        if is_awaited(message, options):
            self.board.offer(self, message["at"], options)

    @abstractmethod
    def options_of(self, message: Map) -> list[Map]:
        """Return the options of a message."""

    def act(self, at: int, option: Map) -> bool:
        """Send an act; False if it comes too late, or the seat is not there: then it is offered again."""
        if at != self.next or self._script is not None or not self.wire.is_open:
            return False
        if self._chosen[:2] != (self.match, at):  # for one place nothing else is chosen later
            self._chosen = (self.match, at, option)
        choice = self.choice(at, self._chosen[2])
        self._acts.add(self.ask("act", table=self.board.code, match=self.match, **choice))
        return True

    @abstractmethod
    def choice(self, at: int, option: Map) -> Map:
        """Return what chooses an option."""


class GuestSeat(Seat):
    """A guest without a box key."""

    def terms(self, message: Map) -> None:
        """Take the terms, which a guest does not sign."""

    def login(self, hello: Map, cn: bytes) -> Map:
        """Return what logs this guest in: the token of an earlier login, or a name."""
        return {"token": self.token} if self.token else {"name": self.name}

    def options_of(self, message: Map) -> list[Map]:
        """Return the options, which come in clear."""
        return message["list"]

    def choice(self, at: int, option: Map) -> Map:
        """Return the key of an option."""
        return {"at": at, "choose": option["key"]}


class KeyedSeat(Seat):
    """A seat with a key."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._key = keys.generate_signing_key()
        self._head = b""
        self._parallel = (0, b"")
        self._j = 0
        self._chain: Chain | None = None
        self._x: keys.BoxKey | None = None
        self._server_x = b""
        self._private: boxes.DownwardKey | None = None

    def login(self, hello: Map, cn: bytes) -> Map:
        """Return the login of this key for this connection."""
        _, spk, sn, *_ = dec(hello["body"])
        body = encode(
            Auth(spk=spk, pk=self._key.public, cn=cn, sn=sn, server_hello=sha256(self._frame).digest())
        )
        return {"body": body, "sig": self._key.sign(body), "name": self.name}

    def terms(self, message: Map) -> None:
        """Join the terms with a fresh chain and box key."""
        body = message["record"][1]
        _, _, tn, _, _, _, links, _, _, _, self._server_x, *_ = dec(body)
        self._chain = Chain(self._key.public, tn, token_bytes(32), first=0, count=links)
        self._x, self._private = keys.generate_box_key(), None
        taken = SeatTaken(
            sha256(body).digest(),
            self.index,
            self._key.public,
            self._chain.anchor,
            self._x.public,
            self.name.encode(),
        )
        self.ask("act", table=self.board.code, match=None, **self._signed(taken))

    def _signed(self, body: Act | Ack | Release | SeatTaken) -> Map:
        encoded = encode(body)
        return {"body": encoded, "sig": self._key.sign(encoded)}

    def begin_match(self, message: Map) -> None:
        """Begin a match: its id is its first head."""
        super().begin_match(message)
        self._head, self._parallel, self._j = self.match, (0, self.match), 0

    def follow_up(self, message: Map) -> None:
        """Go on to the next head, and sign what is due."""
        body = message["body"]
        tag = body[2 : 2 + (body[1] & 0x1F)]
        self._head = next_head(self._head, Record(message["signer"], body, message["sig"]))
        if tag not in (b"truc/1/release", b"truc/1/ack"):
            self._parallel = (self.next, self._head)
        due = _DUE.get(tag)
        if due is not None:
            due(self, body)

    def release(self, call: bytes) -> None:
        """Open the link of the deal that is called."""
        _, _, _, _, self._j, _, _, _, roles = dec(call)
        if self._chain is not None and self.index + 1 in roles:
            opened = self._chain.link(self._j + 1)
            self._hand_in(Release(self.match, *self._parallel, self._j, self.index, opened))

    def pass_on(self, body: bytes) -> None:
        """The deal index is used up."""
        self._j += 1

    def ack(self, body: bytes) -> None:
        """Sign that the end was seen, and agree to the next match."""
        self._hand_in(Ack(self.match, *self._parallel, self.index))
        self.ready()

    def _hand_in(self, body: Release | Ack) -> None:
        self.ask("act", table=self.board.code, match=self.match, **self._signed(body))

    def options_of(self, message: Map) -> list[Map]:
        """Return the options, which come in a box; it is opened where the seat may have to act."""
        if not (message["must"] or self.board.game.has_windows) or self._x is None:
            return []
        if self._private is None:
            self._private = boxes.downward_key(self._x.exchange(self._server_x), self.match, self.index)
        box, at, offer = message["box"], message["at"], message["offer"]
        opened = boxes.open_options(
            self._private, self.match, seat=self.index, at=at, offer=offer, box=box, after=boxes.NO_COUNTER
        )
        return [
            {"key": o.line, "kind": o.kind, "args": o.args, "hints": dict(o.hints)} for o in opened.options
        ]

    def choice(self, at: int, option: Map) -> Map:
        """Return the signed act of an option."""
        here = (self.match, at, self._head, self._j)
        return self._signed(Act(*here, self.index, option["kind"], option["args"]))


_REACTIONS: Final[Mapping[bytes, Callable[[Seat, Map], None]]] = {
    b"ok": Seat.reply,
    b"hello": Seat.reply,
    b"welcome": Seat.reply,
    b"error": Seat.error,
    b"bye": lambda seat, message: seat.bye(message),
    b"ping": Seat.ping,
    b"terms": lambda seat, message: seat.terms(message),
    b"setup": lambda seat, message: seat.begin_match(message),
    b"record": lambda seat, message: seat.record(message),
    b"options": Seat.offered,
}
_DUE: Final[Mapping[bytes, Callable[[KeyedSeat, bytes], None]]] = {
    b"truc/1/call": KeyedSeat.release,
    b"truc/1/draw": KeyedSeat.pass_on,
    b"truc/1/void": KeyedSeat.pass_on,
    b"truc/1/close": KeyedSeat.pass_on,
    b"truc/1/end": KeyedSeat.ack,
}


def concede(options: list[Map], dice: random.Random) -> Map:
    """Return the option that ends the hand soonest."""
    return next((option for option in options if option["kind"] == "concede"), dice.choice(options))
