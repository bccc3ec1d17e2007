"""What is signed, sealed or proves something: records, boxes, the handshake, transcripts, evidence, rule documents."""

from contextlib import suppress
from functools import cache
from typing import Final

from fuzz import seeds

from truc_protocol import boxes
from truc_protocol.acts import read_act
from truc_protocol.audit import Result, examine, verify
from truc_protocol.bodies import Act, Proxy
from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, enc, sha256
from truc_protocol.crypto.keys import KeyFileError, fingerprint, hkdf, seal
from truc_protocol.documents import MAX_DOCUMENT, read_document, rule_document
from truc_protocol.errors import RemoteError
from truc_protocol.evidence_file import MAX_ITEMS, read_evidence, read_refusal, write_evidence
from truc_protocol.key_files import open_roll
from truc_protocol.messages import Direction, KeyLogin, ServerHello
from truc_protocol.records import SIGNATURE_BYTES, Record, claimed_place, encode, parse
from truc_protocol.transcript import pack_record, read_transcript, unpack_record, write_transcript
from truc_protocol.wire.encoding import MessageError, decode
from truc_protocol.wire.handshake import (
    Challenge,
    HandshakeError,
    KnownServer,
    Pin,
    check_login,
    check_server_hello,
)
from truc_rules import params
from truc_words.rules_page import rules_page

SHARED: Final = b"\x88" * 32
MID: Final = b"\x33" * 32
DECK: Final = 40
NOW: Final = 1_790_000_000
LONGEST_WORD: Final = 1_000


def _check_told(error: CheckError | HandshakeError, *checks: str) -> None:
    assert error.check in checks
    _check_length(error.message)


def _check_length(told: str) -> None:
    assert len(told) <= LONGEST_WORD


def records(encoded: bytes) -> None:
    """A record is read or refused by a check; its body says what its bytes say, and in no other bytes."""
    _body(Record(0, encoded, bytes(SIGNATURE_BYTES)))
    try:
        record = unpack_record(encoded)
    except CheckError as error:
        _check_told(error, "C41")
        return
    assert pack_record(record) == encoded
    _body(record)


def _body(record: Record) -> None:
    read_refusal(record)
    assert len(claimed_place(record.body)) in (0, 3)
    try:
        body = parse(record)
    except CheckError as error:
        _check_told(error, "C1", "C2")
        return
    assert encode(body) == record.body
    if isinstance(body, Act | Proxy):
        with suppress(CheckError):
            read_act(body.seat, body.kind, body.args, deck=DECK)


def acts(encoded: bytes) -> None:
    """A decision is read or refused as of another shape, and opens cards of the pack only."""
    with suppress(EncodingError, CheckError):
        match dec(encoded):
            case [str(kind), [*args]]:
                move = read_act(1, kind, args, deck=DECK)
                assert all(opening.card < DECK and len(opening.proof) == 16 for opening in move.openings)


def box_contents(choice: bytes) -> None:
    """Whatever is sealed, opening it gives what it should hold or a box error; what is not sealed never opens."""
    kind, content = choice[0] % len(_OPENED) if choice else 0, choice[1:]
    open_box, key, prefix, aad = _OPENED[kind]
    padded = boxes.pad(content) if prefix else content
    nonce = prefix.rjust(12, b"\x00") if prefix else bytes(12)
    for box in (content, prefix + seal(key, nonce, padded, aad)):
        with suppress(boxes.BoxError):
            open_box(box)


def _info(*items: object) -> bytes:
    return hkdf(SHARED, MID, enc(list(items)))


_PRIVATE: Final = boxes.downward_key(SHARED, MID, 1)
_UPWARD: Final = boxes.upward_key(SHARED, MID, 1)
_OPENED: Final = (
    (
        lambda box: boxes.open_hand(SHARED, MID, j=0, d=0, seat=1, box=box),
        _info("truc/1/box", 0, 0, 1),
        b"",
        b"",
    ),
    (
        lambda box: boxes.open_share(SHARED, MID, j=0, d=0, giver=1, receiver=3, box=box),
        _info("truc/1/sharebox", 0, 0, 1, 3),
        b"",
        b"",
    ),
    (
        lambda box: boxes.open_options(_PRIVATE, MID, seat=1, at=41, offer=40, box=box, after=-1),
        _PRIVATE,
        bytes(8),
        enc(["truc/1/options", MID, 1, 41, 40]),
    ),
    (
        lambda box: boxes.open_sign(_PRIVATE, MID, seat=1, at=41, sender=3, box=box, after=-1),
        _PRIVATE,
        bytes(8),
        enc(["truc/1/sign", MID, 1, 41, 3]),
    ),
    (
        lambda box: boxes.open_sign_up(_UPWARD, MID, seat=1, at=41, to=3, box=box),
        _UPWARD,
        bytes(12),
        enc(["truc/1/sign-up", MID, 1, 41, 3]),
    ),
)


