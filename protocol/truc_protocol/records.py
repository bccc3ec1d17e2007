"""The table of record kinds, and how records are parsed and linked.

A record is (signer, body, sig). The table says for each kind who signs it, how it is bound to its place, and in which
phases of a match it may stand; the ledger, the documentation and the tests read it from here.
"""

import hashlib
import reprlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

import msgspec

from truc_protocol import bodies
from truc_protocol.bodies import AnyBody, Body
from truc_protocol.checks import CheckError
from truc_protocol.codec import (
    MAX_BODY,
    MAX_BODY_DEPTH,
    EncodingError,
    check_items,
    dec,
    enc,
    enc_trusted,
    sha256,
)
from truc_rules import Kind

SERVER: Final = 0
SIGNATURE_BYTES: Final = 64
B = TypeVar("B", bound=Body)


class Record(NamedTuple):
    """One signed item of a transcript: `signer` is the role, 0 for the server and i + 1 for seat i."""

    signer: int
    body: bytes
    sig: bytes


class Binding(StrEnum):
    """How a body is tied to its place: not at all, to (k, T) as P, or to (k0, T0) as Q."""

    SETUP = "setup"
    POSITION = "P"
    PARALLEL = "Q"


class Phase(StrEnum):
    """Where a match stands between two records (specification, "Phases")."""

    SETUP = "setup"
    BETWEEN = "between"
    CALLED = "called"
    HAND = "hand"
    OVER = "over"
    ENDED = "ended"


class RecordKind(NamedTuple):
    """A row of the table: `signer` names the field that tells the signing seat or role, None for the server."""

    body: type[AnyBody]
    signer: str | None
    binding: Binding
    phases: tuple[Phase, ...]


_SETUP, _P, _Q = Binding.SETUP, Binding.POSITION, Binding.PARALLEL
_BETWEEN_HAND, _CALLED_HAND = (Phase.BETWEEN, Phase.HAND), (Phase.CALLED, Phase.HAND)

KINDS: Final[tuple[RecordKind, ...]] = (
    RecordKind(bodies.TableTerms, None, _SETUP, (Phase.SETUP,)),
    RecordKind(bodies.SeatTaken, "seat", _SETUP, (Phase.SETUP,)),
    RecordKind(bodies.Guest, None, _SETUP, (Phase.SETUP,)),
    RecordKind(bodies.MatchStart, None, _SETUP, (Phase.SETUP,)),
    RecordKind(bodies.Call, None, _P, (Phase.BETWEEN,)),
    RecordKind(bodies.Release, "seat", _Q, (Phase.CALLED,)),
    RecordKind(bodies.Draw, None, _P, (Phase.CALLED,)),
    RecordKind(bodies.Deal, None, _P, (Phase.CALLED, Phase.HAND)),
    RecordKind(bodies.Act, "seat", _P, _BETWEEN_HAND),
    RecordKind(bodies.Proxy, None, _P, _BETWEEN_HAND),
    RecordKind(bodies.Open, None, _P, (Phase.HAND,)),
    RecordKind(bodies.Share, None, _P, (Phase.HAND,)),
    RecordKind(bodies.Rule, None, _P, _BETWEEN_HAND),
    RecordKind(bodies.Close, None, _P, (Phase.HAND, Phase.OVER)),
    RecordKind(bodies.Void, None, _P, (Phase.CALLED,)),
    RecordKind(bodies.Rekey, "role", _P, (Phase.BETWEEN,)),
    RecordKind(bodies.Sub, "seat", _P, (Phase.BETWEEN,)),
    RecordKind(bodies.Resign, "seat", _P, _BETWEEN_HAND),
    RecordKind(bodies.End, None, _P, (Phase.OVER,)),
    RecordKind(bodies.Ack, "seat", _Q, (Phase.ENDED,)),
    RecordKind(bodies.Mask, "seat", _P, (Phase.CALLED,)),
    RecordKind(bodies.Lock, "seat", _P, _CALLED_HAND),
    RecordKind(bodies.Keys, "seat", _Q, _CALLED_HAND),
    RecordKind(bodies.Lend, "seat", _P, (Phase.HAND,)),
    RecordKind(bodies.Garbled, "seat", _P, _CALLED_HAND),
)
DEALT, BLIND = "dealt", "blind"
"""The modes of a table: the server deals and knows the cards, or it does not."""


