"""A visit to the server that is judged: the connections of one case, and what is expected of every answer.

A case asks here for clients and players, and gets them logged in or learns that the server does not offer what it is
about. The cases themselves are in server_cases/. Invariant: when a visit is over all its connections are
closed, and its seats have been given up.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Final, NamedTuple, Self

import trio

from truc_conform.raw_client import Map, RawClient, UnexpectedError
from truc_conform.raw_seat import Seat
from truc_conform.result import Case, Outcome
from truc_protocol.crypto.keys import SigningKey, generate_signing_key
from truc_protocol.errors import REGISTRY, Code
from truc_protocol.wire.transport import ENCRYPTED

LONGEST_TEXT: Final = 400
PORT: Final = 7373
_GUESTS_UNWANTED: Final = (Code.GUESTS_NOT_ALLOWED, Code.KEY_NOT_ALLOWED)
_CLOSED_DOOR: Final = (Code.KEY_NOT_ALLOWED, Code.BANNED)
_FAREWELL_S: Final = 1.0
_GAME: Final = "truc-french"
_MOST_PAGES: Final = 200
PAIR: Final = 2


class UnofferedError(Exception):
    """The server does not offer what a case is about; the text says what."""


class Address(NamedTuple):
    """Where the server is, and the fingerprint that it must have, if known."""

    host: str
    port: int
    fingerprint: str | None = None


class InconclusiveError(Exception):
    """A case shows nothing that is required of this server; the text, which is only reported, says why."""


class ServerCase(NamedTuple):
    """A case and how it is run; a run raises if something else comes, and returns an outcome if there is more to say."""

    case: Case
    run: "Run"


def server_case(level: str, run: "Run", clause: str) -> ServerCase:
    """Return the case that a function is: its name is that of the case, the first line of its docstring what is expected."""
    expected, _, _ = (run.__doc__ or "").partition("\n")
    return server_row(
        level, run.__name__.strip("_").replace("_", "-"), clause, expected.removesuffix("."), run
    )


def server_row(level: str, name: str, clause: str, expected: str, run: "Run") -> ServerCase:
    """Return a case that shares its function with others."""
    return ServerCase(Case(f"{level}.{name}", clause, expected), run)


def read_address(text: str) -> Address:
    """Read HOST:PORT, [HOST]:PORT or a join string.

    Raises:
        ValueError: It is none of these, or the join string is for a server with TLS.
    """
    if text.startswith(ENCRYPTED):
        raise ValueError(f"expected a server without TLS, which this kit does not speak, got {text!r}")
    rest, _, fingerprint = text.removeprefix("truc://").partition("#")
    place = rest.partition("/")[0].partition("?")[0]
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if not colon:
        host, port = port or place, str(PORT)
    if not host or not port.isdigit():
        raise ValueError(f"expected HOST:PORT or truc://HOST:PORT, got {text!r}")
    return Address(host.strip("[]"), int(port), fingerprint or None)


class Visit:
    """The clients of one case.

    Attributes:
        address: where the server is.
        seed: what every choice of the case follows from.
        hands: how many hands have their deals audited.
    """

    def __init__(self, address: Address, *, seed: int, patience_s: float, hands: int) -> None:
        self.address = address
        self.seed = seed
        self.patience_s = patience_s
        self.hands = hands
        self._clients: list[RawClient] = []
        self._seats: list[Seat] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with trio.CancelScope(shield=True):
            with trio.move_on_after(_FAREWELL_S):
                for seat in self._seats:
                    await _give_up(seat)
            for client in self._clients:
                await trio.aclose_forcefully(client.stream)

    def asked_to_wait(self) -> float:
        """Return how many seconds the server has asked somebody to wait before logging in; 0 if it has not."""
        return max((_wait_at_the_door(client) for client in self._clients), default=0.0)

    async def connect(self) -> RawClient:
        """Return a connection on which nothing has been said."""
        with trio.fail_after(self.patience_s):
            stream = await trio.open_tcp_stream(self.address.host, self.address.port)
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
    ) -> Seat:
        """Return a player who is logged in and has no seat."""
        seat = Seat(await self.connect(), seed=self.seed * 100 + number, keyed=keyed, boxed=boxed)
        welcomed(await seat.login(want=want), _CLOSED_DOOR if keyed else _GUESTS_UNWANTED)
        self._seats.append(seat)
        return seat

    async def seats(
        self,
        *,
        guests: Sequence[int] = (),
        boxed: bool = True,
        game: str | None = None,
        private: bool = True,
        **options: int | str,
    ) -> list[Seat]:
        """Return two players at one table, neither of them ready."""
        first = await self.seat(0, keyed=0 not in guests, boxed=boxed)
        second = await self.seat(1, keyed=1 not in guests, boxed=boxed)
        chosen = ({"guests": PAIR} if guests else {}) | options
        reply = await create(first, chosen, game=game, private=private)
        if reply["t"] == "error" and reply["code"] == Code.BAD_OPTION:
            raise UnofferedError(f"no table with the options {chosen}: {reply['msg']}")
        expect_ok(reply, "a table to be created")
        expect_ok(await second.join(first.table), "a seat at the table")
        return [first, second]

    async def match(
        self,
        *,
        guests: Sequence[int] = (),
        boxed: bool = True,
        game: str | None = None,
        private: bool = True,
        **options: int | str,
    ) -> list[Seat]:
        """Return two players who have both said ready."""
        seats = await self.seats(guests=guests, boxed=boxed, game=game, private=private, **options)
        for seat in seats:
            expect_ok(await seat.ready(), "ok to ready")
        return seats


Run = Callable[[Visit], Awaitable[Outcome | None]]


def _wait_at_the_door(client: RawClient) -> float:
    errors = client.came("error")
    if client.welcome.get("t") == "welcome" or not errors or errors[-1]["code"] != Code.RATE_LIMITED:
        return 0.0
    return int(errors[-1].get("retry_after_ms", 0)) / 1000


async def _give_up(seat: Seat) -> None:
    """Resign from a match and leave the table; it does not matter whether the server hears it."""
    try:
        if seat.auditor is not None and not seat.done:
            await _resign(seat)
        if seat.table:
            await seat.client.send({"t": "leave", "table": seat.table})
    except (trio.BrokenResourceError, trio.ClosedResourceError, UnexpectedError):
        return


async def _resign(seat: Seat) -> None:
    if seat.key is not None:
        await seat.resign()
    else:
        here = {"table": seat.table, "match": seat.ledger.setup.mid, "at": seat.next}
        await seat.client.send({"t": "act", **here, "choose": "resign"})


async def together(*tasks: Callable[[], Awaitable[object]]) -> None:
    """Run at the same time what several players do."""
    async with trio.open_nursery() as nursery:
        for task in tasks:
            nursery.start_soon(task)


async def play_on(seats: Iterable[Seat], until: Callable[[Seat], object] = lambda seat: seat.done) -> None:
    """Let players play until something holds for each, by default the end of the match."""
    await together(*(partial(seat.play, until) for seat in seats))


async def create(
    seat: Seat,
    options: Mapping[str, int | str] | None = None,
    *,
    private: bool = True,
    game: str | None = None,
    seats: int = PAIR,
) -> Map:
    """Ask for a table, of the kit's game or of another, and return the reply; whoever asks sits there."""
    wanted = {"variant": game or game_of(seat.client), "seats": seats, "private": private}
    reply = await seat.client.ask_patiently({"t": "create", **wanted, "options": dict(options or {})})
    if reply["t"] == "ok":
        seat.table, seat.seat = reply.get("table", ""), reply.get("seat", -1)
    return reply


