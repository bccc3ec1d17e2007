"""Make handshake.json: hellos, logins, rotations and revocations, as they must be and each way they must not (C37 to C40)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from vectors.shape import Group, Test, Vectors, projected_body, test, vectors

from truc_protocol.bodies import Body
from truc_protocol.codec import enc, sha256
from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.messages import ClientHello, Info, Limits, ServerHello, encode, encode_info
from truc_protocol.records import encode as body_of
from truc_protocol.wire.handshake import (
    Auth,
    Contact,
    Hello,
    KeyRoll,
    Pin,
    Revoke,
    Roll,
    check_server_hello,
    make_roll,
    revoke,
)

HEADER = (
    "hello: what a client knows (its own frame, the protocols it offered, the certificate it sees, what it has of the server, "
    "the time, keys revoked) and what came: the frame, and its fields body, sig, info and rolls.",
    "known: null, {first, present, serial} of a pin, or {fingerprint} of a join string. value: what the body holds.",
    "login: what the server expects (spk, both nonces, its own hello's frame, keys revoked), and what came.",
    "roll, revoke: made from the seeds of Ed25519 keys. check: which check refuses; null, the message is refused as such.",
)
NOTES = {
    "OtherConnection": "Made for another connection: frame, nonce, certificate, info or protocol are not this one's.",
    "OtherServer": "Not the key that is known, and no rotation leads to it.",
    "Signature": "Not signed by the key that is named, or not by both.",
    "NotAdmissible": "A key of small or mixed order.",
    "Serial": "Rotations with a gap, from another key, too early, or not to the end.",
    "TooMany": "More rotations than a hello holds.",
    "Revoked": "A key that was given up.",
    "Shape": "A body that is no such body.",
}

SEEDS = [bytes([i]) * 32 for i in range(1, 13)]
SERVER, NEXT, LAST, PLAYER, STRANGER, *LATER = map(signing_key_from_seed, SEEDS)
SMALL_ORDER = b"\x01" + bytes(31)
MIXED_ORDER = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
CN, SN, CERT = b"\xc1" * 32, b"\x51" * 32, b"\xce" * 32
NOW = 1_790_000_000
INFO = encode_info(
    Info(
        name="Casa",
        software="truc 0.1.0",
        caps={},
        limits=Limits(frame_in=8192, frame_out=65536, idle_s=30, requests_per_s=10, burst=20),
        variants=(),
        guests=True,
        now_ms=NOW * 1000,
    )
)
CLIENT_FRAME = encode(ClientHello(id=1, proto=(1,), cn=CN))
OTHER_FRAME = encode(ClientHello(id=1, proto=(1,), cn=SN))
ROLLS = (
    make_roll(SERVER, NEXT, serial=1, not_before=NOW - 60),
    make_roll(NEXT, LAST, serial=2, not_before=NOW),
)
NO_ROLL = (b"\x90", bytes(64), bytes(64))
PINNED = {"first": SERVER.public.hex(), "present": SERVER.public.hex(), "serial": 0}
CONTACT = {
    "client_frame": CLIENT_FRAME.hex(),
    "offered": [1],
    "cert": None,
    "known": None,
    "now": NOW,
    "revoked": [],
}


def invited(key: Any) -> dict[str, str]:
    """Return what a join string gives of a server."""
    return {"fingerprint": fingerprint(key.public)}


def message(key: Any = SERVER, *, rolls: Sequence[Roll] = (), **fields: Any) -> ServerHello:
    """Return a server's hello with some fields of its body changed and signed by a key."""
    honest = {
        "spk": key.public,
        "sn": SN,
        "client_hello": sha256(CLIENT_FRAME),
        "proto": 1,
        "cert": None,
        "info": sha256(INFO),
    }
    body = body_of(Hello(**honest | fields))
    return ServerHello(re=1, body=body, sig=key.sign(body), info=INFO, rolls=tuple(rolls))


def came(hello: ServerHello) -> Test:
    """Return what a client is sent."""
    return {
        "frame": encode(hello).hex(),
        "body": hello.body.hex(),
        "sig": hello.sig.hex(),
        "info": hello.info.hex(),
        "rolls": [[part.hex() for part in roll] for roll in hello.rolls],
    }


def message_of(fields: Test) -> ServerHello:
    """Return what a client was sent."""
    parts = {name: bytes.fromhex(fields[name]) for name in ("body", "sig", "info")}
    rolls = tuple(tuple(map(bytes.fromhex, roll)) for roll in fields["rolls"])
    return ServerHello(re=1, rolls=rolls, **parts)


