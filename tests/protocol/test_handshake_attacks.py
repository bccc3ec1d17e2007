"""Attacks on the handshake, each with every key the attacker holds: replays, relays, thieves of keys (C37 to C40)."""

import pytest
from protocol.test_handshake import (
    CERT,
    CLIENT_FRAME,
    CN,
    INFO,
    LAST,
    NEXT,
    NOW,
    PINNED,
    PLAYER,
    ROLL_1,
    ROLL_2,
    SERVER,
    SN,
    STRANGER,
    contact,
    failed,
    hello_of,
    refused_login,
)

from truc_protocol.codec import pack, unpack
from truc_protocol.crypto.keys import fingerprint
from truc_protocol.messages import ClientHello, Direction, KeyLogin, MessageError, ServerHello, decode, encode
from truc_protocol.wire.handshake import (
    Broken,
    Challenge,
    Fingerprint,
    Greeting,
    HandshakeError,
    Pin,
    Signed,
    Trust,
    authenticate,
    check_revoke,
    check_server_hello,
    make_roll,
    server_hello,
)

OTHER_CN, OTHER_SN, OTHER_CERT = b"\xc2" * 32, b"\x52" * 32, b"\xcd" * 32


def login_of(hello, *, cn=CN, known=PINNED) -> KeyLogin:
    """The login of an honest client that this hello has convinced."""
    server = check_server_hello(hello, contact(known))
    signed = authenticate(PLAYER, server, cn=cn, hello_frame=encode(hello))
    return KeyLogin(id=2, body=signed.body, sig=signed.sig)


def expected_by(key, hello, *, cn=CN, sn=SN, **changes) -> Challenge:
    """What a server expects of the login to the connection on which it sent this hello."""
    return Challenge(key.public, cn, sn, encode(hello))._replace(**changes)


# Replays


def test_hello_replayed_to_another_client_fails_c37():
    other = encode(ClientHello(id=1, proto=(1,), cn=OTHER_CN))
    assert failed(hello_of(), contact(PINNED, hello_frame=other)).check == "C37"


def test_login_replayed_on_the_next_connection_fails_c38():
    login = login_of(hello_of())
    again = server_hello(Greeting(SERVER, OTHER_SN, 1, INFO), 1, CLIENT_FRAME)
    assert refused_login(login, expected_by(SERVER, again, sn=OTHER_SN)).check == "C38"


def test_login_replayed_by_a_client_of_another_nonce_fails_c38():
    login = login_of(hello_of())
    assert refused_login(login, expected_by(SERVER, hello_of(), cn=OTHER_CN)).check == "C38"


# Relays


def test_offer_that_a_relay_has_cut_down_fails_c37():
    offered = encode(ClientHello(id=1, proto=(2, 1), cn=CN))
    assert failed(hello_of(client_frame=CLIENT_FRAME), contact(PINNED, hello_frame=offered)).check == "C37"


def test_hello_through_a_relay_with_a_certificate_of_its_own_fails_c37():
    error = failed(hello_of(cert=CERT), contact(PINNED, cert=OTHER_CERT))
    assert (error.check, error.what) == ("C37", Broken.CERTIFICATE)


def test_info_that_a_relay_has_changed_fails_c37():
    hello = hello_of()
    other = INFO.replace(b"Casa", b"Cosa")
    assert failed(ServerHello(re=1, body=hello.body, sig=hello.sig, info=other), contact()).check == "C37"


def test_login_that_another_server_passes_on_fails_c38():
    """A player logs in to a server of the attacker's, which answers with the nonce of the server it wants to enter."""
    own = hello_of(STRANGER)
    login = login_of(own, known=None)
    assert refused_login(login, expected_by(SERVER, hello_of())).check == "C38"


def test_rolls_that_a_relay_has_left_out_fail_c38_at_the_login():
    sent = hello_of(LAST, rolls=(ROLL_1, ROLL_2))
    seen = hello_of(LAST)
    login = login_of(seen, known=Pin(LAST.public, LAST.public, 2))
    assert refused_login(login, expected_by(LAST, sent)).check == "C38"


