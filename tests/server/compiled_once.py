"""Statements compiled once for all SQLite files that the tests of a process open: a third of what it costs to start a server.

SQLAlchemy keeps what it has compiled for each engine and each dialect. A program has one engine; tests open thousands, each
of which would compile the same statements again.
"""

from typing import Any

from sqlalchemy import Engine, create_engine

from truc_server.storage import engine as opening

_MODEL = create_engine("sqlite://")
_MODEL.connect().close()  # the dialect learns of the driver what it has to know
_COMPILED: dict[Any, Any] = {}


def _like_the_model(url: Any, **fields: Any) -> Engine:
    engine = create_engine(url, execution_options={"compiled_cache": _COMPILED}, **fields)
    if engine.dialect.name == _MODEL.dialect.name:
        engine.dialect = _MODEL.dialect
    return engine


def install() -> None:
    """Let every store of this process share what is compiled."""
    opening.create_engine = _like_the_model
