"""What passed between a client and the kit's server, for the author of a client that failed: its last frames, decoded.

A client is shown what it sent and was sent, as bytes that it has anyway; the box of its options is opened for it. What
only its program knows never comes here.
"""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from truc_protocol.codec import EncodingError, dec, unpack
from truc_protocol.records import KINDS, tag_of
from truc_protocol.wire.encoding import SERVER_LIMIT, FrameError, FrameSplitter
from truc_protocol.wire.handshake import Auth, Hello, KeyRoll

CLIENT: Final = "client"
SERVER: Final = "server"
_LAST: Final = 8
"""How many frames of each side are kept."""
_LONGEST: Final = 400
_SHOWN_BYTES: Final = 4
_FIELDS: Final = {
    tag_of(body): body.__struct_fields__ for body in (*(kind.body for kind in KINDS), Hello, Auth, KeyRoll)
}


class WireTrace:
    """The last frames of both sides, over all connections of a client.

    Attributes:
        opened: what stands in a box, by the box.
    """

    def __init__(self, opened: Mapping[bytes, tuple[str, ...]]) -> None:
        self.opened = opened
        self._began = time.monotonic()
        self._number = 0
        self._splitters: dict[str, FrameSplitter] = {}
        self._last = {side: deque[tuple[int, float, bytes]](maxlen=_LAST) for side in (CLIENT, SERVER)}

    def begin(self) -> None:
        """Begin a connection."""
        self._splitters = {side: FrameSplitter(SERVER_LIMIT) for side in (CLIENT, SERVER)}

    def pass_by(self, side: str, piece: bytes) -> None:
        """Note the frames that end with what passes now."""
        splitter = self._splitters.get(side)
        if splitter is None:
            return
        splitter.feed(piece)
        try:
            while (frame := splitter.next_frame()) is not None:
                self._note(side, frame)
        except FrameError:
            # Shown as it is: for a client without frames this is the fault.
            self._note(side, piece)
            del self._splitters[side]  # there are no frames in what follows

    def _note(self, side: str, frame: bytes) -> None:
        """Remember a frame, without its length."""
        self._number += 1
        self._last[side].append((self._number, time.monotonic() - self._began, frame))

    def frames(self) -> tuple[str, ...]:
        """Return the last frames of both sides as lines, in the order in which they passed."""
        kept = [(*frame, side) for side, last in self._last.items() for frame in last]
        return tuple(
            f"{side} {seconds:7.3f} s {frame_line(frame, self.opened)}"
            for _, seconds, frame, side in sorted(kept)
        )


def frame_line(frame: bytes, opened: Mapping[bytes, tuple[str, ...]]) -> str:
    """Return a frame as one line of bounded length; a box in `opened` is shown with what stands in it."""
    try:
        fields = unpack(frame)
        line = " ".join([str(fields.pop("t")), *_fields(fields.items(), opened)])
    except (EncodingError, KeyError):
        line = f"no message: {len(frame)} bytes {frame[:32].hex(' ')}"
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _fields(items: Any, opened: Mapping[bytes, tuple[str, ...]]) -> Iterator[str]:
    return (f"{name}={_shown(value, opened)}" for name, value in items)


def _shown(value: Any, opened: Mapping[bytes, tuple[str, ...]]) -> str:
    match value:
        case bytes() if value in opened:
            return f"[{' | '.join(opened[value])}]"
        case bytes():
            return _body(value, opened) or value[:_SHOWN_BYTES].hex() + "…" * (len(value) > _SHOWN_BYTES)
        case dict():
            return f"{{{' '.join(_fields(value.items(), opened))}}}"
        case list():
            return f"[{', '.join(_shown(item, opened) for item in value)}]"
        case _:
            return repr(value)


def _body(encoded: bytes, opened: Mapping[bytes, tuple[str, ...]]) -> str | None:
    """Return what is signed, by the names of its fields; None if these bytes are nothing of the kind."""
    try:
        tag, *items = dec(encoded)
        names = _FIELDS[tag]
    except (EncodingError, KeyError, TypeError, ValueError):
        return None
    return f"{tag.removeprefix('truc/1/')}({' '.join(_fields(zip(names, items, strict=False), opened))})"
