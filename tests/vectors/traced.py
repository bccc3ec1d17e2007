"""A match between a server and its players in which nothing is left to chance, and every frame of it, in order.

The server is the real one, on a loopback port. Its random bytes, its clocks and every key come from a seed; it is spoken
to one frame at a time, and all of its answers are waited for before the next. So the same bytes come out every time.
Not here: what is written of it (traces.py).
"""

import random
import struct
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock
from vectors.turns import Outside, is_next_hand, may_begin, take_turns

from truc_conform.expectations import Map
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat, is_rash
from truc_protocol.bodies import Close, End
from truc_protocol.codec import unpack
from truc_protocol.crypto import keys
from truc_protocol.records import Record, parse
from truc_rules import preset
from truc_server.identity.identity import Identity
from truc_server.server import serve
from truc_server.settings.folder import Folder
from truc_server.settings.settings import (
    LimitSettings,
    ListenSettings,
    MatchDefaults,
    Settings,
    TableSettings,
)
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage.sql import open_store

NOW = 1_790_000_000
SERVER_SEED = b"\x01" * 32
PLAYER_SEEDS = (b"\x02" * 32, b"\x04" * 32)
NAMES = ("Ana", "Ben", "Cleo", "Dora")
SETTINGS = Settings(
    name="Casa",
    listen=ListenSettings(hosts=("127.0.0.1",), port=0),
    limits=LimitSettings(burst=10_000, acts_per_s=10_000, table_acts_per_s=10_000),
    tables=TableSettings(between_hands_ms=0),
    match=MatchDefaults(links=64),
)
_PATIENCE_S = 1_000_000  # of a clock that stands still
_STEP_S = 4  # longer than the server waits for anybody to show cards


class Script(NamedTuple):
    """A hand: the game, where the dice begin, and who says what as soon as they can, a line each; `*` is anybody.

    Whoever has nothing to say plays the first card.

    Attributes:
        keys: how many seats have a key, the first ones.
        options: what the table is made with, beside the guests.
        to_end: whether it goes on to the end of the match and every ack.
        turns: what seats do when the next hand is dealt, instead of playing it (turns.py).
    """

    variant: str
    seed: int
    lines: tuple[str, ...] = ()
    seats: int = 2
    keys: int = 1
    options: tuple[tuple[str, int | str], ...] = ()
    to_end: bool = False
    turns: tuple[str, ...] = ()


class Frame(NamedTuple):
    """What went over the wire: from a seat to the server, or from the server to these seats."""

    sender: int | None
    receivers: tuple[int, ...]
    raw: bytes

    @property
    def message(self) -> Map:
        """The message, decoded."""
        return unpack(self.raw[4:])


class Secrets(NamedTuple):
    """What opens the boxes of a seat, and the root of its chain."""

    x: bytes
    root: bytes


class Trace(NamedTuple):
    """Every frame of a hand, and by seat the secrets of those that have a key."""

    script: Script
    frames: tuple[Frame, ...]
    secrets: tuple[Secrets, ...]


class TracedClient(RawClient):
    """A client that remembers what it sent and got, without what only keeps the steps apart."""

    def __init__(self, stream: trio.SocketStream, seat: int, frames: list[Frame]) -> None:
        super().__init__(stream, patience_s=_PATIENCE_S)
        self.seat = seat
        self.frames = frames
        self.got: list[bytes] = []
        self.inbox: deque[Map] = deque()

    async def send_bytes(self, raw: bytes) -> None:
        if unpack(raw[4:])["t"] != "ping":
            self.frames.append(Frame(self.seat, (), raw))
        await super().send_bytes(raw)

    async def next_frame(self) -> bytes | None:
        whole = await super().next_frame()
        if whole is not None and unpack(whole)["t"] != "pong":
            self.got.append(struct.pack(">I", len(whole)) + whole)
        return whole