def game_of(client: RawClient) -> str:
    """Return the game that the kit plays at this server: one for two.

    Raises:
        UnofferedError: The server has none.
    """
    offered = [str(offer["name"]) for offer in client.info["variants"] if PAIR in offer["seats"]]
    if not offered:
        raise UnofferedError("the server offers no game for two")
    return _GAME if _GAME in offered else offered[0]


async def listed(client: RawClient, tag: str, name: str) -> list[str]:
    """Return how everything in a list is named, over all pages of it; each is asked for by the last name before it."""
    names: list[str] = []
    for _ in range(_MOST_PAGES):
        page = await client.ask_patiently({"t": tag} | ({"after": names[-1]} if names else {}))
        reply = expect_ok(page, f"ok with {tag}", tag)
        names += [each[name] for each in reply[tag]]
        if not reply.get("more"):
            break
    return names


def need_game(client: RawClient, game: str) -> None:
    """Check that the server has a game.

    Raises:
        UnofferedError: It does not.
    """
    if game not in [offer["name"] for offer in client.info["variants"]]:
        raise UnofferedError(f"the server does not offer {game}")


def need(client: RawClient, capability: str) -> object:
    """Return the value of a capability.

    Raises:
        UnofferedError: The server does not announce it.
    """
    caps = client.info["caps"]
    if capability not in caps:
        raise UnofferedError(f"the server does not announce the capability {capability!r}")
    return caps[capability]


