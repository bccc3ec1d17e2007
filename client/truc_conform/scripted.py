"""A server with one table and one remote seat, which can be told to cheat; the other seats are puppets.

It speaks the protocol over a Trio stream and plays every other seat itself. `bend` is applied to each message before it
leaves: it may change or drop (None) what an honest server would send. State outlives a connection. `is_away` lets
rulings play for the remote seat. It is not a server to play at: it trusts its one client, and has no clock.
"""

import random
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

import trio
import trio.testing
from msgspec.structs import replace

from truc_conform import playing
from truc_conform.playing import Puppet, secret
from truc_conform.result import AnyAct
from truc_conform.shown import CODE, ENCODED_INFO, TOKEN, open_options, table_state
from truc_protocol import messages
from truc_protocol.bodies import Guest, Rekey, Sub
from truc_protocol.boxes import Option, counter, downward_key, seal_options
from truc_protocol.crypto import keys
from truc_protocol.dealer import Dealer
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code
from truc_protocol.ledger import Due, Ledger, due, seats_missing, start_ledger
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.records import DEALT, Phase, Record, parse
from truc_protocol.setup import Opts, close_setup, open_terms
from truc_protocol.wire.connection import ConnectionEnd, Failure, Role
from truc_protocol.wire.handshake import Challenge, Greeting, Roll, check_login, server_hello
from truc_rules import Action, preset, with_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    from truc_protocol.ledger.facts import Fact


