"""What can go wrong for a player, as values that a program can act on; every text is one line for a person."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from truc_protocol.words import check_words

_UNBOUND: Final = (
    "What came failed a check {tries} times in the same place, and no signature binds anybody to it: whether the line or the"
    " server is at fault cannot be told. This table ends here. The match is not stopped for good: start again to try again."
)


class ClientError(Exception):
    """The root of this package's errors."""


class AddressError(ClientError):
    """An address or link that cannot be read."""


class HomeError(ClientError):
    """The client's home cannot be used."""


class ConnectError(ClientError):
    """The server cannot be reached, or does not speak this protocol."""


class ServerKeyError(ConnectError):
    """The server is not the one known under this address; nothing about the player was said to it."""


class LostError(ClientError):
    """The connection was lost.

    Attributes:
        again: whether connecting again may succeed.
        to: where, if not where it was.
        after_ms: when, if the server has said so.
    """

    def __init__(
        self, message: str, *, again: bool = True, to: str | None = None, after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.again = again
        self.to = to
        self.after_ms = after_ms


class EncryptedError(LostError):
    """A server was come to in clear that encrypts its connections; nothing about the player was said to it."""

    def __init__(self) -> None:
        super().__init__(
            "the server encrypts its connections: its addresses begin with trucs://", again=False
        )


class RefusedError(ClientError):
    """The server refused a request; `code` is one of the protocol's registry."""

    def __init__(self, code: str, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms


class ChoiceError(ClientError):
    """A choice that cannot be made now: not one of the newest options, or another was signed before."""


class TakenOverError(ChoiceError):
    """The seat is another connection's, or a substitute's: nothing more is signed or sent for it here."""

    def __init__(self) -> None:
        super().__init__(
            "another connection of this player, or a substitute, has this seat now;"
            " nothing more is signed or sent for it here"
        )


class NotPlayedError(ClientError):
    """A match of the table in which this player's seat was another's; the next one may be theirs."""


class SignedBeforeError(ClientError):
    """Another body was signed for this place before; only that one may ever be sent."""


class StoppedError(ClientError):
    """A match that was stopped for good is not gone on with; `why` says why, `evidence` is the file that shows it, if it is still there."""

    def __init__(self, why: str, evidence: Path | None) -> None:
        shown = f"; the evidence is {evidence}: truc verify {evidence}" if evidence else ""
        super().__init__(f"this match was stopped because a check failed, and stays so: {why}{shown}")
        self.why = why
        self.evidence = evidence


class Kept(NamedTuple):
    """Files of evidence, the transcript first; `is_shown` if they alone refute the match to anybody."""

    files: tuple[Path, ...]
    is_shown: bool


class CheckFailedError(ClientError):
    """A check failed and the table has ended; `evidence` is the first file that was kept of it, if one could be written.

    A match is stopped for good where somebody is to blame; where nobody is, it can be tried again.
    """

    def __init__(
        self,
        check: str,
        message: str,
        culprit: str | None,
        kept: Kept | None = None,
        *,
        words: str | None = None,
    ) -> None:
        blame = f"; to blame: {culprit}" if culprit else ""
        super().__init__(f"{words or check_words(check)} ({check}: {message}{blame}){_told(kept)}")
        self.check = check
        self.message = message
        self.culprit = culprit
        self.kept = kept

    @property
    def evidence(self) -> Path | None:
        """The first file of evidence."""
        return self.kept.files[0] if self.kept else None


class UnboundError(ClientError):
    """What came fails a check, but no signature binds anybody to it: the line may have bent it, so it is asked for again.

    Attributes:
        keep: writes the evidence of it, for when it is asked for no more.
        is_record: whether a record failed, so that what is wrong may also stand before it.
    """

    def __init__(
        self, check: str, message: str, keep: Callable[[], Kept | None], *, is_record: bool = False
    ) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check
        self.message = message
        self.keep = keep
        self.is_record = is_record

    def after(self, tries: int) -> CheckFailedError:
        """Return the error that ends the table, now that it has failed in the same place so many times."""
        return CheckFailedError(
            self.check, self.message, None, self.keep(), words=_UNBOUND.format(tries=tries)
        )


def _told(kept: Kept | None) -> str:
    if kept is None:
        return ""
    files = " ".join(map(str, kept.files))
    if kept.is_shown:
        return f" Kept, and shown to anybody by: truc verify {files}"
    return f" Kept in {files}; but nothing that a server signed shows it to others, who have only your word."
