"""Everything that a process holds in memory, searched for secrets in each form in which it could hold them. Linux only.

A secret of 16 bytes or more has a whole aligned word in it, wherever it begins: memory is read word by word, once for all
secrets, and only where a word fits is the whole secret compared.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

_WORD = 8
_PART = 1 << 20
_EMPTY = bytes(_PART)


def forms(secret: bytes | int) -> set[bytes]:
    """Return a secret as a program may hold it: bytes either way round, as text in hex, a number as Python has it."""
    octets = secret if isinstance(secret, bytes) else secret.to_bytes(32, "little")
    number = int.from_bytes(octets, "little")
    held = {octets, octets[::-1], octets.hex().encode(), octets[::-1].hex().encode()}
    return held | {_digits(number), _digits(int.from_bytes(octets, "big"))}


def _digits(number: int) -> bytes:
    """Return the digits of a number as an `int` of CPython has them."""
    bits, size = sys.int_info.bits_per_digit, sys.int_info.sizeof_digit
    mask = (1 << bits) - 1
    return b"".join(
        (number >> at & mask).to_bytes(size, sys.byteorder) for at in range(0, number.bit_length(), bits)
    )


def dump(pid: int) -> list[bytes]:
    """Return all that a process can write to, in parts that begin at a page; parts of zeros are left out."""
    parts = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for first, last in _writable(pid):
            for at in range(first, last, _PART):
                memory.seek(at)
                try:
                    part = memory.read(min(_PART, last - at))
                except OSError:  # given back since it was listed
                    continue
                if part != _EMPTY[: len(part)]:
                    parts.append(part)
    return parts


def _writable(pid: int) -> Iterator[tuple[int, int]]:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        span, rights, *_, name = (line + " -").split(maxsplit=5)
        if rights.startswith("rw") and not name.startswith("[v"):
            first, last = span.split("-")
            yield int(first, 16), int(last, 16)


def found_in(parts: Collection[bytes], secrets: Mapping[str, Collection[bytes | int]]) -> set[str]:
    """Return the names under which a secret stands whole in one of the parts."""
    named: dict[int, set[tuple[str, bytes]]] = defaultdict(set)
    for name, each in secrets.items():
        for secret in each:
            for form in forms(secret):
                for at in range(_WORD):
                    named[int.from_bytes(form[at : at + _WORD], sys.byteorder)].add((name, form))
    words = frozenset(named)
    found = set()
    for part in parts:
        whole = memoryview(part)[: len(part) // _WORD * _WORD]
        for word in words.intersection(whole.cast("Q")):
            found |= {name for name, form in named[word] if form in part}
    return found
