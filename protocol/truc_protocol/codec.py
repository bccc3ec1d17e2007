"""The one door to msgpack: canonical arrays for what is signed, maps for the wire.

Two profiles live here and nowhere else. `enc`/`dec` are CM-1 (docs/fairness/specification.md, "Encoding"): every
value has exactly one encoding, and `dec` refuses any other, so that a hash or signature over the bytes is one over
the value. `pack`/`unpack` are the looser profile of messages on the wire, where foreign encoders may choose longer
forms of an integer but never floats, extension types, duplicate keys or trailing bytes. msgspec writes everything and
reads bodies; msgpack reads frames.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgpack
import msgspec

MAX_INT = 2**53 - 1  # the largest that a number of JavaScript holds exactly
MAX_BODY = 65_536
MAX_BODY_DEPTH = 6  # the rule documents of the presets nest that deep
# the check of a message calls itself at each level; msgpack alone reads 1,024
MAX_MESSAGE_DEPTH = 16
_STR8, _BIN32, _ARRAY16 = 0xFF, MAX_BODY, 0xFFFF
_ARRAYS = (list, tuple)
_PLAIN = frozenset({type(None), bool, str, bytes})
_ENCODER = msgspec.msgpack.Encoder()
enc_trusted = _ENCODER.encode
"""Encode a value whose types alone keep it within the profile, as it was decoded before or is our own: no check, no call."""
# the links of the first two chains of 128 deals, as servers make them by default
_NUMBERS = 257
_DIGEST_HEADER = enc_trusted(bytes(32))[:-32]
_BEFORE_DIGEST = tuple(enc_trusted(number) + _DIGEST_HEADER for number in range(_NUMBERS))
"""What stands between the beginning of a link and the digest in it: the same in every chain."""
_DECODER = msgspec.msgpack.Decoder()


Hashed = int | bytes | Sequence["Hashed"]
"""What goes into a hash: unsigned integers, bytes, and arrays of these."""


class EncodingError(ValueError):
    """Bytes or values outside the profile; the text says what was expected and what came."""


def enc(value: object) -> bytes:
    """Encode `value` canonically.

    Raises:
        EncodingError: The value is not nil, bool, an int of 0..2^53-1, printable ASCII, bytes or an array of these.
    """
    # one level more, for the tuple around the value
    check_items((value,), MAX_BODY_DEPTH + 1)
    return pack(value)


def dec(encoded: bytes, limit: int = MAX_BODY) -> Any:
    """Decode what `enc` made, arrays as lists; refuse every other encoding of the same value.

    Raises:
        EncodingError: Too long, malformed, of a type outside the profile, or not in the shortest form.
    """
    if len(encoded) > limit:
        raise EncodingError(f"expected at most {limit} bytes, got {len(encoded)}")
    try:
        value = _DECODER.decode(encoded)
    except (ValueError, RecursionError) as error:
        raise _malformed(error, MAX_BODY_DEPTH) from error
    check_items(value if type(value) is list else (value,), MAX_BODY_DEPTH)
    # the decoder also reads numbers and lengths in longer forms; only encoding again tells. If a value had
    # two encodings it would have two hashes, and two bodies could pass for one (C1)
    if enc_trusted(value) != encoded:
        raise EncodingError("expected the shortest form of every item, got a longer one")
    return value


def digest(tag: str, *fields: Hashed) -> bytes:
    """Return H(tag, fields) = SHA-256(enc(["truc/1/" + tag, fields...])), 32 bytes.

    What is hashed was decoded before, or is our own: its types alone keep it canonical, and it is not checked again.
    """
    return hashlib.sha256(enc_trusted((f"truc/1/{tag}", *fields))).digest()


def chained_digests(tag: str, *fields: Hashed, numbers: Sequence[int], first: bytes) -> list[bytes]:
    """Return H(tag, fields, number, h) for each of the numbers, where h is the digest before it, at first `first`.

    Their common beginning is hashed only once: copying that state is a call more, and still saves a third of the time.
    """
    # without the last two items, a 0 and an empty bin, which differ from link to link
    begun = hashlib.sha256(enc_trusted((f"truc/1/{tag}", *fields, 0, b""))[: -len(b"\x00\xc4\x00")]).copy
    found, newest = [first] * len(numbers), first
    for at, number in enumerate(numbers):
        state = begun()
        before = _BEFORE_DIGEST[number] if number < _NUMBERS else enc_trusted(number) + _DIGEST_HEADER
        state.update(before + newest)
        newest = state.digest()
        found[at] = newest
    return found


def sha256(encoded: bytes) -> bytes:
    """Return the SHA-256 of bytes that are already encoded, 32 bytes."""
    return hashlib.sha256(encoded).digest()


def pack(value: object) -> bytes:
    """Encode a message for the wire, or any value in the shortest form of its items.

    Raises:
        EncodingError: The value has no such form.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise EncodingError(f"cannot be encoded: {error}") from error


