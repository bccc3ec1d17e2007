"""Keys, signatures, exchanges and seals beyond what tests/vectors/keys.json pins, and the prime-order subgroup."""

import random

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from rows import each_row

from protocol import edwards
from truc_protocol.crypto import curve, keys
from truc_protocol.crypto.keys import (
    SMALL_ORDER,
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


def test_seed_comes_back():
    assert KEY.seed() == SEED


@each_row("generate", [keys.generate_signing_key, keys.generate_box_key])
def test_generated_keys_differ(generate):
    assert generate() != generate()


def test_signing_key_shows_no_secret():
    assert repr(KEY) == f"SigningKey(public={KEY.public!r})"


def test_signing_keys_of_one_seed_are_equal():
    assert keys.signing_key_from_seed(SEED) == KEY


@each_row("passphrase", [None, "pässword"])
def test_key_comes_back_from_pem(passphrase):
    assert keys.from_pem(keys.to_pem(KEY, passphrase), passphrase).seed() == SEED


def test_encrypted_pem_says_that_it_is():
    assert keys.to_pem(KEY, "password").startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")


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
        (None, "password", "without encryption"),
    ],
)
def test_passphrase_that_is_missing_wrong_or_needless_is_told(kept, given, told):
    with pytest.raises(KeyFileError, match=told):
        keys.from_pem(keys.to_pem(KEY, kept), given)


@each_row("pem", [b"", b"garbage", keys.to_pem(KEY)[:-40]])
def test_bytes_that_are_no_pem_are_refused(pem):
    with pytest.raises(KeyFileError, match="expected an Ed25519 key in PKCS#8 PEM"):
        keys.from_pem(pem)


def test_pem_of_another_kind_of_key_is_refused():
    pem = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(KeyFileError, match="expected an Ed25519 key, got X25519"):
        keys.from_pem(pem)


def test_key_file_error_does_not_repeat_the_passphrase():
    with pytest.raises(KeyFileError) as caught:
        keys.from_pem(keys.to_pem(KEY), "hunter2")
    assert "hunter2" not in str(caught.value)


def test_there_are_14_encodings_of_small_order():
    assert len(keys.SMALL_ORDER) == 14


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


def test_good_key_is_not_blacklisted():
    assert not keys.is_blacklisted(KEY.public)


def test_mixed_order_is_left_to_admission():
    mixed = bytes.fromhex("9b5dabbe394005ba18c816595131eb4d2802556196013958498d1e294b79ed40")
    assert (keys.is_blacklisted(mixed), keys.is_admissible(mixed)) == (False, False)


def test_box_key_comes_back_from_its_secret():
    assert keys.box_key(BOX.secret) == BOX


def test_box_key_shows_no_secret():
    assert repr(BOX) == f"BoxKey(public={BOX.public!r})"


def test_box_key_that_has_exchanged_shows_no_secret():
    box = keys.box_key(SEED)
    box.exchange(keys.generate_box_key().public)
    assert repr(box) == f"BoxKey(public={BOX.public!r})"


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


def test_stored_bytes_open():
    assert keys.unseal_at_rest(SECRET, keys.seal_at_rest(SECRET, b"root", b"match"), b"match") == b"root"


def test_stored_bytes_never_repeat_a_nonce():
    assert keys.seal_at_rest(SECRET, b"root", b"")[:12] != keys.seal_at_rest(SECRET, b"root", b"")[:12]


def test_stored_bytes_open_only_for_their_place():
    with pytest.raises(SealError, match="do not open"):
        keys.unseal_at_rest(SECRET, keys.seal_at_rest(SECRET, b"root", b"match"), b"another")


def test_stored_bytes_cut_off_do_not_open():
    with pytest.raises(SealError, match="at least 28 stored bytes, got 27"):
        keys.unseal_at_rest(SECRET, bytes(27), b"")


def test_equal_secrets_are_the_same():
    assert keys.same_secret(SECRET, bytes([7] * 32))


@each_row("other", [SEED, SECRET[:31]])
def test_different_secrets_are_not_the_same(other):
    assert not keys.same_secret(SECRET, other)


BASE = bytes.fromhex("58" + "66" * 31)


@each_row("number", range(8))
def test_generated_keys_have_prime_order(number):
    assert is_admissible(signing_key_from_seed(bytes([number] * 32)).public)


def test_encoding_splits_into_y_and_sign():
    assert curve.split_encoding((5).to_bytes(31, "little") + b"\x80") == (5, 1)


@each_row("torsion", sorted(SMALL_ORDER))
def test_sum_of_a_key_and_a_point_of_small_order_has_prime_order_where_that_is_the_identity(torsion):
    small, key = edwards.decode(torsion), edwards.decode(BASE)
    if small is not None:  # some are encodings of a y beyond the field
        mixed = edwards.encode(edwards.add(key, small))
        assert is_admissible(mixed) is (edwards.encode(small) == edwards.encode(edwards.IDENTITY))


def test_every_y_is_judged_as_by_the_definition():
    dice = random.Random(1)
    encodings = [dice.randbytes(32) for _ in range(200)]
    multiples = [edwards.encode(edwards.multiply(factor, edwards.decode(BASE))) for factor in range(1, 30)]
    judged = [is_admissible(encoded) for encoded in encodings + multiples]
    assert judged == [edwards.is_prime_order(encoded) for encoded in encodings + multiples]
    assert True in judged[:200]
    assert False in judged[:200]
