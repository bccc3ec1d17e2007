"""Bans: what a list of them may hold, and whom it shuts out."""

import pytest

from truc_protocol.keys import fingerprint, signing_key_from_seed
from truc_server.bans import Bans, is_ban
from truc_server.peer import tag_of
from truc_server.store import PlayerKind

KEY = fingerprint(signing_key_from_seed(b"k" * 32).public)
GUEST = tag_of(PlayerKind.GUEST, b"g" * 16)


@pytest.mark.parametrize(
    "entry", [KEY, GUEST, "192.0.2.1", "192.0.2.0/24", "192.0.2.7/24", "2001:db8::1", "2001:db8::/32"]
)
def test_ban_may_be(entry):
    assert is_ban(entry)


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
    assert not is_ban(entry)


@pytest.mark.parametrize("address", ["192.0.2.1", "192.0.2.255", "::ffff:192.0.2.9", "2001:db8::5"])
def test_address_in_a_banned_network_is_shut_out(address):
    assert Bans.of(["192.0.2.0/24", "2001:db8::/32"]).has_address(address)


@pytest.mark.parametrize("entry", ["::ffff:192.0.2.9", "::ffff:192.0.2.0/120", "::ffff:c000:0209"])
@pytest.mark.parametrize("address", ["192.0.2.9", "::ffff:192.0.2.9"])
def test_address_of_ipv4_may_be_written_as_one_of_ipv6(entry, address):
    assert Bans.of([entry]).has_address(address)


def test_network_of_ipv4_written_as_one_of_ipv6_shuts_nobody_else_out():
    assert not Bans.of(["::ffff:192.0.2.0/120"]).has_address("192.0.3.1")


@pytest.mark.parametrize("address", ["192.0.3.1", "2001:db9::5", "gone"])
def test_other_addresses_are_not(address):
    assert not Bans.of([KEY, "192.0.2.0/24", "2001:db8::/32"]).has_address(address)


def test_tags_are_those_of_keys_and_guests():
    assert Bans.of([KEY, "192.0.2.1", GUEST]).tags == {KEY, GUEST}
