"""The ways of a flood: what each does to a server, and how often.

Each goes on until it is cancelled, at its own bounded pace, from one address. That a server refuses, closes or
does not answer is what it should do, and ends nothing. What a way does is counted by its name.
`python -m chaos.attacks PORT` floods a server that runs here already.
"""

import argparse
import random
import socket
import struct
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final, NamedTuple

import trio
from chaos.garbage import garbage, mutated
from chaos.thin import Address, Game, Guest, Tally, connect, play_on, seated

from truc_conform.raw_client import CHUNK, frame

REFUSED: Final = (OSError, trio.BrokenResourceError, trio.TooSlowError)
ENOUGH_S: Final = 5.0  # for anything that might be answered
CROWD: Final = 2_000  # connections that are opened at once from one address
RECORDED: Final = "127.0.3.1"
ACTS: Final = 10  # that a sound session has at least
RESET: Final = struct.pack("ii", 1, 0)  # to linger for no time: what is closed is reset
BEGUN: Final = "flooding"
TEXT: Final = "all work and no play " * 9

Do = Callable[["Visit"], Awaitable[None]]


class Visit(NamedTuple):
    """One connection's worth of a way: where from, and what to draw from."""

    address: Address
    dice: random.Random
    session: Sequence[bytes]


class Attack(NamedTuple):
    """A way: how many do it at once, and how many seconds each waits before it does it again."""

    do: Do
    at_once: int
    pause_s: float

    @property
    def name(self) -> str:
        """What it does, in a word or two."""
        return self.do.__name__


async def attack(
    way: Attack, address: Address, session: Sequence[bytes], counts: Counter[str], *, seed: int
) -> None:
    """Go on in one way until cancelled; `session` is what a sound guest once sent."""
    async with trio.open_nursery() as nursery:
        for i in range(way.at_once):
            visit = Visit(address, random.Random(seed * 10_000 + i), session)
            nursery.start_soon(_again_and_again, way, visit, counts)


async def _again_and_again(way: Attack, visit: Visit, counts: Counter[str]) -> None:
    while True:
        counts[way.name] += 1
        with suppress(*REFUSED):
            await way.do(visit)
        await trio.sleep(way.pause_s * visit.dice.uniform(0.5, 1.5))


async def recorded(address: Address) -> list[bytes]:
    """Return every frame that a guest sends who finds a table and plays a little there."""
    tally = Tally()
    guests = await seated([address] * 2, tally, Game(), seed=1, keeps=True)
    async with trio.open_nursery() as nursery:
        for guest in guests:
            nursery.start_soon(play_on, guest, tally)
        await tally.wait(lambda: tally.acts.total() >= ACTS)
        nursery.cancel_scope.cancel()
    return guests[0].sent


async def noise(visit: Visit) -> None:
    """Say what is no message, to the end."""
    async with await connect(visit.address) as stream:
        await stream.send_all(garbage(visit.dice))
        await _to_the_end(stream)


async def noise_inside(visit: Visit) -> None:
    """Log in, and only then say what is no message."""
    async with await connect(visit.address) as stream:
        await _guest(stream, visit)
        for _ in range(50):
            await stream.send_all(garbage(visit.dice))


async def mutants(visit: Visit) -> None:
    """Send a sound session with something wrong in it."""
    async with await connect(visit.address) as stream:
        for part in mutated(visit.session, visit.dice):
            await stream.send_all(part)
            await trio.sleep(0.01)
        with trio.move_on_after(1):
            await _to_the_end(stream)


async def resets(visit: Visit) -> None:
    """Send a sound session up to anywhere, and take the connection back at once."""
    async with await connect(visit.address) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        for part in visit.session[: visit.dice.randrange(len(visit.session))]:
            await stream.send_all(part)
            await trio.sleep(0.01)


async def talks_on(visit: Visit) -> None:
    """Say what ends the connection, and go on as if it had not."""
    async with await connect(visit.address) as stream:
        with trio.move_on_after(ENOUGH_S):
            while True:
                await stream.send_all(bytes(CHUNK))
                await trio.sleep(0.01)


async def half_open(visit: Visit) -> None:
    """Connect, and say nothing."""
    async with await connect(visit.address) as stream:
        await stream.receive_some(CHUNK)


async def half_closed(visit: Visit) -> None:
    """Connect, and say that there is nothing to say."""
    async with await connect(visit.address) as stream:
        await stream.send_eof()
        await _to_the_end(stream)


async def byte_by_byte(visit: Visit) -> None:
    """Say hello, a byte a second."""
    async with await connect(visit.address) as stream:
        for byte in visit.session[0]:
            await stream.send_all(bytes([byte]))
            await trio.sleep(1)


