"""The types of columns: what is read from one is what it was declared for, or the row counts as damaged.

SQLite keeps in any column whatever it is given. A value of another type would be found only where it is used: written back
with its table it would end the server, and sorted among others it would take all of them along. Other databases keep to
their types by themselves.
"""

from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from truc_protocol.codec import MAX_INT

_Plain = TypeEngine[Any] | type[TypeEngine[Any]]


class ColumnError(ValueError):
    """A value is not of the type of its column; the text names both, and not the value."""


class _Checked(TypeDecorator[Any]):
    """A type whose values are checked; `column` is what errors name."""

    column = ""

    @property
    def _python_type(self) -> type:
        return self.impl_instance.python_type

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """Return what makes a value of what the driver gives."""
        make, wanted = super().result_processor(dialect, coltype), self._python_type
        if dialect.name != "sqlite":
            return make

        def checked(found: Any) -> Any:
            value = found if make is None else make(found)
            if type(value) is not wanted:
                if value is not None:
                    raise ColumnError(
                        f"expected {wanted.__name__} in {self.column}, got {type(value).__name__}"
                    )
            # C4: no message could carry it
            elif isinstance(value, int) and abs(value) > MAX_INT:
                raise ColumnError(f"expected a number of at most 53 bits in {self.column}, got a larger one")
            return value

        return checked


class String(_Checked):
    """Text."""

    impl: _Plain = sqlalchemy.String
    cache_ok: bool | None = True


class LargeBinary(_Checked):
    """Bytes."""

    impl: _Plain = sqlalchemy.LargeBinary
    cache_ok: bool | None = True


class Integer(_Checked):
    """A whole number."""

    impl: _Plain = sqlalchemy.Integer
    cache_ok: bool | None = True


class BigInteger(_Checked):
    """A whole number of up to 63 bits."""

    impl: _Plain = sqlalchemy.BigInteger
    cache_ok: bool | None = True


class Double(_Checked):
    """A number."""

    impl: _Plain = sqlalchemy.Double
    cache_ok: bool | None = True


class JSON(_Checked):
    """An object of JSON."""

    impl: _Plain = sqlalchemy.JSON
    cache_ok: bool | None = True
    _python_type = dict


def name_columns(metadata: sqlalchemy.MetaData) -> None:
    """Let errors name the columns."""
    for table in metadata.tables.values():
        for column in table.columns:
            if isinstance(column.type, _Checked):
                column.type.column = f"{table.name}.{column.name}"