def contact_of(fields: Test) -> Contact:
    """Return what the client of a test knows."""
    match fields["known"]:
        case None:
            known: Any = None
        case {"fingerprint": text}:
            known = text
        case pin:
            known = Pin(bytes.fromhex(pin["first"]), bytes.fromhex(pin["present"]), pin["serial"])
    return Contact(
        bytes.fromhex(fields["client_frame"]),
        tuple(fields["offered"]),
        known,
        fields["now"],
        fields["cert"] and bytes.fromhex(fields["cert"]),
        {bytes.fromhex(key) for key in fields["revoked"]},
    )


def proved(hello: ServerHello, contact: Contact) -> Test:
    """Return what a hello proves."""
    server = check_server_hello(hello, contact)
    pin = {"first": server.pin.first.hex(), "present": server.pin.present.hex(), "serial": server.pin.serial}
    return {"sn": server.sn.hex(), "pin": pin, "trust": server.trust.name.lower().replace("_", " ")}


def accepted(comment: str, hello: ServerHello, **contact: Any) -> Test:
    """Return a test in which a hello is good."""
    known = CONTACT | contact
    fields = {**known, **came(hello), "value": projected_body(hello.body)}
    return test(comment, "valid", **fields, **proved(hello, contact_of(known)))


def refused(comment: str, flag: str, check: str | None, hello: ServerHello, **contact: Any) -> Test:
    """Return a test in which a hello is refused."""
    return test(comment, "invalid", flag, **CONTACT | contact, **came(hello), check=check)


def _good_hellos() -> list[Test]:
    rolled = {"first": SERVER.public.hex(), "present": LAST.public.hex(), "serial": 2}
    between = {"first": SERVER.public.hex(), "present": NEXT.public.hex(), "serial": 1}
    return [
        accepted("first contact", message()),
        accepted("the pinned key", message(), known=PINNED),
        accepted("the key of a join string", message(), known=invited(SERVER)),
        accepted("the certificate seen", message(cert=CERT), cert=CERT.hex()),
        accepted("one of several protocols", message(), offered=[2, 1]),
        accepted("another key revoked", message(), revoked=[STRANGER.public.hex()]),
        accepted("two rotations from the pinned key", message(LAST, rolls=ROLLS), known=PINNED),
        accepted("one rotation not yet followed", message(LAST, rolls=ROLLS), known=between),
        accepted("rotations followed before", message(LAST, rolls=ROLLS), known=rolled),
        accepted("rotations at first contact", message(LAST, rolls=ROLLS)),
        accepted("a join string from before a rotation", message(LAST, rolls=ROLLS), known=invited(NEXT)),
        accepted("eight rotations", message(chain_of(8)[-1], rolls=rolls_of(8)), known=PINNED),
        accepted(
            "a key before was revoked, at first contact",
            message(LAST, rolls=ROLLS),
            revoked=[SERVER.public.hex()],
        ),
        accepted("the pinned key, beside what is no rotation", message(rolls=[NO_ROLL]), known=PINNED),
    ]


def chain_of(count: int) -> list[Any]:
    """Return keys for so many rotations from the first server key."""
    seeds = [bytes([0xA0 + i]) * 32 for i in range(count)]
    return [SERVER, *map(signing_key_from_seed, seeds)]


def rolls_of(count: int) -> list[Roll]:
    """Return so many rotations from the first server key."""
    chain = chain_of(count)
    return [
        make_roll(old, new, serial=i + 1, not_before=NOW - 100 + i)
        for i, (old, new) in enumerate(pairwise(chain))
    ]


