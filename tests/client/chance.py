"""Chance from seeds: whoever draws a chain has a stream of their own, so that a match is dealt the same every time.

    PYTHONPATH=tests:protocol:server:client python -m client.chance SEED ARGUMENTS...

runs `truc` with its own. Which stream is drawn from belongs to a task and to all that it starts.
"""

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from unittest import mock

from truc_protocol.crypto import keys
from truc_terminal.main import main

OPENED = 1_790_000_000
_STREAM: ContextVar[random.Random] = ContextVar("stream")


def draw_from(seed: str) -> None:
    """Let what this task draws from now on come from a seed."""
    _STREAM.set(random.Random(seed))


def _bytes(count: int) -> bytes:
    return _STREAM.get().randbytes(count)


def _box_key() -> keys.BoxKey:
    return keys.box_key(_bytes(32))


CLIENT = {"secrets.token_bytes": _bytes, "truc_client.matches.signer.generate_box_key": _box_key}
SERVER = {
    "truc_protocol.match_secrets.token_bytes": _bytes,
    "truc_server.tables.pending_terms.time": SimpleNamespace(time=lambda: OPENED),
}


@contextmanager
def seeded(places: dict[str, object]) -> Iterator[None]:
    """Draw from streams at these places."""
    with ExitStack() as stack:
        for place, instead in places.items():
            stack.enter_context(mock.patch(place, instead))
        yield


if __name__ == "__main__":
    draw_from(sys.argv[1])
    with seeded(CLIENT):
        main(sys.argv[2:])
