"""Grease: what no client knows yet, put into everything a server sends, so that a client that breaks on it breaks early.

Unknown fields in maps, unknown facts in `means`, unknown limits and capabilities, notices in between that mean nothing:
docs/protocol/evolution.md allows all of it and reserves the names. Invariants: signed bytes are never touched; what is
added makes no frame longer than a client takes; the same seed adds the same.
"""

import random
from typing import Final

from truc_protocol.codec import pack, unpack
from truc_protocol.messages import AnyMessage, Capabilities
from truc_protocol.messages.fields import Map
from truc_protocol.wire.connection import broadcast_frame
from truc_protocol.wire.encoding import LENGTH_BYTES, SERVER_LIMIT, encode, to_frame

_ROOM: Final = 2_048  # bytes that may be added to a frame: far more than usually are
_SELDOM: Final = 0.3
_LEFT: Final = ("options", "caps", "add", "hints")  # maps of names to values of a type of their own
_VALUES: Final[tuple[object, ...]] = (
    None,
    True,
    0,
    -1,
    2**53 - 1,
    "",
    "new",
    b"\x00\xff",
    [1, [2]],
    {"a": {"b": []}},
)


class Grease:
    """What is added, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._announced: list[str] = []

    def to_bytes(self, message: AnyMessage) -> bytes:
        """Return the bytes of a message, with things that nobody knows."""
        return self._dress(encode(message))

    def info(self, encoded: bytes) -> bytes:
        """Return a server's info with more fields, limits and capabilities."""
        info = unpack(encoded)
        # Apart from the rest, as a name in it is a capability and not a field (`_LEFT`).
        caps = info["caps"]
        if isinstance(caps, dict):
            info["caps"] = caps | {self._capability(): self._value()}
        return pack(self._more(info))

    def frame(self, frame: bytes) -> bytes:
        """Return a frame that goes to many, dressed for one of them."""
        return to_frame(self._dress(frame[LENGTH_BYTES:]), SERVER_LIMIT)

    def between(self) -> bytes:
        """Return frames that may be sent before any other: mostly none."""
        if self._random.random() > _SELDOM:
            return b""
        if self._random.random() < _SELDOM:
            return broadcast_frame(self._change())
        return to_frame(pack({"t": self._name(), "table": "NONE", self._name(): self._value()}), SERVER_LIMIT)

    def _change(self) -> Capabilities:
        """Return a notice of one more capability, or of one less of those that were announced here."""
        # Nothing else is withdrawn: without a real capability a client would rightly stop using it.
        if self._announced and self._random.random() < 2 * _SELDOM:
            return Capabilities(gone=(self._announced.pop(),))
        self._announced.append(self._capability())
        return Capabilities(add={self._announced[-1]: self._value()})

    def _dress(self, encoded: bytes) -> bytes:
        if len(encoded) + _ROOM > SERVER_LIMIT:
            return encoded
        dressed = pack(self._more(unpack(encoded)))
        return dressed if len(dressed) <= len(encoded) + _ROOM else encoded

    def _more(self, fields: Map) -> dict[str, object]:
        more = {name: self._inside(name, value) for name, value in fields.items()}
        return more | {self._name(): self._value()}

    def _inside(self, name: str, value: object) -> object:
        match value:
            case dict() if name not in _LEFT and self._random.random() < _SELDOM:
                return self._more(value)
            case [dict(), *_] if name == "means" and self._random.random() < _SELDOM:
                return [{"what": self._name(), "seat": 0}, *value]
            case [dict(), *_]:
                return [self._inside(name, item) for item in value]
            case _:
                # Bodies and boxes are bytes by now: what is signed or sealed is not touched.
                return value

    def _name(self) -> str:
        # evolution.md reserves both beginnings: no version ever gives a name of theirs a meaning.
        return f"{self._random.choice(('x-', 'grease_'))}{self._random.randrange(1 << 16):04x}"

    def _capability(self) -> str:
        return f"example.org/grease-{self._random.randrange(1 << 16):04x}"

    def _value(self) -> object:
        return self._random.choice(_VALUES)