class Course:
    """The seats of a script, taking turns."""

    def __init__(self, script: Script, seats: list[RawSeat], frames: list[Frame]) -> None:
        self.script = script
        self.seats = seats
        self.frames = frames
        self.lines = deque(script.lines)
        self.present: list[RawSeat] = []
        for seat in seats:
            seat.chooses = self.chooser(seat)
        self._pings = 0

    def chooser(self, seat: RawSeat):
        def choose(message: Map, options: list[Map]) -> Map | None:
            if self.script.turns and is_next_hand(seat):
                return None
            who, _, line = self.lines[0].partition(" ") if self.lines else ("", "", "")
            if who in ("*", str(seat.seat)):
                for option in options:
                    if option["key"] == line or option["key"].startswith(f"{line} "):
                        self.lines.popleft()
                        return option
            return _plainest(options) if message["must"] else None

        return choose

    async def ask(self, seat: RawSeat, message: Map) -> Map:
        """Send a request, and return its reply when everybody has got what came of it."""
        number = await seat.client.send(message)
        await self.settle()
        (reply,) = [answer for answer in seat.client.log if answer.get("re") == number]
        return reply

    async def settle(self) -> None:
        """Wait until everything has come that what was sent has caused."""
        for _ in range(2):  # the second round brings what the first one's waiting has let through
            for seat in self.present:
                self._pings += 1
                await seat.client.send({"t": "ping", "n": self._pings})
                before = len(seat.client.log)
                await seat.client.until("pong", n=self._pings)
                seat.client.inbox += [
                    message for message in seat.client.log[before:] if message["t"] != "pong"
                ]
        self.take_up()

    def take_up(self) -> None:
        """Put what has come behind what was sent."""
        self.frames += merged([seat.client.got for seat in self.seats])
        for seat in self.seats:
            seat.client.got = []

    async def play(self, clock: MockClock) -> None:
        """Let every seat react to what has come, until the hand is closed or the match has ended."""
        while not self.is_over():
            seat = next((seat for seat in self.seats if seat.client.inbox), None)
            if seat is None:
                clock.jump(_STEP_S)
                await self.settle()
                continue
            sent = len(self.frames)
            message = seat.client.inbox.popleft()
            if message["t"] == "options" and any(later["t"] == "record" for later in seat.client.inbox):
                continue  # the next record has ended these options
            await seat.react(message)
            if len(self.frames) > sent:
                await self.settle()

    def is_over(self) -> bool:
        if self.script.turns:
            return may_begin(self)
        if self.script.to_end:
            return all(seat.done for seat in self.seats)
        messages = (frame.message for frame in self.frames[-20:] if frame.sender is None)
        return any(
            isinstance(parse(Record(m["signer"], m["body"], m["sig"])), Close | End)
            for m in messages
            if m["t"] == "record"
        )


def _plainest(options: list[Map]) -> Map:
    plain = [option for option in options if option["kind"] == "play"]
    quiet = [option for option in options if not is_rash(option)]
    return (plain or quiet or options)[0]


def merged(lists: list[list[bytes]]) -> list[Frame]:
    """Put what each seat got into one list; the same frame to several stands there once."""
    left = [deque(frames) for frames in lists]
    together = []
    while any(left):
        first = next(i for i, frames in enumerate(left) if frames)
        shared = _receivers(left, left[first][0])
        blocked = [i for i in shared if left[i][0] != left[first][0]]
        if blocked:  # somebody has got something else before
            first, shared = blocked[0], _receivers(left, left[blocked[0]][0])
            if any(left[i][0] != left[first][0] for i in shared):
                shared = (first,)
        raw = left[first][0]
        for i in shared:
            left[i].popleft()
        together.append(Frame(None, shared, raw))
    return together


def _receivers(left: list[deque[bytes]], raw: bytes) -> tuple[int, ...]:
    return tuple(i for i, frames in enumerate(left) if raw in frames)


