"""A client of frames and maps: no library, no state machine, only what the protocol says.

`RawClient` sends and receives; `Seat` is a minimal player over it, keyed or a guest, that signs, audits and picks its
moves at random from the options. Both keep every byte they have received.
"""

import random
import struct
from secrets import token_bytes

import trio

from truc_protocol import boxes, keys
from truc_protocol.audit import Auditor, OwnSeat
from truc_protocol.bodies import Ack, Act, Body, Rekey, Release, Resign, SeatTaken, Sub
from truc_protocol.chains import Chain
from truc_protocol.codec import pack, unpack
from truc_protocol.handshake import Contact, authenticate, check_server_hello
from truc_protocol.ledger import missing
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.messages import ServerHello
from truc_protocol.records import Phase, Record, encode, parse
from truc_protocol.setup import open_terms

PATIENCE_S = 10


def frame(message: dict) -> bytes:
    packed = pack(message)
    return struct.pack(">I", len(packed)) + packed


def is_rash(option: dict) -> bool:
    """Tell whether an option may end a game at once."""
    return option["kind"] == "concede" or option["key"].endswith("rest")


class GoneError(Exception):
    """The server has closed the connection, or said that it will."""


class RawClient:
    """One connection, as frames of maps."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.received = bytearray()
        self.log: list[dict] = []
        self.spk = b""
        self.info: dict = {}
        self.welcome: dict = {}
        self._unread = bytearray()
        self._ids = 0

    async def send_bytes(self, raw: bytes) -> None:
        await self.stream.send_all(raw)

    async def send(self, message: dict) -> int:
        """Send a request, with a fresh id unless it has one."""
        if "id" not in message and message["t"] not in ("ping", "pong"):
            self._ids += 1
            message = {**message, "id": self._ids}
        await self.send_bytes(frame(message))
        return message.get("id", -1)

    async def next_frame(self) -> bytes | None:
        while True:
            if len(self._unread) >= 4:
                end = 4 + struct.unpack(">I", self._unread[:4])[0]
                if len(self._unread) >= end:
                    whole = bytes(self._unread[4:end])
                    del self._unread[:end]
                    return whole
            try:
                with trio.fail_after(PATIENCE_S):
                    received = await self.stream.receive_some(65_536)
            except trio.BrokenResourceError:
                return None
            if not received:
                return None
            self.received += received
            self._unread += received

    async def receive(self) -> dict:
        whole = await self.next_frame()
        if whole is None:
            raise GoneError(self.log[-3:])
        message = unpack(whole)
        self.log.append(message)
        return message

    async def until(self, tag: str, **fields) -> dict:
        """Receive until a message with this tag and these fields."""
        while True:
            message = await self.receive()
            if message["t"] == tag and all(message.get(name) == value for name, value in fields.items()):
                return message

    async def ask(self, message: dict) -> dict:
        """Send a request and return its reply."""
        number = await self.send(message)
        while True:
            reply = await self.receive()
            if reply.get("re") == number:
                return reply

    async def closed(self) -> list[dict]:
        """Receive to the end of the stream."""
        rest = []
        while (whole := await self.next_frame()) is not None:
            rest.append(unpack(whole))
        return rest

    async def hello(self, **fields) -> dict:
        cn = token_bytes(32)
        message = {"t": "hello", "id": 0, "proto": [1], "want": [], "cn": cn, **fields}
        await self.send(message)
        reply_frame = await self.next_frame()
        assert reply_frame is not None
        reply = unpack(reply_frame)
        if reply["t"] == "hello":
            hello = ServerHello(re=0, body=reply["body"], sig=reply["sig"], info=reply["info"])
            self.server = check_server_hello(hello, Contact(pack(message), [1], None, 0))
            self.spk, self.info = self.server.spk, unpack(reply["info"])
            self.cn, self.hello_frame = cn, reply_frame
        return reply

    async def login_key(self, key: keys.SigningKey, name: str = "north") -> dict:
        await self.hello()
        signed = authenticate(key, self.server, cn=self.cn, hello_frame=self.hello_frame)
        self.welcome = await self.ask({"t": "login", "body": signed.body, "sig": signed.sig, "name": name})
        return self.welcome

    async def login_guest(self, name: str = "Gus") -> dict:
        await self.hello()
        self.welcome = await self.ask({"t": "login", "name": name})
        return self.welcome

    async def login_token(self, token: str) -> dict:
        await self.hello()
        self.welcome = await self.ask({"t": "login", "token": token})
        return self.welcome


class Seat:
    """A player: keyed if `key`, boxed if `x`. `client` may be replaced after a lost connection."""

    def __init__(self, client: RawClient, *, seed: int = 1, keyed: bool = True, boxed: bool = True) -> None:
        self.client = client
        self.random = random.Random(seed)
        self.key = keys.generate_signing_key() if keyed else None
        self.x = keys.generate_box_key() if keyed or boxed else None
        self.name = f"seat{seed}"
        self.table = ""
        self.seat = -1
        self.next = 0
        self.records: list[Record] = []
        self.document = b""
        self.auditor: Auditor | None = None
        self.chain: Chain | None = None
        self.stored: dict[tuple[str, int], dict] = {}  # what was signed for a place: only that is sent again
        self.counter = boxes.NO_COUNTER
        self.options: dict | None = None
        self.waiting: dict | None = None
        self.cards: list[str] = []
        self.partners: dict[int, list[str]] = {}
        self.sent: dict | None = None
        self.chooses = self.pick
        self.done = False
        self.fresh: tuple[Chain, keys.BoxKey] | None = None  # of a rekey or sub that is not a record yet

    async def login(self) -> dict:
        if self.key is not None:
            return await self.client.login_key(self.key, self.name)
        welcome = await self.client.login_guest(self.name)
        self.token = welcome["token"]
        return welcome

    async def come_back(self, client: RawClient, *, next_: int | None = None) -> dict:
        """Log in on another connection and resume; return the last reply."""
        self.client = client
        if self.key is not None:
            await client.login_key(self.key, self.name)
        else:
            await client.login_token(self.token)
        return await self.resume(next_)

    async def resume(self, next_: int | None = None) -> dict:
        if self.auditor is None:
            wanted = {"match": self.client.welcome["seats"][0]["match"], "next": -1}
        else:
            wanted = {"match": self.ledger.setup.mid, "next": self.next if next_ is None else next_}
        return await self.ask({"t": "resume", "table": self.table, **wanted})

    async def create(self, variant: str, **fields) -> str:
        reply = await self.client.ask({"t": "create", "variant": variant, **fields})
        assert reply["t"] == "ok", reply
        self.table, self.seat = reply["table"], reply["seat"]
        return self.table

    async def join(self, table: str, seat: int | None = None) -> dict:
        reply = await self.client.ask(
            {"t": "join", "table": table} | ({} if seat is None else {"seat": seat})
        )
        if reply["t"] == "ok":
            self.table, self.seat = table, reply["seat"]
        return reply

    async def ready(self) -> dict:
        x = {"x": self.x.public} if self.key is None and self.x is not None else {}
        return await self.ask({"t": "ready", "table": self.table, **x})

    async def ask(self, message: dict) -> dict:
        """Send a request and return its reply, reacting to what comes before it."""
        number = await self.client.send(message)
        while True:
            message = await self.client.receive()
            if message.get("re") == number:
                return message
            await self.react(message)

    @property
    def ledger(self):
        assert self.auditor is not None
        assert self.auditor.ledger is not None
        return self.auditor.ledger

    def sign(self, body: Body) -> dict:
        assert self.key is not None
        encoded = encode(body)
        match = None if isinstance(body, SeatTaken) else self.ledger.setup.mid
        return {
            "t": "act",
            "table": self.table,
            "match": match,
            "body": encoded,
            "sig": self.key.sign(encoded),
        }

    async def act(self, message: dict) -> None:
        self.sent = message
        await self.client.send(message)

    async def play(self, until=lambda seat: seat.done) -> "Seat":
        """React to what comes until a condition holds; by itself until the match has ended and is acked."""
        while not until(self):
            await self.react(await self.client.receive())
        return self

    async def react(self, message: dict) -> None:
        match message["t"]:
            case "terms":
                await self.sign_terms(message)
            case "setup":
                self.begin(message)
            case "record":
                await self.take(message)
            case "options":
                await self.choose(message)
            case "ping":
                await self.client.send({"t": "pong", "n": message["n"]})
            case _:
                self.note(message)

    def note(self, message: dict) -> None:
        match message["t"]:
            case "waiting":
                self.waiting = message
            case "cards" if "of" in message:
                self.partners[message["of"]] = message["cards"]
            case "cards":
                self.cards = message["cards"]
            case "error":
                assert message["code"] in ("stale_position", "void_bet"), message
            case "bye":
                raise GoneError(message)

    async def sign_terms(self, message: dict) -> None:
        if self.key is None:
            return
        assert self.x is not None
        self.x = keys.generate_box_key()
        terms = open_terms(message["doc"], Record(*message["record"]))
        self.chain = Chain(self.key.public, terms.table.tn, token_bytes(32), first=0, count=terms.table.links)
        name = self.name.encode()
        await self.act(
            self.sign(SeatTaken(terms.th, self.seat, self.key.public, self.chain.anchor, self.x.public, name))
        )

    def begin(self, message: dict) -> None:
        self.document = message["doc"]
        self.records = [Record(*record) for record in message["records"]]
        self.auditor = Auditor(self.document, OwnSeat(self.seat, self.x) if self.x else None)
        for record in self.records:
            self.auditor.feed(record)
        self.next, self.stored, self.counter, self.done = 0, {}, boxes.NO_COUNTER, False

    async def take(self, message: dict) -> None:
        assert message["k"] == self.next, (message["k"], self.next)
        record = Record(message["signer"], message["body"], message["sig"])
        self.records.append(record)
        assert self.auditor is not None
        self.auditor.feed(record)
        self.next += 1
        self.renew()
        await self.follow()
        if self.ledger.phase is Phase.ENDED:
            self.done = len(self.ledger.acks) == sum(c is not None for c in self.ledger.contributors[1:])

    async def follow(self) -> None:
        """Release and ack as soon as it is due."""
        ledger = self.ledger
        if self.key is None or self.chain is None:
            return
        if ledger.phase is Phase.BETWEEN and is_exhausted(ledger, self.seat + 1):
            await self.once("rekey", ledger.k, self.rekey())
        if self.seat in missing(ledger):
            j = ledger.deal_index
            await self.once(
                "release",
                j,
                Release(ledger.setup.mid, *ledger.parallel, j, self.seat, self.chain.link(j + 1)),
            )
        if ledger.phase is Phase.ENDED and self.seat not in ledger.acks:
            await self.once("ack", 0, Ack(ledger.setup.mid, *ledger.parallel, self.seat))

    def renew(self) -> None:
        """Go on with the fresh chain, once the record that brings it is there."""
        contributor = self.ledger.contributors[self.seat + 1]
        if self.fresh is not None and contributor is not None and contributor.x == self.fresh[1].public:
            (self.chain, self.x), self.fresh = self.fresh, None

    def commit(self) -> tuple[Chain, keys.BoxKey]:
        """Draw a chain that begins at the next index, and a box key; the same ones until a record has them."""
        assert self.key is not None
        assert self.auditor is not None
        first, table = self.ledger.deal_index, self.ledger.setup.terms.table
        if self.fresh is None or self.fresh[0].first != first:
            chain = Chain(self.key.public, table.tn, token_bytes(32), first=first, count=table.links)
            self.fresh = chain, keys.generate_box_key()
            self.auditor.add_box_key(self.fresh[1])
        return self.fresh

    def rekey(self) -> Rekey:
        ledger, (chain, x) = self.ledger, self.commit()
        here = (ledger.setup.mid, ledger.k, ledger.head)
        return Rekey(*here, self.seat + 1, chain.first, chain.anchor, x.public)

    def sub(self, **fields) -> Sub:
        assert self.key is not None
        ledger, (chain, x) = self.ledger, self.commit()
        given = {"first": chain.first, "seat": self.seat, "pk": self.key.public, "anchor": chain.anchor}
        given |= {"x": x.public, "name": self.name.encode()} | fields
        return Sub(mid=ledger.setup.mid, k=ledger.k, head=ledger.head, **given)

    async def wish(self) -> dict:
        return await self.ask({"t": "rekey", "table": self.table, "match": self.ledger.setup.mid})

    async def once(self, what: str, place: int, body: Body) -> None:
        """Sign and send, unless that has been done."""
        if (what, place) not in self.stored:
            self.stored[what, place] = self.sign(body)
            await self.act(self.stored[what, place])

    async def send_again(self) -> None:
        """Send what the server may have lost before it answered."""
        for message in list(self.stored.values())[-1:]:
            await self.act(message)

    def open(self, message: dict) -> list[dict]:
        """Return the options of a message, boxed or not, each as {key, kind, args}."""
        if "list" in message:
            return message["list"]
        assert self.x is not None
        ledger = self.ledger
        shared = self.x.exchange(ledger.setup.terms.table.x)
        opened = boxes.open_options(
            boxes.private_key(shared, ledger.setup.mid, self.seat),
            ledger.setup.mid,
            seat=self.seat,
            at=message["at"],
            offer=message["offer"],
            box=message["box"],
            after=self.counter,
        )
        self.counter = opened.counter
        return [{"key": o.line, "kind": o.kind, "args": o.args} for o in opened.options]

    def pick(self, message: dict, options: list[dict]) -> dict | None:
        """Pick an option at random; what may end a game, and what need not be said, only rarely."""
        if not message["must"] and self.random.random() < 0.9:
            return None
        quiet = [o for o in options if not is_rash(o) or self.random.random() < 0.1]
        return self.random.choice(quiet or options)

    async def choose(self, message: dict) -> None:
        self.options = message
        options = self.open(message)
        picked = self.chooses(message, options)
        if picked is not None:
            place = ("act", message["at"])
            self.stored.setdefault(place, self.act_message(message, picked))
            await self.act(self.stored[place])

    def act_message(self, message: dict, option: dict) -> dict:
        if self.key is None:
            here = {"table": self.table, "match": self.ledger.setup.mid, "at": message["at"]}
            return {"t": "act", **here, "choose": option["key"]}
        ledger = self.ledger
        return self.sign(
            Act(
                ledger.setup.mid,
                ledger.k,
                ledger.head,
                ledger.deal_index,
                self.seat,
                option["kind"],
                option["args"],
            )
        )

    async def resign(self) -> None:
        ledger = self.ledger
        await self.act(self.sign(Resign(ledger.setup.mid, ledger.k, ledger.head, self.seat)))


def bodies(records: list[Record]) -> list:
    return [parse(record) for record in records]