def _foreign_hellos() -> list[Test]:
    for_another = message(client_hello=sha256(OTHER_FRAME))
    flipped = message()
    body = flipped.body[:-1] + bytes([flipped.body[-1] ^ 1])
    return [
        refused("for another client's hello, replayed", "OtherConnection", "C37", for_another),
        refused("a protocol that was not offered", "OtherConnection", "C37", message(proto=2)),
        refused("another certificate", "OtherConnection", "C37", message(cert=CERT), cert="ab" * 32),
        refused("a certificate where none is seen", "OtherConnection", "C37", message(cert=CERT)),
        refused("no certificate where one is seen", "OtherConnection", "C37", message(), cert=CERT.hex()),
        refused("the hash of another info", "OtherConnection", "C37", message(info=bytes(32))),
        refused("another key than pinned", "OtherServer", "C37", message(STRANGER), known=PINNED),
        refused("another key than invited", "OtherServer", "C37", message(STRANGER), known=invited(SERVER)),
        refused("signed by another key", "Signature", "C37", message(spk=STRANGER.public)),
        refused("a bit of the body flipped", "Signature", "C37", _with(flipped, body=body)),
        refused("no signature", "Signature", "C37", _with(flipped, sig=bytes(64))),
        refused("a key of small order", "NotAdmissible", "C37", _weak_hello(SMALL_ORDER)),
        refused("a key of mixed order", "NotAdmissible", "C37", _weak_hello(MIXED_ORDER)),
        refused("no body", "Shape", "C37", _signed_as_hello(b"\xc1")),
        refused("a field missing", "Shape", "C37", _signed_as_hello(enc(["truc/1/hello", SERVER.public]))),
        refused("the tag of a login", "Shape", "C37", _signed_as_hello(_retagged(flipped.body))),
        refused("revoked at first contact", "Revoked", "C40", message(), revoked=[SERVER.public.hex()]),
        refused(
            "revoked though pinned", "Revoked", "C40", message(), known=PINNED, revoked=[PINNED["first"]]
        ),
    ]


def _with(hello: ServerHello, **fields: Any) -> ServerHello:
    honest = {"body": hello.body, "sig": hello.sig, "info": hello.info, "rolls": hello.rolls}
    return ServerHello(re=1, **honest | fields)


def _weak_hello(spk: bytes) -> ServerHello:
    """A hello under a weak key; S = 0 under the identity verifies for every message."""
    return _with(message(spk=spk), sig=SMALL_ORDER + bytes(32))


def _signed_as_hello(body: bytes) -> ServerHello:
    return _with(message(), body=body, sig=SERVER.sign(body))


def _retagged(body: bytes) -> bytes:
    return body.replace(b"truc/1/hello", b"truc/1/jello")


def _rolled(comment: str, flag: str, rolls: Sequence[Roll], **contact: Any) -> Test:
    hello = message(LAST, rolls=rolls)
    check = contact.pop("check", "C39")
    return refused(comment, flag, check, hello, **{"known": PINNED, **contact})


def _bad_rolls() -> list[Test]:
    first, second = ROLLS
    early = make_roll(SERVER, LAST, serial=1, not_before=NOW + 1)
    foreign = make_roll(STRANGER, LAST, serial=1, not_before=NOW)
    weak = _weak_roll()
    swapped = (second[0], second[2], second[1])
    unsigned = (second[0], bytes(64), bytes(64))
    third = make_roll(NEXT, LAST, serial=3, not_before=NOW)
    return [
        _rolled("the first rotation left out", "Serial", [second]),
        _rolled("a serial skipped", "Serial", [first, third]),
        _rolled("serial 0", "Shape", [make_roll(SERVER, LAST, serial=0, not_before=NOW)], known=None),
        _rolled("from another key", "Serial", [foreign]),
        _rolled("in another order", "Serial", [second, first]),
        _rolled("not yet in force", "Serial", [early]),
        _rolled("not to the server's key", "Serial", [first]),
        _rolled("no rotation", "OtherServer", [], check="C37"),
        _rolled("not signed by the old key", "Signature", [first, (second[0], bytes(64), second[2])]),
        _rolled("not signed by the new key", "Signature", [first, (second[0], second[1], bytes(64))]),
        _rolled("the two signatures exchanged", "Signature", [first, swapped]),
        _rolled("signed twice by the new key", "Signature", [first, (second[0], second[2], second[2])]),
        _rolled("to a key of small order", "NotAdmissible", [weak]),
        _rolled("no body", "Shape", [NO_ROLL]),
        _rolled("at first contact: not signed", "Signature", [first, unsigned], known=None),
        _rolled("at first contact: not to the server's key", "Serial", [first], known=None),
        _rolled("at first contact: a serial skipped", "Serial", [first, third], known=None),
        _rolled("by a join string: not signed", "Signature", [first, unsigned], known=invited(LAST)),
        _rolled("through a revoked key", "Revoked", ROLLS, check="C40", revoked=[NEXT.public.hex()]),
        _rolled("from a revoked key", "Revoked", ROLLS, check="C40", revoked=[SERVER.public.hex()]),
        _rolled(
            "beside the key of the join string", "OtherServer", ROLLS, check="C37", known=invited(STRANGER)
        ),
        refused(
            "nine rotations",
            "TooMany",
            None,
            message(chain_of(9)[-1], rolls=rolls_of(9)),
            known=PINNED,
        ),
    ]


