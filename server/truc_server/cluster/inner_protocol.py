"""What two nodes say to each other before a client's frames go over a link: who each is, and which player is brought.

The node that connects opens with its nonce; the door answers with its own, and a proof that it has the key; the
preface follows, sealed, which is the proof of the node that connects; the door answers whether the player may come
in, sealed too. Invariants: nothing about a player is said to anybody who has not proved that it has the key; every wait
has an end; what is opened was sealed by the other end, in this order, with nothing left out before it; no key is in a
repr, and none leaves the process.
"""

from secrets import token_bytes
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
import trio
from msgspec import Meta

from truc_protocol.codec import EncodingError, enc, pack, unpack
from truc_protocol.crypto.keys import NONCE_BYTES, TAG_BYTES, SealError, hkdf, same_secret, seal, unseal
from truc_protocol.errors import Code, RemoteError
from truc_server.net.listening import CHUNK
from truc_server.storage import PlayerKind

OPENING: Final = b"truc-inner/1\n"
"""What the node that connects says first, before its nonce; another version has another number."""
LINK_NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
_LENGTH_BYTES: Final = 2
_PIECE: Final = 16_384  # bytes that are sealed together; with the tag no more than `_LENGTH_BYTES` can say
_LONGEST: Final = _PIECE + TAG_BYTES


class LinkKeys(NamedTuple):
    """The keys of one link: what proves the door, what seals what goes to the owner, and what seals what comes back."""

    door: bytes
    to_owner: bytes
    to_client: bytes

    def __repr__(self) -> str:
        return "LinkKeys(...)"


def link_keys(at_rest: bytes, caller: bytes, door: bytes) -> LinkKeys:
    """Return the keys of a link, from the nonces of the node that connects and of the one that it connects to."""
    # From the key for secrets at rest, which every node has and the database has not: whoever opens what is
    # sealed is a node. And from both nonces: what was said on one link opens on no other.
    salt = caller + door
    names = ("door", "to-owner", "to-client")
    return LinkKeys(*(hkdf(at_rest, salt, enc([f"truc/1/inner/{name}"])) for name in names))


class LinkSealer:
    """What stands between the frames of a link and its socket, at either end (a `FrameSealer` of net/outbox.py)."""

    __slots__ = ("_opened", "_opens", "_rest", "_sealed", "_seals")

    certificate: Final = (
        b""  # no hello is bound to a link: the player has said it to the node that brings them
    )
    speaks_truc: Final = True  # a node speaks nothing else
    can_move: Final = False  # the node that brings a player follows nobody: the player comes back to it
    owes_words: Final = False

    def __init__(self, *, seals: bytes, opens: bytes) -> None:
        self._seals, self._opens = seals, opens
        # How many pieces: each number is a nonce, used once for a key, as each direction has its own key.
        self._sealed = self._opened = 0
        self._rest = bytearray()

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
        # Refused before the rest is waited for: no piece is longer, and none is shorter than its tag.
        if not TAG_BYTES < length <= _LONGEST:
            raise RemoteError(Code.BAD_FRAME, "expected a sealed piece of another node")
        if len(self._rest) < end:
            return None
        box = bytes(self._rest[_LENGTH_BYTES:end])
        del self._rest[:end]
        # Opened by the number that is due: a piece that was left out, put in or said twice does not open.
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


GREETING_S: Final = 5.0  # for all that is said before frames go
_MAX_GREETING: Final = 16_384  # of what is said before, which is far less

T = TypeVar("T", bound=msgspec.Struct)


class StrangerError(Exception):
    """The other end is no node of this server; the text is why, one of `INNER_CUTS` (operation/figures.py)."""


class Preface(msgspec.Struct, frozen=True):
    """Whom a node brings, as it has let them in itself."""

    node: str
    """The node that brings them."""
    kind: PlayerKind
    """Whether they have a key."""
    player: Annotated[bytes, Meta(min_length=16, max_length=32)]
    """The key, or the guest's id."""
    name: str
    """The name they go by there."""
    address: str
    """Where they come from."""
    wanted: tuple[str, ...] = ()
    """The capabilities that their client has asked for."""
    ignored: tuple[str, ...] = ()
    """The tags of whom they ignore."""


