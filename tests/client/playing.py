"""What tests of the client share: playing on by always taking the first option, and whole matches between bots."""

import os
import random
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from types import UnionType

import trio

from truc_client import (
    Address,
    ConnectError,
    Connection,
    MatchEnded,
    Player,
    RecordSeen,
    Table,
    TableChanged,
    YourTurn,
    connect,
    open_home,
)
from truc_client.bots import Chooser, play_match, simple_bot
from truc_client.happenings import Happening, MoveChoice
from truc_client.home.account import open_account
from truc_client.home.home import Home
from truc_client.home.store import HomeStore
from truc_client.verifying import verify_file
from truc_protocol.audit import Result, Verdict
from truc_protocol.messages import SignedAct
from truc_protocol.records import Record, parse
from truc_protocol.wire.handshake import Pin
from truc_rules import preset, presets

Until = type | UnionType | Callable[[Happening], bool]
"""What is waited for: happenings of a kind, or one of which something is true."""
QUIET = ("play", "cut", "stand", "accept", "deal")


def pick(turn: YourTurn):
    """Return the first option of those that keep a match going."""
    return min(
        turn.options, key=lambda choice: QUIET.index(choice.kind) if choice.kind in QUIET else len(QUIET)
    )


def tables_in_turn() -> list[tuple[str, int]]:
    """Return each game with one of its numbers of seats, in turn; with TRUC_EXAMPLES in the environment with all of them."""
    return [
        (name, seats)
        for i, name in enumerate(presets())
        for at, seats in enumerate(preset(name).players)
        if "TRUC_EXAMPLES" in os.environ or at == i % len(preset(name).players)
    ]


def my_turn(happening: object) -> bool:
    """Tell whether it is the seat's turn now."""
    return isinstance(happening, YourTurn)


def recorded(kind: str) -> Callable[[object], bool]:
    """Return what tells whether a record of a kind has come."""
    return lambda happening: isinstance(happening, RecordSeen) and happening.kind == kind


def is_vacant(happening: object) -> bool:
    """Tell whether the table is shown with a vacant seat."""
    return isinstance(happening, TableChanged) and any(seat.vacant for seat in happening.state.seats)


def dialing(servers):
    """Return a dial of servers by their hosts, where nobody answers at any other, and the list of addresses dialed."""
    dialed: list[Address] = []

    async def dial(address: Address) -> trio.abc.Stream:
        dialed.append(address)
        if address.host not in servers:
            raise ConnectError("nobody answers there")
        return await servers[address.host].dial(address)

    return dial, dialed


def once(bend: Callable) -> Callable:
    """Return a bend of the first message that another one bends, and of no more."""
    done: list[object] = []

    def bent(message):
        after = message if done else bend(message)
        if after is not message:
            done.append(message)
        return after

    return bent


def answered(server, kind: type, answer: Callable) -> None:
    """Let a scripted server answer requests of a kind in another way."""
    honest = server.serve_request

    async def serve(message) -> None:
        await (answer if isinstance(message, kind) else honest)(message)

    server.serve_request = serve


def acted(server, kind: type, act: Callable) -> None:
    """Let a scripted server take bodies of a kind in another way."""
    honest = server.act

    async def take(message) -> None:
        await (act if isinstance(body_of(message), kind) else honest)(message)

    server.act = take


def received(server, *kinds: type) -> list:
    """Return the messages of these kinds that a scripted server was sent, in order."""
    return [message for message in server.received if isinstance(message, kinds)]


def body_of(message: SignedAct):
    """Return what a client has signed."""
    return parse(Record(1, message.body, message.sig))


def signed(server, *kinds: type, since: int = 0) -> list:
    """Return the bodies of these kinds that the client has signed, those since a message alone; all where none is named."""
    bodies = [body_of(message) for message in server.received[since:] if isinstance(message, SignedAct)]
    return [body for body in bodies if isinstance(body, kinds or object)]


@asynccontextmanager
async def seated(server, player: Player) -> AsyncIterator[tuple[Connection, Table]]:
    """Let a player open a table of the game of a scripted server, and be ready there."""
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create(server.variant.name)
        await table.ready()
        yield connection, table


@asynccontextmanager
async def at_table(server, player: Player) -> AsyncIterator[Table]:
    """Let a player be at such a table; nothing else is done over the connection."""
    async with seated(server, player) as (_, table):
        yield table


@asynccontextmanager
async def at_turn(server, player: Player) -> AsyncIterator[tuple[Table, YourTurn]]:
    """Let a player be at such a table until it is their turn."""
    async with at_table(server, player) as table:
        yield table, (await play_on(table, until=my_turn))[-1]


async def leave_at_turn(server, player: Player) -> None:
    """Play at such a table until it is the player's turn, and go away."""
    async with at_turn(server, player):
        pass


async def come_back(
    server, player: Player, *, address: str = "host", rekey: bool = False, **how
) -> list[Happening]:
    """Go on, over a new connection, with the match in which a player has a seat; returns everything that happens."""
    async with connect(address, player, dial=server.dial) as connection:
        return await play_on(await connection.resume(connection.held[0], rekey=rekey), **how)


