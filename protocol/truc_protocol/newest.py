"""Functions that are asked about the same value again and again before the next one comes.

What a match waits for is asked ten times between two records, always of the same ledger. Invariant: a remembered
function returns what it would return anew, since values do not change; it keeps one value alive, the newest that it
was asked about.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


def remembered(function: Callable[[_Value], _Result]) -> Callable[[_Value], _Result]:
    """Return a function that keeps its newest result, and returns it as long as it is asked about that very value."""
    newest: tuple[_Value, _Result] | None = None

    @wraps(function)
    def of_newest(value: _Value) -> _Result:
        nonlocal newest
        known = newest  # read once: another thread may store its own in the meantime
        if known is None or known[0] is not value:
            known = newest = (value, function(value))
        return known[1]

    return of_newest
