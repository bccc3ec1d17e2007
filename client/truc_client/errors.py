"""What can go wrong for a player, as values that a program can act on; every text is one line for a person."""

from pathlib import Path
from typing import NamedTuple

from truc_protocol.words import check_words


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
    """The connection was lost; `again` tells whether connecting again may succeed."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class RefusedError(ClientError):
    """The server refused a request; `code` is one of the protocol's registry."""

    def __init__(self, code: str, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms


class ChoiceError(ClientError):
    """A choice that cannot be made now: not one of the newest options, or another was signed before."""


class NotPlayedError(ClientError):
    """A match of the table in which this player's seat was another's; the next one may be theirs."""


class SignedBeforeError(ClientError):
    """Another body was signed for this place before; only that one may ever be sent."""


class StoppedError(ClientError):
    """A match that was stopped because a check failed is not gone on with; `evidence` is the file that shows why."""

    def __init__(self, evidence: Path) -> None:
        super().__init__(
            f"this match was stopped because a check failed, and stays so; the evidence is {evidence}:"
            f" truc verify {evidence}"
        )
        self.evidence = evidence


class Kept(NamedTuple):
    """Files of evidence, the transcript first; `is_shown` if they alone refute the match to anybody."""

    files: tuple[Path, ...]
    is_shown: bool


class CheckFailedError(ClientError):
    """A check failed and the match was stopped; `evidence` is the first file that was kept of it, if one could be written."""

    def __init__(self, check: str, message: str, culprit: str | None, kept: Kept | None = None) -> None:
        blame = f"; to blame: {culprit}" if culprit else ""
        super().__init__(f"{check_words(check)} ({check}: {message}{blame}){_told(kept)}")
        self.check = check
        self.message = message
        self.culprit = culprit
        self.kept = kept

    @property
    def evidence(self) -> Path | None:
        """The first file of evidence."""
        return self.kept.files[0] if self.kept else None


def _told(kept: Kept | None) -> str:
    if kept is None:
        return ""
    files = " ".join(map(str, kept.files))
    if kept.is_shown:
        return f" Kept, and shown to anybody by: truc verify {files}"
    return f" Kept in {files}; but nothing that a server signed shows it to others, who have only your word."
