"""Rotations and revocations as text: what hosts and players keep in a file, or hand to somebody.

Each format is a head line, then hex digits: bodies and signatures as on the wire. Callers read and write the files.
Invariant: whatever is read from a text has been checked: shape, signatures, and that rotations follow each other.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from truc_protocol.codec import EncodingError
from truc_protocol.crypto.keys import KeyFileError, verify
from truc_protocol.records import read_body
from truc_protocol.wire.handshake import HandshakeError, KeyRoll, Roll, SignedBody, check_revoke

REVOCATION_LIMIT: Final = 4096  # characters; a revocation has about 250
_REVOCATION_HEAD: Final = "truc revocation 1"
_ROLLS_HEAD: Final = "truc server rolls 1"
_ROLL_WORDS: Final = 3


class UnsignedRevocationError(KeyFileError):
    """A revocation that is damaged, or not signed by the key that it names."""


class Rotation(NamedTuple):
    """One change of a server's key: the signed statement, and what it says."""

    roll: Roll
    change: KeyRoll


def revocation_text(revocation: SignedBody) -> str:
    """Return a revocation as text."""
    return f"{_REVOCATION_HEAD}\n{revocation.body.hex()}\n{revocation.sig.hex()}\n"


def read_revocation(text: str) -> bytes:
    """Return the key that a text gives up, which has signed it itself.

    Raises:
        UnsignedRevocationError: The key it names has not signed it.
        KeyFileError: It is no such text.
    """
    # `split` below would accept the white space of other scripts too
    if len(text) > REVOCATION_LIMIT or not text.isascii():
        raise KeyFileError(
            f"expected at most {REVOCATION_LIMIT} plain ASCII characters that begin {_REVOCATION_HEAD!r}"
        )
    head, _, rest = text.partition("\n")
    if head.strip() != _REVOCATION_HEAD:
        # not what stands there: a file given by mistake may hold a passphrase
        raise KeyFileError(f"line 1: expected {_REVOCATION_HEAD!r}")
    # words, not lines: a revocation is handed from person to person, and mail changes line endings
    words = rest.split()
    if len(words) != len(SignedBody._fields):
        raise KeyFileError(f"expected a body and a signature in hex digits, got {len(words)} words")
    try:
        return check_revoke(SignedBody(*map(_hex, words)))
    except HandshakeError as error:
        raise UnsignedRevocationError("it is damaged, or not signed by the key that it gives up") from error


def rolls_text(rolls: Sequence[Roll]) -> str:
    """Return all rotations of a server as text, oldest first."""
    lines = (" ".join(item.hex() for item in roll) for roll in rolls)
    return "\n".join((_ROLLS_HEAD, *lines, ""))


def read_rolls(text: str) -> tuple[Rotation, ...]:
    """Return the rotations in a text: from serial 1 without a gap, each from the key that the one before led to.

    Raises:
        KeyFileError: It is no such text, or its rotations do not follow each other; the line is named.
    """
    head, *lines = text.rstrip("\n").split("\n")
    if head.strip() != _ROLLS_HEAD:
        raise KeyFileError(f"line 1: expected {_ROLLS_HEAD!r}")
    rotations: list[Rotation] = []
    for number, line in enumerate(lines, start=2):
        try:
            rotation = _rotation(line)
            _check_next(rotation.change, rotations[-1].change if rotations else None)
        except KeyFileError as error:
            raise KeyFileError(f"line {number}: {error}") from error
        rotations.append(rotation)
    return tuple(rotations)


def _rotation(line: str) -> Rotation:
    words = line.split()
    if len(words) != _ROLL_WORDS:
        raise KeyFileError(f"expected a body and two signatures in hex digits, got {len(words)} words")
    body, sig_old, sig_new = map(_hex, words)
    roll = (body, sig_old, sig_new)
    return Rotation(roll, open_roll(roll))


def open_roll(roll: Roll) -> KeyRoll:
    """Return what a rotation says, as both its keys have signed; whether they may be used is not checked here.

    Raises:
        KeyFileError: It is no rotation, or not signed by both its keys.
    """
    body, sig_old, sig_new = roll
    try:
        change = read_body(body, KeyRoll)
    except EncodingError as error:
        raise KeyFileError(f"expected the body of a rotation: {error}") from error
    if not (verify(change.old, body, sig_old) and verify(change.new, body, sig_new)):
        raise KeyFileError(f"rotation {change.serial} is not signed by both keys")
    return change


def _check_next(change: KeyRoll, before: KeyRoll | None) -> None:
    # a file has all rotations; only a client begins in the middle, as a hello has the newest few
    serial = 1 if before is None else before.serial + 1
    if change.serial != serial:
        raise KeyFileError(f"expected the rotation with serial {serial}, got {change.serial}")
    if before is not None and change.old != before.new:
        raise KeyFileError(f"rotation {serial} does not start at the key that the one before led to")


def _hex(word: str) -> bytes:
    try:
        return bytes.fromhex(word)
    except ValueError as error:
        raise KeyFileError(f"expected hex digits, got {word[:40]!r}") from error
