"""What the kit finds: cases, what came of each, and its verdict in one word; and what was noted about a client.

Nothing here runs a case or prints.
"""

from collections.abc import Iterable
from enum import StrEnum
from types import ModuleType
from typing import Final, NamedTuple, TypeVar

from truc_protocol.codec import EncodingError, dec
from truc_protocol.messages import ClientMessage, GuestAct, MatchRecord, SignedAct

T = TypeVar("T")


class CaseVerdict(StrEnum):
    """What came of a case."""

    PASS = "PASS"
    NON_STRICT = "NON-STRICT"
    """Allowed, but not what the specification advises."""
    FAIL = "FAIL"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    """The peer does not take part in what the case is about; a failure at the level asked for."""
    INFO = "INFO"
    """Nothing is required: what came is only reported."""


class Level(StrEnum):
    """How much a client must be able to do; client_cases says which other levels each includes."""

    C0 = "C0"
    C1 = "C1"
    C2 = "C2"
    C3 = "C3"
    C4 = "C4"
    C5 = "C5"


MEANINGS: Final = {
    Level.C0: "frames, hello, login, ping, bye",
    Level.C1: "watches a match",
    Level.C2: "plays a match by the options",
    Level.C3: "plays with a key, checks every record, and stops at a cheat",
    Level.C4: "C3 in any game, and through whatever a long match brings",
    Level.C5: "C3 also at tables whose host sees no card",
}


class Case(NamedTuple):
    """One thing that a client or server must show.

    `name` is like `C2.resume` or `S3.flood`, `clause` a page of docs/protocol or docs/fairness and one of its headings.
    """

    name: str
    clause: str
    expected: str


def in_module(module: ModuleType, kind: type[T]) -> tuple[T, ...]:
    """Return what a module of cases defines of a kind, in the order in which it stands there, in lists or by itself."""
    values = (value if isinstance(value, list) else [value] for value in vars(module).values())
    return tuple(each for value in values for each in value if isinstance(each, kind))


class CaseOutcome(NamedTuple):
    """What came of a case, in words."""

    verdict: CaseVerdict
    came: str


class ProgramTrace(NamedTuple):
    """What a program that the kit has started left behind.

    Attributes:
        ended: how its last start ended.
        stderr: the end of what it wrote there, in all starts; so `stdout`.
        frames: the last frames of both sides, decoded, a line each.
    """

    ended: str
    stderr: str
    stdout: str
    frames: tuple[str, ...]


class CaseResult(NamedTuple):
    """A case and what came of it; there is a trace if the kit has started what it judged."""

    case: Case
    outcome: CaseOutcome
    seconds: float = 0.0
    trace: ProgramTrace | None = None

    @property
    def verdict(self) -> CaseVerdict:
        """The verdict of its outcome."""
        return self.outcome.verdict


PASSED: Final = CaseOutcome(CaseVerdict.PASS, "as expected")


def failed(came: str) -> CaseOutcome:
    """Return the outcome of a case in which something came that was not expected."""
    return CaseOutcome(CaseVerdict.FAIL, came)


def is_failure(result: CaseResult) -> bool:
    """Tell whether a result counts against the level asked for."""
    return result.verdict in (CaseVerdict.FAIL, CaseVerdict.UNIMPLEMENTED)


def tally(results: Iterable[CaseResult]) -> dict[CaseVerdict, int]:
    """Count the results by verdict; every verdict has a count."""
    verdicts = [result.verdict for result in results]
    return {verdict: verdicts.count(verdict) for verdict in CaseVerdict}


AnyAct = SignedAct | GuestAct


class ClientFault(NamedTuple):
    """Something that the client did wrong: under which code, and in words."""

    code: str
    message: str


class HeardMessage(NamedTuple):
    """A message of the client: on which connection, and after how many messages of the server."""

    link: int
    sent: int
    message: ClientMessage


def subject(message: ClientMessage) -> str:
    """Name what a message is about, for the cases that judge it."""
    match message:
        case SignedAct(match=None):
            return "seat"
        case SignedAct(body=body):
            return tag_of_body(body)
        case _:
            return type(message).__name__


def tag_of_body(body: bytes) -> str:
    """Return the kind that a body says it is; "" if it says none."""
    try:
        tag = dec(body)[0]
    except (EncodingError, IndexError, TypeError):
        return ""
    return tag.removeprefix("truc/1/") if isinstance(tag, str) else ""


def signs(message: object, kind: str) -> bool:
    """Tell whether a message of a client hands in a body of a kind, signed."""
    return isinstance(message, SignedAct) and tag_of_body(message.body) == kind


def is_record(message: object, kind: str) -> bool:
    """Tell whether a message of a server brings a record of a kind."""
    return isinstance(message, MatchRecord) and tag_of_body(message.body) == kind
