"""What a server says about itself: the map inside its hello, hashed as the bytes sent."""

import msgspec
from msgspec.structs import replace

from truc_protocol.bodies import U
from truc_protocol.codec import EncodingError, pack, unpack
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages.fields import Map, SeatNumber, WebOrigin, Word


class Limits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the server takes and gives; a client ignores limits that it does not know."""

    frame_in: U
    """The longest frame the server takes after login, in bytes."""
    frame_out: U
    """The longest frame the server sends, in bytes."""
    idle_s: U
    """Silence after which a ping is sent; the connection ends after one and a half times as long."""
    requests_per_s: U
    """How many requests a second are taken in the long run."""
    burst: U
    """How many requests are taken in one burst."""
    tables: U | None = None
    """How many open tables one player may have."""
    seats: U | None = None
    """At how many tables one player may have a seat, their own included."""
    tables_per_min: U | None = None
    """How many tables one player may open in a minute."""
    tables_per_address: U | None = None
    """How many open tables made from one address there may be."""
    connections_per_address: U | None = None
    """How many connections one address may have."""
    connects_per_min: U | None = None
    """How many connections one address may open in a minute, in the long run."""
    failed_logins_per_min: U | None = None
    """How many logins from one address may fail in a minute."""


class VariantOffer(msgspec.Struct, frozen=True, kw_only=True):
    """A game that this server plays."""

    name: Word
    """The game."""
    seats: tuple[SeatNumber, ...]
    """The numbers of seats it can be played with."""


class Info(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a server says about itself."""

    name: Word
    """The server's name, given by its host."""
    software: Word
    """Program and version; for logs."""
    caps: Map
    """Every capability the server has, with its value."""
    limits: Limits
    """What the server takes and gives."""
    variants: tuple[VariantOffer, ...]
    """The games it plays."""
    guests: bool
    """Whether players without a key may log in."""
    motd: str | None = None
    """The host's message to everybody."""
    web: WebOrigin | None = None
    """The [origin](transport.md#websocket) at which browsers reach the server."""
    # last, so that everything before it is encoded once and not for every hello
    now_ms: U
    """The server's clock, Unix time in milliseconds."""


def encode_info(info: Info) -> bytes:
    """Return the bytes that the server hello carries and its signature covers."""
    return pack(info)


def encode_up_to_clock(info: Info) -> bytes:
    """Return what `encode_info` begins with, whatever the time: the server's clock is the last field, and follows."""
    # a 0 is one byte
    return pack(replace(info, now_ms=0))[:-1]


def decode_info(encoded: bytes) -> Info:
    """Read the map of a server hello.

    Raises:
        RemoteError: It is no such map.
    """
    try:
        return msgspec.convert(unpack(encoded), Info, builtin_types=(bytes,))
    except (EncodingError, msgspec.ValidationError) as error:
        raise RemoteError(Code.BAD_MESSAGE, f"info: {error}", field="info") from error