class ScriptedServer:
    """One table; the client under test plays seat 0, with a key or as a guest."""

    nursery: trio.Nursery

    def __init__(
        self, variant: str = "truc-french", *, seats: int = 2, seed: int = 1, **options: int | str
    ) -> None:
        self.key = keys.signing_key_from_seed(secret("server", seed))
        # One game is a match, unless a scene asks for more: some presets play for several.
        self.variant = with_options(preset(variant), {"match": 1, **options})
        self.seats = seats
        self.seed = seed
        self.random = random.Random(seed)
        self.document = rule_document(self.variant)
        self.info = ENCODED_INFO
        self.rolls: tuple[Roll, ...] = ()
        self.bend: Callable[[messages.ServerMessage], messages.ServerMessage | None] = lambda message: message
        self.forge: Callable[[Record], Record] = lambda record: record
        self.stop_after: Callable[[messages.ServerMessage], bool] = lambda message: False
        self.received: list[messages.ClientMessage] = []
        self.sent: list[messages.ServerMessage] = []
        self.is_guest = False
        self.is_seated = self.is_ready = self.is_watched = self.has_sat = False
        self.epoch = 0
        self.boxes = 0
        self.offer: int | None = None
        self.opts = Opts(guests=1)
        self.signed_mode = DEALT
        self.links = 64
        self.is_call_held = False
        self.is_away = False
        self.rules_for_lost = True
        self.match = 0
        self.ledger: Ledger | None = None
        self.records: list[Record] = []
        self.facts: dict[int, tuple[Fact, ...]] = {}
        self.players: dict[int, Puppet] = {}
        self.setup: messages.Setup | None = None
        self.terms: messages.Terms | None = None
        self.greeted = b""
        self.unanswered: Sized = ()  # what has come in one piece with what is being answered
        self._connection: ConnectionEnd | None = None
        self._stream: trio.abc.Stream | None = None
        self._writing = trio.Lock()

    async def dial(self, _address: object) -> trio.abc.Stream:
        """Connect: what a client's `dial` returns; the server's end runs in `nursery`."""
        client, server = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.serve, server)
        return client

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Speak on one connection until either end closes it."""
        self._connection, self._stream = ConnectionEnd(Role.SERVER), stream
        # Another one for each connection, and the same in each run.
        self._nonce = secret("sn", len(self.received))
        self.epoch += 1
        connection = self._connection
        try:
            while received := await self.hear(stream):
                self.unanswered = found = deque(connection.receive(received))
                while found:
                    message = found.popleft()
                    if isinstance(message, Failure):
                        await self.fail(message)
                    else:
                        # A server's connection lets nothing else in.
                        request = cast("messages.ClientMessage", message)
                        self.received.append(request)
                        await self.answer(request)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def hear(self, stream: trio.abc.Stream) -> bytes:
        """Return what comes next on a connection; no bytes at its end."""
        return bytes(await stream.receive_some(65536))

    async def fail(self, failure: Failure) -> None:
        """Handle what is not a message, or not one allowed now."""
        raise RuntimeError(failure.message)

    async def send(self, message: messages.ServerMessage) -> None:
        """Send a message, after `bend` has changed it."""
        bent = self.bend(message)
        if bent is None or self._connection is None or self._stream is None:
            return
        self.sent.append(bent)
        await self.write(self._connection.send(bent))
        if self.stop_after(bent):
            self.stop_after = lambda message: False
            await self._stream.aclose()
            raise trio.BrokenResourceError

    async def write(self, frame: bytes) -> None:
        """Let a frame leave."""
        await self.write_whole(frame)

    async def write_whole(self, *pieces: bytes) -> None:
        """Let pieces leave one after the other: the puppets play on, and may have something to say meanwhile."""
        # A puppet's frame may be on its way while a request is answered: two tasks cannot send on one stream.
        async with self._writing:
            for piece in pieces:
                if self._stream is not None:
                    await self._stream.send_all(piece)

    async def answer(self, message: messages.ClientMessage) -> None:
        """Do what one message asks for."""
        match message:
            case messages.ClientHello():
                await self.greet(message)
            case messages.KeyLogin():
                self.check(message)
                self.is_guest = False
                await self.send(
                    messages.Welcome(re=message.id, name=message.name or "player", seats=self.held())
                )
            case messages.GuestLogin() | messages.GuestReturn():
                self.is_guest = True
                await self.send(messages.Welcome(re=message.id, name="guest", token=TOKEN, seats=self.held()))
            case _:
                await self.serve_request(message)

    async def greet(self, message: messages.ClientHello) -> None:
        """Prove who the server is."""
        if self._connection is None:
            return
        self._cn, self.greeted = message.cn, b""
        greeting = Greeting(self.key, self._nonce, 1, self.info, rolls=self.rolls)
        frame = self._connection.hello_frame(Role.CLIENT)
        await self.send(server_hello(greeting, message.id, frame))

    async def serve_request(self, message: messages.ClientMessage) -> None:
        """Do what a client may ask for after the login."""
        match message:
            case messages.ListTables():
                await self.send(messages.Ok(re=message.id, tables=(self.state(),)))
            case messages.Create() | messages.Join():
                await self.seat(message)
            case messages.Ready():
                await self.get_ready(message)
            case messages.Leave():
                self.is_seated = self.is_ready = False
                await self.send(messages.Ok(re=message.id))
            case messages.SignedAct() | messages.GuestAct():
                await self.act(message)
            case messages.Resume():
                await self.resume(message)
            case messages.WantRekey():
                await self.hold_call_back(message)
            case _:
                await self.answer_other(message)

    async def answer_other(self, message: messages.ClientMessage) -> None:
        """Leave unanswered what no script is about."""

    async def seat(self, message: messages.Create | messages.Join) -> None:
        """Give the client the remote seat, and tell it who sits at the table."""
        if isinstance(message, messages.Join) and message.table != CODE:
            text = f"there is no table {message.table}"
            await self.send(messages.refusal(Code.NO_SUCH_TABLE, text, re=message.id))
            return
        # A new table, at which no match has begun.
        if isinstance(message, messages.Create):
            self.ledger = self.terms = self.setup = None
        self.is_seated = self.has_sat = True
        await self.send(messages.Ok(re=message.id, table=CODE, seat=0))
        await self.send(self.state())
        # session.md, "Coming back": `join` brings `table`, then the terms that are out.
        if self.terms is not None and self.ledger is None:
            await self.send(self.terms)

    async def get_ready(self, message: messages.Ready) -> None:
        """Offer the terms, unless they are out."""
        if self.terms is not None and self.ledger is None:
            text = "expected an open table, got one whose terms are out"
            await self.send(messages.refusal(Code.TABLE_NOT_OPEN, text, re=message.id))
            return
        self.is_ready = True
        await self.send(messages.Ok(re=message.id))
        await self.offer_terms()

    async def hold_call_back(self, message: messages.WantRekey) -> None:
        """Hold the next call back for the remote seat."""
        await self.send(messages.Ok(re=message.id))
        self.is_call_held, self.is_away = True, self.rules_for_lost
        await self.go_on()

    def check(self, message: messages.KeyLogin) -> None:
        """Check a login.

        Raises:
            HandshakeError: It is not sound.
        """
        if not self.greeted and self._connection is not None:
            self.greeted = self._connection.hello_frame(Role.SERVER)
        check_login(message, Challenge(self.key.public, self._cn, self._nonce, self.greeted))

    def held(self) -> tuple[messages.SeatHeld, ...]:
        """Return the seat of the client, also of a match that is over."""
        if self.is_watched or not self.is_seated:
            return ()
        return (
            messages.SeatHeld(table=CODE, match=None if self.setup is None else self.setup.match, seat=0),
        )

    def state(self) -> messages.TableState:
        """Return the state of the table as it is."""
        state = table_state(self.variant, self.opts, self.seats)
        others = tuple(replace(seat, ready=True, online=True) for seat in state.seats[1:])
        kind: Literal["guest", "key"] = "guest" if self.is_guest else "key"
        own = messages.SeatState(seat=0, kind="empty")
        if self.is_seated or self.is_watched:
            own = messages.SeatState(seat=0, kind=kind, name="player 0", ready=self.is_ready, online=True)
        if self.ledger is None:
            return replace(state, seats=(own, *others), state="open" if self.terms is None else "terms")
        now: Literal["over", "playing"] = "over" if self.ledger.phase is Phase.ENDED else "playing"
        return replace(state, seats=(own, *others), state=now, match=self.ledger.setup.mid)

    def make_terms(self) -> Record:
        """Make the terms of a match, which has its own secrets."""
        self.match += 1
        root, x = (secret(f"{name} {self.match}", self.seed) for name in ("root", "x"))
        self.dealer = Dealer(self.key, MatchSecrets(root, x, self.nonce()), links=self.links)
        terms = self.dealer.terms(
            self.variant,
            seats=self.seats,
            opts=self.opts,
            name="a server",
            opened_at=1_700_000_000,
            mode=self.signed_mode,
        )
        self.terms = messages.Terms(table=CODE, record=terms.record, doc=self.document)
        return terms.record

    def nonce(self) -> bytes:
        """Return the nonce of the next table record."""
        return secret(f"tn {self.match}", self.seed)

    async def offer_terms(self) -> None:
        """Offer the terms to a client with a key; with a guest the match begins."""
        record = self.make_terms()
        if self.is_guest:
            terms = open_terms(self.document, record)
            await self.begin(self.dealer.guest_record(Guest(terms.th, 0, None, b"guest")))
        elif self.terms is not None:
            await self.send(self.terms)

    async def begin(self, own: Record) -> None:
        """Start the match with the record of the remote seat."""
        if self.terms is None:
            raise RuntimeError("a match begins after its terms")
        self.is_ready = False
        terms = open_terms(self.document, Record(*self.terms.record))
        self.players = {seat: Puppet(seat, self.seed + self.match) for seat in range(1, self.seats)}
        seats = (own, *(player.join(terms) for player in self.players.values()))
        checked = close_setup(terms, seats, self.dealer.match_record(terms, seats))
        self.ledger, self.records, self.facts = start_ledger(checked), [], {}
        self.setup = messages.Setup(table=CODE, match=checked.mid, doc=self.document, records=checked.records)
        await self.send(self.setup)
        await self.go_on()

    def at_play(self) -> Ledger:
        """Return the match so far; RuntimeError if there is none."""
        if self.ledger is None:
            raise RuntimeError("no match is played")
        return self.ledger

    async def act(self, message: AnyAct) -> None:
        """Take a record, or a guest's choice, and go on."""
        if isinstance(message, messages.SignedAct) and (self.ledger is None or message.match is None):
            await self.begin(Record(1, message.body, message.sig))
            await self.send(messages.Ok(re=message.id))
            return
        ledger, record = self.at_play(), self.record_of(message)
        # The same bytes again are safe at any time (session.md, "Coming back").
        if record in self.records:
            await self.send(messages.Ok(re=message.id, k=self.records.index(record), dup=True))
        # Releases and acks carry the position before all of their kind (specification.md, "Records", Q).
        elif playing.position(record) not in (ledger.k, ledger.parallel[0]):
            await self.send(messages.refusal(Code.STALE_POSITION, "too late", re=message.id))
        else:
            await self.take(record)
            await self.send(messages.Ok(re=message.id, k=len(self.records) - 1))
            await self.go_on()

    def record_of(self, message: AnyAct) -> Record:
        """Return the record that was handed in, or that a guest's choice becomes."""
        if isinstance(message, messages.SignedAct):
            return Record(1, message.body, message.sig)
        return playing.written_choice(self.at_play(), self.dealer, message.choose)

    async def take(self, record: Record) -> None:
        """Add a record, after `forge` has changed it, and send it."""
        forged = self.forge(record)
        self.ledger, self.facts[len(self.records)] = playing.taken(self.at_play(), self.dealer, forged)
        self.records.append(forged)
        # What the call was held back for has come.
        if record.signer == 1 and isinstance(parse(record), Rekey | Sub):
            self.is_call_held = self.is_away = False
        await self.send(self.message(len(self.records) - 1))

    def message(self, k: int) -> messages.MatchRecord:
        """Return a record as it is sent."""
        signer, body, sig = self.records[k]
        match = self.at_play().setup.mid
        return messages.MatchRecord(
            table=CODE, match=match, k=k, signer=signer, body=body, sig=sig, means=self.facts.get(k, ())
        )

    async def go_on(self) -> None:
        """Let everybody but the remote seat act while they can, then send the remote seat its options."""
        while (record := self.other()) is not None:
            await self.take(record)
        await self.send_options()

    def other(self) -> Record | None:
        """Return the next record that is not the remote seat's."""
        ledger = self.at_play()
        record = None if self.is_held() else self.dealer.next_record(ledger)
        if record is not None or self.is_held():
            return record
        if due(ledger) is Due.REKEY:
            return self.fresh_chain()
        if ledger.phase is Phase.CALLED:
            return self.release()
        if ledger.phase is Phase.ENDED:
            owing = (player for seat, player in self.players.items() if seat not in ledger.acks)
            return next((player.ack(ledger) for player in owing), None)
        if self.actions():
            return self.dealer.move(ledger) if self.is_away else None
        return self.decide()

    def actions(self) -> tuple[Action, ...]:
        """Return what the remote seat may do."""
        return playing.open_actions(self.at_play())

    def fresh_chain(self) -> Record | None:
        """Return a rekey that is due from anybody but the remote seat."""
        ledger = self.at_play()
        if is_exhausted(ledger, 0):
            return self.dealer.rekey(ledger, secret(f"root {ledger.deal_index}", self.seed))
        exhausted = (player for seat, player in self.players.items() if is_exhausted(ledger, seat + 1))
        return next((player.rekey(ledger) for player in exhausted), None)

    def release(self) -> Record | None:
        """Return a release of anybody but the remote seat."""
        ledger = self.at_play()
        owing = (self.players[seat] for seat in seats_missing(ledger) if seat in self.players)
        return next((player.release(ledger) for player in owing), None)

    def decide(self) -> Record:
        """Return the decision of a puppet."""
        pick = partial(playing.drawn, dice=self.random)
        return playing.decided(self.at_play(), self.dealer, self.players, pick)

    def is_held(self) -> bool:
        """Tell whether the next call waits for the remote seat's new chain."""
        return self.is_call_held and due(self.at_play()) is Due.CALL

    async def send_options(self) -> None:
        """Tell the remote seat what it may do, or that it is waited for."""
        ledger = self.at_play()
        if self.is_held() or (due(ledger) is Due.REKEY and is_exhausted(ledger, 1)):
            at, match = ledger.k, ledger.setup.mid
            await self.send(messages.Waiting(table=CODE, match=match, at=at, seats=(0,), what="rekey"))
        actions = self.actions()
        if actions:
            options = tuple(playing.option_of(ledger, self.dealer, action) for action in actions)
            await self.send(self.offered(options))

    def offered(self, options: tuple[Option, ...]) -> messages.OpenOptions | messages.BoxedOptions:
        """Return options as the remote seat is sent them."""
        ledger = self.at_play()
        at, match = ledger.k, ledger.setup.mid
        offer = max(0, at - 1) if self.offer is None else self.offer
        if self.is_guest:
            return open_options(match, at, offer, options)
        box = self.box(at, offer, options)
        return messages.BoxedOptions(table=CODE, match=match, at=at, offer=offer, must=True, box=box)

    def box(self, at: int, offer: int, options: tuple[Option, ...]) -> bytes:
        """Seal options under a counter that keeps rising over all connections."""
        shared, match = self.dealer.shared(self.at_play(), 0), self.at_play().setup.mid
        if shared is None:
            raise RuntimeError("the remote seat has no box key")
        key = downward_key(shared, match, 0)
        return seal_options(key, match, seat=0, at=at, offer=offer, ctr=self.next_counter(), options=options)

    def next_counter(self) -> int:
        """Return the counter of the next box."""
        self.boxes += 1
        return counter(epoch=self.epoch, number=self.boxes)

    async def resume(self, message: messages.Resume) -> None:
        """Send what is missing, and go on, if there is such a match."""
        if self.setup is None or message.match != self.setup.match:
            await self.send(messages.refusal(Code.NO_SUCH_MATCH, "there is no such match", re=message.id))
            return
        if message.next < 0:
            await self.send(self.setup)
        for k in range(max(0, message.next), len(self.records)):
            await self.send(self.message(k))
        await self.send(messages.Ok(re=message.id, k=len(self.records)))
        await self.go_on()
