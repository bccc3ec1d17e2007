"""A server in memory with one table and one remote seat, which can be told to cheat; the other seats are scripted.

It speaks the protocol over a Trio stream and plays every other seat itself. `bend` is applied to each message before it
leaves: it may change or drop (None) what an honest server would send. State outlives a connection. `is_away` lets rulings
play for the remote seat.
"""

import random
from typing import Any

import trio
import trio.testing
from protocol.peers import Player, secret

from truc_client import Address
from truc_protocol import keys
from truc_protocol.acts import write_args
from truc_protocol.bodies import Rekey, Sub
from truc_protocol.boxes import Option, counter, private_key, seal_options
from truc_protocol.codec import sha256
from truc_protocol.connection import Connection, Failure, Role
from truc_protocol.errors import Code
from truc_protocol.handshake import Challenge, Greeting, check_login, server_hello
from truc_protocol.ledger import Due, Ledger, due, missing, start
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.messages import (
    BoxedOptions,
    Bye,
    Choice,
    ClientHello,
    Create,
    GuestAct,
    GuestLogin,
    GuestReturn,
    Info,
    Join,
    KeyLogin,
    Leave,
    Limits,
    ListTables,
    MatchRecord,
    Ok,
    OpenOptions,
    Ready,
    Resume,
    SeatHeld,
    SeatState,
    Setup,
    SignedAct,
    TableState,
    Terms,
    VariantOffer,
    Waiting,
    WantRekey,
    Welcome,
    encode_info,
    refusal,
)
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import Opts, close_setup, open_terms
from truc_rules import Action, Seat, legal, move_line, parse_move, preset, with_options
from truc_server.dealer import Dealer, MatchSecrets, rule_document

CODE = "TABLE"
INFO = encode_info(
    Info(
        name="a server",
        software="scripted 1",
        caps={},
        limits=Limits(frame_in=8192, frame_out=65536, idle_s=30, requests_per_s=10, burst=20),
        variants=(VariantOffer(name="truc-french", seats=(2,)),),
        guests=True,
        now_ms=0,
    )
)


def open_actions(ledger: Ledger) -> tuple[Action, ...]:
    """Return what the remote seat may do."""
    return legal(ledger.match, Seat(0)) if ledger.match is not None and due(ledger) is Due.PLAYERS else ()


