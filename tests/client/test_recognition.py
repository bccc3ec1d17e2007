"""Which keys a server's hello shows to be its own: those under which a match that goes on may have been begun."""

from truc_client.line.recognition import keys_shown
from truc_protocol.crypto.keys import signing_key_from_seed
from truc_protocol.messages import Info, Limits, ServerHello
from truc_protocol.wire.handshake import Pin, ServerIdentity, Trust, make_roll

FIRST, SECOND, PRESENT, STRANGER = (signing_key_from_seed(bytes([i]) * 32) for i in range(1, 5))
ROLLS = (make_roll(FIRST, SECOND, serial=1, not_before=0), make_roll(SECOND, PRESENT, serial=2, not_before=0))
LIMITS = Limits(frame_in=8192, frame_out=65536, idle_s=30, requests_per_s=10, burst=20)
INFO = Info(name="a server", software="x 1", caps={}, limits=LIMITS, variants=(), guests=True, now_ms=0)
SERVER = ServerIdentity(Pin(PRESENT.public, PRESENT.public, 2), Trust.PINNED, 1, bytes(32), INFO)


def shown(*rolls, revoked=()) -> set[bytes]:
    hello = ServerHello(re=0, body=b"", sig=bytes(64), info=b"", rolls=rolls)
    return set(keys_shown(hello, SERVER, revoked))


def test_key_never_changed_is_the_only_one() -> None:
    assert shown() == {PRESENT.public}


def test_keys_before_are_shown_by_the_rolls_that_led_from_them() -> None:
    assert shown(*ROLLS) == {FIRST.public, SECOND.public, PRESENT.public}


def test_roll_that_leads_elsewhere_shows_nothing() -> None:
    assert shown(ROLLS[0]) == {PRESENT.public}


def test_roll_that_the_key_before_has_not_signed_shows_nothing() -> None:
    body, _, sig_new = make_roll(STRANGER, PRESENT, serial=2, not_before=0)
    assert shown((body, bytes(64), sig_new)) == {PRESENT.public}


def test_what_is_no_roll_shows_nothing() -> None:
    assert shown((b"\x90", bytes(64), bytes(64))) == {PRESENT.public}


def test_key_given_up_is_not_shown_nor_any_before_it() -> None:
    assert shown(*ROLLS, revoked={SECOND.public}) == {PRESENT.public}
