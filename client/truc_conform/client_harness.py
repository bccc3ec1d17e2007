"""The server on loopback TCP against which a client is judged: it keeps the protocol, and notes what the client does.

A script bends it: `recast` says what leaves in the place of a message, `cut` how its bytes arrive, and `intercepts` see
what the client said before the server answers it. What the client does wrong is noted as a fault and answered as a
real server would; the script says which faults count. For a client that watches, puppets play the whole match.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sized
from typing import Final, cast

import trio

from truc_conform import playing
from truc_conform.playing import Puppet
from truc_conform.result import AnyAct, ClientFault, HeardMessage, subject
from truc_conform.scripted import FRENCH, PlayedGame, ScriptedTable
from truc_conform.shown import TOKEN, info_of
from truc_conform.wire_trace import CLIENT, SERVER, WireTrace
from truc_protocol import messages
from truc_protocol.checks import CheckError
from truc_protocol.crypto import keys
from truc_protocol.errors import Code, ProtocolError
from truc_protocol.records import Record
from truc_protocol.setup import open_terms
from truc_protocol.wire.connection import ConnectionEnd, Failure, Role
from truc_protocol.wire.handshake import Challenge, Greeting, Roll, check_login, server_hello
from truc_rules import RulesError

PAST: Final = 9
"""How many records a match has had when somebody begins to watch it."""

_NEVER_OFFERED: Final = ("pause", "resume", "resign")
_PARTING_S: Final = 2.0  # session.md#goodbye

Recast = Callable[[messages.ServerMessage], Iterable[messages.ServerMessage | bytes]]
Intercept = Callable[[messages.ClientMessage], Awaitable[bool]]


class ClientHarness(ScriptedTable):
    """A scripted server that is prepared for anything from its client.

    A scene sets how the server departs from an honest one on the wire, or when the scene is over:
        bend: what leaves in the place of a message, None if nothing; `recast` then lets several leave, or bytes.
        dress: changes the bytes of each message on its way out; `cut` is how they arrive.
        intercepts: see what the client says before it is answered, and may answer instead.
        rolls: the rotations that the server shows.
        revoked: a key whose revocation the client is given, if its command asks for it (`takes_revocations`).
        is_cut_off: the connection breaks after the next bytes that leave.
        ends_on_close: the scene is over when a connection ends.
        done: set when the script has seen what it is about; the kit then ends the client.

    Judges read what was noted:
        heard, faults: what the client has said, and what of it was wrong.
        sent: what was sent to it.
        has_closed: a connection has ended before the kit ended the client.
        opened: when each connection began; `doors_used` has its port's place among `doors`.
        links_before: how many connections there were before the client was started, this time.
        rests_from: when the client was told to do nothing more, or nothing for a while.
        wire_trace: what was said last, on both sides.
        cheated_at: the position at which the server has cheated; the client may sign nothing for a later one.
    """

    nursery: trio.Nursery

    def __init__(self, game: PlayedGame = FRENCH, *, seed: int = 1) -> None:
        super().__init__(game, seed=seed)
        self.info = info_of(game.variant, game.seats)
        self.rolls: tuple[Roll, ...] = ()
        self.bend: Callable[[messages.ServerMessage], messages.ServerMessage | None] = lambda message: message
        self.recast: Recast = lambda message: (message,)
        self.dress: Callable[[bytes], bytes] = lambda frame: frame
        self.cut: Callable[[bytes], Iterable[bytes]] = lambda frame: (frame,)
        self.intercepts: list[Intercept] = []
        self.revoked = keys.signing_key_from_seed(playing.secret("revoked", seed))
        self.takes_revocations = False
        self.is_cut_off = self.ends_on_close = False
        self.done = trio.Event()
        self.heard: list[HeardMessage] = []
        self.faults: list[ClientFault] = []
        self.sent: list[messages.ServerMessage] = []
        self.has_closed = False
        self.opened: list[float] = []
        self.doors, self.doors_used = list[int](), list[int]()
        self.links_before = 0
        self.rests_from = 0.0
        self.cheated_at: int | None = None
        self.is_over = False  # the kit is ending the client: what happens then is not the client's doing
        self.wire_trace = WireTrace(self.boxed_lines)
        self.greeted = b""
        self.unanswered: Sized = ()  # what has come in one piece with what is being answered
        self._connection: ConnectionEnd | None = None
        self._stream: trio.abc.Stream | None = None
        self._writing = trio.Lock()
        self._parted = trio.Event()
        self._parted.set()
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
                await self._converse(stream)
        # The kit itself ends clients: their connections break without any fault of theirs.
        if not self.is_over:
            self.has_closed = True
            if self.ends_on_close:
                self.done.set()
        parted.set()

    async def _converse(self, stream: trio.abc.Stream) -> None:
        connection = self._connection = ConnectionEnd(Role.SERVER)
        self._stream = stream
        # Another one for each connection, and the same in each run.
        self._nonce = playing.secret("sn", len(self.heard))
        self.epoch += 1
        try:
            while received := await self.hear(stream):
                self.unanswered = found = deque(connection.receive(received))
                while found:
                    message = found.popleft()
                    if isinstance(message, Failure):
                        await self.fail(message)
                    else:
                        # A server's connection lets nothing else in.
                        await self.answer(cast("messages.ClientMessage", message))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def wait_parted(self, seconds: float) -> None:
        """Wait, so long at most, until the newest connection has ended: what a client sent before exiting may still come."""
        with trio.move_on_after(seconds):
            while not self._parted.is_set():
                await self._parted.wait()

    async def hear(self, stream: trio.abc.Stream) -> bytes:
        """Return what comes next, and keep it for the author of a client that fails."""
        heard = bytes(await stream.receive_some(65536))
        self.wire_trace.pass_by(CLIENT, heard)
        return heard

    async def write_whole(self, *pieces: bytes) -> None:
        """Let pieces leave one after the other, and keep them: the puppets play on, and may have something to say meanwhile."""
        for piece in pieces:
            self.wire_trace.pass_by(SERVER, piece)
        # A puppet's frame may be on its way while a request is answered: two tasks cannot send on one stream.
        async with self._writing:
            for piece in pieces:
                if self._stream is not None:
                    await self._stream.send_all(piece)

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
            await self.respond(message)
        except (CheckError, ProtocolError, RulesError, ValueError) as error:
            # Noted by what the message is about, as some scenes judge one kind of record only.
            self.blame(subject(message), f"{type(error).__name__}: {error}")
            await self.refuse(message, Code.ILLEGAL_ACTION, str(error))

    async def respond(self, message: messages.ClientMessage) -> None:
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

    def check(self, message: messages.KeyLogin) -> None:
        """Check a login.

        Raises:
            HandshakeError: It is not sound.
        """
        if not self.greeted and self._connection is not None:
            self.greeted = self._connection.hello_frame(Role.SERVER)
        check_login(message, Challenge(self.key.public, self._cn, self._nonce, self.greeted))

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

    async def act(self, message: AnyAct) -> None:
        """Take what the client hands in, if it was asked for."""
        if self.ledger is None and self.terms is None:
            await self.wrong(message, Code.NOT_NOW, "expected no act before the terms")
        elif isinstance(message, messages.GuestAct):
            await self.choose(message)
        elif self.ledger is None or message.match is None:
            await self.begin(Record(1, message.body, message.sig))
            await self.send(messages.Ok(re=message.id))
        else:
            await self.hand_in(message)

    async def choose(self, message: messages.GuestAct) -> None:
        """Take a guest's choice, if it is one of those offered, or one that is never offered."""
        offered = self.offers.get(message.at, ())
        if message.choose in (*offered, *_NEVER_OFFERED):
            # Overtaken by a ruling: no fault of the client.
            if message.at < self.at_play().k:
                text = "another record came first"
                await self.push(messages.refusal(Code.STALE_POSITION, text, re=message.id))
            else:
                await self.hand_in(message)
        elif offered:
            text = f"{message.choose!r} is none of {sorted(offered)}"
            await self.wrong(message, Code.ILLEGAL_ACTION, text)
        else:
            await self.wrong(message, Code.NOT_YOUR_TURN, f"no options came for position {message.at}")

    async def show(self, message: messages.Watch) -> None:
        """Let the client watch a match between puppets, from its beginning or from where the client was."""
        if self.ledger is None:
            await self.rehearse()
        if self.setup is None:
            return
        await self.send(self.state())
        first = message.next if message.match == self.setup.match else None
        await self.send_from(-1 if first is None else first, self.setup, message.id)

    async def rehearse(self) -> None:
        """Play the first records of a match between puppets, which nobody sees."""
        record, shown = self.make_terms(), self.bend
        own, self.bend = Puppet(0, self.seed), lambda _message: None
        self.is_guest, self.is_watched, self.stop_at = False, True, PAST
        await self.begin(own.join(open_terms(self.document, record)))
        self.players = {0: own, **self.players}
        await self.go_on()
        self.bend = shown