class DoorAnswer(msgspec.Struct, frozen=True):
    """The door's answer: nothing, or why the player may not come in."""

    code: str | None = None
    """The code of a refusal; None if they may."""
    msg: str = ""
    """The same in words."""
    retry_after_ms: int | None = None
    """When to try again."""


class _Handshake:
    """What is said on a stream before frames go, read to the byte."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.rest = b""

    async def read(self, count: int) -> bytes:
        """Return so many bytes.

        Raises:
            StrangerError: The other end has hung up.
        """
        while len(self.rest) < count:
            await self._more()
        read, self.rest = self.rest[:count], self.rest[count:]
        return read

    async def _more(self) -> bytes:
        try:
            received = await self.stream.receive_some(CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise StrangerError("gone") from error
        if not received:
            raise StrangerError("gone")
        self.rest += received
        return bytes(received)

    async def say(self, said: bytes) -> None:
        """Send bytes; raises what `read` does."""
        try:
            await self.stream.send_all(said)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise StrangerError("gone") from error

    async def open(self, sealer: LinkSealer, kind: type[T]) -> T:
        """Return what the other end has sealed first.

        Raises:
            StrangerError: It has not the key, or has hung up.
        """
        # All that has come, also what is behind the first piece: from here on the sealer holds it.
        sealer.feed(self.rest)
        taken, self.rest = len(self.rest), b""
        try:
            while (piece := sealer.read()) is None:
                if taken > _MAX_GREETING:
                    raise StrangerError("forged")
                sealer.feed(received := await self._more())
                taken, self.rest = taken + len(received), b""
            return msgspec.convert(unpack(piece), kind, builtin_types=(bytes,))
        except (RemoteError, EncodingError, msgspec.ValidationError) as error:
            raise StrangerError("forged") from error


def _packed(value: Any) -> bytes:
    return pack(msgspec.to_builtins(value, builtin_types=(bytes,)))


async def open_link(
    stream: trio.SocketStream, at_rest: bytes, preface: Preface
) -> tuple[LinkSealer, DoorAnswer]:
    """Bring a player to the door of another node; return what seals the link, and the answer.

    Raises:
        StrangerError: The other end is no node of this server, or has hung up.
        trio.TooSlowError: It does not answer.
    """
    handshake, nonce = _Handshake(stream), token_bytes(LINK_NONCE_BYTES)
    with trio.fail_after(GREETING_S):
        await handshake.say(OPENING + nonce)
        other, proof = await handshake.read(LINK_NONCE_BYTES), await handshake.read(PROOF_BYTES)
        keys = link_keys(at_rest, nonce, other)
        # The door first: whoever only stands where a node was learns of no player.
        if not same_secret(proof, keys.door):
            raise StrangerError("forged")
        sealer = LinkSealer(seals=keys.to_owner, opens=keys.to_client)
        await handshake.say(sealer.seal(_packed(preface)))
        return sealer, await handshake.open(sealer, DoorAnswer)


async def accept_link(stream: trio.SocketStream, at_rest: bytes) -> tuple[LinkSealer, Preface]:
    """Prove this door to whoever connects, and have them prove themselves; return what seals the link, and whom they bring.

    Raises:
        StrangerError: They are no node of this server, or have hung up.
    """
    handshake, nonce = _Handshake(stream), token_bytes(LINK_NONCE_BYTES)
    try:
        with trio.fail_after(GREETING_S):
            opening = await handshake.read(len(OPENING))
            # Cut without a byte in reply, whoever it is; the reason is for the host.
            if opening != OPENING:
                is_node = opening.startswith(OPENING.partition(b"/")[0])
                raise StrangerError("version" if is_node else "stranger")
            keys = link_keys(at_rest, await handshake.read(LINK_NONCE_BYTES), nonce)
            await handshake.say(nonce + keys.door)
            sealer = LinkSealer(seals=keys.to_client, opens=keys.to_owner)
            return sealer, await handshake.open(sealer, Preface)
    except trio.TooSlowError as error:
        raise StrangerError("slow") from error


async def answer_preface(stream: trio.SocketStream, sealer: LinkSealer, answer: DoorAnswer) -> None:
    """Tell the node that has brought a player whether they may come in; raises what `accept_link` does."""
    with trio.move_on_after(GREETING_S) as patience:
        await _Handshake(stream).say(sealer.seal(_packed(answer)))
    if patience.cancelled_caught:
        raise StrangerError("slow")
