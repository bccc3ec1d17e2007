"""Garbage: bytes that no sound client sends, from noise to sessions that are valid but for one thing.

Everything is drawn from the dice it is given, and nothing here speaks to anybody.
"""

import random
from collections.abc import Sequence
from typing import Final

from fuzz.mutating import blind, items

from truc_conform.raw_client import length
from truc_protocol.wire.encoding import LOGIN_LIMIT

MOST: Final = 4_096
_ARRAY_OF_ONE: Final = b"\x91"
_MAP_OF_ONE: Final = b"\x81\xa1t"
_WORDS: Final = (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"SSH-2.0-x\r\n", b"\n" * 50)


def noise(dice: random.Random) -> bytes:
    """Return bytes that mean nothing, or the first words of another protocol."""
    if dice.random() < 0.1:
        return dice.choice(_WORDS)
    return dice.randbytes(dice.randint(1, MOST))


def framed(body: bytes) -> bytes:
    """Return bytes as a frame."""
    return length(len(body)) + body


def framed_noise(dice: random.Random) -> bytes:
    """Return noise in a frame that is not too long."""
    return framed(dice.randbytes(dice.randint(1, 200)))


def huge(dice: random.Random) -> bytes:
    """Return the beginning of a frame that says it is far longer than any may be."""
    said = dice.choice((LOGIN_LIMIT + 1, 1 << 16, 1 << 24, (1 << 31) - 1, (1 << 32) - 1))
    return length(said) + dice.randbytes(64)


def huge_inside(dice: random.Random) -> bytes:
    """Return a frame whose array, map, text or bytes say that they are far longer than the frame."""
    kind = dice.choice((b"\xdd", b"\xdf", b"\xdb", b"\xc6"))
    return framed(b"\x82\xa1t\xa5hello\xa1x" + kind + length(dice.choice(((1 << 32) - 1, 1 << 28))))


def deep(dice: random.Random) -> bytes:
    """Return a frame of arrays or maps inside each other."""
    levels = dice.choice((17, 100, 500))
    body = dice.choice((_ARRAY_OF_ONE, _MAP_OF_ONE)) * levels + b"\xc0"
    return framed(b"\x81\xa1x" + body)


KINDS: Final = (noise, framed_noise, huge, huge_inside, deep)


def garbage(dice: random.Random) -> bytes:
    """Return garbage of any kind."""
    return dice.choice(KINDS)(dice)


def mutated(frames: Sequence[bytes], dice: random.Random) -> list[bytes]:
    """Return the frames of a valid session, with their bytes, fields or order changed; rarely they come out as they were."""
    session = list(frames)
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(session))
        match dice.randrange(5):
            case 0:
                session[place] = blind(dice, session[place], session)
            case 1:
                session[place] = _inside(dice, session[place], session)
            case 2:
                session.insert(place, dice.choice(session))
            case 3:
                dice.shuffle(session)
            case _:
                session.insert(place, garbage(dice))
    return session


_inside: Final = items(0)
"""Changes a field of what stands in a frame, or the frame as a whole."""
