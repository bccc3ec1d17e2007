"""What is sealed between the server and one seat: its cards, cards shared with it, options and signs.

Each box has a key for its purpose, derived from the seat's exchange with the server and the match, so a box of another
match, deal, seat or purpose does not open. The same values give the same bytes: the audit seals again and compares.
The callers decide who may receive what, and whether a card fits its leaf.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, NewType

from truc_protocol.codec import EncodingError, dec, enc_trusted
from truc_protocol.crypto.keys import NONCE_BYTES, TAG_BYTES, SealError, hkdf, seal, unseal
from truc_protocol.dealing import SALT_BYTES, Opening

# the box of a sign has the same length for every word
BLOCK_BYTES: Final = 256
# all options of the presets fit, so that their box never tells how many there are (decision 11)
OPTIONS_BYTES: Final = 1_024
COUNTER_BYTES: Final = 8
NO_COUNTER: Final = -1  # below every counter
_HALF_COUNTER: Final = 2**32
_MARK: Final = b"\x80"
_NONCE_START: Final = bytes(NONCE_BYTES - COUNTER_BYTES)
# for keys that seal one message only: each is derived from its deal and seats
_ONE_MESSAGE: Final = bytes(NONCE_BYTES)

# one key for each direction: the server's nonces count up, a seat's are random, and the two could collide
DownwardKey = NewType("DownwardKey", bytes)
UpwardKey = NewType("UpwardKey", bytes)
SeatToSeatKey = NewType("SeatToSeatKey", bytes)


class BoxError(ValueError):
    """A box does not open onto what it should hold; the text never says what it holds."""


class Option(NamedTuple):
    """One move a seat may choose: (kind, args) is exactly what it signs, `line` the move line it stands for."""

    kind: str
    args: tuple[Any, ...]
    line: str
    hints: tuple[tuple[str, int | str], ...] = ()

    def __repr__(self) -> str:
        return "Option(hidden)"


class OpenedOptions(NamedTuple):
    """Options and the counter they came under, which is the `after` of the next box."""

    counter: int
    options: tuple[Option, ...]


class OpenedSign(NamedTuple):
    """A sign and the counter it came under, which is the `after` of the next box."""

    counter: int
    word: str


def seal_hand(shared: bytes, mid: bytes, *, j: int, d: int, seat: int, hand: Sequence[Opening]) -> bytes:
    """Seal a seat's own cards for the deal record; `shared` is its exchange with the server."""
    return seal_once(shared, mid, ["truc/1/box", j, d, seat], hand)


def open_hand(shared: bytes, mid: bytes, *, j: int, d: int, seat: int, box: bytes) -> tuple[Opening, ...]:
    """Open a seat's own cards, by slot.

    Raises:
        BoxError: The box was not made for this deal and seat, or holds no cards.
    """
    return _open_openings(shared, mid, ["truc/1/box", j, d, seat], box)


def seal_share(
    shared: bytes | None, mid: bytes, *, j: int, d: int, giver: int, receiver: int, hand: Sequence[Opening]
) -> bytes:
    """Seal the giver's cards for the receiver; `shared` is the receiver's exchange with the server.

    A receiver without a box key has none, and the box is empty.
    """
    if shared is None:
        return b""
    return seal_once(shared, mid, ["truc/1/sharebox", j, d, giver, receiver], hand)


def open_share(
    shared: bytes, mid: bytes, *, j: int, d: int, giver: int, receiver: int, box: bytes
) -> tuple[Opening, ...]:
    """Open a partner's cards, by slot.

    Raises:
        BoxError: The box was not made for this deal and these seats, or holds no cards.
    """
    return _open_openings(shared, mid, ["truc/1/sharebox", j, d, giver, receiver], box)


def _open_openings(shared: bytes, mid: bytes, info: list[str | int], box: bytes) -> tuple[Opening, ...]:
    what = f"{info[0]} {info[1:]}"
    return tuple(_opening(what, item) for item in open_once(what, shared, mid, info, box))


def seal_once(shared: bytes, mid: bytes, info: list[str | int], items: Sequence[object]) -> bytes:
    """Seal the one message of the key that follows from an exchange, the match and `info`."""
    # no padding: a card is one byte and each hand has as many, so all boxes of a deal are equally long (C5)
    return seal(hkdf(shared, mid, enc_trusted(info)), _ONE_MESSAGE, enc_trusted(items))


def open_once(what: str, shared: bytes, mid: bytes, info: list[str | int], box: bytes) -> list[Any]:
    """Return the items that `seal_once` was given; `what` is what errors call the box.

    Raises:
        BoxError: It was not sealed for this place, or holds no array.
    """
    return _decode(what, _unseal(what, hkdf(shared, mid, enc_trusted(info)), _ONE_MESSAGE, box, b""))


