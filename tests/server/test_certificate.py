"""The certificate: made, kept, renewed; a host's own; and what is said of one that cannot be used."""

import stat
import time

import pytest
from cryptography.hazmat.primitives import serialization
from rows import each_row
from server.conftest import QUICK, changed

from truc_protocol.codec import sha256
from truc_protocol.crypto.certificates import make_certificate, read_certificate
from truc_server.identity.certificate import LASTS_S, NEAR_S, RENEW_S, TlsError, look_at_certificate, open_tls
from truc_server.settings.folder import open_folder

DAY_S = 86_400
NOW = int(time.time())


@pytest.fixture
def folder(path):
    return open_folder(path)


@pytest.fixture
def files(tmp_path):
    """Return where a host's own certificate and key stand, good for 90 days."""
    return own(tmp_path, make_certificate(NOW, lasts_s=90 * DAY_S))


def own(path, pem: bytes):
    key, mark, chain = pem.partition(b"-----BEGIN CERTIFICATE-----")
    (path / "fullchain.pem").write_bytes(mark + chain)
    (path / "privkey.pem").write_bytes(key)
    (path / "privkey.pem").chmod(0o600)
    return path / "fullchain.pem", path / "privkey.pem"


def with_tls(chain="", key=""):
    return changed(QUICK, listen={"tls": True, "certificate": str(chain), "certificate_key": str(key)})


def failure(folder, chain="", key="", now=NOW) -> str:
    with pytest.raises(TlsError) as failed:
        open_tls(with_tls(chain, key).listen, folder, now)
    return str(failed.value)


def day(days: int) -> str:
    """Return the date so many days from now."""
    return time.strftime("%Y-%m-%d", time.gmtime(NOW + days * DAY_S))


def findings(folder, settings) -> list[str]:
    return [finding.line for finding in look_at_certificate(settings, folder)]


def test_without_tls_nothing_is_made(folder):
    assert open_tls(QUICK.listen, folder, NOW) is None
    assert not folder.certificate.exists()


@pytest.mark.parametrize(
    ("later", "is_renewed"), [(LASTS_S - RENEW_S - 60, False), (LASTS_S - RENEW_S + 60, True)]
)
def test_certificate_that_was_made_is_kept_until_it_is_near_its_end(folder, later, is_renewed):
    first = open_tls(with_tls().listen, folder, NOW).digest
    assert (open_tls(with_tls().listen, folder, NOW + later).digest != first) is is_renewed


@each_row("content", [None, b"", b"no certificate", make_certificate(NOW, lasts_s=DAY_S)[:300]])
def test_certificate_that_is_missing_or_damaged_is_made_for_the_owner_alone(folder, content):
    if content is not None:
        folder.certificate.write_bytes(content)
    tls = open_tls(with_tls().listen, folder, NOW)
    pem = folder.certificate.read_bytes()
    assert stat.S_IMODE(folder.certificate.stat().st_mode) == 0o600
    assert tls.digest == read_certificate(pem, pem).digest


def test_hash_is_that_of_the_whole_certificate(files, folder):
    import ssl

    chain, key = files
    der = ssl.PEM_cert_to_DER_cert(chain.read_text())
    assert open_tls(with_tls(chain, key).listen, folder, NOW).digest == sha256(der)


def test_own_certificate_may_be_one_file_with_its_key(tmp_path, folder):
    both = tmp_path / "both.pem"
    both.write_bytes(make_certificate(NOW, lasts_s=90 * DAY_S))
    assert open_tls(with_tls(both).listen, folder, NOW) is not None
    assert not folder.certificate.exists()


def test_own_certificate_of_another_key_is_refused(tmp_path, files, folder):
    other = tmp_path / "other"
    other.mkdir()
    _, key = own(other, make_certificate(NOW, lasts_s=DAY_S))
    assert failure(folder, files[0], key) == (
        f"{files[0]} and {key}: expected the key of the certificate, got another one"
    )


@each_row(
    "begins, edge, told",
    [
        (-10, -7, "was good until {}: renew it, or leave listen.certificate empty to have one made"),
        (10, 9, "is not good before {}: check the clock of this machine"),
    ],
)
def test_own_certificate_that_has_ended_or_is_of_the_future_is_refused(tmp_path, folder, begins, edge, told):
    chain, key = own(tmp_path, make_certificate(NOW + begins * DAY_S, lasts_s=3 * DAY_S))
    assert failure(folder, chain, key) == f"{chain} {told.format(day(edge))}"


def test_own_key_with_a_passphrase_is_refused_and_not_asked_for(files, folder):
    chain, key = files
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    assert failure(folder, chain, key) == (
        f"{chain} and {key}: expected a key without passphrase, got an encrypted one"
    )


@each_row(
    "broken, told",
    [
        ("fullchain.pem", "expected a certificate in PEM, got none that can be read"),
        ("privkey.pem", "expected a private key in PEM, got none that can be read"),
    ],
)
def test_own_file_that_is_something_else_is_refused(tmp_path, folder, broken, told):
    files = own(tmp_path, make_certificate(NOW, lasts_s=90 * DAY_S))
    (tmp_path / broken).write_bytes(b"something else")
    assert failure(folder, *files) == f"{files[0]} and {files[1]}: {told}"


def test_key_without_a_certificate_is_refused(files, folder):
    assert failure(folder, "", files[1]) == (
        "listen.certificate_key is set, but listen.certificate is not: set both, or neither to have one made"
    )


def test_own_certificate_near_its_end_is_told_at_the_start_and_noted_by_check(tmp_path, folder, shown):
    files = own(tmp_path, make_certificate(NOW, lasts_s=NEAR_S - DAY_S))
    open_tls(with_tls(*files).listen, folder, NOW)
    assert "certificate_ends" in shown.getvalue()
    (line,) = findings(folder, with_tls(*files))
    assert (line.startswith("note "), line.endswith("renew it soon")) == (True, True)


# What `check` says


def test_check_says_that_a_certificate_will_be_made_and_makes_none(folder):
    assert findings(folder, with_tls()) == [
        "ok     TLS: a certificate will be made at the next start, which the server's key vouches for"
    ]
    assert not folder.certificate.exists()


def test_check_says_until_when_a_certificate_is_good(files, folder):
    open_tls(with_tls().listen, folder, NOW)
    made = f"made by the server, good until {day(LASTS_S // DAY_S)}"
    assert findings(folder, with_tls()) == [f"ok     TLS: {folder.certificate}, {made}"]
    assert findings(folder, with_tls(*files)) == [f"ok     TLS: {files[0]}, good until {day(90)}"]


def test_check_finds_what_a_start_would_refuse(files, folder):
    assert findings(folder, with_tls("", files[1])) == [f"wrong  TLS: {failure(folder, '', files[1])}"]


def test_check_finds_a_key_that_everybody_can_read(files, folder):
    files[1].chmod(0o644)
    assert findings(folder, with_tls(*files)) == [
        f"wrong  TLS: {files[1]} is open to other users (mode 0644): run chmod o-rwx {files[1]}"
    ]


def test_check_notes_a_certificate_that_is_not_used(files, folder):
    settings = changed(with_tls(*files), listen={"tls": False})
    assert findings(folder, settings) == [
        "note   TLS: off, so listen.certificate is not used; set listen.tls, or run with --tls"
    ]
