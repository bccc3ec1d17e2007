"""Thin guests: they play for ever at tables of guests alone, and remember what they were told was stored.

They take the first or any of the options offered, audit nothing, and are cheap: hundreds share a process. Nothing here is
wrong on purpose. Invariant: whatever ends a guest's play, and was not asked for, is in the tally as a fault.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_bytes
from typing import Any, Final, NamedTuple

import trio

from truc_conform.expectations import Map
from truc_conform.raw_client import CHUNK, frame
from truc_conform.raw_seat import OVERTAKEN, is_rash
from truc_protocol.codec import unpack
from truc_protocol.wire.encoding import FrameSplitter

LONGEST: Final = 65_536
PATIENCE_S: Final = 60.0
RASH: Final = 0.1  # of the choices that may end a game at once


class Address(NamedTuple):
    """Where a server listens, and the address that is spoken from."""

    port: int
    source: str = "127.0.0.1"


class Game(NamedTuple):
    """What is played, with the terms that differ from the server's."""

    variant: str = "put"
    seats: int = 2
    options: Mapping[str, int | str] = {"match": 5}


class Tally:
    """What guests have seen, counted together.

    Attributes:
        taken: by match, the positions of acts that were acknowledged.
        acts: by table, how many acts were acknowledged.
        faults: what should not have come.
    """

    def __init__(self) -> None:
        self.taken: dict[bytes, list[int]] = {}
        self.acts: Counter[str] = Counter()
        self.hands = 0
        self.matches = 0
        self.faults: list[str] = []
        self._changed = trio.Event()

    def take(self, table: str, match: bytes, k: int) -> None:
        """Note that an act was acknowledged."""
        self.taken.setdefault(match, []).append(k)
        self.acts[table] += 1
        self._changed.set()

    def close_hand(self) -> None:
        """Note that a hand is over."""
        self.hands += 1
        self._changed.set()

    def blame(self, fault: str) -> None:
        """Note what should not have come."""
        self.faults.append(fault)
        self._changed.set()

    async def wait(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of the tally, or there is a fault."""
        while not (holds() or self.faults):
            self._changed = trio.Event()
            await self._changed.wait()


async def connect(address: Address) -> trio.SocketStream:
    """Return a connection that comes from the address's source."""
    return await trio.open_tcp_stream("127.0.0.1", address.port, local_address=address.source)


class Guest:
    """A guest on one connection.

    Attributes:
        sent: every frame sent so far, if they are kept.
    """

    def __init__(
        self,
        stream: trio.SocketStream,
        tally: Tally,
        dice: random.Random,
        *,
        pause_s: float = 0.0,
        keeps: bool = False,
    ) -> None:
        self.stream = stream
        self.sent: list[bytes] = []
        self.table = ""
        self.seat = -1
        self._keeps = keeps
        self._tally = tally
        self._dice = dice
        self._pause_s = pause_s
        self._splitter = FrameSplitter(LONGEST)
        self._ids = 0
        self._acts: dict[int, tuple[bytes, int]] = {}

    async def ask(self, tag: str, **fields: Any) -> Map:
        """Send a request and return its reply; what comes before it is taken as it comes."""
        number = await self._send(tag, **fields)
        with trio.fail_after(PATIENCE_S):
            while True:
                message = await self._next()
                if message.get("re") == number:
                    return message
                await self._react(message)

    async def enter(self, name: str) -> Map:
        """Say hello, and log in as a new guest; return the welcome."""
        await self.ask("hello", proto=[1], want=[], cn=token_bytes(32))
        return self._expect("welcome", await self.ask("login", name=name))

    async def create(self, game: Game, *, private: bool = False) -> str:
        """Open a table of guests, and return its code."""
        options = {**game.options, "guests": game.seats}
        wanted = {"variant": game.variant, "seats": game.seats, "private": private}
        reply = self._expect("ok", await self.ask("create", options=options, **wanted))
        self.table, self.seat = reply["table"], reply["seat"]
        return self.table

    async def join(self, table: str) -> None:
        """Sit down."""
        reply = self._expect("ok", await self.ask("join", table=table))
        self.table, self.seat = table, reply["seat"]

    async def play(self) -> None:
        """Play one match after the other until something ends the connection."""
        await self._send("ready", table=self.table)
        while True:
            await self._react(await self._next())

    def _expect(self, tag: str, reply: Map) -> Map:
        if reply["t"] != tag:
            raise ConnectionError(f"expected {tag}, got {reply}")
        return reply

    async def _send(self, tag: str, **fields: Any) -> int:
        self._ids += 1
        whole = frame({"t": tag, "id": self._ids, **fields})
        if self._keeps:
            self.sent.append(whole)
        await self.stream.send_all(whole)
        return self._ids

    async def _next(self) -> Map:
        while (whole := self._splitter.next_frame()) is None:
            received = await self.stream.receive_some(CHUNK)
            if not received:
                raise ConnectionError("the server has closed the connection")
            self._splitter.feed(received)
        return unpack(whole)

    async def _react(self, message: Map) -> None:
        match message["t"]:
            case "record":
                await self._see(message)
            case "options" if is_awaited(message, message["list"]):
                await self._act(message)
            case "ok" if message["re"] in self._acts:
                match, _ = self._acts.pop(message["re"])
                self._tally.take(self.table, match, message["k"])
            case "ping":
                await self.stream.send_all(frame({"t": "pong", "n": message["n"]}))
            case "error" if message["code"] in OVERTAKEN:
                self._acts.pop(message.get("re", -1), None)
            case "error":
                raise ConnectionError(f"refused: {message['code']}, {message['msg']}")
            case "bye" | "closed":
                raise ConnectionError(f"{message}")
            case _:
                pass

    async def _see(self, message: Map) -> None:
        facts = {fact["what"] for fact in message["means"]}
        if self.seat == 0 and "hand_closed" in facts:
            self._tally.close_hand()
        if "match_ended" in facts:
            self._tally.matches += self.seat == 0
            await self._send("ready", table=self.table)

    async def _act(self, message: Map) -> None:
        if self._pause_s:
            await trio.sleep(self._pause_s * self._dice.uniform(0.5, 1.5))
        match, at = message["match"], message["at"]
        key = choose(message["list"], self._dice)["key"]
        number = await self._send("act", table=self.table, match=match, at=at, choose=key)
        self._acts[number] = (match, at)


def is_awaited(message: Map, options: Sequence[Map]) -> bool:
    """Tell whether the hand waits for who was sent these options."""
    return bool(options) and (message["must"] or any("waits" in option["hints"] for option in options))


def choose(options: Sequence[Map], dice: random.Random) -> Map:
    """Return an option; one that may end a game at once only rarely."""
    quiet = [option for option in options if not is_rash(option)]
    return dice.choice(quiet if quiet and dice.random() > RASH else options)


async def seated(
    addresses: Sequence[Address],
    tally: Tally,
    game: Game,
    *,
    seed: int,
    pause_s: float = 0.0,
    keeps: bool = False,
) -> list[Guest]:
    """Return guests at a new table, one from each address; none of them plays yet."""
    guests: list[Guest] = []
    try:
        for i, address in enumerate(addresses):
            dice = random.Random(seed * 10 + i)
            guests.append(Guest(await connect(address), tally, dice, pause_s=pause_s, keeps=keeps))
            await guests[i].enter(f"g{seed}n{i}")
        table = await guests[0].create(game)
        for guest in guests[1:]:
            await guest.join(table)
    except BaseException:
        await close(guest.stream for guest in guests)
        raise
    return guests


async def close(streams: Iterable[trio.SocketStream]) -> None:
    """Close connections, whatever else is being cancelled."""
    with trio.CancelScope(shield=True):
        for stream in streams:
            await trio.aclose_forcefully(stream)


async def play_on(guest: Guest, tally: Tally) -> None:
    """Play until cancelled; whatever else ends it is a fault."""
    try:
        await guest.play()
    except (ConnectionError, trio.BrokenResourceError, trio.ClosedResourceError, ValueError) as error:
        tally.blame(f"{guest.table} seat {guest.seat}: {error}")
    finally:
        await trio.aclose_forcefully(guest.stream)
