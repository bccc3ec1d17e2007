"""Mischievous players: they play as the protocol wants it, but what they send is changed on its way out.

What comes back is judged: it fits the reference, every frame was answered once, what was answered was asked, nothing is
`internal`, and every record passes the audit. Invariant: whatever else goes wrong for a rogue is its own doing.
"""

import random
from collections.abc import Awaitable, Callable
from typing import Final

import trio
from chaos.stored import ViolationError
from fuzz.mischief import Booty, Mischief, is_answer, is_answered

from truc_conform.expectations import GoneError, Map, UnexpectedError
from truc_conform.raw_client import RawClient, check_fits
from truc_conform.raw_seat import RawSeat
from truc_protocol.audit import AuditError
from truc_protocol.bodies import SeatTaken
from truc_protocol.boxes import BoxError
from truc_protocol.checks import CheckError
from truc_protocol.codec import unpack
from truc_protocol.errors import Code, RemoteError
from truc_protocol.records import Record, parse
from truc_protocol.wire.encoding import CLIENT_LIMIT, FrameError, FrameSplitter

ANSWER_S: Final = 5.0
QUIET_S: Final = 0.005
_TOLD: Final = 12
_ENDED: Final = (GoneError, trio.BrokenResourceError, trio.ClosedResourceError)
_OWN_DOING: Final = (UnexpectedError, RemoteError, BoxError, trio.TooSlowError)


class Rogue(RawClient):
    """A connection whose frames are changed before they leave.

    Attributes:
        answers: how many have come.
        owed: how many must come for what was sent.
        is_gone: whether the connection has ended.
    """

    def __init__(self, stream: trio.SocketStream, mischief: Mischief, booty: Booty) -> None:
        super().__init__(stream, patience_s=0.3)
        self.mischief = mischief
        self.answers = 0
        self.owed = 0
        self.is_gone = False
        self._booty = booty
        self._splitter = FrameSplitter(CLIENT_LIMIT)
        self._is_broken = False

    async def send_bytes(self, raw: bytes) -> None:
        """Send what mischief makes of a frame."""
        left = self.mischief.mangle(raw)
        self._owe(left)
        try:
            await self.stream.send_all(left)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            self.is_gone = True
            raise GoneError("the connection is gone") from error

    def _note(self, whole: bytes) -> Map:
        try:
            check_fits(whole)
        except UnexpectedError as error:
            raise self.violation(str(error)) from error
        message = unpack(whole)
        self.log.append(message)
        self._booty.learn(message)
        if message.get("code") == Code.INTERNAL:
            raise self.violation(f"internal: {message}")
        self._count(message)
        return message

    def _owe(self, left: bytes) -> None:
        """Count the answers that are owed for bytes that leave; whatever breaks the stream is answered, once."""
        if not self._is_broken:
            self._splitter.feed(left)
            try:
                while (whole := self._splitter.next_frame()) is not None:
                    self.owed += is_answered(whole)
            except FrameError:
                self._is_broken = True
                self.owed += 1

    def _count(self, message: Map) -> None:
        if is_answer(message):
            self.answers += 1
            if self.answers > self.owed:
                raise self.violation(f"answered more often than asked, at last with {message}")

    async def settle(self) -> None:
        """Receive until everything is answered, or the connection has ended with a goodbye.

        Raises:
            ViolationError: Neither comes.
        """
        with trio.move_on_after(ANSWER_S):
            while not self.is_gone and self.answers < self.owed:
                try:
                    await self.receive()
                except GoneError:
                    self.is_gone = True
                except trio.TooSlowError:
                    continue
        if self.is_gone:
            self._check_farewell()
        elif self.answers != self.owed:
            raise self.violation(f"{self.owed} answers are owed, {self.answers} came")

    def _check_farewell(self) -> None:
        is_told = any(message["t"] == "bye" for message in self.log[-3:])
        if self.received and not is_told and not self.received.startswith(b"This port speaks"):
            raise self.violation(f"closed without a goodbye, after {self.log[-1:]}")

    def violation(self, what: str) -> ViolationError:
        """Return a violation with what was sent last."""
        steps = "\n  ".join(self.mischief.steps[-_TOLD:])
        return ViolationError(f"{what}\nthe last steps, of {len(self.mischief.steps)}:\n  {steps}")


class RogueSeat(RawSeat):
    """A player on such connections."""

    client: Rogue

    def __init__(self, client: Rogue, chance: random.Random, *, seed: int, keyed: bool) -> None:
        super().__init__(client, seed=seed, keyed=keyed, boxed=keyed)
        self.random = chance
        self._committed = {}  # chain and box key by the anchor

    async def sign_terms(self, message: Map) -> None:
        """Join the terms, and keep what was committed to: changed requests may lead to several tables."""
        self.seat = max(self.seat, 0)  # the reply that told it may have been lost
        await super().sign_terms(message)
        if self.chain is not None and self.x is not None:
            self._committed[self.chain.anchor] = (self.chain, self.x)

    def begin(self, message: Map) -> None:
        """Start to audit a match: with the own cards where it is one's own, and as a spectator where it is not."""
        bodies = (parse(Record(*record)) for record in message["records"])
        taken = [body for body in bodies if isinstance(body, SeatTaken) and body.anchor in self._committed]
        self.seat = taken[0].seat if taken else 0
        self.chain, self.x = self._committed[taken[0].anchor] if taken else (None, None)
        super().begin(message)

    def note(self, message: Map) -> None:
        """Take no offence at errors."""
        if message["t"] == "error":
            return
        super().note(message)

    async def react(self, message: Map) -> None:
        """React as a player does.

        Raises:
            ViolationError: What came does not pass the audit.
        """
        try:
            await super().react(message)
        except (AuditError, CheckError) as error:
            raise self.client.violation(f"{message['t']} does not pass: {error}") from error

    async def take(self, message: Map) -> None:
        """Audit the record that comes next, and pass over those that a changed request has brought."""
        is_next = self.auditor is not None and message["k"] == self.next
        if is_next and message["match"] == self.ledger.setup.mid:
            await super().take(message)

    async def misbehave(self, steps: int) -> None:
        """Play and make mischief for so many steps, or until the connection ends."""
        for _ in range(steps):
            if self.client.is_gone:
                return
            try:
                await self._step()
            except _ENDED:
                self.client.is_gone = True
            except _OWN_DOING:
                continue

    async def _step(self) -> None:
        message = None
        with trio.move_on_after(QUIET_S):
            message = await self.client.receive()
        if message is not None:
            await self.react(message)
        if message is None or self.random.random() < 0.2:
            await self._act_up()

    async def _act_up(self) -> None:
        """Do what nobody waits for."""
        match self.random.randrange(5):
            case 0 if self.stored:
                await self.client.send(self.random.choice(list(self.stored.values())))
            case 1 if self.auditor is not None:
                wanted = {"match": self.ledger.setup.mid, "next": self.random.randint(-1, self.next + 1)}
                await self.client.send({"t": "resume", "table": self.table, **wanted})
            case 2 if self.options is not None and self.offered:
                await self.act(self.act_message(self.options, self.random.choice(self.offered)))
            case _:
                await self.client.send(self.client.mischief.whim())

    async def try_to(self, doing: Callable[[], Awaitable[object]]) -> None:
        """Do something as far as it works."""
        if self.client.is_gone:
            return
        try:
            await doing()
        except _ENDED:
            self.client.is_gone = True
        except (*_OWN_DOING, LookupError):  # another request was answered than the one it was meant to be
            return
