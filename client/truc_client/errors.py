"""What can go wrong for a player, as values that a program can act on; every message is one line for a person.

A message is a `Sentence` of the catalogues, in English: `in_language(str(error), lang)` says it in another language.
"""

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from truc_protocol.errors import REGISTRY
from truc_protocol.wire.transport import ENCRYPTED
from truc_words import Sentence, words_of_check

_SYSTEM_REASONS: Final[Mapping[int | None, str]] = {
    errno.ENOENT: "failures.no_such_file",
    errno.EACCES: "failures.not_permitted",
    errno.EEXIST: "failures.is_there",
    errno.EADDRINUSE: "failures.address_in_use",
    errno.EISDIR: "failures.is_folder",
    errno.ENOSPC: "failures.disk_full",
}
"""The commonest reasons, by number; for the others the system's own words are shown."""


def system_reason(error: OSError) -> str:
    """Return why the system refuses something, as it says it in English."""
    key = _SYSTEM_REASONS.get(error.errno)
    return (error.strerror or str(error)) if key is None else Sentence(key)


class ClientError(Exception):
    """The root of this package's errors."""


class AddressError(ClientError):
    """An address or link that cannot be read."""


class HomeError(ClientError):
    """The client's home cannot be used."""


class ConnectError(ClientError):
    """The server cannot be reached, or does not speak this protocol."""


class ServerKeyError(ConnectError):
    """The server is not the one known at this address; nothing about the player was said to it."""


class LostError(ClientError):
    """The connection was lost.

    Attributes:
        again: whether reconnecting may succeed.
        to: where to reconnect, if the server has moved.
        after_ms: after how long, if the server has said so.
    """

    def __init__(
        self, message: str, *, again: bool = True, to: str | None = None, after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.again = again
        self.to = to
        self.after_ms = after_ms


class EncryptedError(LostError):
    """The server encrypts its connections, and this one was in clear; nothing about the player was said to it."""

    def __init__(self) -> None:
        super().__init__(Sentence("failures.encrypts", scheme=ENCRYPTED), again=False)


class RefusedError(ClientError):
    """The server refused a request; `code` is from the protocol's registry, `message` in the server's own words."""

    def __init__(self, code: str, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(refused(code, message))
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms


def refused(code: str, words: str) -> Sentence:
    """Return what a refusal means, with the server's own words where they say more."""
    key = code if code in REGISTRY else "unknown"
    return Sentence("failures.refused", told=Sentence(f"refused.{key}", words=words), code=code)


class ChoiceError(ClientError):
    """A choice that cannot be made now: it is not one of the newest options, or another was signed before."""


class TakenOverError(ChoiceError):
    """Another connection or a substitute has the seat: nothing more is signed or sent for it here."""

    def __init__(self) -> None:
        super().__init__(Sentence("failures.taken_over"))


class NotPlayedError(ClientError):
    """Somebody else had this player's seat in this match of the table; in the next it may be theirs."""


class SignedBeforeError(ClientError):
    """Another body was signed for this place before, and only that one may ever be sent."""


class StoppedError(ClientError):
    """A match was stopped for good; `why` is the reason, `evidence` the file that shows it, if it is still there."""

    def __init__(self, why: str, evidence: Path | None) -> None:
        super().__init__(_stopped(why, evidence))
        self.why = why
        self.evidence = evidence


def _stopped(why: str, evidence: Path | None) -> Sentence:
    if evidence is None:
        return Sentence("failures.stopped", why=why)
    command = f"truc verify {evidence}"
    return Sentence("failures.stopped_with_evidence", why=why, path=evidence, command=command)


class KeptEvidence(NamedTuple):
    """Files of evidence, the transcript first; `is_shown` tells whether they alone refute the match to anybody."""

    files: tuple[Path, ...]
    is_shown: bool


class CheckFailedError(ClientError):
    """A check failed and the table has ended; `evidence` is the first file kept of it, if one could be written.

    If somebody is to blame the match is stopped for good; if nobody is, it can be tried again.
    """

    def __init__(
        self,
        check: str,
        message: str,
        culprit: str | None,
        kept: KeptEvidence | None = None,
        *,
        words: str | None = None,
    ) -> None:
        failed = {"words": words or str(words_of_check(check)), "check": check, "message": message}
        super().__init__(_with_kept(_failed(failed, culprit), kept))
        self.check = check
        self.message = message
        self.culprit = culprit
        self.kept = kept

    @property
    def evidence(self) -> Path | None:
        """The first file of evidence."""
        return self.kept.files[0] if self.kept else None


class UnboundError(ClientError):
    """What came fails a check, but no signature binds anybody to it. The line may be at fault: it is asked for again.

    Attributes:
        keep: writes the evidence, for when it is not asked for again.
        is_record: whether a record failed; then the fault may also lie before it.
    """

    def __init__(
        self, check: str, message: str, keep: Callable[[], KeptEvidence | None], *, is_record: bool = False
    ) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check
        self.message = message
        self.keep = keep
        self.is_record = is_record

    def after(self, tries: int) -> CheckFailedError:
        """Return the error that ends the table, now that it has failed `tries` times in the same place."""
        return CheckFailedError(
            self.check, self.message, None, self.keep(), words=Sentence("failures.unbound", tries=tries)
        )


def _failed(failed: dict[str, str], culprit: str | None) -> Sentence:
    if culprit is None:
        return Sentence("failures.check_failed", **failed)
    return Sentence("failures.check_blames", **failed, culprit=blamed(culprit))


def blamed(culprit: str) -> str:
    """Return who is to blame: "server", or a seat."""
    if culprit == "server":
        return Sentence("failures.culprit_server")
    role, _, n = culprit.partition(" ")
    return Sentence("failures.culprit_seat", n=n) if role == "seat" else culprit


def _with_kept(told: Sentence, kept: KeptEvidence | None) -> Sentence:
    if kept is None:
        return told
    files = " ".join(map(str, kept.files))
    if kept.is_shown:
        return Sentence("failures.kept_and_shown", told=told, command=f"truc verify {files}")
    return Sentence("failures.kept_unshown", told=told, files=files)
