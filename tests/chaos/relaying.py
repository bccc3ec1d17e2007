"""A relay before a server, for one player: it passes everything on, and reads what the player signs.

A player who is killed and started again must never sign two bodies for one place: the one that was sent before may be a
record. Nor may it take a step of a pack that no dealer sees in two ways, at whatever position (check C51): that would tell
where its cards lie. Nothing is changed on the way. Invariant: of every place the first body stays known, over all connections.
"""

from contextlib import suppress
from typing import Final

import trio
from chaos.servers import HOST, ServerProcess, free_port

from truc_protocol.bodies import Ack, Keys, Lend, Lock, Mask, Release, SeatTaken
from truc_protocol.codec import dec, unpack
from truc_protocol.records import claimed_place, tag_of
from truc_protocol.wire.encoding import FrameSplitter

_CHUNK: Final = 65_536
_LONGEST: Final = 1 << 20
_BESIDE: Final = (tag_of(Ack), tag_of(Release), tag_of(Keys))
"""What is signed beside what else may stand at the same position."""
LOSSES: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)

_STEPS: Final = tuple(tag_of(body) for body in (Mask, Lock, Keys, Lend))
"""What a seat signs to shuffle and seal a pack that no dealer sees."""

Place = tuple[object, ...]


class Relay:
    """The way of one player to a server.

    Attributes:
        port: where the player connects.
        twice: the places for which two different bodies were sent.
        steps: how many steps of mode blind were sent, those that were sent again included.
    """

    def __init__(self, server: ServerProcess) -> None:
        self.port = free_port()
        self.twice: list[Place] = []
        self.steps = 0
        self._server = server
        self._signed: dict[Place, object] = {}
        self._more = trio.lowlevel.ParkingLot()

    @property
    def url(self) -> str:
        """The player's address of the server."""
        return f"{HOST}:{self.port}"

    @property
    def places(self) -> int:
        """How many places were signed for."""
        return len(self._signed)

    async def wait_signed(self, places: int) -> None:
        """Wait until so many places were signed for."""
        while len(self._signed) < places:
            await self._more.park()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Pass on whatever comes."""
        listeners = await trio.open_tcp_listeners(self.port, host=HOST)
        task_status.started()
        await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, player: trio.SocketStream) -> None:
        with suppress(*LOSSES):
            server = await self._server.connect()
            async with server, trio.open_nursery() as nursery:
                nursery.start_soon(self._back, server, player)
                await self._forth(player, server)

    async def _forth(self, player: trio.SocketStream, server: trio.SocketStream) -> None:
        """Pass on what the player sends; what was sent is kept although it may not arrive."""
        frames = FrameSplitter(_LONGEST)
        with suppress(*LOSSES):
            while received := await player.receive_some(_CHUNK):
                frames.feed(received)
                while (frame := frames.next_frame()) is not None:
                    self._note(unpack(frame))
                await server.send_all(received)
        await trio.aclose_forcefully(server)

    async def _back(self, server: trio.SocketStream, player: trio.SocketStream) -> None:
        with suppress(*LOSSES):
            while received := await server.receive_some(_CHUNK):
                await player.send_all(received)
        await trio.aclose_forcefully(player)

    def _note(self, message: dict[str, object]) -> None:
        body = message.get("body")
        if message["t"] == "act" and isinstance(body, bytes):
            self._keep(_place(body), body)
            if (step := _step(body)) is not None:
                self._keep(*step)
                self.steps += 1
            self._more.unpark_all()

    def _keep(self, place: Place, signed: object) -> None:
        if self._signed.setdefault(place, signed) != signed:
            self.twice.append(place)


def _place(body: bytes) -> Place:
    """Return what a body is signed for: terms, or a position of a match."""
    items = dec(body)
    if items[0] == tag_of(SeatTaken):
        return (items[0], items[1])
    mid, k, _ = claimed_place(body)
    return (mid, k, items[0] if items[0] in _BESIDE else "next")


def _step(body: bytes) -> tuple[Place, object] | None:
    """Return what a step of mode blind is of, wherever it stands, and what it says; None of other bodies.

    A seat that is the eldest locks twice: of the first cards its first lock has a nonce; of a redeal both look alike, and
    are told apart by their positions. So are the keys of cards that are played blind, which have no boxes.
    """
    tag, mid, *rest = dec(body)
    if tag not in _STEPS:
        return None
    k, _, j, *said = rest
    place: Place = (mid, tag, j)
    match tag, said:
        case "truc/1/mask", [_, points]:
            return place, points
        case "truc/1/lock", [d, _, nonce, *_]:
            return (*place, d, k if d else nonce is None), said
        case "truc/1/keys", [d, _, _, _, boxes]:
            return (*place, d, None if boxes else k), said
        case "truc/1/lend", [d, _, receiver, _]:
            return (*place, d, receiver), said
    raise ValueError(f"expected the fields of a {tag}, got {len(said)}")
