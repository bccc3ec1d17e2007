"""Changes to bytes: blind ones, and ones that keep the form of what they change.

A mutator takes a source of chance, the bytes to change and others to borrow from. It depends on nothing else, so that a
seed brings the same bytes again.
"""

import random
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgpack

Mutator = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

LONGEST: Final = 40_000
_LENGTH: Final = struct.Struct(">I")
_IN_FOUR_BYTES: Final = (
    *(0, 1, 2),
    *(edge for bits in (4, 6, 7, 8, 16) for edge in (2**bits - 1, 2**bits)),
    *(2**31, 2**32 - 1),
)
_NUMBERS: Final = (*_IN_FOUR_BYTES, 2**32, 2**53 - 1)
_LARGE: Final = (2**53, 2**63, 2**64 - 1, -1, -32, -33, -(2**31), -(2**53), -(2**63))
_TEXTS: Final = (
    *("", "a", "x" * 64, "x" * 65, "x" * 300),
    *("\x00", "\u202e", "\ufeff", "é", "🂡", "{seat}", "%s", "..", "rest", "seat"),
)
_BYTES: Final = (b"", bytes(16), bytes(31), bytes(32), b"\xff" * 32, bytes(33), bytes(64), bytes(300))
_PREFIXES: Final = bytes.fromhex("00 80 8f 90 9f a0 c0 c1 c4 c6 c7 ca cf d3 d9 dd df ff")
_TOKENS: Final = (
    "0", "-1", "1", "00", "+1", "1_0", "\u0663", "\u00a0", "99999999999999999999", "1e400", "nan", "inf", "true", "false", "''", '"', '"""', "[", "]", "{", "}", "[[", "=", ".",
    "#", "\\u0000", "\x00", "\t", "\r", "\u202e", "\udcff", "\n", "1979-05-27", "07:32:00", "0x", "9" * 5_000, "[" * 2_000, "a." * 1_000 + "a=1",
)  # fmt: skip


def blind(chance: random.Random, old: bytes, others: Sequence[bytes]) -> bytes:
    """Change bytes without a look at what they are."""
    at = chance.randint(0, len(old))
    end = min(len(old), at + chance.choice((0, 1, 1, 2, 4, 8, 32, len(old))))
    match chance.randrange(8):
        case 0:
            new, rest = b"", end
        case 1:
            new, rest = old[at:end], at
        case 2:
            new, rest = chance.randbytes(chance.randint(1, 8)), end
        case 3:
            new, rest = bytes([chance.choice(_PREFIXES)]), end
        case 4:
            new, rest = _LENGTH.pack(chance.choice(_IN_FOUR_BYTES)), at + _LENGTH.size
        case 5:
            new, rest = _tail(chance, chance.choice(others)), len(old)
        case _:
            new, rest = _flipped(chance, old[at : at + 1]), at + 1
    return old[:at] + new + old[rest:]


def _tail(chance: random.Random, other: bytes) -> bytes:
    return other[chance.randint(0, len(other)) :]


def values(chance: random.Random, old: bytes, others: Sequence[bytes]) -> bytes:
    """Change one place of a msgpack value, and encode it again."""
    value = _unpacked(old)
    donor = _unpacked(chance.choice(others))
    try:
        packed: bytes = msgpack.packb(changed(chance, value, _leaves(donor)), use_bin_type=True)
    except (OverflowError, ValueError):
        return blind(chance, old, others)
    return packed


def changed(chance: random.Random, value: Any, borrowed: Sequence[Any]) -> Any:
    """Return a value with one place of it changed; some of what is put there is borrowed."""
    match value:
        case dict() if value and chance.randrange(4):
            key = chance.choice(list(value))
            return _changed_field(chance, value, key, borrowed)
        case list() if value and chance.randrange(4):
            return _changed_item(chance, value, borrowed)
        case _:
            return other_value(chance, value, borrowed)


def _changed_field(chance: random.Random, value: dict[Any, Any], key: Any, borrowed: Sequence[Any]) -> Any:
    match chance.randrange(8):
        case 0:
            return {name: item for name, item in value.items() if name != key}
        case 1:
            name = chance.choice((*_TEXTS[:4], "match", "table", "id"))
            return value | {name: other_value(chance, None, borrowed)}
        case 2:
            return value | {key: value[chance.choice(list(value))]}
        case _:
            return value | {key: changed(chance, value[key], borrowed)}


def _changed_item(chance: random.Random, value: list[Any], borrowed: Sequence[Any]) -> Any:
    at = chance.randrange(len(value))
    match chance.randrange(8):
        case 0:
            return value[:at] + value[at + 1 :]
        case 1:
            return value[: at + 1] + value[at:]
        case 2:
            return value[at:] + value[:at]
        case _:
            return [*value[:at], changed(chance, value[at], borrowed), *value[at + 1 :]]