def tag_of(body: Body | type[Body]) -> str:
    """Return the full tag of a body or of its class."""
    return str(body.__struct_config__.tag)


def kind_of(body: Body | type[Body]) -> str:
    """Return the tag without the prefix that all tags share."""
    return tag_of(body).removeprefix("truc/1/")


def is_of_kind(body: bytes, *kinds: type[Body]) -> bool:
    """Tell by its tag alone whether a signed body is of one of these kinds."""
    # skip the heads of array and text, a byte each: no body has 16 items, no tag 32 characters
    return body[2:].startswith(tuple(tag_of(kind).encode() for kind in kinds))


_ANY_BODY: Final[msgspec.msgpack.Decoder[AnyBody]] = msgspec.msgpack.Decoder(AnyBody)
_ACT_OR_RELEASE: Final[msgspec.msgpack.Decoder[bodies.Act | bodies.Release]] = msgspec.msgpack.Decoder(
    bodies.Act | bodies.Release
)
_ACT: Final = enc_trusted("truc/1/act")
_RELEASE: Final = enc_trusted("truc/1/release")
_ACT_KINDS: Final = frozenset(map(str, Kind))
_BY_TAG: Final = {tag_of(kind.body): kind for kind in KINDS}
KIND_OF: Final[Mapping[type[AnyBody], RecordKind]] = {kind.body: kind for kind in KINDS}
_BLIND_ALONE: Final = frozenset({bodies.Mask, bodies.Lock, bodies.Keys, bodies.Lend, bodies.Garbled})
# blind.md, "Records": there are no guests, and no cards that the server could open. Links are released when
# the hand is over; a hand may be forfeited while it is called, an exposed seat also once the match is decided
_OTHER_PHASES_IF_BLIND: Final[dict[type[AnyBody], tuple[Phase, ...]]] = {
    bodies.Guest: (),
    bodies.Proxy: (),
    bodies.Open: (),
    bodies.Share: (),
    bodies.Release: (*_CALLED_HAND, Phase.OVER),
    bodies.Rule: (*_BETWEEN_HAND, Phase.CALLED, Phase.OVER),
}
PHASES: Final[Mapping[str, Mapping[type[AnyBody], tuple[Phase, ...]]]] = {
    DEALT: {kind.body: () if kind.body in _BLIND_ALONE else kind.phases for kind in KINDS},
    BLIND: {kind.body: kind.phases for kind in KINDS} | _OTHER_PHASES_IF_BLIND,
}
"""Where each kind may stand, by mode: in no phase what a mode does not have."""


def encode(body: Body) -> bytes:
    """Return the canonical bytes that are signed and hashed."""
    return enc([tag_of(body), *msgspec.structs.astuple(body)])


def encode_own(body: Body) -> bytes:
    """Return the canonical bytes of a body made of our own values; that they are canonical is not checked."""
    return enc_trusted(body)


def parse_own(record: Record) -> AnyBody:
    """Return the body of a record that is our own, or was parsed before; its form and its signer are not checked."""
    return _ANY_BODY.decode(record.body)


def unsigned_record(body: bodies.Proxy) -> Record:
    """Return the record of a guest's decision, which nobody signs."""
    return Record(SERVER, enc_trusted(body), b"")


