"""Functions of a value that is asked about again and again before the next one follows it.

What a match waits for is asked ten times between two records, always of the same ledger. Invariant: a remembered function
returns what it would return anew, as values do not change; it keeps one value alive, the newest that it was asked about.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


def remembered(function: Callable[[_Value], _Result]) -> Callable[[_Value], _Result]:
    """Return a function that keeps its newest result, and returns it for as long as it is asked about that very value."""
    newest: tuple[_Value, _Result] | None = None

    @wraps(function)
    def of_newest(value: _Value) -> _Result:
        nonlocal newest
        known = newest  # read once: another thread may put its own in meanwhile
        if known is None or known[0] is not value:
            known = newest = (value, function(value))
        return known[1]

    return of_newest
