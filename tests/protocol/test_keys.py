"""Keys, signatures, exchanges and seals beyond what tests/vectors/keys.json pins, and the prime-order subgroup."""

import random

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from rows import each_row

from protocol import edwards
from truc_protocol.crypto import curve, keys
from truc_protocol.crypto.keys import (
    KeyFileError,
    SealError,
    WeakKeyError,
    is_admissible,
    signing_key_from_seed,
)

SEED = bytes(range(32))
KEY = keys.signing_key_from_seed(SEED)
BOX = keys.box_key(SEED)
SECRET = bytes([7] * 32)
NONCE = bytes(12)


def test_keys_come_back_from_their_secrets():
    assert KEY.seed() == SEED
    assert keys.signing_key_from_seed(SEED) == KEY
    assert keys.box_key(BOX.secret) == BOX


@each_row("generate", [keys.generate_signing_key, keys.generate_box_key])
def test_generated_keys_differ(generate):
    assert generate() != generate()


@each_row("passphrase", [None, "pässword"])
def test_key_comes_back_from_pem(passphrase):
    pem = keys.to_pem(KEY, passphrase)
    assert keys.from_pem(pem, passphrase).seed() == SEED
    assert pem.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") is (passphrase is not None)


@each_row("passphrase", ["", "a" * 1024])
def test_passphrase_out_of_range_is_refused(passphrase):
    with pytest.raises(KeyFileError, match="passphrase of 1 to 1023 bytes"):
        keys.to_pem(KEY, passphrase)


@each_row(
    "kept, given, told",
    [
        ("password", None, "encrypted, expected its passphrase"),
        ("password", "", "encrypted, expected its passphrase"),
        ("password", "passwort", "or another passphrase"),
        (None, "hunter2", "without encryption"),
    ],
)
def test_passphrase_that_is_missing_wrong_or_needless_is_told(kept, given, told):
    with pytest.raises(KeyFileError, match=told) as caught:
        keys.from_pem(keys.to_pem(KEY, kept), given)
    assert not given or given not in str(caught.value)


ANOTHER_KIND = X25519PrivateKey.generate().private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)


@each_row(
    "pem, told",
    [
        *(
            (pem, "expected an Ed25519 key in PKCS#8 PEM")
            for pem in (b"", b"garbage", keys.to_pem(KEY)[:-40])
        ),
        (ANOTHER_KIND, "expected an Ed25519 key, got X25519"),
    ],
)
def test_bytes_that_are_no_pem_of_such_a_key_are_refused(pem, told):
    with pytest.raises(KeyFileError, match=told):
        keys.from_pem(pem)


@each_row(
    "public",
    [
        *sorted(keys.SMALL_ORDER),
        # y of the field and above
        *(
            (2**255 - 19 + excess | sign).to_bytes(32, "little")
            for excess in range(19)
            for sign in (0, 1 << 255)
        ),
        # of another length
        *(b"\x02" * length for length in (0, 31, 33)),
    ],
)
def test_key_that_is_none_is_blacklisted(public):
    assert keys.is_blacklisted(public)


def test_mixed_order_is_left_to_admission():
    assert (len(keys.SMALL_ORDER), keys.is_blacklisted(KEY.public)) == (14, False)
    mixed = bytes.fromhex("9b5dabbe394005ba18c816595131eb4d2802556196013958498d1e294b79ed40")
    assert (keys.is_blacklisted(mixed), keys.is_admissible(mixed)) == (False, False)


def test_keys_show_no_secret():
    box = keys.box_key(SEED)
    box.exchange(keys.generate_box_key().public)
    assert [repr(KEY), repr(BOX), repr(box)] == [
        f"SigningKey(public={KEY.public!r})",
        *[f"BoxKey(public={BOX.public!r})"] * 2,
    ]


def test_exchange_with_one_peer_is_computed_once(monkeypatch):
    box, peer = keys.box_key(SEED), keys.generate_box_key().public
    shared = box.exchange(peer)
    monkeypatch.delattr(keys, "X25519PrivateKey")
    assert box.exchange(peer) == shared


def test_zero_secret_is_refused_even_where_the_library_gives_it(monkeypatch):
    class Lenient:
        @staticmethod
        def from_private_bytes(_secret):
            return Lenient()

        def exchange(self, public):
            assert isinstance(public, X25519PublicKey)
            return bytes(32)

    monkeypatch.setattr(keys, "X25519PrivateKey", Lenient)
    with pytest.raises(WeakKeyError, match="full order"):
        BOX.exchange(BOX.public)


def test_derivation_is_hkdf_of_rfc_5869():
    # RFC 5869, test case 1: the first 32 of its 42 bytes
    salt, info = bytes(range(13)), bytes(range(0xF0, 0xFA))
    made = keys.hkdf(b"\x0b" * 22, salt, info)
    assert made.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"


def test_stored_bytes_open_only_for_their_place_and_never_repeat_a_nonce():
    first, second = (keys.seal_at_rest(SECRET, b"root", b"match") for _ in range(2))
    assert keys.unseal_at_rest(SECRET, first, b"match") == b"root"
    assert first[:12] != second[:12]
    with pytest.raises(SealError, match="do not open"):
        keys.unseal_at_rest(SECRET, first, b"another")


def test_stored_bytes_cut_off_do_not_open():
    with pytest.raises(SealError, match="at least 28 stored bytes, got 27"):
        keys.unseal_at_rest(SECRET, bytes(27), b"")


@each_row("other, is_same", [(bytes([7] * 32), True), (SEED, False), (SECRET[:31], False)])
def test_secrets_are_the_same_where_all_their_bytes_are(other, is_same):
    assert keys.same_secret(SECRET, other) is is_same


BASE = bytes.fromhex("58" + "66" * 31)


@each_row("number", range(8))
def test_generated_keys_have_prime_order(number):
    assert is_admissible(signing_key_from_seed(bytes([number] * 32)).public)


def test_encoding_splits_into_y_and_sign():
    assert curve.split_encoding((5).to_bytes(31, "little") + b"\x80") == (5, 1)


def test_every_y_is_judged_as_by_the_definition():
    dice = random.Random(1)
    encodings = [dice.randbytes(32) for _ in range(200)]
    multiples = [edwards.encode(edwards.multiply(factor, edwards.decode(BASE))) for factor in range(1, 30)]
    judged = [is_admissible(encoded) for encoded in encodings + multiples]
    assert judged == [edwards.is_prime_order(encoded) for encoded in encodings + multiples]
    assert True in judged[:200]
    assert False in judged[:200]
