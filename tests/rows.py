"""A test over a table: one test for all rows that differ in nothing but their values."""

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest

_FAILED = (Exception, pytest.fail.Exception)


def each_row(names: str, rows: Iterable[object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every row, and tell of each row that failed.

    `pytest.mark.parametrize` makes a test of every row, which every worker collects and reports: two milliseconds
    a row. It is for rows that take longer than that, need fixtures of their own, or are chosen by name.
    """
    fields = [name.strip() for name in names.split(",")]
    table = [(row,) if len(fields) == 1 else tuple(row) for row in rows]

    def over_the_table(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(*args: object, **fixtures: object) -> None:
            assert table, "a table without rows tests nothing"
            failures = [
                found
                for row in table
                if (found := _failure(test, args, fixtures | dict(zip(fields, row, strict=True)), row))
            ]
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows", failures)

        taken = inspect.signature(test).parameters.values()
        every.__signature__ = inspect.Signature([one for one in taken if one.name not in fields])
        return every

    return over_the_table


def _failure(
    test: Callable[..., None], args: tuple[object, ...], named: dict[str, object], row: object
) -> BaseException | None:
    """Return what one row fails with, with the row beside it."""
    try:
        test(*args, **named)
    except _FAILED as failure:
        failure.add_note(f"row: {repr(row)[:300]}")
        return failure
    return None
