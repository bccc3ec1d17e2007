"""How many files the process may have open: one for each connection, and some more.

Invariant: the limit is never lowered.
"""

import resource
from typing import Final

from truc_server.settings.settings import Settings

_SPARE: Final = 256  # open files beside the connections: database, lock, listeners, worker threads


def needed_files(settings: Settings) -> int:
    """Return how many files a server with these settings may come to have open."""
    return settings.limits.connections + _SPARE


def raise_file_limit(needed: int) -> None:
    """Raise the process's limit of open files to `needed`, or as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_least(needed, hard), hard))


def allowed_files() -> int | None:
    """Return how far the limit of open files can be raised; None if it has no end."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard


def _least(needed: int, limit: int) -> int:
    return needed if limit == resource.RLIM_INFINITY else min(needed, limit)