def other_value(chance: random.Random, value: Any, borrowed: Sequence[Any]) -> Any:
    """Return something to stand in the place of a value: near it, of another type, or borrowed."""
    match chance.randrange(6):
        case 0 if borrowed:
            return chance.choice(borrowed)
        case 1:
            return chance.choice((None, True, False, [], {}, [[]], {"a": 1}, 1.5, chance.choice(_LARGE)))
        case 2:
            return [value] * chance.choice((1, 2, 17, 40))
        case _:
            return _near(chance, value)


def _near(chance: random.Random, value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return chance.choice((value + 1, value - 1, -value, chance.choice(_NUMBERS)))
        case bytes():
            return chance.choice(
                (value[:-1], value + b"\x00", chance.choice(_BYTES), _flipped(chance, value))
            )
        case str():
            return chance.choice((value[:-1], value + value, value.upper(), chance.choice(_TEXTS)))
        case _:
            return chance.choice((chance.choice(_NUMBERS), chance.choice(_TEXTS), chance.choice(_BYTES)))


def _flipped(chance: random.Random, value: bytes) -> bytes:
    at = chance.randrange(len(value)) if value else 0
    return value[:at] + bytes([value[at] ^ 1 << chance.randrange(8)]) + value[at + 1 :] if value else b"\x01"


def _unpacked(packed: bytes) -> Any:
    with suppress(TypeError, ValueError, msgpack.UnpackException):
        return msgpack.unpackb(packed, strict_map_key=False, raw=False)
    return None


def _leaves(value: Any) -> list[Any]:
    match value:
        case dict():
            return [leaf for item in value.values() for leaf in _leaves(item)]
        case list():
            return [value, *(leaf for item in value for leaf in _leaves(item))]
        case _:
            return [value]


def items(head: int) -> Mutator:
    """Return a mutator of lengths and items, after `head` bytes: frames of a stream, items of a file."""

    def mutate(chance: random.Random, old: bytes, others: Sequence[bytes]) -> bytes:
        found, borrowed = _items(old[head:]), _items(chance.choice(others)[head:])
        if not found:
            return blind(chance, old, others)
        at = chance.randrange(len(found))
        match chance.randrange(8):
            case 0:
                found = found[:at] + found[at + 1 :]
            case 1:
                found = found[: at + 1] + found[at:]
            case 2:
                found = found[at:] + found[:at]
            case 3 if borrowed:
                found[at] = chance.choice(borrowed)
            case 4:
                found[at] = blind(chance, found[at], found)
            case _:
                found[at] = values(chance, found[at], found)
        return old[:head] + b"".join(_LENGTH.pack(len(each)) + each for each in found)

    return mutate


def _items(joined: bytes) -> list[bytes]:
    found, at = [], 0
    while at + _LENGTH.size <= len(joined):
        (length,) = _LENGTH.unpack_from(joined, at)
        found.append(joined[at + _LENGTH.size : at + _LENGTH.size + length])
        at += _LENGTH.size + length
    return found


def after(head: int, inner: Mutator) -> Mutator:
    """Return a mutator that leaves the first bytes alone more often than not."""

    def mutate(chance: random.Random, old: bytes, others: Sequence[bytes]) -> bytes:
        kept = old[:head] if chance.randrange(4) else chance.randbytes(head)
        return kept + inner(chance, old[head:], [other[head:] for other in others])

    return mutate


def lines(chance: random.Random, old: bytes, others: Sequence[bytes]) -> bytes:
    """Change lines and words of a text."""
    rows = old.decode("utf-8", "surrogateescape").split("\n")
    at = chance.randrange(len(rows))
    match chance.randrange(8):
        case 0:
            rows = rows[:at] + rows[at + 1 :]
        case 1:
            rows = rows[: at + 1] + rows[at:]
        case 2:
            rows = rows[at:] + rows[:at]
        case 3:
            rows[at] = chance.choice(chance.choice(others).decode("utf-8", "surrogateescape").split("\n"))
        case _:
            rows[at] = _changed_words(chance, rows[at], rows)
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def _changed_words(chance: random.Random, row: str, rows: Sequence[str]) -> str:
    words = row.split(" ")
    at = chance.randrange(len(words))
    match chance.randrange(4):
        case 0:
            words[at] = chance.choice(_TOKENS)
        case 1:
            words[at] = chance.choice(chance.choice(rows).split(" "))
        case 2:
            words[at] += chance.choice(_TOKENS)
        case _:
            words = words[:at] + words[at + 1 :]
    return " ".join(words)


def several(mutator: Mutator) -> Mutator:
    """Return a mutator that applies this one and blind changes a few times; most often this one, once."""

    def mutate(chance: random.Random, old: bytes, others: Sequence[bytes]) -> bytes:
        ways = [mutator, *(chance.choice((mutator, blind)) for _ in range(chance.choice((0, 0, 1, 3))))]
        for way in ways:
            old = way(chance, old, others)[:LONGEST]
        return old

    return mutate
