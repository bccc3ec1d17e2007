"""A visit to the server that is judged: the connections of one case, and the players who sit at its tables.

A case asks here for clients and players, and gets them logged in or learns that the server does not offer what it is
about. The cases themselves are in server_cases/. Invariant: when a visit is over all its connections are
closed, and its seats have been given up.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

import trio

from truc_conform.blind_seat import BlindSeat
from truc_conform.expectations import Map, UnexpectedError, UnofferedError, expect, expect_ok
from truc_conform.raw_client import PAIR, RawClient
from truc_conform.raw_seat import Pick, RawSeat
from truc_conform.result import Case, CaseOutcome
from truc_conform.websocket import Origin, WebSocketStream, connect
from truc_protocol.crypto.keys import SigningKey, generate_signing_key
from truc_protocol.errors import Code
from truc_protocol.wire.transport import ENCRYPTED, PLAIN

_TCP: Final = "truc"
_PORTS: Final = {_TCP: 7373, "ws": 80, "wss": 443}
_GUESTS_UNWANTED: Final = (Code.GUESTS_NOT_ALLOWED, Code.KEY_NOT_ALLOWED)
_CLOSED_DOOR: Final = (Code.KEY_NOT_ALLOWED, Code.BANNED)
# seats are given up as a courtesy: a server that hangs must not hold the next case up
_FAREWELL_S: Final = 1.0

S = TypeVar("S", bound=RawSeat)
Run = Callable[..., Awaitable[CaseOutcome | None]]
"""Plays a case in a visit; it raises if something else comes, and returns an outcome if there is more to say."""


class ServerCase(NamedTuple):
    """A case and how it is run."""

    case: Case
    run: Run


def case(name: str, clause: str) -> Callable[[Run], ServerCase]:
    """Make a case of a function; the first line of its docstring says what is expected."""

    def made(run: Run) -> ServerCase:
        expected, _, _ = (run.__doc__ or "").partition("\n")
        return ServerCase(Case(name, clause, expected.removesuffix(".")), run)

    return made


def case_rows(clause: str, expected: str, *rows: tuple[object, ...]) -> Callable[[Run], list[ServerCase]]:
    """Make several cases of a function, each of a row: its name, a text, and what the function is given beside the visit.

    In `clause` and `expected` the text stands in the place of `{what}`, and what is given in that of the argument's name.
    """

    def made(run: Run) -> list[ServerCase]:
        _, *names = signature(run).parameters
        cases = []
        for name, what, *values in rows:
            given = dict(zip(names, values, strict=True))
            texts = (text.format(what=what, **given) for text in (clause, expected))
            cases.append(ServerCase(Case(str(name), *texts), partial(run, **given)))
        return cases

    return made


class ServerAddress(NamedTuple):
    """Where the server is, and the fingerprint that it must have, if known."""

    host: str
    port: int
    fingerprint: str | None = None
    origin: Origin | None = None
    """What it is for browsers, if it is visited as one."""


def read_address(text: str) -> ServerAddress:
    """Read HOST:PORT, [HOST]:PORT, a join string, or the address of a WebSocket.

    Raises:
        ValueError: It is none of these, or the join string is for a server with TLS.
    """
    # TLS lies below everything that the kit judges (transport.md, "TLS").
    if text.startswith(ENCRYPTED):
        raise ValueError(f"expected a server without TLS, which this kit does not speak, got {text!r}")
    wrong = f"expected HOST:PORT, truc://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT, got {text!r}"
    try:
        parts = urlsplit(text if "://" in text else PLAIN + text)
        # As a browser writes a name that is not in ASCII
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError) as error:
        raise ValueError(wrong) from error
    if not host:
        raise ValueError(wrong)
    origin = None if parts.scheme == _TCP else Origin(host, port, parts.scheme == "wss")
    return ServerAddress(host, port, parts.fragment or None, origin)


async def _open(address: ServerAddress) -> trio.SocketStream | WebSocketStream:
    if address.origin is not None:
        return await connect(address.origin)
    return await trio.open_tcp_stream(address.host, address.port)


class ServerVisit:
    """The clients of one case.

    Attributes:
        address: where the server is.
        seed: what every choice of the case follows from.
        hands: how many hands have their deals audited.
    """

    def __init__(self, address: ServerAddress, *, seed: int, patience_s: float, hands: int) -> None:
        self.address = address
        self.seed = seed
        self.patience_s = patience_s
        self.hands = hands
        self._clients: list[RawClient] = []
        self._seats: list[RawSeat] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Seats are given up also when a case has failed by a timeout, or the next one would meet its tables.
        with trio.CancelScope(shield=True):
            with trio.move_on_after(_FAREWELL_S):
                for seat in self._seats:
                    await _give_up(seat)
            for client in self._clients:
                await trio.aclose_forcefully(client.stream)

    def asked_to_wait(self) -> float:
        """Return how many seconds the server has asked somebody to wait before logging in; 0 if it has not."""
        # The longest: all of them come from one address, which is what is limited.
        return max((_wait_at_the_door(client) for client in self._clients), default=0.0)

    async def connect(self) -> RawClient:
        """Return a connection on which nothing has been said."""
        with trio.fail_after(self.patience_s):
            stream = await _open(self.address)
        client = RawClient(stream, patience_s=self.patience_s)
        self._clients.append(client)
        return client

    async def player(self, key: SigningKey | None = None, *, want: Sequence[str] = ()) -> RawClient:
        """Return a connection on which a key is logged in, a fresh one unless it is given."""
        client = await self.connect()
        welcomed(await client.login_key(key or generate_signing_key(), want=want), _CLOSED_DOOR)
        return client

    async def guest(self, name: str = "Gus") -> RawClient:
        """Return a connection on which a new guest is logged in."""
        client = await self.connect()
        welcomed(await client.login_guest(name), _GUESTS_UNWANTED)
        return client

    async def seat(
        self, number: int = 0, *, keyed: bool = True, boxed: bool = True, want: Sequence[str] = ()
    ) -> RawSeat:
        """Return a player who is logged in and has no seat."""
        seat = RawSeat(await self.connect(), seed=self.seed * 100 + number, keyed=keyed, boxed=boxed)
        welcomed(await seat.login(want=want), _CLOSED_DOOR if keyed else _GUESTS_UNWANTED)
        self._seats.append(seat)
        return seat

    async def dealer(self, number: int = 0) -> BlindSeat:
        """Return a player who is logged in, has no seat, and deals at tables whose host sees no card."""
        seat = BlindSeat(await self.connect(), seed=self.seed * 100 + number)
        welcomed(await seat.login(), _CLOSED_DOOR)
        self._seats.append(seat)
        return seat

    async def seats(
        self,
        *,
        guests: Sequence[int] = (),
        boxed: bool = True,
        game: str | None = None,
        private: bool = True,
        want: Sequence[str] = (),
        **options: int | str,
    ) -> list[RawSeat]:
        """Return two players at one table, neither of them ready; the first wants these capabilities."""
        first = await self.seat(0, keyed=0 not in guests, boxed=boxed, want=want)
        second = await self.seat(1, keyed=1 not in guests, boxed=boxed)
        chosen = ({"guests": PAIR} if guests else {}) | options
        return await sit_down([first, second], chosen, game=game, private=private)

    async def match(self, seats: list[RawSeat] | None = None) -> list[RawSeat]:
        """Return players who have all said ready, at a table as the server makes it unless they sit at another."""
        seats = seats or await self.seats()
        await all_ready(seats)
        return seats

    async def in_hand(self, seats: list[RawSeat] | None = None) -> tuple[RawSeat, RawSeat]:
        """Return two players in a hand that has been dealt, who no longer move by themselves; the first is to move."""
        return await dealt(seats or await self.seats())

    async def stranger_refused(self, message: Map, code: Code, *, field: str | None = None) -> None:
        """Check that a request of somebody who has nothing to do with the table is refused."""
        await (await self.player()).refused(message, code, field=field)


async def sit_down(
    seats: list[S], options: Mapping[str, int | str], *, game: str | None, private: bool = True
) -> list[S]:
    """Let the first of some players open a table for as many, and the others sit down there; return them."""
    first, *others = seats
    reply = await first.open_table(options, game=game, seats=len(seats), private=private)
    # specification.md, "Setup": a server may offer less than the format has.
    if reply["t"] == "error" and reply["code"] == Code.BAD_OPTION:
        raise UnofferedError(f"no table with the options {options}: {reply['msg']}")
    expect_ok(reply, "a table to be created")
    for seat in others:
        expect_ok(await seat.join(first.table), "a seat at the table")
    return seats


async def all_ready(seats: Iterable[RawSeat]) -> None:
    """Let players say that they are ready."""
    for seat in seats:
        expect_ok(await seat.ready(), "ok to ready")


async def dealt(seats: Iterable[S]) -> tuple[S, S]:
    """Let two players be ready and cut, and no more; return them once a hand is dealt, first who is to move."""
    first, second = seats
    await all_ready((first, second))
    await play_on((first, second), is_asked, chooses=only_cut)
    return (first, second) if first.options and first.options["must"] else (second, first)


def only_cut(_message: Map, options: list[Map]) -> Map | None:
    """Choose nothing but a cut."""
    return next((option for option in options if option["kind"] == "cut"), None)


def _wait_at_the_door(client: RawClient) -> float:
    errors = client.came("error")
    if client.welcome.get("t") == "welcome" or not errors or errors[-1]["code"] != Code.RATE_LIMITED:
        return 0.0
    return int(errors[-1].get("retry_after_ms", 0)) / 1000


async def _give_up(seat: RawSeat) -> None:
    """Resign from a match and leave the table; it does not matter whether the server hears it."""
    try:
        if seat.auditor is not None and not seat.done:
            await seat.resign()
        if seat.table:
            await seat.client.send({"t": "leave", "table": seat.table})
    except (trio.BrokenResourceError, trio.ClosedResourceError, UnexpectedError):
        return


async def all_at_once(*tasks: Callable[[], Awaitable[object]]) -> None:
    """Run at the same time what several players do."""
    async with trio.open_nursery() as nursery:
        for task in tasks:
            nursery.start_soon(task)


async def play_on(
    seats: Sequence[RawSeat],
    until: Callable[[RawSeat], object] = lambda seat: seat.done,
    *,
    chooses: Pick | None = None,
) -> None:
    """Let players play until something holds for each, by default the end of the match; all may choose in another way."""
    for seat in seats:
        seat.chooses = chooses or seat.chooses
    await all_at_once(*(partial(seat.play, until) for seat in seats))


def is_asked(seat: RawSeat) -> bool:
    """Tell whether the first decision of a hand has come to this seat."""
    # One of the two comes to everybody (play.md, "Decisions").
    told = (seat.options, seat.waiting)
    return any(each is not None and each["at"] == seat.next and seat.ledger.hand for each in told)


async def catch_up(*seats: RawSeat) -> None:
    """Let players read on until all have the same records."""
    newest = max(seat.next for seat in seats)
    await play_on(seats, lambda seat: seat.next >= newest)


def welcomed(reply: Map, unwanted: Sequence[Code]) -> None:
    """Check that a login was taken.

    Raises:
        UnofferedError: The server admits nobody of this kind.
    """
    if reply["t"] == "error" and reply["code"] in unwanted:
        raise UnofferedError(f"the server answers a new player with {reply['code']}: {reply['msg']}")
    expect(reply["t"] == "welcome", "welcome", reply)


def held_seats(welcome: Map) -> list[tuple[str, bytes | None, int]]:
    """Return the seats that a welcome lists: table, match, seat."""
    return [(each["table"], each.get("match"), each["seat"]) for each in welcome.get("seats", ())]
