"""The certificate with which a server encrypts its connections: made by itself, or given by its host.

Only the server's key has to vouch for it, by signing its hash in every hello (docs/protocol/security.md, C37); so it
names nobody, and its dates matter to other software only. Besides `keys` this is the one module that imports the
crypto library: the X.509 part is slow to import and of no use except to a server with TLS. Times are passed in.
"""

from datetime import UTC, datetime
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from truc_protocol.codec import sha256

NAME: Final = "truc"
_BACKDATED_S: Final = 86_400  # for clients that check the dates by a clock that is slow
_PUBLIC: Final = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


class CertificateError(ValueError):
    """A certificate or its key cannot be used; the text says why, and reveals nothing of the key."""


class Certificate(NamedTuple):
    """What matters of a certificate: the SHA-256 of its DER form, its begin and end in Unix seconds, whether nobody else signed it."""

    digest: bytes
    begins: int
    ends: int
    is_self_made: bool


def make_certificate(now: int, *, lasts_s: int) -> bytes:
    """Return a new P-256 key and its self-signed certificate, as one PEM text."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.fromtimestamp(now - _BACKDATED_S, UTC))
        .not_valid_after(datetime.fromtimestamp(now + lasts_s, UTC))
        .sign(key, SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)


def read_certificate(chain: bytes, key: bytes) -> Certificate:
    """Return what matters of the first certificate in a PEM text; `key` must belong to it.

    Raises:
        CertificateError: There is no certificate or no key, the key has a passphrase, or it belongs to another.
    """
    # the others are its issuers, and no hello names them (C37)
    certificate = _first(chain)
    if _key(key) != certificate.public_key().public_bytes(*_PUBLIC):
        raise CertificateError("expected the key of the certificate, got another one")
    return Certificate(
        sha256(certificate.public_bytes(serialization.Encoding.DER)),
        int(certificate.not_valid_before_utc.timestamp()),
        int(certificate.not_valid_after_utc.timestamp()),
        certificate.issuer == certificate.subject,
    )


def _first(chain: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(chain)[0]
    except ValueError as error:
        raise CertificateError("expected a certificate in PEM, got none that can be read") from error


def _key(pem: bytes) -> bytes:
    """Return the public half of a private key."""
    try:
        private = serialization.load_pem_private_key(pem, None)
    except TypeError as error:
        raise CertificateError("expected a key without passphrase, got an encrypted one") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise CertificateError("expected a private key in PEM, got none that can be read") from error
    return private.public_key().public_bytes(*_PUBLIC)
