"""A table where three bots play against a person at a terminal, in this process but for the person: the same match every time.

What a bot chooses follows from what it is offered and from the position alone. Where either of two seats may answer only one
of them does: the person for the one side, the bot of seat 1 for the other.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import trio
from client.chance import CLIENT, SERVER, draw_from, seeded
from server.stored import url

from truc_client import MatchEnded, MoveChoice, Player, Table, YourTurn, connect, open_home
from truc_protocol.crypto.keys import signing_key_from_seed
from truc_rules import preset
from truc_server.identity.identity import Identity
from truc_server.server import serve
from truc_server.settings.folder import Folder
from truc_server.settings.settings import LimitSettings, ListenSettings, Settings, TableSettings
from truc_server.settings.variants import VariantCatalogue
from truc_server.storage.sql import open_store

GAME = "truco-argentino"
BOTS = ("east", "south", "west")
_ANSWERS = 1
_SETTINGS = Settings(
    name="Casa",
    listen=ListenSettings(hosts=("127.0.0.1",), port=0),
    limits=LimitSettings(requests_per_s=10_000, burst=10_000, acts_per_s=10_000, table_acts_per_s=10_000),
    tables=TableSettings(between_hands_ms=0, window_ms=0, drain_s=0),
)


@asynccontextmanager
async def serving(folder: Path, seed: str) -> AsyncIterator[str]:
    """Run a server in a folder, whose secrets come from a seed; yields its address."""
    identity = Identity(signing_key_from_seed(b"\x01" * 32), b"\x03" * 32)
    catalogue = VariantCatalogue({GAME: preset(GAME)})
    send, receive = trio.open_memory_channel[tuple[int, str | None]](1)
    store = open_store(url(folder))

    def announce(port: int, origin: str | None) -> None:
        send.send_nowait((port, origin))

    async def run() -> None:
        draw_from(f"server {seed}")
        await serve(_SETTINGS, Folder(folder), store, identity, announce, catalogue=catalogue)

    with seeded({**CLIENT, **SERVER}), closing(store):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            port, _ = await receive.receive()
            yield f"127.0.0.1:{port}"
            nursery.cancel_scope.cancel()


async def seat_bots(address: str, code: str, folder: Path, seed: str, nursery: trio.Nursery) -> None:
    """Let the bots sit down, one after the other, and then say that they are ready; they play until they are cancelled."""
    ready = trio.Event()
    for seat, name in enumerate(BOTS, start=1):
        draw_from(f"{name} {seed}")
        await nursery.start(_bot, address, code, Player(open_home(folder / name), name), seat, ready)
    ready.set()


async def _bot(
    address: str,
    code: str,
    player: Player,
    seat: int,
    ready: trio.Event,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    async with connect(address, player) as connection:
        table = await connection.join(code, seat)
        task_status.started()
        await ready.wait()
        await table.ready()
        await _play(table, seat)
        await trio.sleep_forever()


async def _play(table: Table, seat: int) -> None:
    async for happening in table:
        match happening:
            case YourTurn(must=True):
                choice = chosen(happening, seat)
                if choice is not None:
                    await table.choose(choice)
            case MatchEnded():
                return


def chosen(turn: YourTurn, seat: int) -> MoveChoice | None:
    """Return what a bot does; None if somebody else answers."""
    offered = {choice.kind: choice for choice in reversed(turn.options)}
    if "accept" in offered:
        return offered["accept"] if seat == _ANSWERS else None
    if "envido" in offered and turn.at % 2:
        return offered["envido"]
    if "raise" in offered and turn.at % 7 == 0:
        return offered["raise"]
    return offered.get("play") or turn.options[0]
