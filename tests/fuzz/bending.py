"""A line that bends what a server says: frames are changed, cut, doubled, held back, mixed up and delayed on their way down.

What the player says goes up as it is, and is read: nothing may be signed twice differently. Invariant: while the line does not
bend, every frame arrives as it was sent.
"""

import random
from contextlib import suppress
from typing import Final

import trio
from chaos.relaying import LOSSES, Relay
from chaos.servers import ServerProcess
from fuzz.mischief import WAYS, Booty, Mischief

from truc_conform.expectations import Map
from truc_conform.raw_client import frame
from truc_docs.protocol.examples import EXAMPLES
from truc_protocol.codec import unpack
from truc_protocol.messages import Request
from truc_protocol.wire.encoding import FrameSplitter, encode

_HEADER: Final = 4
_CHUNK: Final = 65_536
_LONGEST: Final = 1 << 20
_BREAKS: Final = 0.01  # of the frames that are changed are the last of their connection
_DELAYS: Final = 0.1
_DELAY_S: Final = 0.05
_MOST_WAYS: Final = 3
_NOTICES: Final = tuple(
    fields
    for _, message in EXAMPLES
    if not isinstance(message, Request) and "re" not in (fields := unpack(encode(message)))
)


class Bending(Mischief):
    """The changes to what a server says on one line: of a few kinds, as what breaks a connection hides everything else."""

    number: Final = "re"
    rare: Final = ("hello", "welcome")

    def __init__(self, chance: random.Random, booty: Booty, rate: float) -> None:
        super().__init__(chance, booty, rate)
        self.ways = tuple(chance.sample(sorted({*WAYS}), chance.randint(1, _MOST_WAYS)))

    def mangle(self, raw: bytes) -> bytes:
        """Return what arrives in the place of a frame; a guest's token as it is: with another one it is somebody else."""
        return raw if "token" in unpack(raw[_HEADER:]) else super().mangle(raw)

    def whim(self) -> Map:
        """Return a notice that nothing has brought about, with fields that others have had."""
        return {name: self._others(name, value) for name, value in dict(self.chance.choice(_NOTICES)).items()}

    def _add(self, raw: bytes, _message: Map) -> bytes:
        return raw + frame(self.whim())


class BentRelay(Relay):
    """The way of one player to a server.

    Attributes:
        bends: whether anything is bent now, also on a connection that stands.
    """

    def __init__(self, server: ServerProcess, chance: random.Random, booty: Booty, rate: float) -> None:
        super().__init__(server)
        self.bending = Bending(chance, booty, rate)
        self.bends = True
        self._rate = rate

    async def _back(self, server: trio.SocketStream, player: trio.SocketStream) -> None:
        frames = FrameSplitter(_LONGEST)
        with suppress(*LOSSES):
            while received := await server.receive_some(_CHUNK):
                frames.feed(received)
                while (whole := frames.next_frame()) is not None:
                    await self._bend(whole, player)
        await trio.aclose_forcefully(player)

    async def _bend(self, whole: bytes, player: trio.SocketStream) -> None:
        chance, raw = self.bending.chance, len(whole).to_bytes(4, "big") + whole
        if not self.bends:
            await player.send_all(raw)
            return
        if chance.random() < self._rate * _DELAYS:
            await trio.sleep(chance.random() * _DELAY_S)
        left = self.bending.mangle(raw)
        if chance.random() < self._rate * _BREAKS:
            await player.send_all(left[: chance.randrange(len(left) + 1)])
            await trio.aclose_forcefully(player)
        await player.send_all(left)