def _opening(what: str, item: object) -> Opening:
    match item:
        case [int(card), bytes(salt)] if type(card) is int and len(salt) == SALT_BYTES:
            return Opening(card, salt)
        case _:
            message = (
                f"{what}: expected a card and a salt of {SALT_BYTES} bytes for each slot, got another shape"
            )
            raise BoxError(message)


def downward_key(shared: bytes, mid: bytes, seat: int) -> DownwardKey:
    """Return the key of all options and signs from the server to a seat in this match."""
    return DownwardKey(hkdf(shared, mid, enc_trusted(["truc/1/private", seat])))


def upward_key(shared: bytes, mid: bytes, seat: int) -> UpwardKey:
    """Return the key of all signs from a seat to the server in this match."""
    return UpwardKey(hkdf(shared, mid, enc_trusted(["truc/1/private-up", seat])))


def counter(*, epoch: int, number: int) -> int:
    """Return the counter of a seat's private box: the `number`-th of the table's ownership `epoch`.

    Raises:
        ValueError: Either does not fit into 32 bits; a nonce would repeat.
    """
    if not (0 <= epoch < _HALF_COUNTER and 0 <= number < _HALF_COUNTER):
        raise ValueError(f"counter: expected an epoch and a number below 2^32, got {epoch} and {number}")
    # the epoch grows, durably, each time a server takes over the table and before it sends anything: so no
    # restart repeats a nonce, and nothing is stored for each box
    return epoch * _HALF_COUNTER + number


def seal_options(
    key: DownwardKey,
    mid: bytes,
    *,
    seat: int,
    at: int,
    offer: int,
    ctr: int,
    options: Sequence[Option],
    fill: int = BLOCK_BYTES,
) -> bytes:
    """Seal the options of a decision: `at` is the position the act must carry, `offer` what opened the decision.

    The plaintext is padded to a multiple of `fill`, itself a multiple of 256, before it is sealed.
    """
    # bound to its place: it opens for no other decision, not even a later one of the same seat
    return _seal_counted(
        key, ctr, pad(enc_trusted(options), fill), enc_trusted(["truc/1/options", mid, seat, at, offer])
    )


def open_options(
    key: DownwardKey, mid: bytes, *, seat: int, at: int, offer: int, box: bytes, after: int
) -> OpenedOptions:
    """Open the options of a decision; `after` is the highest counter accepted under this key, at first NO_COUNTER.

    Raises:
        BoxError: Made for another decision, sent before, or not options.
    """
    what = f"options at {at}"
    ctr, items = _open_counted(
        what, key, box, enc_trusted(["truc/1/options", mid, seat, at, offer]), after=after
    )
    return OpenedOptions(ctr, tuple(_option(what, item) for item in items))


def _option(what: str, item: object) -> Option:
    match item:
        case [str(kind), list(args), str(line), list(hints)] if all(_is_hint(hint) for hint in hints):
            return Option(kind, tuple(args), line, tuple((name, value) for name, value in hints))
        case _:
            raise BoxError(f"{what}: expected kind, args, line and hints of each option, got another shape")


def _is_hint(hint: object) -> bool:
    match hint:
        case [str(), int() | str() as value]:
            return type(value) is not bool
        case _:
            return False


def seal_sign(key: DownwardKey, mid: bytes, *, seat: int, at: int, sender: int, ctr: int, word: str) -> bytes:
    """Seal a partner's sign for a seat."""
    return _seal_counted(
        key, ctr, pad(enc_trusted([word])), enc_trusted(["truc/1/sign", mid, seat, at, sender])
    )


def open_sign(
    key: DownwardKey, mid: bytes, *, seat: int, at: int, sender: int, box: bytes, after: int
) -> OpenedSign:
    """Open a partner's sign; `after` is the highest counter accepted under this key, at first NO_COUNTER.

    Raises:
        BoxError: Made for another seat or position, sent before, or not a sign.
    """
    what = f"sign from seat {sender} at {at}"
    ctr, items = _open_counted(
        what, key, box, enc_trusted(["truc/1/sign", mid, seat, at, sender]), after=after
    )
    return OpenedSign(ctr, _word(what, items))


def seal_sign_up(
    key: UpwardKey, mid: bytes, *, seat: int, at: int, to: int, nonce: bytes, word: str
) -> bytes:
    """Seal a seat's sign to its partner `to`, for the server to pass on; `nonce` is 12 random bytes."""
    return nonce + seal(
        key, nonce, pad(enc_trusted([word])), enc_trusted(["truc/1/sign-up", mid, seat, at, to])
    )


