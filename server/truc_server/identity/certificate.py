"""The certificate of a server with TLS: the host's own, or one that is made in the data folder.

Players know the server by its key, which signs the hash of the certificate in every hello. Invariant: the hash announced
is that of the certificate shown. A host's own is used as it is or not at all, and what is wrong with it is said in one line.
"""

import ssl
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog

from truc_commands.files import MAX_TEXT, path_of, read_bounded
from truc_protocol.wire.transport import ALPN
from truc_server.settings.findings import CheckResult, note, right, wrong
from truc_server.settings.folder import Folder, write_private
from truc_server.settings.settings import ListenSettings, Settings, WebSettings

if TYPE_CHECKING:
    from truc_protocol.crypto.certificates import Certificate

HTTP: Final = "http/1.1"
_DAY_S: Final = 86_400
LASTS_S: Final = 365 * _DAY_S
RENEW_S: Final = 60 * _DAY_S  # before the end of one made here, a start or a reload makes another
NEAR_S: Final = 14 * _DAY_S  # before the end of the host's own, the host is told
_OR_MADE: Final = ", or leave listen.certificate empty to have one made"

log = structlog.get_logger()


class TlsError(Exception):
    """The certificate cannot be used; the text says why and what to do."""


class Tls(NamedTuple):
    """What a server encrypts its connections with; the SHA-256 of the certificate it shows, and its end in Unix seconds."""

    context: ssl.SSLContext
    digest: bytes
    ends: int


class _Files(NamedTuple):
    """The files of a certificate and its key, which may be one and the same."""

    chain: Path
    key: Path


def open_tls(listen: ListenSettings, folder: Folder, now: int) -> Tls | None:
    """Return what connections are encrypted with, or None if they are not; makes a certificate if one is due.

    Raises:
        TlsError: The host's own certificate cannot be used.
        OSError: The one that is made cannot be stored.
    """
    if not listen.tls:
        return None
    files = _own_files(listen, "listen")
    if files is not None:
        return _open_own(files, now)
    made = _Files(folder.certificate, folder.certificate)
    # Players notice no change, as the key vouches for it: whatever is wrong, another one is made.
    if _is_due(made, now):
        _make(folder, now)
    return _load(made)


def look_at_certificate(settings: Settings, folder: Folder) -> Iterator[CheckResult]:
    """Say what is wrong with the certificate; changes nothing."""
    listen, now = settings.listen, int(time.time())
    if not listen.tls:
        if listen.certificate or listen.certificate_key:
            yield note("TLS: off, so listen.certificate is not used; set listen.tls, or run with --tls")
        return
    try:
        files = _own_files(listen, "listen")
        yield _look_at_made(folder, now) if files is None else _look_at_own(files, now)
    except TlsError as error:
        yield wrong(f"TLS: {error}")


def open_web_tls(web: WebSettings, now: int) -> Tls | None:
    """Return what browsers' connections are encrypted with, or None if they are not.

    Raises:
        TlsError: The certificate cannot be used, or browsers would not take it.
    """
    files = _own_files(web, "web")
    if files is None:
        return None
    if _read(files).is_self_made:
        raise TlsError(
            f"{files.chain}: expected the certificate of an authority, as browsers take no other, got a self-made one"
        )
    return _open_own(files, now, HTTP)


def look_at_web_certificate(settings: Settings) -> Iterator[CheckResult]:
    """Say what is wrong with the certificate for browsers; changes nothing."""
    try:
        tls = open_web_tls(settings.web, int(time.time()))
    except TlsError as error:
        yield wrong(f"web.certificate: {error}")
        return
    if tls is not None:
        yield right(f"web.certificate: good until {_day(tls.ends)}")


def _own_files(section: ListenSettings | WebSettings, name: str) -> _Files | None:
    """Return the files of the host's own certificate, if there is one."""
    if section.certificate:
        return _Files(path_of(section.certificate), path_of(section.certificate_key or section.certificate))
    if section.certificate_key:
        without = " to have one made" if name == "listen" else ""
        raise TlsError(
            f"{name}.certificate_key is set, but {name}.certificate is not: set both, or neither{without}"
        )
    return None


