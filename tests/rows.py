"""A test over a table: one test for all rows that differ in nothing but their values."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

Rows = Iterable[object]
_FAILED = (Exception, pytest.fail.Exception)


def each_row(
    names: str, rows: Rows | Callable[[], Rows]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for every row, and tell of each row that failed.

    `pytest.mark.parametrize` makes a test of every row, which every worker collects and reports: two milliseconds
    a row. It is for rows that take longer than that, need fixtures of their own, or are chosen by name.
    All rows of a test with fixtures share them; it may be an async one. Rows that take long to make are a function's.
    """
    fields = [name.strip() for name in names.split(",")]

    @functools.cache
    def table() -> list[tuple]:
        made = rows if isinstance(rows, Iterable) else rows()
        return [(row,) if len(fields) == 1 else tuple(row) for row in made]

    def over_the_table(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(*args: object, **fixtures: object) -> None:
            failures: list[BaseException] = []
            for row, named in rows_of(fixtures):
                with _noted(row, failures):
                    test(*args, **named)
            _tell(failures, len(table()))

        @functools.wraps(test)
        async def every_async(*args: object, **fixtures: object) -> None:
            failures: list[BaseException] = []
            for row, named in rows_of(fixtures):
                with _noted(row, failures):
                    await test(*args, **named)
            _tell(failures, len(table()))

        def rows_of(fixtures: dict[str, object]) -> Iterator[tuple[object, dict[str, object]]]:
            assert table(), "a table without rows tests nothing"
            return ((row, fixtures | dict(zip(fields, row, strict=True))) for row in table())

        chosen = every_async if inspect.iscoroutinefunction(test) else every
        taken = inspect.signature(test).parameters.values()
        chosen.__signature__ = inspect.Signature([one for one in taken if one.name not in fields])
        return chosen

    return over_the_table


@contextmanager
def _noted(row: object, failures: list[BaseException]) -> Iterator[None]:
    """Keep what a row fails with, with the row beside it."""
    try:
        yield
    except _FAILED as failure:
        failure.add_note(f"row: {repr(row)[:300]}")
        failures.append(failure)


def _tell(failures: list[BaseException], rows: int) -> None:
    """Raise what has failed, if anything has."""
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {rows} rows", failures)