class ScriptedServer:
    """One table; seat 0 is played by the client under test, by key or as a guest."""

    def __init__(
        self, variant: str = "truc-french", *, seats: int = 2, seed: int = 1, **options: Any
    ) -> None:
        self.key = keys.signing_key_from_seed(secret("server", seed))
        self.variant = with_options(preset(variant), {"match": 1, **options})
        self.seats = seats
        self.seed = seed
        self.random = random.Random(seed)
        self.document = rule_document(self.variant)
        self.bend = lambda message: message
        self.forge = lambda record: record
        self.stop_after = lambda message: False
        self.received: list[Any] = []
        self.sent: list[Any] = []
        self.is_guest = False
        self.epoch = 0
        self.boxes = 0
        self.offer: int | None = None
        self.opts = Opts(guests=1)
        self.links = 64
        self.is_wished = False
        self.is_away = False
        self.rules_for_lost = True
        self.match = 0
        self.ledger: Ledger | None = None
        self.records: list[Record] = []
        self.setup: Setup | None = None
        self.terms: Terms | None = None
        self._connection: Connection | None = None
        self._stream: trio.abc.Stream | None = None

    async def dial(self, _address: Address) -> trio.abc.Stream:
        """Connect: what a client's `dial` returns; the server's end runs in `nursery`."""
        client, server = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.serve, server)
        return client

    async def serve(self, stream: trio.abc.Stream) -> None:
        self._connection, self._stream = Connection(Role.SERVER), stream
        self._nonce = secret("sn", len(self.received))
        self.epoch += 1
        try:
            while True:
                received = await stream.receive_some(65536)
                if not received:
                    return
                for message in self._connection.receive(bytes(received)):
                    assert not isinstance(message, Failure), message
                    self.received.append(message)
                    await self.answer(message)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def send(self, message: Any) -> None:
        bent = self.bend(message)
        if bent is None:
            return
        self.sent.append(bent)
        assert self._connection is not None
        assert self._stream is not None
        await self._stream.send_all(self._connection.send(bent))
        if self.stop_after(bent):
            self.stop_after = lambda message: False
            await self._stream.aclose()
            raise trio.BrokenResourceError

    async def answer(self, message: Any) -> None:
        match message:
            case ClientHello():
                await self.greet(message)
            case KeyLogin():
                self.check(message)
                await self.send(Welcome(re=message.id, name=message.name, seats=self.held()))
            case GuestLogin() | GuestReturn():
                self.is_guest = True
                await self.send(Welcome(re=message.id, name="guest", token="t" * 20, seats=self.held()))
            case _:
                await self.serve_request(message)

    async def greet(self, message: ClientHello) -> None:
        assert self._connection is not None
        self._cn = message.cn
        greeting = Greeting(self.key, self._nonce, 1, INFO)
        frame = self._connection.hello_frame(Role.CLIENT)
        await self.send(server_hello(greeting, message.id, frame))

    async def serve_request(self, message: Any) -> None:
        match message:
            case ListTables():
                await self.send(Ok(re=message.id, tables=(self.state(),)))
            case Create() | Join():
                await self.seat(message)
            case Ready() | Leave():
                await self.send(Ok(re=message.id))
                if isinstance(message, Ready):
                    await self.offer_terms()
            case SignedAct() | GuestAct():
                await self.act(message)
            case Resume():
                await self.resume(message)
            case WantRekey():
                await self.wish(message)

    async def seat(self, message: Create | Join) -> None:
        await self.send(self.state())
        await self.send(Ok(re=message.id, table=CODE, seat=0))

    async def wish(self, message: WantRekey) -> None:
        await self.send(Ok(re=message.id))
        self.is_wished, self.is_away = True, self.rules_for_lost
        await self.go_on()

    def check(self, message: KeyLogin) -> None:
        assert self._connection is not None
        frame = self._connection.hello_frame(Role.SERVER)
        check_login(message, Challenge(self.key.public, self._cn, self._nonce, frame))

    def held(self) -> tuple[SeatHeld, ...]:
        if self.setup is None or (self.ledger is not None and self.ledger.phase is Phase.ENDED):
            return ()
        return (SeatHeld(table=CODE, match=self.setup.match, seat=0),)

    def state(self) -> TableState:
        seats = tuple(SeatState(seat=seat, kind="key", name=f"player {seat}") for seat in range(self.seats))
        return TableState(
            table=CODE,
            variant=self.variant.name,
            rules=sha256(self.document),
            seats=seats,
            n=self.seats,
            state="open",
            private=False,
            options={},
            opts=tuple(self.opts),
            policy=self.variant.reveal,
        )

    def make_terms(self) -> Record:
        self.match += 1
        made = (secret(f"{name} {self.match}", self.seed) for name in ("root", "x", "tn"))
        self.dealer = Dealer(self.key, MatchSecrets(*made), links=self.links)
        record = self.dealer.table_record(
            self.variant, seats=self.seats, opts=self.opts, name="a server", opened=1_700_000_000
        )
        self.terms = Terms(table=CODE, record=record, doc=self.document)
        return record

    async def offer_terms(self) -> None:
        record = self.make_terms()
        if self.is_guest:
            terms = open_terms(self.document, record)
            await self.begin(self.dealer.guest_record(terms, seat=0, x=None, name="guest"))
        else:
            await self.send(self.terms)

    async def begin(self, own: Record) -> None:
        assert self.terms is not None
        terms = open_terms(self.document, Record(*self.terms.record))
        self.players = {seat: Player(seat, self.seed + self.match) for seat in range(1, self.seats)}
        seats = (own, *(player.join(terms) for player in self.players.values()))
        checked = close_setup(terms, seats, self.dealer.match_record(terms, seats))
        self.ledger, self.records = start(checked), []
        self.setup = Setup(table=CODE, match=checked.mid, doc=self.document, records=checked.records)
        await self.send(self.setup)
        await self.go_on()

    async def act(self, message: SignedAct | GuestAct) -> None:
        if self.ledger is None or (isinstance(message, SignedAct) and message.match is None):
            await self.begin(Record(1, message.body, message.sig))
            await self.send(Ok(re=message.id))
            return
        record = self.record_of(message)
        if record in self.records:
            await self.send(Ok(re=message.id, k=self.records.index(record), dup=True))
        elif parse(record).k != self.ledger.k and parse(record).k != self.ledger.parallel[0]:
            await self.send(refusal(Code.STALE_POSITION, "too late", re=message.id))
        else:
            await self.take(record)
            await self.send(Ok(re=message.id, k=len(self.records) - 1))
            await self.go_on()

    def record_of(self, message: SignedAct | GuestAct) -> Record:
        if isinstance(message, SignedAct):
            return Record(1, message.body, message.sig)
        kind = message.choose.split()[0]
        action = parse_move(self.variant, Seat(0), message.choose)
        openings = self.dealer.openings(self.ledger, 0) if self.ledger.hand else ()
        return self.dealer.proxy(self.ledger, 0, kind, tuple(write_args(self.ledger.match, action, openings)))

    async def take(self, record: Record) -> None:
        assert self.ledger is not None
        forged = self.forge(record)
        self.ledger = self.dealer.take(self.ledger, forged)
        self.records.append(forged)
        if record.signer == 1 and isinstance(parse(record), Rekey | Sub):
            self.is_wished = self.is_away = False
        await self.send(self.message(len(self.records) - 1))

    def message(self, k: int) -> MatchRecord:
        assert self.setup is not None
        signer, body, sig = self.records[k]
        return MatchRecord(
            table=CODE, match=self.setup.match, k=k, signer=signer, body=body, sig=sig, means=()
        )

    async def go_on(self) -> None:
        """Let everybody but the remote seat do what is theirs, then give the remote seat its options."""
        assert self.ledger is not None
        while (record := self.other()) is not None:
            await self.take(record)
        await self.send_options()

    def other(self) -> Record | None:
        ledger = self.ledger
        assert ledger is not None
        record = None if self.is_held() else self.dealer.next_record(ledger)
        if record is not None or self.is_held():
            return record
        if due(ledger) is Due.REKEY:
            return self.fresh_chain()
        if ledger.phase is Phase.CALLED:
            return self.release()
        if ledger.phase is Phase.ENDED:
            waiting = [seat for seat in self.players if seat not in ledger.acks]
            return self.players[waiting[0]].ack(ledger) if waiting else None
        if open_actions(ledger):
            return self.dealer.move(ledger) if self.is_away else None
        return self.decide()

    def release(self) -> Record | None:
        ledger = self.ledger
        seats = (seat for seat in missing(ledger) if seat in self.players)
        return next((self.players[seat].release(ledger) for seat in seats), None)

    def decide(self) -> Record:
        ledger = self.ledger
        actions = [action for seat in self.players for action in legal(ledger.match, seat)]
        action = self.random.choice([action for action in actions if action.kind != "concede"] or actions)
        openings = self.dealer.openings(ledger, action.seat) if ledger.hand else ()
        args = tuple(write_args(ledger.match, action, openings, cut=7))
        return self.players[action.seat].act(ledger, str(action.kind), args)

    def is_held(self) -> bool:
        """Tell whether the next call waits for the remote seat's new chain."""
        return due(self.ledger) is Due.CALL and self.is_wished

    def fresh_chain(self) -> Record | None:
        ledger = self.ledger
        assert ledger is not None
        if is_exhausted(ledger, 0):
            return self.dealer.rekey(ledger, secret(f"root {ledger.deal_index}", self.seed))
        exhausted = (self.players[seat] for seat in self.players if is_exhausted(ledger, seat + 1))
        return next((player.rekey(ledger) for player in exhausted), None)

    async def send_options(self) -> None:
        assert self.ledger is not None
        assert self.setup is not None
        if self.is_held():
            at, match = self.ledger.k, self.setup.match
            await self.send(Waiting(table=CODE, match=match, at=at, seats=(0,), what="rekey"))
        actions = open_actions(self.ledger)
        if not actions:
            return
        at = self.ledger.k
        offer = max(0, at - 1) if self.offer is None else self.offer
        place = {"table": CODE, "match": self.setup.match, "at": at, "offer": offer, "must": True}
        options = tuple(map(self.option, actions))
        if self.is_guest:
            choices = tuple(Choice(key=option.line, kind=option.kind, hints={}) for option in options)
            await self.send(OpenOptions(**place, choices=choices))
        else:
            await self.send(BoxedOptions(**place, box=self.box(at, offer, options)))

    def option(self, action: Action) -> Option:
        openings = self.dealer.openings(self.ledger, 0) if self.ledger.hand else ()
        args = tuple(write_args(self.ledger.match, action, openings, cut=7))
        return Option(str(action.kind), args, move_line(self.variant, action))

    def box(self, at: int, offer: int, options: tuple[Option, ...]) -> bytes:
        """Seal options under a counter that rises, also over connections."""
        self.boxes += 1
        key = private_key(self.dealer.shared(self.ledger, 0), self.setup.match, 0)
        ctr = counter(epoch=self.epoch, number=self.boxes)
        return seal_options(key, self.setup.match, seat=0, at=at, offer=offer, ctr=ctr, options=options)

    async def resume(self, message: Resume) -> None:
        assert self.setup is not None
        assert self.ledger is not None
        if message.next < 0:
            await self.send(self.setup)
        for k in range(max(0, message.next), len(self.records)):
            await self.send(self.message(k))
        await self.send(Ok(re=message.id, k=len(self.records)))
        if due(self.ledger):
            await self.go_on()

    async def say_bye(self, code: Code) -> None:
        row = Bye(code=code.value, msg="the server is being stopped", retryable=True)
        await self.send(row)
