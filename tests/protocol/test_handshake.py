"""The handshake beyond what tests/vectors/handshake.json pins, and attacks on it with every key the attacker holds (C37 to C40)."""

from datetime import UTC, datetime

import pytest
from rows import each_row

from truc_docs.protocol import examples
from truc_protocol.codec import MAX_INT, enc, sha256
from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import ClientHello, KeyLogin, ServerHello, encode_info
from truc_protocol.records import encode as body_of
from truc_protocol.wire.encoding import encode
from truc_protocol.wire.handshake import (
    Auth,
    BrokenPart,
    Challenge,
    Fingerprint,
    Greeting,
    HandshakeError,
    Hello,
    KeyRoll,
    KnownServer,
    Pin,
    SignedBody,
    Trust,
    agree_on_protocol,
    authenticate,
    check_login,
    check_revoke,
    check_server_hello,
    make_roll,
    server_hello,
)

SERVER, NEXT, LAST, PLAYER, STRANGER = (signing_key_from_seed(bytes([i]) * 32) for i in range(1, 6))
SMALL_ORDER = b"\x01" + bytes(31)
CN, SN, CERT = b"\xc1" * 32, b"\x51" * 32, b"\xce" * 32
NOW = 1_790_000_000
INFO = encode_info(examples.INFO)
CLIENT_HELLO = ClientHello(id=1, proto=(1,), cn=CN)
CLIENT_FRAME = encode(CLIENT_HELLO)
ROLL_1 = make_roll(SERVER, NEXT, serial=1, not_before=NOW)
ROLL_2 = make_roll(NEXT, LAST, serial=2, not_before=NOW)
PINNED = Pin(SERVER.public, SERVER.public, 0)


def hello_of(key=SERVER, *, rolls=(), cert=None, client_frame=CLIENT_FRAME):
    return server_hello(Greeting(key, SN, 1, INFO, cert, rolls), 1, client_frame)


def known_server(known=None, **changes):
    return KnownServer(CLIENT_FRAME, (1,), known, NOW)._replace(**changes)


def hello_with(**changes):
    """Return a hello whose body was changed and signed again."""
    fields = {
        "spk": SERVER.public,
        "sn": SN,
        "client_hello": sha256(CLIENT_FRAME),
        "proto": 1,
        "cert": None,
        "info": sha256(INFO),
    }
    body = body_of(Hello(**fields | changes))
    return ServerHello(re=1, body=body, sig=SERVER.sign(body), info=INFO)


def failed(hello, seen):
    with pytest.raises(HandshakeError) as caught:
        check_server_hello(hello, seen)
    return caught.value


def login_for(hello=None, *, key=PLAYER, cn=CN):
    hello = hello or hello_of()
    server = check_server_hello(hello, known_server())
    signed = authenticate(key, server, cn=cn, hello_frame=encode(hello))
    return KeyLogin(id=2, body=signed.body, sig=signed.sig)


def challenge(**changes):
    return Challenge(SERVER.public, CN, SN, encode(hello_of()))._replace(**changes)


def refused_login(login, expected):
    with pytest.raises(HandshakeError) as caught:
        check_login(login, expected)
    return caught.value


# Agreeing on a protocol


@each_row(
    "proto, require, told, field",
    [
        ((2, 3), (), r"one of the protocols \[1\], got \[2, 3\]", "proto"),
        ((1,), ("chat", "draft/x"), "'draft/x'", "require/1"),
    ],
)
def test_hello_that_asks_for_what_is_not_there_is_unsupported(proto, require, told, field):
    with pytest.raises(RemoteError, match=told) as caught:
        agree_on_protocol(ClientHello(id=4, proto=proto, cn=CN, require=require), {"chat": 1})
    assert (caught.value.code, caught.value.field, caught.value.re) == (Code.UNSUPPORTED, field, 4)


@each_row("wishes", [{"require": ("chat",)}, {"want": ("draft/x",)}])
def test_capability_that_is_there_or_is_only_wanted_leaves_the_protocol_agreed(wishes):
    assert agree_on_protocol(ClientHello(id=1, proto=(7, 1), cn=CN, **wishes), {"chat": 1}) == 1


