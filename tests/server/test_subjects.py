"""Players and addresses as hosts write them: what a list may hold, and whom it means."""

import pytest
from rows import each_row

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.net.peer import tag_of
from truc_server.settings.subjects import Subjects, is_subject, normal_subject
from truc_server.storage import PlayerKind

KEY = fingerprint(signing_key_from_seed(b"k" * 32).public)
GUEST = tag_of(PlayerKind.GUEST, b"g" * 16)


@each_row(
    "entry, may_be_banned",
    [
        *((entry, True) for entry in (KEY, GUEST, "192.0.2.1", "192.0.2.0/24", "192.0.2.7/24")),
        *((entry, True) for entry in ("2001:db8::1", "2001:db8::/32")),
        *((entry, False) for entry in ("", "x", KEY[1:], KEY.lower(), GUEST[:-1], "guest-" + "0" * 20)),
        *((entry, False) for entry in ("192.0.2", "192.0.2.1/33", "truc.example", "*")),
    ],
)
def test_ban_is_of_a_player_an_address_or_a_network(entry, may_be_banned):
    assert is_subject(entry) is may_be_banned


@each_row(
    "entry, address, is_shut_out",
    [
        ("192.0.2.0/24", "192.0.2.1", True),
        ("192.0.2.0/24", "192.0.2.255", True),
        ("192.0.2.0/24", "::ffff:192.0.2.9", True),
        ("192.0.2.0/24", "192.0.3.1", False),
        ("192.0.2.0/24", "gone", False),
        ("2001:db8::/32", "2001:db8::5", True),
        ("2001:db8::/32", "2001:db9::5", False),
        *(
            (entry, address, True)
            for entry in ("::ffff:192.0.2.9", "::ffff:192.0.2.0/120", "::ffff:c000:0209")
            for address in ("192.0.2.9", "::ffff:192.0.2.9")
        ),
        ("::ffff:192.0.2.0/120", "192.0.3.1", False),
        ("::/0", "192.0.2.1", False),  # a network of the other kind
        ("fe80::/10", "fe80::1%eth0", True),
        ("fe80::1%eth0", "fe80::1%eth0", True),
        ("fe80::1%eth1", "fe80::1%eth0", True),
        ("fe80::1%eth0/64", "fe80::1%eth0", True),
        (KEY, "192.0.2.1", False),
    ],
)
def test_address_in_a_banned_network_is_shut_out(entry, address, is_shut_out):
    assert Subjects.of([entry]).has_address(address) is is_shut_out


def test_tags_are_those_of_keys_and_guests():
    assert Subjects.of([KEY, "192.0.2.1", GUEST]).tags == {KEY, GUEST}


def test_networks_of_many_sizes_are_all_looked_at():
    subjects = Subjects.of([f"192.0.{n}.0/{n}" for n in range(16, 33)])
    assert [n for n in range(16, 33) if subjects.has_address(f"192.0.{n}.0")] == list(range(16, 33))


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (KEY, KEY),
        (KEY.lower(), KEY),
        (signing_key_from_seed(b"k" * 32).public.hex(), KEY),
        (GUEST.lower(), GUEST),
        ("192.0.2.7/24", "192.0.2.0/24"),
        ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
        ("2001:db8:0::1/128", "2001:db8::1"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("Ana", None),
        ("guest-", None),
        ("", None),
    ],
)
def test_subject_has_one_form(written, normal):
    assert normal_subject(written) == normal
