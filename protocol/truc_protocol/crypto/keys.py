"""The one door to the crypto library: signatures, key exchange, derivation and sealing; X.509 alone is in certificates.py.

The rules about which keys may be used at all are also here (docs/fairness/specification.md, "Keys"), and
the only randomness of this package besides certificates.py: fresh keys and the nonces of what is stored. Callers decide
what is signed or sealed, and under which derivation. A secret is never in a repr or an error text.
"""

import base64
import hmac
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InternalError, InvalidSignature, InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from truc_protocol.codec import digest, enc
from truc_protocol.crypto import curve

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16
FINGERPRINT_CHARACTERS: Final = 26  # 130 bits
KEYS_REMEMBERED: Final = 4096  # the check of a key's subgroup takes 35 microseconds
BOX_KEYS_REMEMBERED: Final = 1024  # a key is checked when its seat is taken, and again when the match begins

# The encodings of the eight points of small order, including those that are not canonical. The library takes
# them all as keys, and under the identity one signature is valid for every message.
SMALL_ORDER: Final = frozenset(
    bytes.fromhex(encoding)
    for encoding in (
        "00" * 32,
        "00" * 31 + "80",
        "01" + "00" * 31,
        "01" + "00" * 30 + "80",
        "ec" + "ff" * 30 + "7f",
        "ec" + "ff" * 31,
        "ed" + "ff" * 30 + "7f",
        "ed" + "ff" * 31,
        "ee" + "ff" * 30 + "7f",
        "ee" + "ff" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    )
)


class KeyFileError(ValueError):
    """A key file cannot be read or written; the text says why."""


class WeakKeyError(ValueError):
    """An X25519 exchange gave a secret that everybody knows."""


class SealError(ValueError):
    """Sealed bytes do not open under this key, nonce and associated data."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An Ed25519 key pair; only `public` shows."""

    public: bytes
    _private: Ed25519PrivateKey = field(repr=False, compare=False)

    def sign(self, body: bytes) -> bytes:
        """Return the 64-byte signature of exactly these bytes."""
        return self._private.sign(body)

    def seed(self) -> bytes:
        """Return the 32 secret bytes, for storing and nothing else."""
        return self._private.private_bytes_raw()


def generate_signing_key() -> SigningKey:
    """Make a fresh Ed25519 key."""
    return _signing_key(Ed25519PrivateKey.generate())


def signing_key_from_seed(seed: bytes) -> SigningKey:
    """Return the Ed25519 key of a 32-byte seed."""
    return _signing_key(Ed25519PrivateKey.from_private_bytes(seed))


def _signing_key(private: Ed25519PrivateKey) -> SigningKey:
    return SigningKey(private.public_key().public_bytes_raw(), private)


def to_pem(key: SigningKey, passphrase: str | None = None) -> bytes:
    """Return the key as PKCS#8 PEM, encrypted when there is a passphrase.

    Raises:
        KeyFileError: The passphrase is empty or too long for the format.
    """
    try:
        return Ed25519PrivateKey.from_private_bytes(key.seed()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, _encryption(passphrase)
        )
    except ValueError as error:
        raise KeyFileError("key file: expected a passphrase of 1 to 1023 bytes") from error


def _encryption(passphrase: str | None) -> serialization.KeySerializationEncryption:
    if passphrase is None:
        return serialization.NoEncryption()
    return serialization.BestAvailableEncryption(passphrase.encode())


def is_sealed_pem(pem: bytes) -> bool:
    """Tell whether a key file needs a passphrase."""
    return b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in pem