def unpack(frame: bytes) -> dict[str, Any]:
    """Decode one message from the wire: a map with str keys, no float, no extension, at most 16 levels.

    Raises:
        EncodingError: The bytes are no such map, or something follows it.
    """
    try:
        # of two equal keys msgspec silently keeps the last; only msgpack shows every pair
        value = msgpack.unpackb(
            frame,
            raw=False,
            strict_map_key=True,
            object_pairs_hook=_distinct_keys,
            ext_hook=_refuse_extension,
        )
    # raised by the two hooks; it is a ValueError too, and says more than _malformed could
    except EncodingError:
        raise
    # text that is not UTF-8 is a ValueError too
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise _malformed(error, MAX_MESSAGE_DEPTH) from error
    if type(value) is not dict:
        raise EncodingError(f"expected a map, got {type(value).__name__}")
    _check_message(value.values(), MAX_MESSAGE_DEPTH)
    return value


def _malformed(error: Exception, depth: int) -> EncodingError:
    if isinstance(error, msgpack.StackError | RecursionError):
        return EncodingError(f"expected at most {depth} levels of nesting, got more")
    return EncodingError("expected one msgpack value, in UTF-8 where it is text, and nothing after it")


def _distinct_keys(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise EncodingError("expected distinct keys in a map, got one twice")
    for key in unique:
        if type(key) is not str:
            raise EncodingError("expected str keys in a map")
    return unique


def _refuse_extension(code: int, _payload: bytes) -> Any:
    raise EncodingError(f"expected no extension type, got type {code}")


def check_items(items: Sequence[Any], depth: int) -> None:
    """Check that items, and what is in them, are within the profile; in what form they were written is not known here.

    Raises:
        EncodingError: One is not, or has more levels than `depth`.
    """
    if depth == 0 or len(items) > _ARRAY16:
        raise EncodingError(f"expected at most {MAX_BODY_DEPTH} nested arrays of at most 65535 items")
    for item in items:
        kind = type(item)  # most items are settled without a call
        if (kind is int and 0 <= item <= MAX_INT) or (kind is bytes and len(item) <= _BIN32) or item is None:
            continue
        if kind is str and len(item) <= _STR8 and item.isascii() and item.isprintable():
            continue
        # values of our own may be of a subclass, as a Kind is a str
        if isinstance(item, _ARRAYS):
            check_items(item, depth - 1)
        elif not _is_canonical_item(item):
            raise EncodingError(_expectation(item))


def _is_canonical_item(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _STR8 and value.isascii() and value.isprintable()
    if isinstance(value, bytes):
        return len(value) <= _BIN32
    if isinstance(value, int):  # False and True lie in the range
        return 0 <= value <= MAX_INT
    return False


def _expectation(value: object) -> str:
    match value:
        case int():
            return f"expected an integer of 0 to 2^53-1, got {value}"
        case str():
            return f"expected at most {_STR8} characters of printable ASCII in a str, got others"
        case bytes():
            return f"expected at most {_BIN32} bytes in a bin, got {len(value)}"
        case _:
            return f"expected nil, bool, int, str, bin or array, got {type(value).__name__}"


def _check_message(items: Iterable[Any], depth: int) -> None:
    if depth == 0:  # an empty one counts
        raise EncodingError(f"expected at most {MAX_MESSAGE_DEPTH} levels of nesting, got more")
    for item in items:
        kind = type(item)  # msgpack makes no subclasses
        if kind is list or kind is dict:
            _check_message(item.values() if kind is dict else item, depth - 1)
        elif kind is int:
            if not -MAX_INT <= item <= MAX_INT:
                raise EncodingError(f"expected an integer between -2^53+1 and 2^53-1, got {item}")
        elif kind not in _PLAIN:
            raise EncodingError(f"expected nil, bool, int, str, bin, array or map, got {kind.__name__}")
