"""Where the server is whose page `truc web` serves: it may move, or send a player on, and is followed as the library does it.

Nothing is believed of whoever answers there: the page checks every signed hello against the key that it knows of the server
that it came to. Invariant: from TLS to clear nobody is followed.
"""

from typing import Final

from truc_client.address import Address, parse_address
from truc_client.errors import AddressError
from truc_client.line.line import STEADY_S
from truc_client.line.opening import MAX_MOVES
from truc_protocol.errors import Code
from truc_protocol.messages import Bye, Direction, Refusal
from truc_protocol.wire.encoding import MessageError, decode

_TAGS: Final = (b"\xa3bye", b"\xa5error")
"""What the messages that count begin with somewhere, by which all others are left alone."""


class Whereabouts:
    """Where a server is now.

    Attributes:
        address: where the next connection goes.
    """

    def __init__(self, first: Address) -> None:
        self.address = first
        self._first = first
        self._moves, self._moved = 0, 0.0

    def hear(self, frame: bytes, now: float) -> bool:
        """Note what a server says of where it is; tell whether the page is not to hear it, but to connect again.

        `now` is in seconds, of any clock.
        """
        if not any(tag in frame for tag in _TAGS):
            return False
        try:
            message = decode(frame, Direction.TO_CLIENT)
        except MessageError:
            return False  # the page judges it
        match message:
            case Bye(code=Code.MOVED, to=str(to)):
                self._move(to, now)
            case Refusal(code=Code.UNSUPPORTED, detail={"tls": True}) if not self.address.is_tls:
                self.address = self.address._replace(is_tls=True)
                return True
            case _:
                pass
        return False

    def miss(self) -> None:
        """Nobody answers there: another may have it by now, to whom the first address leads."""
        self.address = self._first

    def _move(self, to: str, now: float) -> None:
        try:
            host, port, *_ = parse_address(to)
        except AddressError:
            return
        elsewhere = self.address._replace(host=host, port=port)
        if elsewhere == self.address:
            return  # another connection has said so already
        self._moves = 1 if now - self._moved >= STEADY_S else self._moves + 1
        self._moved = now
        self.address = elsewhere if self._moves <= MAX_MOVES else self._first  # who is sent round begins anew