# Rotations


@pytest.mark.parametrize("signature", ["old", "new"])
def test_rotation_signed_by_one_key_alone_fails_c39(signature):
    """A thief has the old key but not the new one, or the new server never agreed to follow the old."""
    body, by_old, by_new = ROLL_1
    forged = (body, by_old, by_old) if signature == "old" else (body, by_new, by_new)
    assert failed(hello_of(NEXT, rolls=(forged,)), contact(PINNED)).check == "C39"


def test_rotation_after_a_gap_fails_c39():
    later = make_roll(NEXT, LAST, serial=3, not_before=NOW)
    assert failed(hello_of(LAST, rolls=(ROLL_1, later)), contact(PINNED)).check == "C39"


def test_rolls_that_a_relay_has_left_out_at_first_contact_do_not_stop_the_next_rotation():
    pin = check_server_hello(hello_of(NEXT), contact()).pin
    server = check_server_hello(hello_of(LAST, rolls=(ROLL_1, ROLL_2)), contact(pin))
    assert (server.pin, server.trust) == (Pin(NEXT.public, LAST.public, 2), Trust.ROLLED)


def test_rotation_that_a_relay_makes_up_at_first_contact_pins_no_serial():
    """A serial that no rotation to come is above would make the client refuse them all."""
    body, *_ = make_roll(STRANGER, SERVER, serial=2**53 - 1, not_before=NOW)
    made_up = (body, STRANGER.sign(body), bytes(64))
    assert failed(hello_of(SERVER, rolls=(made_up,)), contact()).check == "C39"


def test_rotation_from_the_pinned_key_that_was_followed_before_is_not_followed_again():
    """The server went back to a key of before; its first rotation away from that key is replayed."""
    back = make_roll(NEXT, SERVER, serial=2, not_before=NOW)
    pin = Pin(SERVER.public, SERVER.public, 2)
    assert failed(hello_of(NEXT, rolls=(ROLL_1,)), contact(pin)).check == "C37"
    assert failed(hello_of(NEXT, rolls=(ROLL_1, back)), contact(pin)).check == "C37"


def test_hello_with_9_rotations_is_no_message():
    fields = unpack(encode(hello_of(LAST, rolls=(ROLL_1, ROLL_2))))
    frame = pack(fields | {"rolls": [fields["rolls"][0]] * 9})
    with pytest.raises(MessageError):
        decode(frame, Direction.TO_CLIENT)


def test_thief_of_an_old_key_cannot_roll_a_pin_back():
    theirs = make_roll(SERVER, STRANGER, serial=1, not_before=NOW)
    pin = Pin(SERVER.public, NEXT.public, 1)
    assert failed(hello_of(STRANGER, rolls=(theirs,)), contact(pin)).check == "C37"


def test_thief_of_an_old_key_cannot_lead_a_pin_past_the_present_key():
    theirs = make_roll(SERVER, STRANGER, serial=2, not_before=NOW)
    pin = Pin(SERVER.public, NEXT.public, 1)
    assert failed(hello_of(STRANGER, rolls=(theirs,)), contact(pin)).check == "C39"


def test_thief_of_the_present_key_can_roll_until_it_is_revoked():
    theirs = make_roll(SERVER, STRANGER, serial=1, not_before=NOW)
    hello = hello_of(STRANGER, rolls=(theirs,))
    assert check_server_hello(hello, contact(PINNED)).spk == STRANGER.public
    assert failed(hello, contact(PINNED, revoked={SERVER.public})).check == "C40"


# Revocations


def test_invite_to_a_revoked_key_is_not_followed():
    known = Fingerprint(fingerprint(SERVER.public))
    seen = contact(known, revoked={SERVER.public})
    assert failed(hello_of(LAST, rolls=(ROLL_1, ROLL_2)), seen).check == "C40"


def test_revocation_that_a_rotation_has_signed_is_none():
    body, by_old, _ = ROLL_1
    with pytest.raises(HandshakeError, match="C40"):
        check_revoke(Signed(body, by_old))
