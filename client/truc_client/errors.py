"""What can go wrong for a player, as values that a program can act on; every text is one line for a person."""

from pathlib import Path


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


class CheckFailedError(ClientError):
    """A check failed and the match was stopped; `evidence` is the file that shows it, where one could be written."""

    def __init__(self, check: str, message: str, culprit: str | None, evidence: Path | None = None) -> None:
        blame = f"; to blame: {culprit}" if culprit else ""
        kept = f"; kept in {evidence}" if evidence else ""
        super().__init__(f"{check}: {message}{blame}{kept}")
        self.check = check
        self.message = message
        self.culprit = culprit
        self.evidence = evidence
