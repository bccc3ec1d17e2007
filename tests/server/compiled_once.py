"""Statements compiled once for all databases that the tests of a process open: a third of what it costs to start a server.

SQLAlchemy keeps what it has compiled for each engine and each dialect. A program has one engine; tests open thousands, each
of which would compile the same statements again.
"""

from typing import Any

from sqlalchemy import Dialect, Engine, create_engine

from truc_server.storage import engine as opening

_COMPILED: dict[Any, Any] = {}
_DIALECTS: dict[str, Dialect] = {}
"""Of each kind of database that of the first engine: what it has learnt of the driver all others know."""


def _like_the_first(url: Any, **fields: Any) -> Engine:
    engine = create_engine(url, execution_options={"compiled_cache": _COMPILED}, **fields)
    first = _DIALECTS.get(engine.dialect.name)
    if first is None or first.server_version_info is None:  # nobody has connected with it
        _DIALECTS[engine.dialect.name] = engine.dialect
    else:
        engine.dialect = first
    return engine


def install() -> None:
    """Let every store of this process share what is compiled."""
    opening.create_engine = _like_the_first
