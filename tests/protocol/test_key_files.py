"""Rotations and revocations as text: what is read was checked, and what is wrong is named with its line."""

import pytest
from rows import each_row

from truc_protocol.codec import enc
from truc_protocol.crypto.keys import KeyFileError, signing_key_from_seed
from truc_protocol.key_files import read_revocation, read_rolls, revocation_text, rolls_text
from truc_protocol.wire.handshake import KeyRoll, make_roll, revoke

FIRST, SECOND, THIRD, STRANGER = (signing_key_from_seed(bytes([i]) * 32) for i in range(1, 5))
ROLL_1 = make_roll(FIRST, SECOND, serial=1, not_before=5)
ROLL_2 = make_roll(SECOND, THIRD, serial=2, not_before=6)


def test_revocation_is_read_as_the_key_it_gives_up_also_when_mail_has_carried_it() -> None:
    text = revocation_text(revoke(FIRST))
    assert read_revocation(text) == read_revocation(text.replace("\n", "\r\n") + "\r\n") == FIRST.public
    assert FIRST.seed().hex() not in text


def test_revocation_signed_by_another_key_is_refused() -> None:
    forged = revoke(FIRST)._replace(sig=STRANGER.sign(revoke(FIRST).body))
    with pytest.raises(KeyFileError, match="not signed by the key that it gives up"):
        read_revocation(revocation_text(forged))


@each_row(
    "text, told",
    [
        ("", "line 1: expected 'truc revocation 1'"),
        ("truc player key 1\n00", "line 1: expected 'truc revocation 1'$"),
        ("truc revocation 1\n00", "expected a body and a signature in hex digits, got 1 words"),
        ("truc revocation 1\n00\nzz", "expected hex digits, got 'zz'"),
        ("truc revocation 1\n00\n00", "it is damaged"),
        ("truc revocation 1\n00\n\N{EM SPACE}00", "expected at most 4096 plain ASCII characters"),
        ("truc revocation 1\n" + " " * 4096, "expected at most 4096 plain ASCII characters"),
    ],
)
def test_other_text_is_no_revocation(text, told) -> None:
    with pytest.raises(KeyFileError, match=told):
        read_revocation(text)


def test_rolls_are_read_as_written_and_tell_what_they_say() -> None:
    rotations = read_rolls(rolls_text((ROLL_1, ROLL_2)))
    assert tuple(rotation.roll for rotation in rotations) == (ROLL_1, ROLL_2)
    assert rotations[0].change == KeyRoll(old=FIRST.public, new=SECOND.public, serial=1, not_before=5)
    assert read_rolls(rolls_text(())) == ()


@each_row("rolls, told",
    [
        ((ROLL_2,), "line 2: expected the rotation with serial 1, got 2"),
        ((ROLL_1, ROLL_1), "line 3: expected the rotation with serial 2, got 1"),
        ((ROLL_1, make_roll(FIRST, THIRD, serial=2, not_before=6)),
         "line 3: rotation 2 does not start at the key that the one before led to"),
        (((ROLL_1[0], bytes(64), ROLL_1[2]),), "line 2: rotation 1 is not signed by both keys"),
        (((ROLL_1[0], ROLL_1[1], ROLL_2[2]),), "line 2: rotation 1 is not signed by both keys"),
        (((enc(["truc/1/revoke", bytes(32)]), bytes(64), bytes(64)),), "line 2: expected the body of a rotation"),
    ],
)  # fmt: skip
def test_broken_rolls_are_refused_with_their_line(rolls, told) -> None:
    with pytest.raises(KeyFileError, match=told):
        read_rolls(rolls_text(rolls))


@each_row("text, told",
    [
        ("", "line 1: expected 'truc server rolls 1'"),
        ("truc server rolls 1\n00 00\n", "line 2: expected a body and two signatures in hex digits, got 2 words"),
        ("truc server rolls 1\n00 00 0\n", "line 2: expected hex digits, got '0'"),
        ("truc server rolls 1\n\n" + rolls_text((ROLL_1,)), "line 2: expected a body and two signatures"),
        (rolls_text((ROLL_1, ROLL_2))[:-40], "line 3"),
    ],
)  # fmt: skip
def test_other_text_is_no_rolls(text, told) -> None:
    with pytest.raises(KeyFileError, match=told):
        read_rolls(text)
