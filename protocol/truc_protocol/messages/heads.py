"""The head of a message to a client: what somebody must know who passes it on unread, and nothing else of it."""

from typing import Any, Final

import msgspec


class Head(msgspec.Struct, frozen=True):
    """What a frame is, and whether it answers a request; of any other field only what a link between servers needs."""

    t: str
    """The message's name."""
    re: int | None = None
    """The request that it answers."""
    n: Any = None
    """The number of a ping."""
    code: Any = None
    """The code of an error or a bye."""
    msg: Any = None
    """What it says in words."""
    table: Any = None
    """The code of the table that it is about; of an answer, or a list, none."""
    close: Any = False
    """Whether an error ends the connection."""


_HEADS: Final = msgspec.msgpack.Decoder(Head)


def head_of(frame: bytes) -> Head:
    """Return the head of an encoded message, without its length.

    Raises:
        ValueError: It is no message.
    """
    return _HEADS.decode(frame)