def server_hellos(frame: bytes) -> None:
    """A server's hello is for this connection, or refused; also if the server has signed whatever it says."""
    with suppress(MessageError):
        hello = decode(frame, Direction.TO_CLIENT)
        if isinstance(hello, ServerHello):
            for sig in (hello.sig, seeds.SERVER_KEY.sign(hello.body)):
                _check_hello(
                    ServerHello(re=hello.re, body=hello.body, sig=sig, info=hello.info, rolls=hello.rolls)
                )


def _check_hello(hello: ServerHello) -> None:
    public = seeds.SERVER_KEY.public
    for known in (None, Pin(public, public, 0), fingerprint(public), fingerprint(seeds.PLAYER_KEY.public)):
        try:
            identity = check_server_hello(hello, KnownServer(CLIENT_HELLO, (1,), known, NOW))
        except RemoteError as error:
            _check_length(error.message)
        else:
            assert sha256(CLIENT_HELLO) in hello.body
            assert identity.spk in hello.body


def logins(body: bytes) -> None:
    """Only the body of this very connection logs a key in, whatever else the key has signed."""
    login = KeyLogin(id=1, body=body, sig=seeds.PLAYER_KEY.sign(body))
    try:
        public = check_login(login, CHALLENGE)
    except HandshakeError as error:
        _check_told(error, "C38", "C40")
    else:
        assert public == seeds.PLAYER_KEY.public
        assert body in LOGGED_IN


LOGINS: Final = seeds.vector_tests("handshake", "login")


def _first_login() -> Challenge:
    return Challenge(*(bytes.fromhex(LOGINS[0][name]) for name in ("spk", "cn", "sn", "server_frame")))


CHALLENGE: Final = _first_login()
LOGGED_IN: Final = {bytes.fromhex(test["body"]) for test in LOGINS if test["result"] == "valid"}
CLIENT_HELLO: Final = bytes.fromhex(seeds.vector_tests("handshake")[0]["client_frame"])


def rolls(body: bytes) -> None:
    """A rotation is one, signed by both its keys, or a key file error."""
    with suppress(KeyFileError):
        change = open_roll((body, seeds.SERVER_KEY.sign(body), seeds.NEXT_KEY.sign(body)))
        assert (change.old, change.new) == (seeds.SERVER_KEY.public, seeds.NEXT_KEY.public)


def transcripts(file: bytes) -> None:
    """Any bytes come to a verdict, and only what was really played is proven."""
    verdict = verify(file)
    if verdict.refutation is not None:
        _check_length(str(verdict.refutation))
    if verdict.result in (Result.PROVEN, Result.INCOMPLETE):
        found = read_transcript(file)
        assert write_transcript(found.document, found.records) == file
        assert verdict.result is Result.INCOMPLETE or any(
            found.document == document and set(found.records) <= known for document, known in honest()
        )


@cache
def honest() -> tuple[tuple[bytes, frozenset[Record]], ...]:
    """Return the document and the records of every transcript to start from."""
    read = map(read_transcript, seeds.transcripts())
    return tuple((found.document, frozenset(found.records)) for found in read)


def evidence(file: bytes) -> None:
    """A file of evidence is read or refused, and never a reason to fail; beside an honest match it shows nothing."""
    with suppress(CheckError):
        items = read_evidence(file)
        assert len(items) <= MAX_ITEMS
        assert read_evidence(write_evidence(items)) == items
    honest_file = seeds.transcripts()[0]
    examined = examine([honest_file, file])
    transcript, _ = examined.files
    assert transcript.result is verify(honest_file).result
    assert not examined.contradictions


def documents(document: bytes) -> None:
    """A rule document is read or refused; what was read has this one document, and its rules can be told."""
    try:
        variant = read_document(document)
    except CheckError as error:
        _check_told(error, "C5")
        return
    assert len(document) <= MAX_DOCUMENT
    assert rule_document(variant) == document
    assert params(variant)
    assert rules_page(variant)