async def never_reads(visit: Visit) -> None:
    """Follow the lobby and a table, ask for more and more, and read nothing of it."""
    async with await connect(visit.address) as stream:
        guest = await _guest(stream, visit)
        tables = (await guest.ask("tables")).get("tables", ())
        await stream.send_all(frame({"t": "lobby", "id": 100}))
        for table in tables[:5]:
            await stream.send_all(frame({"t": "watch", "id": 101, "table": table["table"]}))
        for number in range(200, 600):
            await stream.send_all(frame({"t": "tables", "id": number}))
            await trio.sleep(0.1)


async def crowd(visit: Visit) -> None:
    """Hold as many connections of one address as there can be."""
    async with trio.open_nursery() as nursery:
        for _ in range(CROWD):
            nursery.start_soon(_held, visit)
            await trio.sleep(0.001)


async def _held(visit: Visit) -> None:
    with suppress(*REFUSED):
        await half_open(visit)


async def bad_logins(visit: Visit) -> None:
    """Try to be somebody."""
    async with await connect(visit.address) as stream:
        guest = Guest(stream, Tally(), visit.dice)
        await guest.ask("hello", proto=[1], want=[], cn=visit.dice.randbytes(32))
        false_key = {"body": visit.dice.randbytes(150), "sig": visit.dice.randbytes(64), "name": "north"}
        false_token = {"token": visit.dice.randbytes(16).hex()}
        await guest.ask("login", **visit.dice.choice((false_key, false_token)))
        await _to_the_end(stream)


async def many_tables(visit: Visit) -> None:
    """Open one table after the other."""
    async with await connect(visit.address) as stream:
        guest = await _guest(stream, visit)
        for _ in range(100):
            await guest.ask("create", variant="put", seats=2, options={"guests": 2})
            await trio.sleep(0.02)


async def chatter(visit: Visit) -> None:
    """Talk in the lobby without end."""
    async with await connect(visit.address) as stream:
        guest = await _guest(stream, visit)
        for _ in range(100):
            await guest.ask("chat", text=TEXT)
            await trio.sleep(0.02)


async def _guest(stream: trio.SocketStream, visit: Visit) -> Guest:
    guest = Guest(stream, Tally(), visit.dice)
    await guest.enter(f"f{visit.dice.randrange(10**9)}")
    return guest


async def _to_the_end(stream: trio.SocketStream) -> None:
    with trio.fail_after(ENOUGH_S):
        while await stream.receive_some(CHUNK):
            pass


ATTACKS: Final = (
    Attack(noise, 6, 0.2),
    Attack(noise_inside, 3, 0.5),
    Attack(mutants, 6, 0.2),
    Attack(resets, 6, 0.1),
    Attack(talks_on, 3, 0.2),
    Attack(half_open, 15, 0.1),
    Attack(half_closed, 3, 0.2),
    Attack(byte_by_byte, 15, 0.1),
    Attack(never_reads, 3, 0.1),
    Attack(crowd, 1, 1.0),
    Attack(bad_logins, 3, 0.2),
    Attack(many_tables, 3, 0.2),
    Attack(chatter, 3, 0.2),
)
"""All ways, about two hundred connections a second together."""


@asynccontextmanager
async def attacking(port: int, counts: Counter[str], *, seed: int) -> AsyncIterator[None]:
    """Flood a server in every way at once, each from an address of its own."""
    session = await recorded(Address(port, RECORDED))
    async with trio.open_nursery() as nursery:
        for i, way in enumerate(ATTACKS):
            address = Address(port, f"127.0.0.{i + 2}")
            nursery.start_soon(partial(attack, way, address, session, counts, seed=seed * 100 + i))
        yield
        nursery.cancel_scope.cancel()


async def _for_so_long(port: int, seconds: float, seed: int) -> Counter[str]:
    counts = Counter[str]()
    async with attacking(port, counts, seed=seed):
        sys.stdout.write(f"{BEGUN}\n")  # who measures a server in a flood waits for it
        sys.stdout.flush()
        await trio.sleep(seconds)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Flood a server that runs already; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m chaos.attacks", description=__doc__)
    parser.add_argument("port", type=int, help="where the server listens on 127.0.0.1")
    parser.add_argument("--seconds", type=float, default=60, help="how long it floods (60)")
    parser.add_argument("--seed", type=int, default=1, help="what garbage is drawn from (1)")
    chosen = parser.parse_args(arguments)
    counts = trio.run(_for_so_long, chosen.port, chosen.seconds, chosen.seed)
    sys.stdout.write(" ".join(f"{name}={n}" for name, n in sorted(counts.items())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