def _weak_roll() -> Roll:
    body = body_of(KeyRoll(old=SERVER.public, new=SMALL_ORDER, serial=1, not_before=NOW))
    return body, SERVER.sign(body), SMALL_ORDER + bytes(32)


def _auth(**fields: Any) -> Auth:
    honest = {
        "spk": SERVER.public,
        "pk": PLAYER.public,
        "cn": CN,
        "sn": SN,
        "server_hello": sha256(encode(message())),
    }
    return Auth(**honest | fields)


def _login(comment: str, *flags: str, check: str = "", key: Any = PLAYER, **changes: Any) -> Test:
    revoked = changes.pop("revoked", [])
    body = changes.pop("body", None) or body_of(_auth(**changes))
    sig = changes.pop("sig", None) or (key.sign(body) if key else SMALL_ORDER + bytes(32))
    expected = {"spk": SERVER.public.hex(), "cn": CN.hex(), "sn": SN.hex()}
    frame = encode(message()).hex()
    fields = {**expected, "server_frame": frame, "revoked": revoked, "body": body.hex(), "sig": sig.hex()}
    if check:
        return test(comment, "invalid", *flags, **fields, check=check)
    return test(comment, "valid", **fields, value=projected_body(body), pk=PLAYER.public.hex())


def _logins() -> list[Test]:
    other_hello = sha256(encode(message(info=bytes(32))))
    body = body_of(_auth())
    return [
        _login("a login"),
        _login("to another server", "OtherConnection", check="C38", spk=STRANGER.public),
        _login("another client's nonce", "OtherConnection", check="C38", cn=SN),
        _login("the nonce of a connection before, replayed", "OtherConnection", check="C38", sn=CN),
        _login("another hello of the server", "OtherConnection", check="C38", server_hello=other_hello),
        _login("signed by another key", "Signature", check="C38", key=STRANGER),
        _login("signed by the server", "Signature", check="C38", key=SERVER),
        _login("a key of small order", "NotAdmissible", check="C38", key=None, pk=SMALL_ORDER),
        _login("a revoked key", "Revoked", check="C40", revoked=[PLAYER.public.hex()]),
        _login("a field missing", "Shape", check="C38", body=enc(["truc/1/auth", SERVER.public])),
        _login("a byte after it", "Shape", check="C38", body=body + b"\0"),
        _login("the tag of a hello", "Shape", check="C38", body=body.replace(b"1/auth", b"1/hath")),
    ]


def _made_roll(old: int, new: int, serial: int) -> Test:
    fields = {"old_seed": SEEDS[old].hex(), "new_seed": SEEDS[new].hex(), "serial": serial, "not_before": NOW}
    keys = signing_key_from_seed(SEEDS[old]), signing_key_from_seed(SEEDS[new])
    body, sig_old, sig_new = make_roll(*keys, serial=serial, not_before=NOW)
    signed = {"body": body.hex(), "sig_old": sig_old.hex(), "sig_new": sig_new.hex()}
    return test(f"rotation {serial}", "valid", **fields, value=projected_body(body), **signed)


def _revocations() -> list[Test]:
    def revocation(comment: str, result: str, *flags: str, body: bytes, sig: bytes, **fields: Any) -> Test:
        signed = {"body": body.hex(), "sig": sig.hex(), **fields}
        return test(comment, result, *flags, **signed, **({} if result == "valid" else {"check": "C40"}))

    good = revoke(SERVER)
    value = {"value": projected_body(good.body), "pk": SERVER.public.hex()}
    other = _body(Revoke(pk=STRANGER.public))
    longer = enc(["truc/1/revoke", SERVER.public, 0])
    return [
        revocation("a revocation", "valid", body=good.body, sig=good.sig, **value),
        revocation("of another key", "invalid", "Signature", body=other, sig=SERVER.sign(other)),
        revocation("without a signature", "invalid", "Signature", body=good.body, sig=bytes(64)),
        revocation("a field too many", "invalid", "Shape", body=longer, sig=SERVER.sign(longer)),
    ]


def _body(body: Body) -> bytes:
    return body_of(body)


def made() -> Vectors:
    """Return the file."""
    return vectors(
        HEADER,
        NOTES,
        [
            Group("hello", [*_good_hellos(), *_foreign_hellos(), *_bad_rolls()]),
            Group("login", _logins()),
            Group("roll", [_made_roll(0, 1, 1), _made_roll(1, 2, 2)]),
            Group("revoke", _revocations()),
        ],
    )
