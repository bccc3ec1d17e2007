"""The bytes between two nodes: how each proves that it has the keys of the server, and what everything after that is sealed with.

Both draw a nonce for each link. Four keys follow from the key for secrets at rest, which every node has and the database
has not, and from both nonces: one proves the door, one seals what goes to the owner, one what comes back. So whoever can
open what comes first has the key, and nothing that was said on one link can be said again on another. Invariants: what is
opened was sealed by the other end, in this order, with nothing left out before it; no key is in a repr, and none leaves the process.
"""

from typing import Final, NamedTuple

from truc_protocol.codec import enc
from truc_protocol.crypto.keys import NONCE_BYTES, TAG_BYTES, SealError, derive, seal, unseal
from truc_protocol.errors import Code, RemoteError

OPENING: Final = b"truc-inner/1\n"
"""What the node that connects says first, before its nonce; another version has another number."""
NONCE: Final = 32
PROOF: Final = 32
_LENGTH_BYTES: Final = 2
_PIECE: Final = 16_384  # bytes that are sealed together
_LONGEST: Final = _PIECE + TAG_BYTES


class LinkKeys(NamedTuple):
    """The keys of one link."""

    door: bytes
    to_owner: bytes
    to_client: bytes

    def __repr__(self) -> str:
        return "LinkKeys(...)"


def link_keys(at_rest: bytes, caller: bytes, door: bytes) -> LinkKeys:
    """Return the keys of a link, from the nonces of the node that connects and of the one that it connects to."""
    salt = caller + door
    names = ("door", "to-owner", "to-client")
    return LinkKeys(*(derive(at_rest, salt, enc([f"truc/1/inner/{name}"])) for name in names))


class Sealed:
    """What stands between the frames of a link and its socket, at either end (a `Sealer` of net/outbox.py).

    Attributes:
        certificate: empty, as no hello is bound to a link: the player has said hello to the node that brings them.
    """

    __slots__ = ("_opened", "_opens", "_rest", "_sealed", "_seals", "certificate")

    def __init__(self, *, seals: bytes, opens: bytes) -> None:
        self.certificate = b""
        self._seals, self._opens = seals, opens
        self._sealed = self._opened = 0
        self._rest = bytearray()

    @property
    def speaks_truc(self) -> bool:
        """A node speaks nothing else."""
        return True

    @property
    def can_move(self) -> bool:
        """The node that brings a player follows nobody: the player comes back to it."""
        return False

    @property
    def owes_words(self) -> bool:
        """It has nothing of its own to say."""
        return False

    def feed(self, received: bytes) -> None:
        """Take what the other end has sent."""
        self._rest += received

    def read(self) -> bytes | None:
        """Return the next piece, opened; None until more is fed.

        Raises:
            RemoteError: It was not sealed by the other end, or not as the next piece.
        """
        if len(self._rest) < _LENGTH_BYTES:
            return None
        length = int.from_bytes(self._rest[:_LENGTH_BYTES], "big")
        end = _LENGTH_BYTES + length
        if not TAG_BYTES < length <= _LONGEST:
            raise RemoteError(Code.BAD_FRAME, "expected a sealed piece of another node")
        if len(self._rest) < end:
            return None
        box = bytes(self._rest[_LENGTH_BYTES:end])
        del self._rest[:end]
        number, self._opened = self._opened, self._opened + 1
        try:
            return unseal(self._opens, number.to_bytes(NONCE_BYTES, "big"), box)
        except SealError as error:
            raise RemoteError(Code.BAD_FRAME, "expected a sealed piece of another node") from error

    def seal(self, frames: bytes) -> bytes:
        """Return what is to be written for some whole frames."""
        sealed = bytearray()
        for start in range(0, len(frames), _PIECE):
            number, self._sealed = self._sealed, self._sealed + 1
            box = seal(self._seals, number.to_bytes(NONCE_BYTES, "big"), frames[start : start + _PIECE])
            sealed += len(box).to_bytes(_LENGTH_BYTES, "big") + box
        return bytes(sealed)

    def part(self, _code: Code | None = None) -> bytes:
        """Return nothing: the last word is a bye."""
        return b""
