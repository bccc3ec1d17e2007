"""What is in force until the host changes it while the server runs: the settings, and who is shut out or muted."""

from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class InForce(Generic[_Value]):
    """Where whoever needs such a value at the moment looks it up.

    Attributes:
        now: the value in force.
    """

    def __init__(self, value: _Value) -> None:
        self.now = value