def from_pem(pem: bytes, passphrase: str | None = None) -> SigningKey:
    """Read what `to_pem` wrote.

    Raises:
        KeyFileError: Not PEM, not an Ed25519 key, a passphrase missing, wrong or not needed.
    """
    secret = None if passphrase is None else passphrase.encode()
    try:
        private = serialization.load_pem_private_key(pem, secret)
    # a passphrase that is missing, or not needed
    except TypeError as error:
        raise KeyFileError(_passphrase_message(passphrase)) from error
    # the last for keys of a wrong length
    except (ValueError, UnsupportedAlgorithm, InternalError) as error:
        hint = "" if passphrase is None else ", or another passphrase"
        raise KeyFileError(f"key file: expected an Ed25519 key in PKCS#8 PEM{hint}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyFileError(f"key file: expected an Ed25519 key, got {type(private).__name__}")
    return _signing_key(private)


def _passphrase_message(passphrase: str | None) -> str:
    if passphrase:
        return "key file: expected an encrypted key for this passphrase, got one without encryption"
    return "key file: the key is encrypted, expected its passphrase"


def verify(public: bytes, body: bytes, signature: bytes) -> bool:
    """Tell whether `signature` is `public`'s over exactly `body`: cofactorless, S < L.

    Says nothing about whether `public` may be used: see `is_admissible`.
    """
    try:
        # no batch, no cofactor: both take signatures that other verifiers refuse (specification.md 2)
        _public_key(public).verify(signature, body)
    except (InvalidSignature, ValueError):
        return False
    return True


SignatureToCheck = tuple[bytes, bytes, bytes]
"""A public key, a body, and a signature."""


def verify_many(signed: Sequence[SignatureToCheck], threads: int) -> frozenset[SignatureToCheck]:
    """Return those whose signature is good, checked by several threads."""
    # the library releases the interpreter's lock meanwhile
    shares = [signed[first::threads] for first in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        return frozenset().union(*pool.map(_valid_of, shares))


def _valid_of(signed: Sequence[SignatureToCheck]) -> list[SignatureToCheck]:
    return [one for one in signed if verify(*one)]


@lru_cache(maxsize=KEYS_REMEMBERED)
def _public_key(public: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(public)


def is_blacklisted(public: bytes) -> bool:
    """Tell whether the cheap checks refuse a key: its length is wrong, its point of small order, or its y beyond the field."""
    if len(public) != KEY_BYTES or public in SMALL_ORDER:
        return True
    y, _sign = curve.split_encoding(public)
    return y >= curve.FIELD


@lru_cache(maxsize=KEYS_REMEMBERED)
def is_admissible(public: bytes) -> bool:
    """Tell whether a signing key may be used: canonically encoded, and in the prime-order subgroup (cached)."""
    if is_blacklisted(public):
        return False
    # one multiplication by X25519 (see curve.py); multiplying points in Python took a millisecond
    u = curve.montgomery(public)
    return _exchange(_NEGATION, u) == u


@dataclass(frozen=True, slots=True)
class BoxKey:
    """An X25519 key pair of one match; only `public` shows.

    Its exchanges are remembered: in a match it meets the same few other keys at every deal.

    Attributes:
        public: what the others see.
        secret: the 32 secret bytes, for storing, and for the record that ends the match.
    """

    public: bytes
    secret: bytes = field(repr=False)
    _exchanged: dict[bytes, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def exchange(self, peer: bytes) -> bytes:
        """Return the 32 bytes that only the two owners know.

        Raises:
            WeakKeyError: `peer` is no X25519 key, or one whose secret everybody knows (32 zero bytes).
        """
        shared = self._exchanged.get(peer)
        if shared is None:
            private = X25519PrivateKey.from_private_bytes(self.secret)
            shared = self._exchanged[peer] = _exchange(private, peer)
        return shared


def _exchange(private: X25519PrivateKey, peer: bytes) -> bytes:
    try:
        shared = private.exchange(X25519PublicKey.from_public_bytes(peer))
    except ValueError as error:
        raise WeakKeyError(f"expected an X25519 key of full order, got {peer.hex()}") from error
    # the library refuses it too; that every backend does is not relied on
    if same_secret(shared, _ZERO):
        raise WeakKeyError(f"expected an X25519 key of full order, got {peer.hex()}")
    return shared


@dataclass(frozen=True, slots=True)
class Multiplier:
    """X25519 with one scalar, made ready once for many points; nothing of it shows.

    The scalar must be one that clamping leaves as it is, so that a point is multiplied by exactly this number.
    """

    _private: X25519PrivateKey = field(repr=False, compare=False)

    def times(self, point: bytes) -> bytes:
        """Return the scalar times a point, given and returned by its u.

        Raises:
            WeakKeyError: The result is the identity, as of a point of small order.
        """
        return _exchange(self._private, point)

    def times_base(self) -> bytes:
        """Return the scalar times the base point."""
        return self._private.public_key().public_bytes_raw()


def multiplier(scalar: bytes) -> Multiplier:
    """Return X25519 with these 32 bytes as its scalar."""
    return Multiplier(X25519PrivateKey.from_private_bytes(scalar))


def times_base(scalar: bytes) -> bytes:
    """Return these 32 bytes, as a scalar, times the base point."""
    # making a key of them does it, in half the time of a multiplication
    return X25519PrivateKey.from_private_bytes(scalar).public_key().public_bytes_raw()


def in_prime_subgroup(u: bytes) -> bool:
    """Tell whether this is the u of a point of prime order on the curve itself, in its only encoding.

    Points of small and of mixed order, points of the twist and numbers beyond the field are none (see `curve`).
    """
    try:
        # X25519 reads any number but only returns one below the field, so a larger one does not come back
        return _NEGATION.exchange(X25519PublicKey.from_public_bytes(u)) == u != _ZERO
    except ValueError:  # another length, or a point of small order
        return False


def generate_box_key() -> BoxKey:
    """Make a fresh X25519 key."""
    return _box_key(X25519PrivateKey.generate())


def box_key(secret: bytes) -> BoxKey:
    """Return the X25519 key of 32 stored secret bytes."""
    return _box_key(X25519PrivateKey.from_private_bytes(secret))


def _box_key(private: X25519PrivateKey) -> BoxKey:
    return BoxKey(private.public_key().public_bytes_raw(), private.private_bytes_raw())


_ZERO: Final = bytes(KEY_BYTES)
# any secret will do: clamped, it is a multiple of 8 and sends exactly the points of low order to zero
_PROBE: Final = X25519PrivateKey.from_private_bytes(bytes(KEY_BYTES))
_NEGATION: Final = X25519PrivateKey.from_private_bytes(curve.NEGATION)


@lru_cache(maxsize=BOX_KEYS_REMEMBERED)
def is_admissible_box_key(x: bytes) -> bool:
    """Tell whether an X25519 key may be used: below the field, top bit clear, not of low order (check C7; cached)."""
    if int.from_bytes(x, "little") >= curve.FIELD:
        return False
    try:
        _exchange(_PROBE, x)
    except WeakKeyError:
        return False
    return True


def hkdf(ikm: bytes, salt: bytes, info: bytes) -> bytes:
    """Return 32 bytes of HKDF-SHA256."""
    return HKDF(SHA256(), KEY_BYTES, salt, info).derive(ikm)


def player_seed(master: bytes, first_spk: bytes) -> bytes:
    """Return the seed of a player's key for one server, named by the first key pinned for it.

    Keys for different servers cannot be linked, and a key survives the server's rolls.
    """
    # from the first key, because the present one changes with each rotation
    return hkdf(master, b"", enc(["truc/1/player", first_spk]))


def fingerprint(spk: bytes) -> str:
    """Return the 26 characters by which people compare a server's key."""
    return base64.b32encode(digest("fp", spk)).decode()[:FINGERPRINT_CHARACTERS]


def seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes = b"") -> bytes:
    """Return ciphertext and tag of ChaCha20-Poly1305; under one key a nonce serves one message."""
    return ChaCha20Poly1305(key).encrypt(nonce, plaintext, aad)


def unseal(key: bytes, nonce: bytes, box: bytes, aad: bytes = b"") -> bytes:
    """Return the plaintext of what `seal` made.

    Raises:
        SealError: The box was not sealed under this key, nonce and associated data.
    """
    try:
        return ChaCha20Poly1305(key).decrypt(nonce, box, aad)
    except InvalidTag as error:
        raise SealError(f"{len(box)} bytes do not open under this key, nonce and associated data") from error


def seal_at_rest(key: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """Seal what is to be stored under a long-lived key: a random nonce, then the box."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + seal(key, nonce, plaintext, aad)


def unseal_at_rest(key: bytes, stored: bytes, aad: bytes) -> bytes:
    """Return the plaintext of what `seal_at_rest` made.

    Raises:
        SealError: Too short, or not sealed under this key and associated data.
    """
    if len(stored) < NONCE_BYTES + TAG_BYTES:
        raise SealError(f"expected at least {NONCE_BYTES + TAG_BYTES} stored bytes, got {len(stored)}")
    return unseal(key, stored[:NONCE_BYTES], stored[NONCE_BYTES:], aad)


def same_secret(a: bytes, b: bytes) -> bool:
    """Compare two secrets in a time that does not depend on where they differ."""
    return hmac.compare_digest(a, b)
