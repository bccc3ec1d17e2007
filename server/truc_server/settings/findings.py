"""What `truc-server check` finds: one line each, and whether it is right.

Invariant: what is wrong says what to do about it.
"""

from typing import NamedTuple


class CheckResult(NamedTuple):
    """One thing that was looked at; a note is right, but worth knowing."""

    is_right: bool
    text: str
    is_note: bool = False

    @property
    def line(self) -> str:
        """The line that tells it."""
        mark = "note" if self.is_note else "ok" if self.is_right else "wrong"
        return f"{mark:5}  {self.text}"


def right(text: str) -> CheckResult:
    """Return a finding that all is well."""
    return CheckResult(is_right=True, text=text)


def note(text: str) -> CheckResult:
    """Return a finding that a host should know."""
    return CheckResult(is_right=True, text=text, is_note=True)


def wrong(text: str) -> CheckResult:
    """Return a finding that something must be done about."""
    return CheckResult(is_right=False, text=text)
