"""The server on loopback TCP against which a client is judged: it keeps the protocol, and notes what the client does.

A script bends it: `recast` says what leaves in the place of a message, `cut` how its bytes arrive, and `intercepts` see
what the client said before the server answers it. What the client does wrong is noted as a fault and answered as a
real server would; the script says which faults count. For a client that watches, puppets play the whole match.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

import trio
from msgspec.structs import replace

from truc_conform import playing
from truc_conform.playing import Picks, Puppet
from truc_conform.result import AnyAct, ClientFault, HeardMessage, subject
from truc_conform.scripted import ScriptedServer
from truc_conform.shown import CODE, TOKEN, info_of
from truc_conform.wire_trace import CLIENT, SERVER, WireTrace
from truc_protocol import messages
from truc_protocol.bodies import Deal
from truc_protocol.boxes import Option, counter
from truc_protocol.checks import CheckError
from truc_protocol.crypto import keys
from truc_protocol.errors import Code, ProtocolError
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import Opts, open_terms
from truc_protocol.wire.connection import Failure
from truc_rules import Action, RulesError


class PlayedGame(NamedTuple):
    """What is played at the table.

    Attributes:
        options: its house rules, beside `match`; a low target makes a match short.
        opts: the terms.
        links: how many deals a chain serves.
    """

    variant: str = "truc-french"
    seats: int = 2
    options: Mapping[str, int | str] = MappingProxyType({"target": 2})
    opts: Opts = Opts(guests=1)
    links: int = 64


FRENCH: Final = PlayedGame()
PAST: Final = 9
"""How many records a match has had when somebody begins to watch it."""

_PARTING_S: Final = 2.0  # session.md#goodbye

Recast = Callable[[messages.ServerMessage], Iterable[messages.ServerMessage | bytes]]
Intercept = Callable[[messages.ClientMessage], Awaitable[bool]]


class ClientHarness(ScriptedServer):
    """A scripted server that is prepared for anything from its client.

    A scene sets how the server departs from an honest one, or when the scene is over:
        recast: what leaves in the place of a message.
        dress: changes the bytes of each message on its way out; `cut` is how they arrive.
        intercepts: see what the client says before it is answered, and may answer instead.
        twist: changes an option before it is offered.
        one_counter: every box of options has the same counter.
        tells_optional: options that are not `must` are sent too.
        pick: how the puppets decide; at random, if nothing else is set.
        instead: a record that comes before what would come next, if it returns one.
        revoked: a key whose revocation the client is given, if its command asks for it (`takes_revocations`).
        is_cut_off: the connection breaks after the next bytes that leave.
        stop_at: how many records a match has before anybody watches it.
        ends_on_close: the scene is over when a connection ends.
        done: set when the script has seen what it is about; the kit then ends the client.
        goes_on: called at each record of the match.

    Judges read what was noted:
        heard, faults: what the client has said, and what of it was wrong.
        has_sat, is_watched: the client took the seat, or watches.
        has_closed: a connection has ended before the kit ended the client.
        opened: when each connection began; `doors_used` has its port's place among `doors`.
        rests_from: when the client was told to do nothing more, or nothing for a while.
        wire_trace: what was said last, on both sides.
        cheated_at: the position at which the server has cheated; the client may sign nothing for a later one.
    """

    def __init__(self, game: PlayedGame = FRENCH, *, seed: int = 1) -> None:
        super().__init__(game.variant, seats=game.seats, seed=seed, **game.options)
        self.opts, self.links = game.opts, game.links
        self.info = info_of(game.variant, game.seats)
        self.recast: Recast = lambda message: (message,)
        self.dress: Callable[[bytes], bytes] = lambda frame: frame
        self.cut: Callable[[bytes], Iterable[bytes]] = lambda frame: (frame,)
        self.intercepts: list[Intercept] = []
        self.twist: Callable[[Option], Option] = lambda option: option
        self.one_counter = self.tells_optional = False
        self.pick: Picks = lambda _ledger: partial(playing.drawn, dice=self.random)
        self.instead: Callable[[], Record | None] = lambda: None
        self.revoked = keys.signing_key_from_seed(playing.secret("revoked", seed))
        self.takes_revocations = False
        self.is_cut_off = self.ends_on_close = False
        self.stop_at: int | None = None
        self.done = trio.Event()
        self.goes_on: Callable[[], None] = lambda: None
        self.heard: list[HeardMessage] = []
        self.faults: list[ClientFault] = []
        self.has_closed = False
        self.opened: list[float] = []
        self.doors, self.doors_used = list[int](), list[int]()
        self.rests_from = 0.0
        self.cheated_at: int | None = None
        self.is_over = False  # the kit is ending the client: what happens then is not the client's doing
        self.offers: dict[int, frozenset[str]] = {}  # what a guest could choose, by position
        self._parted = trio.Event()
        self._parted.set()
        self.wire_trace = WireTrace()
        self._spoken = trio.CancelScope()

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Speak on one connection, and write down its end; on the one before nothing more is said."""
        # A client may open another connection before it closes
        # this one: what is said then is meant for the newest.
        self._spoken.cancel()
        self._spoken = trio.CancelScope()
        parted = self._parted = trio.Event()
        self.wire_trace.begin()
        self.opened.append(trio.current_time())
        async with stream:
            with self._spoken:
                await super().serve(stream)
        # The kit itself ends clients: their connections break without any fault of theirs.
        if not self.is_over:
            self.has_closed = True
            if self.ends_on_close:
                self.done.set()
        parted.set()

    async def wait_parted(self, seconds: float) -> None:
        """Wait, so long at most, until the newest connection has ended: what a client sent before exiting may still come."""
        with trio.move_on_after(seconds):
            while not self._parted.is_set():
                await self._parted.wait()

    async def hear(self, stream: trio.abc.Stream) -> bytes:
        """Return what comes next, and keep it for the author of a client that fails."""
        heard = await super().hear(stream)
        self.wire_trace.pass_by(CLIENT, heard)
        return heard

    async def write_whole(self, *pieces: bytes) -> None:
        """Let pieces leave one after the other, and keep them."""
        for piece in pieces:
            self.wire_trace.pass_by(SERVER, piece)
        await super().write_whole(*pieces)

    async def fail(self, failure: Failure) -> None:
        """Note what is not a message, or not one allowed now, and answer it."""
        self.blame(failure.code, failure.message)
        if self._connection is not None and self._stream is not None:
            await self.write_whole(self._connection.answer(failure))
            # transport.md, "Frames": the next frame can no longer be found.
            if failure.closes:
                await self._stream.aclose()

    def blame(self, code: str, message: str) -> None:
        """Note a fault of the client."""
        self.faults.append(ClientFault(code, message))

    async def send(self, message: messages.ServerMessage) -> None:
        """Send what the script makes of a message."""
        bent = self.bend(message)
        if bent is None:
            return
        for piece in self.recast(bent):
            await self.push(piece)

    async def push(self, piece: messages.ServerMessage | bytes) -> None:
        """Send a message, or bytes as they are; nothing where the client has left the connection for another."""
        # A newer connection has cancelled this one, which must not write into it.
        await trio.lowlevel.checkpoint_if_cancelled()
        if isinstance(piece, bytes):
            await self.write(piece)
        elif self._connection is not None:
            self.sent.append(piece)
            # The connection's end counts the message as it was: what
            # it is dressed in must not change what may come next.
            frame = self.dress(self._connection.send(piece))
            if isinstance(piece, messages.ServerHello):
                self.greeted = frame[4:]
            await self.write(frame)

    async def write(self, frame: bytes) -> None:
        """Let a frame leave, in the pieces that the script cuts."""
        await self.write_whole(*self.cut(frame))
        if self.is_cut_off:
            self.is_cut_off = False
            await self.drop()

    async def overhear(self, seconds: float) -> bytes:
        """Return what the client sends of its own accord within some time."""
        with trio.move_on_after(seconds):
            if self._stream is not None:
                return await self.hear(self._stream)
        return b""

    async def drop(self, first: bytes = b"") -> None:
        """Break the connection, after some more bytes; never the one by which the client has come back."""
        # A newer connection has cancelled this one, and is `_stream` now.
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._stream is not None:
            if first:
                await self.write_whole(first)
            await self._stream.aclose()
        raise trio.BrokenResourceError

    async def part(self, goodbye: messages.Bye) -> None:
        """Say goodbye, and close the connection once the client has, or has had its time: what it says meanwhile is lost."""
        await self.push(goodbye)
        with trio.move_on_after(_PARTING_S):
            while self._stream is not None and await self.hear(self._stream):
                pass
        await self.drop()

    async def answer(self, message: messages.ClientMessage) -> None:
        """Note a message, and let the script answer it, or else the server."""
        self.heard.append(HeardMessage(self.epoch, len(self.sent), message))
        for intercept in self.intercepts:
            if await intercept(message):
                return
        await self.serve_judged(message)

    async def serve_judged(self, message: messages.ClientMessage) -> None:
        """Answer as a real server would, and note what is wrong."""
        # errors.md, "bad_token"; before `welcome` every error ends the connection.
        if isinstance(message, messages.GuestReturn) and message.token != TOKEN:
            await self.push(messages.refusal(Code.BAD_TOKEN, "this token was never given", re=message.id))
            await self.push(messages.bye(Code.BAD_TOKEN, "this token was never given"))
            await self.drop()
        try:
            await super().answer(message)
        except (CheckError, ProtocolError, RulesError, ValueError) as error:
            # Noted by what the message is about, as some scenes judge one kind of record only.
            self.blame(subject(message), f"{type(error).__name__}: {error}")
            await self.refuse(message, Code.ILLEGAL_ACTION, str(error))

    async def refuse(self, message: messages.ClientMessage, code: Code, text: str) -> None:
        """Answer with an error; to `hello` or the login of a key it is `bye`, and ends the connection."""
        number = message.id if isinstance(message, messages.Request) else None
        if isinstance(message, messages.ClientHello | messages.KeyLogin):
            await self.push(messages.bye(Code.BAD_SIGNATURE, text[:200]))
            await self.drop()
        await self.push(messages.refusal(code, text[:200], re=number))

    async def wrong(self, message: messages.ClientMessage, code: Code, text: str) -> None:
        """Note a fault, and answer it with its code."""
        self.blame(code, text)
        await self.refuse(message, code, text)

    async def answer_other(self, message: messages.ClientMessage) -> None:
        """Answer what is not about the seat."""
        match message:
            case messages.Ping(n=n):
                await self.push(messages.Pong(n=n))
            case messages.Pong():
                pass
            case messages.ReadRules(id=number):
                await self.send(messages.Ok(re=number, doc=self.document))
            case messages.Watch():
                await self.show(message)
            case messages.Unwatch(id=number):
                await self.send(messages.Ok(re=number))
            case messages.Request(id=number):
                text = f"expected a request that this server takes, got {type(message).__name__}"
                await self.push(messages.refusal(Code.UNKNOWN_REQUEST, text, re=number))

    def nonce(self) -> bytes:
        """Return the nonce of the next table record: a new one in each run for a key, which may remember those it met."""
        return super().nonce() if self.is_guest else secrets.token_bytes(32)

    async def act(self, message: AnyAct) -> None:
        """Take what the client hands in, if it was asked for."""
        if self.ledger is None and self.terms is None:
            await self.wrong(message, Code.NOT_NOW, "expected no act before the terms")
        elif isinstance(message, messages.GuestAct):
            await self.choose(message)
        else:
            await super().act(message)

    async def choose(self, message: messages.GuestAct) -> None:
        """Take a guest's choice, if it is one of those offered."""
        offered = self.offers.get(message.at)
        if offered is None:
            await self.wrong(message, Code.NOT_YOUR_TURN, f"no options came for position {message.at}")
        elif message.choose not in offered:
            text = f"{message.choose!r} is none of {sorted(offered)}"
            await self.wrong(message, Code.ILLEGAL_ACTION, text)
        # Offered, and overtaken by a ruling: no fault of the client.
        elif message.at < self.at_play().k:
            await self.push(messages.refusal(Code.STALE_POSITION, "another record came first", re=message.id))
        else:
            await super().act(message)

    def offered(self, options: tuple[Option, ...]) -> messages.OpenOptions | messages.BoxedOptions:
        """Return options, and remember what may be chosen."""
        twisted = tuple(map(self.twist, options))
        self.offers[self.at_play().k] = frozenset(option.line for option in twisted)
        message = super().offered(twisted)
        if isinstance(message, messages.BoxedOptions):
            # For the author of a client that fails: the box shows them nothing.
            self.wire_trace.opened[message.box] = tuple(option.line for option in twisted)
        return replace(message, must=not playing.may_decide(self.at_play(), self.players))

    def next_counter(self) -> int:
        """Return the counter of the next box."""
        return counter(epoch=1, number=1) if self.one_counter else super().next_counter()

    async def take(self, record: Record) -> None:
        """Add a record, and show a guest its cards."""
        await super().take(record)
        self.goes_on()
        if isinstance(parse(record), Deal) and self.is_guest and not self.is_watched:
            await self.show_cards(len(self.records) - 1)
        # After `end`, not after each ack: the state `over` comes once (play.md, "The end").
        if self.ledger is not None and self.ledger.phase is Phase.ENDED and record.signer == 0:
            await self.send(self.state())

    async def show_cards(self, k: int) -> None:
        """Send a guest the cards of a deal."""
        ledger, body = self.at_play(), parse(self.records[k])
        if isinstance(body, Deal):
            pack = self.variant.pack
            cards = tuple(pack[opening.card] for opening in self.dealer.openings(ledger, 0))
            await self.send(
                messages.OwnCards(table=CODE, match=ledger.setup.mid, k=k, j=body.j, d=body.d, cards=cards)
            )

    async def show(self, message: messages.Watch) -> None:
        """Let the client watch a match between puppets, from its beginning or from where the client was."""
        if self.ledger is None:
            await self.rehearse()
        if self.setup is None:
            return
        first = message.next if message.match == self.setup.match else None
        await self.send(self.state())
        if first is None:
            await self.send(self.setup)
        for k in range(first or 0, len(self.records)):
            await self.send(self.message(k))
        await self.send(messages.Ok(re=message.id, k=len(self.records)))
        # Nobody was to see more before the client came; now the match goes on.
        self.stop_at = None
        await self.go_on()

    async def rehearse(self) -> None:
        """Play the first records of a match between puppets, which nobody sees."""
        record, shown = self.make_terms(), self.bend
        own, self.bend = Puppet(0, self.seed), lambda _message: None
        self.is_guest, self.is_watched, self.stop_at = False, True, PAST
        await self.begin(own.join(open_terms(self.document, record)))
        self.players = {0: own, **self.players}
        await self.go_on()
        self.bend = shown

    def other(self) -> Record | None:
        """Return the next record that is not the remote seat's, as far as the match has come."""
        if self.stop_at is not None and len(self.records) >= self.stop_at:
            return None
        return self.instead() or self.quick() or super().other()

    def quick(self) -> Record | None:
        """Return the act of a puppet, if one holds the decision."""
        ledger = self.at_play()
        if not playing.may_decide(ledger, self.players):
            return None
        return playing.decided(ledger, self.dealer, self.players, self.pick(ledger))

    async def go_on(self) -> None:
        """Let everybody else play; if the script wants it, tell the remote seat before each record what it may do."""
        while (record := self.other()) is not None:
            if self.tells_optional:
                await self.send_options()
            await self.take(record)
        await self.send_options()

    def actions(self) -> tuple[Action, ...]:
        """Return what the remote seat may do; a client that watches may do nothing."""
        return () if self.is_watched else playing.open_actions(self.at_play())