def limit(client: RawClient, name: str, *, most: int) -> int:
    """Return a limit of the server.

    Raises:
        InconclusiveError: It has none that a run can reach.
    """
    value = client.info["limits"].get(name)
    if value is None or value > most:
        raise InconclusiveError(f"limits.{name} is {value}: not tried")
    return int(value)


def welcomed(reply: Map, unwanted: Sequence[Code]) -> None:
    """Check that a login was taken.

    Raises:
        UnofferedError: The server admits nobody of this kind.
    """
    if reply["t"] == "error" and reply["code"] in unwanted:
        raise UnofferedError(f"the server answers a new player with {reply['code']}: {reply['msg']}")
    expect(reply["t"] == "welcome", "welcome", reply)


def expect(holds: object, what: str, came: object) -> None:
    """Check a fact about what came.

    Raises:
        UnexpectedError: It does not hold.
    """
    if not holds:
        raise UnexpectedError(f"expected {what}, got {shown(came)}")


def expect_ok(reply: Map, what: str, *fields: str) -> Map:
    """Check that a request was taken, and that the reply has some fields; return it."""
    expect(reply["t"] == "ok" and all(name in reply for name in fields), what, reply)
    return reply


def held_seats(welcome: Map) -> list[tuple[str, bytes | None, int]]:
    """Return the seats that a welcome lists: table, match, seat."""
    return [(each["table"], each.get("match"), each["seat"]) for each in welcome.get("seats", ())]


def shown(came: object) -> str:
    """Describe what came in one line of bounded length."""
    return repr(came)[:LONGEST_TEXT]


def check_refusal(reply: Map, code: Code, *, field: str | None = None, closes: bool = False) -> Map:
    """Check that an error has this code, the flags of the registry and a text; return it."""
    wanted = str(code) + (f" for {field}" if field else "")
    expect(reply["t"] == "error" and reply["code"] == code, f"the error {wanted}", reply)
    row = REGISTRY[code]
    flags = (row.retryable, row.closes or closes)
    expect((reply["retryable"], reply["close"]) == flags, f"(retryable, close) to be {flags}", reply)
    expect(0 < len(reply["msg"]) <= LONGEST_TEXT, f"a text of 1 to {LONGEST_TEXT} characters", reply)
    if field is not None:
        expect(reply.get("field") == field, f"the field {field}", reply)
    return reply


def check_too_soon(error: Map, *, closes: bool = False) -> int:
    """Check that an error says that something came too soon, and for how many milliseconds to wait; return them."""
    check_refusal(error, Code.RATE_LIMITED, closes=closes)
    wait_ms: int = error.get("retry_after_ms", 0)
    expect(wait_ms > 0, "retry_after_ms", error)
    return wait_ms


async def refused(client: RawClient, message: Map, code: Code, *, field: str | None = None) -> Map:
    """Send a request that must be refused while the connection goes on; return the error."""
    return check_refusal(await client.ask_patiently(message), code, field=field)


async def check_alive(client: RawClient) -> None:
    """Check that a connection still takes requests."""
    expect_ok(await client.ask_patiently({"t": "tables"}), "the connection to stay open")


async def check_ended(client: RawClient, code: Code) -> list[Map]:
    """Check that the connection ends with an error and a bye of this code; return what came."""
    try:
        rest = await client.closed()
    except trio.TooSlowError:
        raise UnexpectedError(
            f"expected {code} and the end, got {shown(client.log[-1:])} and no end"
        ) from None
    tags = [(message["t"], message.get("code")) for message in rest[-2:]]
    expect(tags == [("error", code), ("bye", code)], f"error {code}, bye {code}, and the end", rest)
    check_refusal(rest[-2], code, closes=True)
    expect(rest[-1]["msg"], "a text in bye", rest[-1])
    expect(rest[-1]["retryable"] == REGISTRY[code].retryable, "retryable as in the registry", rest[-1])
    return rest