@contextmanager
def without_chance(seed: int) -> Iterator[None]:
    """Take every random byte and every look at the clock from a seed; what decides the deal from a stream of its own."""
    players, match = random.Random(f"players {seed}"), random.Random(f"match {seed}")

    places: dict[str, object] = {
        "random._urandom": random.Random(seed).randbytes,
        "truc_conform.raw_seat.token_bytes": players.randbytes,
        "truc_protocol.crypto.keys.generate_box_key": lambda: keys.box_key(players.randbytes(32)),
        "truc_protocol.match_secrets.token_bytes": match.randbytes,
        "time.time": lambda: float(NOW),
        "time.time_ns": lambda: NOW * 10**9,
    }
    with ExitStack() as stack:
        for place, instead in places.items():
            stack.enter_context(mock.patch(place, instead))
        stack.enter_context(capture_logs())
        yield


def traced(script: Script) -> Trace:
    """Play a script and return what went over the wire."""
    clock = MockClock()
    with tempfile.TemporaryDirectory() as folder, without_chance(script.seed):
        return trio.run(_traced, script, Path(folder), clock, clock=clock)


async def _traced(script: Script, path: Path, clock: MockClock) -> Trace:
    folder = Folder(path)
    identity = Identity(keys.signing_key_from_seed(SERVER_SEED), b"\x03" * 32)
    catalogue = VariantCatalogue({script.variant: preset(script.variant)})
    store = open_store(f"sqlite:///{path / 'truc.db'}")
    ports: list[int] = []
    listening = trio.Event()

    def announce(port: int, _origin: str | None) -> None:
        ports.append(port)
        listening.set()

    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def run() -> None:
            with scope:
                await serve(SETTINGS, folder, store, identity, announce, catalogue=catalogue)

        nursery.start_soon(run)
        await listening.wait()
        trace = await _played(script, ports[0], clock)
        clock.rate = 1
        scope.cancel()
    store.close()
    return trace


async def _played(script: Script, port: int, clock: MockClock) -> Trace:
    frames: list[Frame] = []
    seats = [await _seat(i, port, frames, keyed=i < script.keys) for i in range(script.seats)]
    course = Course(script, seats, frames)
    for seat in seats:
        await _log_in(course, seat)
    await _sit_down(course, script)
    for seat in seats:
        await course.ask(seat, {"t": "ready", "table": seat.table})
    await course.play(clock)
    await take_turns(course, script.turns, Outside(partial(_connect, port, frames), clock))
    assert not course.lines, f"nobody could say {course.lines[0]!r}"
    for seat in seats:
        await trio.aclose_forcefully(seat.client.stream)
    return Trace(script, tuple(frames), tuple(_secrets(seat) for seat in seats[: script.keys]))


def _secrets(seat: RawSeat) -> Secrets:
    assert seat.x is not None
    assert seat.chain is not None
    return Secrets(seat.x.secret, seat.chain.root)


async def _seat(number: int, port: int, frames: list[Frame], *, keyed: bool) -> RawSeat:
    client = await _connect(port, frames, number)
    seat = RawSeat(client, keyed=keyed, boxed=False)
    seat.name = NAMES[number]
    if keyed:
        seat.key = keys.signing_key_from_seed(PLAYER_SEEDS[number])
    return seat


async def _connect(port: int, frames: list[Frame], number: int) -> TracedClient:
    return TracedClient(await trio.open_tcp_stream("127.0.0.1", port), number, frames)


async def _log_in(course: Course, seat: RawSeat) -> None:
    client = seat.client
    await client.hello()
    course.take_up()
    await client.enter(
        {"t": "login", "name": seat.name, **({} if seat.key is None else client.auth(seat.key))}
    )
    course.take_up()
    course.present.append(seat)


async def _sit_down(course: Course, script: Script) -> None:
    first, *others = course.seats
    options = {"guests": script.seats - script.keys, **dict(script.options)}
    made = {"variant": script.variant, "seats": script.seats, "options": options}
    reply = await course.ask(first, {"t": "create", **made})
    for seat in course.seats:
        seat.table = reply["table"]
    first.seat = reply["seat"]
    for seat in others:
        seat.seat = (await course.ask(seat, {"t": "join", "table": seat.table}))["seat"]
