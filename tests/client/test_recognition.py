"""Which keys a server's hello shows to be its own: those under which a match that goes on may have been begun."""

from rows import each_row

from truc_client.line.login import keys_shown
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


UNSIGNED = make_roll(STRANGER, PRESENT, serial=2, not_before=0)


@each_row(
    "rolls, revoked, keys",
    [
        ((), (), {PRESENT}),
        (ROLLS, (), {FIRST, SECOND, PRESENT}),
        (ROLLS[:1], (), {PRESENT}),  # it leads elsewhere
        (((UNSIGNED[0], bytes(64), UNSIGNED[2]),), (), {PRESENT}),  # the key before has not signed it
        (((b"\x90", bytes(64), bytes(64)),), (), {PRESENT}),  # it is no roll
        (ROLLS, {SECOND.public}, {PRESENT}),  # nor any key before one that was given up
    ],
)
def test_keys_before_are_shown_by_the_rolls_that_led_from_them(rolls, revoked, keys) -> None:
    assert shown(*rolls, revoked=revoked) == {key.public for key in keys}
