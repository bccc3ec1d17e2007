"""Players and addresses as hosts write them: what a list may hold, and whom it means."""

import pytest

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.net.peer import tag_of
from truc_server.settings.subjects import Subjects, is_subject, normal_subject
from truc_server.storage import PlayerKind

KEY = fingerprint(signing_key_from_seed(b"k" * 32).public)
GUEST = tag_of(PlayerKind.GUEST, b"g" * 16)


@pytest.mark.parametrize(
    "entry", [KEY, GUEST, "192.0.2.1", "192.0.2.0/24", "192.0.2.7/24", "2001:db8::1", "2001:db8::/32"]
)
def test_ban_may_be(entry):
    assert is_subject(entry)


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "x",
        KEY[1:],
        KEY.lower(),
        GUEST[:-1],
        "guest-" + "0" * 20,
        "192.0.2",
        "192.0.2.1/33",
        "truc.example",
        "*",
    ],
)
def test_ban_may_not_be(entry):
    assert not is_subject(entry)


@pytest.mark.parametrize("address", ["192.0.2.1", "192.0.2.255", "::ffff:192.0.2.9", "2001:db8::5"])
def test_address_in_a_banned_network_is_shut_out(address):
    assert Subjects.of(["192.0.2.0/24", "2001:db8::/32"]).has_address(address)


@pytest.mark.parametrize("entry", ["::ffff:192.0.2.9", "::ffff:192.0.2.0/120", "::ffff:c000:0209"])
@pytest.mark.parametrize("address", ["192.0.2.9", "::ffff:192.0.2.9"])
def test_address_of_ipv4_may_be_written_as_one_of_ipv6(entry, address):
    assert Subjects.of([entry]).has_address(address)


def test_network_of_ipv4_written_as_one_of_ipv6_shuts_nobody_else_out():
    assert not Subjects.of(["::ffff:192.0.2.0/120"]).has_address("192.0.3.1")


@pytest.mark.parametrize("address", ["192.0.3.1", "2001:db9::5", "gone"])
def test_other_addresses_are_not(address):
    assert not Subjects.of([KEY, "192.0.2.0/24", "2001:db8::/32"]).has_address(address)


def test_tags_are_those_of_keys_and_guests():
    assert Subjects.of([KEY, "192.0.2.1", GUEST]).tags == {KEY, GUEST}


def test_networks_of_many_sizes_are_all_looked_at():
    subjects = Subjects.of([f"192.0.{n}.0/{n}" for n in range(16, 33)])
    assert [n for n in range(16, 33) if subjects.has_address(f"192.0.{n}.0")] == list(range(16, 33))


def test_network_of_the_other_kind_of_address_means_nobody():
    assert not Subjects.of(["::/0"]).has_address("192.0.2.1")


def test_address_of_one_link_is_known_without_its_link():
    assert Subjects.of(["fe80::/10"]).has_address("fe80::1%eth0")


@pytest.mark.parametrize("entry", ["fe80::1%eth0", "fe80::1%eth1", "fe80::1%eth0/64"])
def test_address_of_one_link_may_be_listed_with_its_link(entry):
    assert Subjects.of([entry]).has_address("fe80::1%eth0")


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
