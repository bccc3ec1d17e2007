"""A client elsewhere that begins again, where it may go on and below what it signs nothing; and what it signs of a position."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from subprocess import DEVNULL

import pytest
import trio
from client.cheats import forget_since
from client.playing import signed
from client.strict import QuietServer
from clients_elsewhere.programs import NODE, needs_jdk, needs_node, node
from msgspec.structs import replace

from truc_protocol.bodies import Act, Close, Rekey, Resign
from truc_protocol.messages import MatchRecord, Ok, Ping, Pong, SeatHeld
from truc_protocol.records import parse

DEALS = 3
CODE = "TABLE"
QUIET = (NODE, str(Path(__file__).with_name("quiet.mjs")))
PAGE = (NODE, str(Path(__file__).with_name("page_seat.mjs")))


class Forgetful(QuietServer):
    """A server that can go back to an earlier position; `enough` is set once it has heard what it waits for."""

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.enough = trio.Event()

    def is_enough(self) -> bool:
        return self.ledger is not None and self.ledger.deal_index >= DEALS

    async def serve_judged(self, message) -> None:
        if self.is_enough():
            self.enough.set()
        else:
            await super().serve_judged(message)

    async def seat(self, message) -> None:
        await self.send(Ok(re=message.id, table=CODE, seat=0))
        await self.send(self.state())
        if self.setup is not None:
            await self.send(self.setup)
            for k in range(len(self.records)):
                await self.send(self.message(k))
            await self.go_on()
            # what is signed for all that comes before the answer
            await self.send(Ping(n=1))

    def held(self) -> tuple[()]:
        return ()


async def visit(server: Forgetful, kept: Path, *wish: str, client: Sequence[str] = QUIET) -> None:
    """Let a client visit a server until that has heard enough, and kill it, or until it ends."""
    server.enough = trio.Event()
    async with trio.open_nursery() as server.nursery:
        start = partial(trio.serve_tcp, server.serve, 0, host="127.0.0.1")
        (listener,) = await server.nursery.start(start)
        port = listener.socket.getsockname()[1]
        keep = [str(kept)] if client in (QUIET, PAGE) else ["--keep", str(kept)]
        command = [*client, f"truc://127.0.0.1:{port}/{CODE}", *keep, *wish]
        process = await trio.lowlevel.open_process(command, stderr=DEVNULL)

        async def notice_end() -> None:
            await process.wait()
            server.enough.set()

        server.nursery.start_soon(notice_end)
        with trio.fail_after(60):
            await server.enough.wait()
        process.kill()
        await process.wait()
        server.nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(QUIET, marks=needs_node, id="javascript"),
        pytest.param("keyed_java", marks=needs_jdk, id="java"),
    ],
    indirect=True,
)
async def test_client_signs_nothing_below_what_it_had_accepted(client, tmp_path) -> None:
    server = Forgetful(target=12)
    await visit(server, tmp_path / "store.json", client=client)
    mark = max(body.k for body in signed(server, Act))
    closed = next(k for k, record in enumerate(server.records) if isinstance(parse(record), Close))
    await forget_since(server, closed + 1)
    before = len(server.received)
    server.is_enough = lambda: isinstance(server.received[-1], Pong)
    await visit(server, tmp_path / "store.json", client=client)
    assert mark > server.ledger.k
    assert signed(server, since=before) == []


@needs_node
async def test_client_goes_on_where_what_has_failed_binds_nobody(tmp_path) -> None:
    server = Forgetful(target=12)

    def damage(message: object) -> object:
        is_second = isinstance(message, MatchRecord) and message.k == 1
        return replace(message, sig=bytes(64)) if is_second else message

    server.bend = damage
    await visit(server, tmp_path / "store.json")
    assert server.ledger.deal_index < DEALS
    server.bend = lambda message: message
    await visit(server, tmp_path / "store.json")
    assert server.ledger.deal_index == DEALS


@needs_node
@pytest.mark.parametrize("client", [QUIET, PAGE], ids=["player", "page"])
async def test_client_asks_again_where_what_has_failed_binds_nobody_and_ends_at_the_third_time(
    tmp_path, client
):
    server = Forgetful(target=12)
    bent = []

    def damage(message: object) -> object:
        is_second = isinstance(message, MatchRecord) and message.k == 1 and len(bent) < times
        if is_second:
            bent.append(message)
        return replace(message, sig=bytes(64)) if is_second else message

    server.bend, times = damage, 2
    server.held = lambda: (
        () if server.setup is None else (SeatHeld(table=CODE, match=server.setup.match, seat=0),)
    )
    await visit(server, tmp_path / "store.json", client=client)
    assert (len(bent), server.ledger.deal_index) == (2, DEALS)
    times = 9
    server.is_enough = lambda: False
    await visit(server, tmp_path / "store.json", client=client)
    assert len(bent) == 5


@needs_node
async def test_client_signs_a_new_chain_or_a_resignation_for_one_position(tmp_path) -> None:
    server = Forgetful(target=12)
    server.links = 2
    await visit(server, tmp_path / "store.json", "resigns")
    bodies = set(signed(server, Act, Resign, Rekey))
    assert any(isinstance(body, Rekey) for body in bodies)
    assert len({body.k for body in bodies}) == len(bodies)


@needs_node
def test_client_waits_two_minutes_at_most_and_is_sent_to_no_place_that_is_none() -> None:
    done = node(Path(__file__).with_name("hostile_goodbyes.mjs"))
    assert (done.stdout, done.stderr) == ("", "")
