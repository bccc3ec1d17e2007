"""What is expected of a peer: a case that is not met ends with one of the exceptions here.

The texts of the exceptions are what the kit reports; nothing here sends or receives.
"""

from typing import Any, ClassVar, Final

from truc_conform.result import CaseVerdict
from truc_protocol.errors import REGISTRY, Code

Map = dict[str, Any]
"""A message as it is on the wire; a kit that judges it cannot ask for its class first."""

# limits.md, "Sizes": the text of an error.
LONGEST_TEXT: Final = 400


class UnmetError(Exception):
    """A case does not end as expected; the text says what came, `verdict` what that means."""

    verdict: ClassVar[CaseVerdict]


class UnexpectedError(UnmetError):
    """Something came that is not what the protocol says."""

    verdict = CaseVerdict.FAIL


class GoneError(UnexpectedError):
    """The server has closed the connection, or said that it will."""


class UnofferedError(UnmetError):
    """The peer takes no part in what a case is about; the text says in what."""

    verdict = CaseVerdict.UNIMPLEMENTED


class UnadvisedError(UnmetError):
    """What came is allowed, but not what the specification advises."""

    verdict = CaseVerdict.NON_STRICT


class InconclusiveError(UnmetError):
    """A case shows nothing that is required of this peer; the text, which is only reported, says why."""

    verdict = CaseVerdict.INFO


def require(holds: object, came: str) -> None:
    """Check a fact, whose contrary is told as what came.

    Raises:
        UnexpectedError: It does not hold.
    """
    if not holds:
        raise UnexpectedError(came)


def expect(holds: object, what: str, came: object) -> None:
    """Check a fact about what came.

    Raises:
        UnexpectedError: It does not hold.
    """
    require(holds, f"expected {what}, got {shown(came)}")


def expect_ok(reply: Map, what: str, *fields: str, **values: object) -> Map:
    """Check that a request was taken, and that the reply has some fields, and others with these values; return it."""
    has_fields = all(name in reply for name in fields)
    has_values = all(reply.get(name) == value for name, value in values.items())
    expect(reply["t"] == "ok" and has_fields and has_values, what, reply)
    return reply


def shown(came: object) -> str:
    """Describe what came in one line of bounded length."""
    return repr(came)[:LONGEST_TEXT]


def check_refusal(reply: Map, code: Code, *, field: str | None = None, closes: bool = False) -> Map:
    """Check that an error has this code, the flags of the registry and a text; return it."""
    wanted = str(code) + (f" for {field}" if field else "")
    expect(reply["t"] == "error" and reply["code"] == code, f"the error {wanted}", reply)
    row = REGISTRY[code]
    # A client that does not know a code decides by these
    # two (errors.md); before `welcome` every error closes.
    flags = (row.retryable, row.closes or closes)
    expect((reply["retryable"], reply["close"]) == flags, f"(retryable, close) to be {flags}", reply)
    expect(0 < len(reply["msg"]) <= LONGEST_TEXT, f"a text of 1 to {LONGEST_TEXT} characters", reply)
    if field is not None:
        expect(reply.get("field") == field, f"the field {field}", reply)
    return reply


def check_too_soon(error: Map, *, closes: bool = False) -> int:
    """Check that an error says that something came too soon, and for how many milliseconds to wait; return them."""
    check_refusal(error, Code.RATE_LIMITED, closes=closes)
    wait_ms: int = error.get("retry_after_ms", 0)
    expect(wait_ms > 0, "retry_after_ms", error)
    return wait_ms