def seat_sign_key(shared: bytes, mid: bytes, *, sender: int, receiver: int) -> SeatToSeatKey:
    """Return the key of signs from seat to seat in mode blind; `shared` is the exchange of their X25519 keys."""
    return SeatToSeatKey(hkdf(shared, mid, enc_trusted(["truc/1/signbox", sender, receiver])))


def seal_sign_of_seat(
    key: SeatToSeatKey, mid: bytes, *, sender: int, at: int, receiver: int, nonce: bytes, word: str
) -> bytes:
    """Seal a seat's sign to another in mode blind, which the server passes on unread; `nonce` is 12 random bytes."""
    return nonce + seal(
        key, nonce, pad(enc_trusted([word])), enc_trusted(["truc/1/sign", mid, receiver, at, sender])
    )


def open_sign_of_seat(
    key: SeatToSeatKey, mid: bytes, *, sender: int, at: int, receiver: int, box: bytes
) -> str:
    """Open a sign that another seat has sealed.

    Raises:
        BoxError: Made for another seat or position, or not a sign.
    """
    return _open_sign(
        f"sign from seat {sender} at {at}", key, box, ["truc/1/sign", mid, receiver, at, sender]
    )


def open_sign_up(key: UpwardKey, mid: bytes, *, seat: int, at: int, to: int, box: bytes) -> str:
    """Open a seat's sign to its partner.

    Raises:
        BoxError: Made for another seat or position, or not a sign.
    """
    return _open_sign(f"sign to seat {to} at {at}", key, box, ["truc/1/sign-up", mid, seat, at, to])


def _open_sign(what: str, key: bytes, box: bytes, place: list[Any]) -> str:
    _check_length(what, box, NONCE_BYTES)
    plaintext = _unseal(what, key, box[:NONCE_BYTES], box[NONCE_BYTES:], enc_trusted(place))
    return _word(what, _decode(what, unpad(plaintext)))


def _word(what: str, items: list[Any]) -> str:
    match items:
        case [str(word)]:
            return word
        case _:
            raise BoxError(f"{what}: expected one word, got another shape")


def pad(plaintext: bytes, fill: int = BLOCK_BYTES) -> bytes:
    """Pad to the next multiple of `fill` bytes, itself a multiple of 256, by at least one byte: 0x80, then zeros."""
    marked = plaintext + _MARK
    return marked + bytes(-len(marked) % fill)


def unpad(padded: bytes) -> bytes:
    """Return what `pad` was given.

    Raises:
        BoxError: `pad` makes no such bytes.
    """
    marked = padded.rstrip(b"\x00")
    # the sealing end chooses how far to pad; any whole number of blocks will do (specification.md 7)
    if not marked.endswith(_MARK) or len(padded) % BLOCK_BYTES:
        raise BoxError(f"padding: expected 0x80 and zeros up to a multiple of {BLOCK_BYTES} bytes")
    return marked.removesuffix(_MARK)


def _seal_counted(key: bytes, ctr: int, plaintext: bytes, aad: bytes) -> bytes:
    prefix = ctr.to_bytes(COUNTER_BYTES, "big")
    return prefix + seal(key, _NONCE_START + prefix, plaintext, aad)


def _open_counted(what: str, key: bytes, box: bytes, aad: bytes, *, after: int) -> tuple[int, list[Any]]:
    _check_length(what, box, COUNTER_BYTES)
    prefix, sealed = box[:COUNTER_BYTES], box[COUNTER_BYTES:]
    ctr = int.from_bytes(prefix, "big")
    items = _decode(what, unpad(_unseal(what, key, _NONCE_START + prefix, sealed, aad)))
    # checked last: it is the nonce, so a box that opens has the counter it was sealed with. Gaps are fine
    # (specification.md 7)
    if ctr <= after:
        raise BoxError(f"{what}: expected a counter above {after}, got {ctr}")
    return ctr, items


def _check_length(what: str, box: bytes, prefix: int) -> None:
    least = prefix + BLOCK_BYTES + TAG_BYTES
    if len(box) < least:
        raise BoxError(f"{what}: expected at least {least} bytes, got {len(box)}")


def _unseal(what: str, key: bytes, nonce: bytes, box: bytes, aad: bytes) -> bytes:
    try:
        return unseal(key, nonce, box, aad)
    except SealError as error:
        raise BoxError(f"{what}: expected a box sealed for this place, got one that does not open") from error


def _decode(what: str, plaintext: bytes) -> list[Any]:
    try:
        items = dec(plaintext)
    except EncodingError as error:
        raise BoxError(f"{what}: expected a canonical array, got other bytes") from error
    if not isinstance(items, list):
        raise BoxError(f"{what}: expected a canonical array, got {type(items).__name__}")
    return items
