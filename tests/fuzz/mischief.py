"""What a mischievous client does to the frames of a valid session before they leave, and what it asks for on a whim.

Frames are dropped, doubled, held back, changed in a field, cut or glued; fields and whole frames come from others, with
their valid signatures. All of it is drawn from one source of chance, and written down. No socket is here.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from fuzz.mutating import changed, other_value

from truc_conform.expectations import Map
from truc_conform.raw_client import frame
from truc_docs.protocol.examples import EXAMPLES
from truc_protocol.codec import EncodingError, unpack
from truc_protocol.messages import Direction, Pong, Request
from truc_protocol.wire.encoding import MessageError, decode, encode

KEPT: Final = 200
_HEADER: Final = 4
_REQUESTS: Final = tuple(unpack(encode(message)) for _, message in EXAMPLES if isinstance(message, Request))
_DEADLY: Final = 0.03  # of the changes: those after which the stream is out of step


WAYS: Final[tuple[str, ...]] = (
    "drop",
    "double",
    "hold",
    "change",
    "change",
    "borrow",
    "borrow",
    "number",
    "replay",
    "add",
    "flip",
)


class Booty:
    """What has been seen on any connection: values by the name of their field, and whole frames."""

    def __init__(self) -> None:
        self._values: defaultdict[str, list[Any]] = defaultdict(list)
        self._frames: list[bytes] = []

    def learn(self, message: Map) -> None:
        """Keep the values of a message that came or went."""
        for name, value in message.items():
            kept = self._values[name]
            if name not in ("t", "id", "re") and value not in kept[-8:]:
                kept.append(value)
                del kept[:-KEPT]

    def keep(self, raw: bytes) -> None:
        """Keep a frame that was made for a connection."""
        self._frames.append(raw)
        del self._frames[:-KEPT]

    def of(self, name: str) -> list[Any]:
        """Return values that fields of this name have had."""
        return self._values.get(name, [])

    def frames(self) -> list[bytes]:
        """Return the frames kept."""
        return self._frames


class Mischief:
    """The changes to what one connection sends; `steps` tells them.

    Attributes:
        number: the field that says which request a message is, or answers.
        rare: kinds of messages that are changed seldom: without them nothing comes.
        ways: what is done to a message; what stands there twice is done more often.
    """

    number = "id"
    rare = ("hello", "login")
    ways = WAYS

    def __init__(self, chance: random.Random, booty: Booty, rate: float) -> None:
        self.chance = chance
        self.steps: list[str] = []
        self._booty = booty
        self._rate = rate
        self._held: list[bytes] = []

    def mangle(self, raw: bytes) -> bytes:
        """Return the bytes that leave in the place of a frame."""
        message = _message(raw)
        held, self._held = b"".join(self._held), []
        if message is None:
            return raw + held
        self._booty.learn(message)
        self._booty.keep(raw)
        rate = self._rate / 8 if message.get("t") in self.rare else self._rate
        way: Callable[[bytes, Map], bytes] = self._same
        if self.chance.random() < rate:
            ways = _DEADLY_WAYS if self.chance.random() < _DEADLY else self.ways
            way = getattr(self, f"_{self.chance.choice(ways)}")
        left = way(raw, message) + held
        self.steps.append(f"{way.__name__[1:]} {message.get('t')}: {left[:400].hex()}")
        return left

    def whim(self) -> Map:
        """Return a request that nobody needs, with fields of this session or of others."""
        asked = dict(self.chance.choice(_REQUESTS))
        del asked["id"]
        return {name: self._others(name, value) for name, value in asked.items()}

    def _others(self, name: str, value: Any) -> Any:
        known = self._booty.of(name)
        return self.chance.choice(known) if known and name != "t" and self.chance.random() < 0.8 else value

    def _same(self, raw: bytes, _message: Map) -> bytes:
        return raw

    def _drop(self, _raw: bytes, _message: Map) -> bytes:
        return b""

    def _double(self, raw: bytes, _message: Map) -> bytes:
        return raw * self.chance.choice((2, 2, 5))

    def _hold(self, raw: bytes, _message: Map) -> bytes:
        self._held.append(raw)
        return b""

    def _change(self, raw: bytes, message: Map) -> bytes:
        with suppress(EncodingError):
            return frame(changed(self.chance, message, [*message.values()]))
        return raw

    def _borrow(self, _raw: bytes, message: Map) -> bytes:
        name = self.chance.choice([*message])
        return frame(message | {name: self._others(name, message[name])})

    def _number(self, raw: bytes, message: Map) -> bytes:
        with suppress(EncodingError):
            number = message.get(self.number, 0)
            other = self.chance.choice((number - 1, 0, 2**32 - 1, other_value(self.chance, number, [])))
            return frame(message | {self.number: other})
        return raw

    def _replay(self, _raw: bytes, _message: Map) -> bytes:
        return self.chance.choice(self._booty.frames())

    def _add(self, raw: bytes, message: Map) -> bytes:
        return raw + frame(self.whim() | {"id": message.get("id", 0) + 1_000_000})

    def _flip(self, raw: bytes, _message: Map) -> bytes:
        at = self.chance.randrange(_HEADER, len(raw))
        return raw[:at] + bytes([raw[at] ^ 1 << self.chance.randrange(8)]) + raw[at + 1 :]

    def _cut(self, raw: bytes, _message: Map) -> bytes:
        return raw[: self.chance.randrange(1, len(raw))]

    def _glue(self, raw: bytes, _message: Map) -> bytes:
        return raw + self.chance.randbytes(self.chance.randint(1, 12))


_DEADLY_WAYS: Final = ("cut", "glue")


def _message(raw: bytes) -> Map | None:
    try:
        return unpack(raw[_HEADER:])
    except EncodingError:
        return None


def is_answer(message: Mapping[str, Any]) -> bool:
    """Tell whether a message of a server answers something."""
    return message["t"] in ("hello", "welcome", "ok", "error", "pong")


def is_answered(whole: bytes) -> bool:
    """Tell whether a frame that a client has sent, without its length, is answered: all are but a good `pong`."""
    try:
        return not isinstance(decode(whole, Direction.TO_SERVER), Pong)
    except MessageError:
        return True