async def come_back_to_proof(server, player: Player, **how) -> list[Happening]:
    """Go on with it to an end that is proven."""
    return _proven(await come_back(server, player, **how))


async def visit(*place, **how) -> None:
    """Connect, and leave at once."""
    async with connect(*place, **how):
        pass


async def play_on(table: Table, *, until: Until = MatchEnded, choose=pick) -> list[Happening]:
    """Play until something happens; returns everything that has."""
    seen: list[Happening] = []
    async for happening in table:
        seen.append(happening)
        if isinstance(happening, until) if isinstance(until, type | UnionType) else until(happening):
            return seen
        if isinstance(happening, YourTurn):
            await table.choose(choose(happening))
    return seen


async def play_to_proof(table: Table, **how) -> list[Happening]:
    """Play to an end that is proven; returns everything that has happened."""
    return _proven(await play_on(table, **how))


def _proven(seen: list[Happening]) -> list[Happening]:
    ended = seen[-1]
    assert isinstance(ended, MatchEnded)
    assert ended.verdict.result is Result.PROVEN
    return seen


def eager_bot(seed: int) -> Chooser:
    """Return a bot that asks for more and accepts it, so that a match is short; it also does what is seldom done."""
    dice = random.Random(seed)
    eager = ("raise", "accept", "envido", "real-envido", "flor", "contraflor", "contraflor-rest")
    seldom = ("concede", "redeal", "order", "claim", "cover", "decline")

    def choose(turn: YourTurn) -> MoveChoice:
        weights = [3.0 if it.kind in eager else 0.1 if it.kind in seldom else 1.0 for it in turn.options]
        return dice.choices(turn.options, weights)[0]

    return choose


async def play_out(*tables: Table, show=lambda happening: None) -> list[MatchEnded]:
    """Let a bot be ready at each table and play the match to its end; `show` is called with all that happens."""
    ended: list[MatchEnded] = []

    async def one(table: Table, seed: int) -> None:
        await table.ready()
        ended.append(await play_match(table, eager_bot(seed), show))

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            for seed, table in enumerate(tables, 1):
                nursery.start_soon(one, table, seed)
    return ended


@asynccontextmanager
async def left_by_one(
    url: str, stays: Player, leaves: Player, *, until: Until = my_turn, private: bool = True, **options
) -> AsyncIterator[tuple[str, trio.MemoryReceiveChannel[MatchEnded]]]:
    """Let one of two leave a match at a real server; yields the code of the table, and where comes how it ends for who stays."""
    at_the_end, ended = trio.open_memory_channel[MatchEnded](1)
    async with connect(url, stays) as connection, trio.open_nursery() as nursery:
        table = await connection.create("truc-french", seats=2, options=options, private=private)

        async def stay() -> None:
            await table.ready()
            await at_the_end.send(await play_match(table, simple_bot(1)))

        nursery.start_soon(stay)
        async with connect(url, leaves) as other:
            left = await other.join(table.code)
            await left.ready()
            await play_on(left, until=until, choose=simple_bot(3))
        yield table.code, ended
        nursery.cancel_scope.cancel()


def rows_kept(home: Home, query: str, *values: object) -> list[tuple]:
    """Return rows of what a home has stored, as another process reads them."""
    with closing(sqlite3.connect(home.state)) as database:
        return database.execute(query, values).fetchall()


@contextmanager
def store_of(player: Player) -> Iterator[HomeStore]:
    """Look into the store of a player who has no connection."""
    account = open_account(player)
    try:
        yield account.store
    finally:
        account.store.close()


ANY_PIN = Pin(bytes(32), bytes(32), 0)


def know(home: Home, server: str, pin: Pin = ANY_PIN) -> None:
    """Let a home know a server."""
    with closing(HomeStore(home.state)) as store:
        store.keep_pin(server, pin)


def homes(folder: Path, *kinds: bool) -> list[Player]:
    """Return a player for each of `kinds`: whether it is a guest."""
    return [
        Player(open_home(folder / str(at)), f"player {at}", is_guest) for at, is_guest in enumerate(kinds)
    ]


async def play_bots(url: str, players: list[Player], variant: str, **options) -> list[Verdict]:
    """Let bots play one match to its end; returns the verdict of each; the file of the first is proven, and that of a guest who came last."""
    verdicts: list[Verdict] = []

    async def one(player: Player, seed: int, code: str | None, opened: trio.MemorySendChannel | None) -> None:
        async with connect(url, player) as connection:
            if code is None:
                table = await connection.create(variant, seats=len(players), options=options, private=True)
                await opened.send(table.code)
            else:
                table = await connection.join(code)
            await table.ready()
            ended = await play_match(table, eager_bot(seed))
            assert isinstance(ended, MatchEnded)
            verdicts.append(ended.verdict)
            is_guests = player is players[-1] and player.is_guest
            if player is players[0] or is_guests:  # a key's file, and a guest's if there is one
                assert verify_file(ended.transcript).result is Result.PROVEN
            await table.leave()

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            opened, codes = trio.open_memory_channel(1)
            nursery.start_soon(one, players[0], 1, None, opened)
            code = await codes.receive()
            for seed, player in enumerate(players[1:], start=2):
                nursery.start_soon(one, player, seed, code, None)
    return verdicts