def _open_own(files: _Files, now: int, protocol: str = ALPN) -> Tls:
    certificate = _read(files)
    # Browsers take none that is made here.
    _check_dates(files, certificate, now, otherwise=_OR_MADE if protocol == ALPN else "")
    if certificate.ends < now + NEAR_S:
        log.warning("certificate_ends", file=str(files.chain), day=_day(certificate.ends))
    return _load(files, protocol)


def _check_dates(files: _Files, certificate: "Certificate", now: int, *, otherwise: str) -> None:
    if certificate.begins > now:
        raise TlsError(
            f"{files.chain} is not good before {_day(certificate.begins)}: check the clock of this machine"
        )
    if certificate.ends <= now:
        raise TlsError(f"{files.chain} was good until {_day(certificate.ends)}: renew it{otherwise}")


def _look_at_own(files: _Files, now: int) -> CheckResult:
    certificate = _read(files)
    _check_dates(files, certificate, now, otherwise=_OR_MADE)
    _context(files)
    text = f"TLS: {files.chain}, good until {_day(certificate.ends)}"
    # A group may read it: that is how systemd lets the service read its credentials.
    if (mode := stat.S_IMODE(files.key.stat().st_mode)) & stat.S_IRWXO:
        return wrong(
            f"TLS: {files.key} is open to other users (mode {mode:04o}): run chmod o-rwx {files.key}"
        )
    return note(f"{text}: renew it soon") if certificate.ends < now + NEAR_S else right(text)


def _look_at_made(folder: Folder, now: int) -> CheckResult:
    """Describe the certificate made here; changes nothing."""
    files = _Files(folder.certificate, folder.certificate)
    if _is_due(files, now):
        return right("TLS: a certificate will be made at the next start, which the server's key vouches for")
    return right(f"TLS: {folder.certificate}, made by the server, good until {_day(_read(files).ends)}")


def _is_due(made: _Files, now: int) -> bool:
    """Tell whether a certificate is to be made: there is none, or none that is good for long."""
    try:
        certificate = _read(made)
    except TlsError:
        return True
    return not certificate.begins <= now < certificate.ends - RENEW_S


def _make(folder: Folder, now: int) -> None:
    # Slow to import, and needed only with TLS.
    from truc_protocol.crypto.certificates import make_certificate

    write_private(folder.certificate, make_certificate(now, lasts_s=LASTS_S))
    log.info("certificate_made", file=str(folder.certificate), until=_day(now + LASTS_S))


def _load(files: _Files, protocol: str = ALPN) -> Tls:
    """Return the context and hash of the same certificate, even if its files are being replaced at this moment."""
    # A renewal replaces one file after the other, and the context reads both by their names.
    before = _read(files)
    context = _context(files, protocol)
    if _read(files) != before:
        raise TlsError(f"{files.chain} was replaced while it was read: try again")
    return Tls(context, before.digest, before.ends)


def _context(files: _Files, protocol: str = ALPN) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0  # every connection proves the key anew, so there is no session to resume
    context.set_alpn_protocols([protocol])
    try:
        context.load_cert_chain(files.chain, files.key, password=str)  # never asks on the terminal
    except ssl.SSLError as error:
        raise TlsError(f"{files.chain}: cannot be used for TLS 1.3: {error.reason}") from error
    return context


def _read(files: _Files) -> "Certificate":
    # Slow to import, and needed only with TLS.
    from truc_protocol.crypto.certificates import CertificateError, read_certificate

    try:
        return read_certificate(*(read_bounded(path, MAX_TEXT) for path in files))
    except CertificateError as error:
        names = " and ".join(dict.fromkeys(map(str, files)))
        raise TlsError(f"{names}: {error}") from error
    except OSError as error:
        raise TlsError(f"cannot read {error.filename}: {error.strerror}") from error


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