# The server proves itself


def test_server_hello_tells_what_it_proved():
    server = check_server_hello(hello_of(), known_server())
    assert (server.spk, server.proto, server.sn, server.info.name) == (SERVER.public, 1, SN, "Casa")


@each_row(
    "body, code",
    [
        *(
            (body, Code.BAD_MESSAGE)
            for body in (b"\xc1", enc(["truc/1/hello"]), enc(["truc/1/auth", *[bytes(32)] * 5]), enc(1))
        ),
        (hello_with(spk=SMALL_ORDER).body, Code.KEY_NOT_ALLOWED),
    ],
)
def test_hello_of_another_shape_or_under_an_inadmissible_key_fails_c37(body, code):
    error = failed(ServerHello(re=1, body=body, sig=bytes(64), info=INFO), known_server())
    assert (error.check, error.code) == ("C37", code)


@each_row(
    "changes, text",
    [
        ({"spk": STRANGER.public}, "C37: the server's signature is not valid"),
        ({"client_hello": bytes(32)}, "C37: expected the hash of this client's hello, got another"),
        ({"proto": 2}, "C37: expected a protocol of [1], got 2"),
        ({"cert": CERT}, "C37: the server has encrypted this connection, but it comes in clear"),
        ({"info": bytes(32)}, "C37: expected the hash of the info sent along, got another"),
    ],
)
def test_hello_for_other_terms_fails_c37(changes, text):
    assert str(failed(hello_with(**changes), known_server())) == text


def test_changed_key_is_named_with_both_fingerprints():
    error = failed(hello_of(STRANGER), known_server(PINNED))
    assert str(error) == (
        "C37: the server's key has changed: "
        f"expected {fingerprint(SERVER.public)}, got {fingerprint(STRANGER.public)}"
    )


def test_info_that_is_no_map_is_refused():
    hello = server_hello(Greeting(SERVER, SN, 1, b"\x01"), 1, CLIENT_FRAME)
    with pytest.raises(RemoteError, match="info: expected a map"):
        check_server_hello(hello, known_server())


# Rotation


def test_server_sends_only_the_newest_rolls():
    assert len(hello_of(rolls=(ROLL_1,) * 9).rolls) == 8


def at(seconds):
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


NOT_YET = f"C39: rotation 1 is not in force before {at(NOW + 1)}; the clock here says {at(NOW)}: is it right?"
NEVER = f"C39: rotation 1 is not in force before second {MAX_INT} since 1970; the clock here says {at(NOW)}: is it right?"


WEAK = body_of(KeyRoll(old=SERVER.public, new=SMALL_ORDER, serial=1, not_before=NOW))
TO_A_WEAK_KEY = (WEAK, SERVER.sign(WEAK), bytes(64))


@each_row("rolls, text",
    [
        ((ROLL_2,), "C39: expected the rotation with serial 1, got 2"),
        ((make_roll(STRANGER, LAST, serial=1, not_before=NOW),), "C39: expected the key before in rotation 1, got another"),
        ((make_roll(SERVER, LAST, serial=1, not_before=NOW + 1),), NOT_YET),
        ((make_roll(SERVER, LAST, serial=1, not_before=MAX_INT),), NEVER),
        ((ROLL_1,), "C39: expected rotations that end at the server's key, got another"),
        ((TO_A_WEAK_KEY,), "C39: rotation 1 names an inadmissible key"),
        ((ROLL_1, (ROLL_2[0], bytes(64), ROLL_2[2])), "C39: rotation 2 is not signed by both keys"),
        ((ROLL_1, (ROLL_2[0], ROLL_2[1], bytes(64))), "C39: rotation 2 is not signed by both keys"),
    ],
)  # fmt: skip
def test_broken_rotation_fails_c39(rolls, text):
    assert str(failed(hello_of(LAST, rolls=rolls), known_server(PINNED))) == text