def parse(record: Record) -> AnyBody:
    """Decode a record's body and check its shape and who may sign it.

    Whether it is signed is not known here, so nobody is blamed.

    Raises:
        CheckError: C1 the body is not canonical; C2 unknown kind, wrong fields, wrong signer or signature length.
    """
    body = _parse_usual(record)
    if body is not None:
        return body
    try:
        items = dec(record.body)
    except EncodingError as error:
        raise CheckError("C1", f"body: {error}") from error
    tag = items[0] if isinstance(items, list) and items else None
    kind = _BY_TAG.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise CheckError("C2", f"expected an array with the tag of a known kind, got {reprlib.repr(tag)}")
    try:
        body = _shaped(items, kind.body)
    except EncodingError as error:
        raise CheckError("C2", f"{tag}: {error}") from error
    # part of C2, and so before any signature is verified (specification.md 11)
    expected = signer_of(body)
    if record.signer != expected:
        raise CheckError("C2", f"{tag_of(body)}: expected signer {expected}, got {record.signer}")
    length = 0 if isinstance(body, bodies.Proxy) else SIGNATURE_BYTES
    if len(record.sig) != length:
        raise CheckError(
            "C2", f"{tag_of(body)}: expected a signature of {length} bytes, got {len(record.sig)}"
        )
    return body


def _parse_usual(record: Record) -> AnyBody | None:
    """Return an act or a release that is sound in every respect, or None: anything else is checked step by step.

    Nearly everything that seats sign is one of the two. Read straight into its class it takes a quarter of the time, as
    its types leave few values to check.
    """
    signer, encoded, sig = record
    # skip the head of the array, one byte
    if encoded[1:12] != _ACT and encoded[1:16] != _RELEASE:
        return None
    try:
        body = _ACT_OR_RELEASE.decode(encoded)
        match body:
            case bodies.Act():
                # known kinds are printable ASCII; all others are left to the checks in their order (C1, C2)
                if body.kind not in _ACT_KINDS:
                    return None
                if body.args:
                    check_items(body.args, MAX_BODY_DEPTH - 1)
            case _:
                pass
    # text that is not UTF-8 is a ValueError
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None
    # the decoder also takes longer forms; canonical is only what encodes to the same bytes again
    is_canonical = enc_trusted(body) == encoded and len(encoded) <= MAX_BODY
    is_sound = is_canonical and signer == body.seat + 1 and len(sig) == SIGNATURE_BYTES
    return body if is_sound else None


def read_body(encoded: bytes, kind: type[B]) -> B:
    """Read a body that must be of one kind, such as none of a transcript; who has signed it is not known here.

    Raises:
        EncodingError: It is not canonical, or has another shape.
    """
    return _shaped(dec(encoded), kind)


def _shaped(items: object, kind: type[B]) -> B:
    try:
        # no str for bytes, no bool for int, no field missing or too many; the error names it (decision 2)
        return msgspec.convert(items, kind, builtin_types=(bytes,))
    except msgspec.ValidationError as error:
        raise EncodingError(str(error)) from error


def claimed_place(body: bytes) -> tuple[object, ...]:
    """Return what a body has where a match's bodies have mid, position and head, or nothing if it is no such array."""
    try:
        items = dec(body)
    except EncodingError:
        return ()
    match items:
        # True passes for int in a pattern
        case [_, bytes(mid), int(k), bytes(head), *_] if type(k) is int:
            return mid, k, head
        case _:
            return ()


def signer_of(body: AnyBody) -> int:
    """Return the role that signs this body: 0 the server, i + 1 seat i."""
    field = KIND_OF[type(body)].signer
    # a role counts the server, a seat does not
    return SERVER if field is None else int(getattr(body, field)) + (field == "seat")


def next_head(head: bytes, record: Record) -> bytes:
    """Return the head after `record`: T_{k+1} = H("link", T_k, signer, body, sig)."""
    # `digest`, without its call; the links of a chain are hashed with another tag, `chain`
    return hashlib.sha256(enc_trusted(("truc/1/link", head, *record))).digest()


def body_hash(record: Record) -> bytes:
    """Return SHA-256 of a record's body, without signer and signature."""
    return sha256(record.body)