@each_row("known", [None, PINNED, Fingerprint("A" * 26)])
def test_roll_of_another_shape_fails_c39(known):
    error = failed(hello_of(LAST, rolls=((b"\x90", bytes(64), bytes(64)),)), known_server(known))
    assert (error.check, error.code) == ("C39", Code.BAD_MESSAGE)


# The client says who it is


@each_row(
    "changes, text",
    [
        ({"spk": STRANGER.public}, "C38: expected this server's key, got another"),
        ({"cn": bytes(32)}, "C38: expected the client's nonce, got another"),
        ({"sn": bytes(32)}, "C38: expected the server's nonce, got another"),
        ({"hello_frame": b"other"}, "C38: expected the hash of the server's hello, got another"),
    ],
)
def test_login_for_another_connection_fails_c38(changes, text):
    assert str(refused_login(login_for(), challenge(**changes))) == text


def login_body(**changes):
    fields = {
        "spk": SERVER.public,
        "pk": PLAYER.public,
        "cn": CN,
        "sn": SN,
        "server_hello": sha256(encode(hello_of())),
    }
    return body_of(Auth(**fields | changes))


@each_row(
    "body, sig, code",
    [
        (login_body(), STRANGER.sign(login_body()), Code.BAD_SIGNATURE),
        (login_body(pk=SMALL_ORDER), SMALL_ORDER + bytes(32), Code.KEY_NOT_ALLOWED),
        (enc(["truc/1/auth"]), bytes(64), Code.BAD_MESSAGE),
    ],
)
def test_login_under_another_or_a_weak_key_or_of_another_shape_fails_c38(body, sig, code):
    error = refused_login(KeyLogin(id=2, body=body, sig=sig), challenge())
    assert (error.check, error.code) == ("C38", code)
    assert error.field == ("body" if code is Code.BAD_MESSAGE else None)


# Relays


@each_row(
    "signed, seen, broken", [(CERT, bytes(32), BrokenPart.CERTIFICATE), (None, CERT, BrokenPart.ENCRYPTION)]
)
def test_hello_through_a_relay_with_a_certificate_of_its_own_fails_c37(signed, seen, broken):
    error = failed(hello_of(cert=signed), known_server(PINNED, cert=seen))
    assert (error.check, error.what) == ("C37", broken)


# Rotations


def test_rolls_that_a_relay_has_left_out_at_first_contact_do_not_stop_the_next_rotation():
    pin = check_server_hello(hello_of(NEXT), known_server()).pin
    server = check_server_hello(hello_of(LAST, rolls=(ROLL_1, ROLL_2)), known_server(pin))
    assert (server.pin, server.trust) == (Pin(NEXT.public, LAST.public, 2), Trust.ROLLED)


def test_rotation_from_the_pinned_key_that_was_followed_before_is_not_followed_again():
    """The server went back to a key of before; its first rotation away from that key is replayed."""
    back = make_roll(NEXT, SERVER, serial=2, not_before=NOW)
    pin = Pin(SERVER.public, SERVER.public, 2)
    assert failed(hello_of(NEXT, rolls=(ROLL_1,)), known_server(pin)).check == "C37"
    assert failed(hello_of(NEXT, rolls=(ROLL_1, back)), known_server(pin)).check == "C37"


@each_row("serial, check", [(1, "C37"), (2, "C39")])
def test_thief_of_an_old_key_can_neither_roll_a_pin_back_nor_lead_it_past_the_present_key(serial, check):
    theirs = make_roll(SERVER, STRANGER, serial=serial, not_before=NOW)
    pin = Pin(SERVER.public, NEXT.public, 1)
    assert failed(hello_of(STRANGER, rolls=(theirs,)), known_server(pin)).check == check


# Revocations


def test_invite_to_a_revoked_key_is_not_followed():
    known = Fingerprint(fingerprint(SERVER.public))
    seen = known_server(known, revoked={SERVER.public})
    assert failed(hello_of(LAST, rolls=(ROLL_1, ROLL_2)), seen).check == "C40"


def test_revocation_that_a_rotation_has_signed_is_none():
    body, by_old, _ = ROLL_1
    with pytest.raises(HandshakeError, match="C40"):
        check_revoke(SignedBody(body, by_old))
