"""What one record costs the client in steps: bounds that may only be lowered."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from client.playing import at_table, play_on

import truc_client
from truc_client.subscriptions import Subscriptions
from truc_protocol.messages import MatchRecord

LIBRARY = Path(truc_client.__file__).parent


class Way(NamedTuple):
    """What was counted of the library; what the protocol and the rules do is not."""

    modules: int
    calls: int


MOST = {"key": Way(11, 46), "guest": Way(9, 28)}
"""Whoever shortens the way lowers these. Two calls of a key's let what the store cannot do be a HomeError."""


class Trace:
    """The calls of the library, in the order in which they were made."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def note(self, frame, event, _argument) -> None:
        code = frame.f_code
        is_own = code.co_filename.startswith(str(LIBRARY)) and not code.co_name.startswith("<")
        if event == "call" and is_own:
            self.calls.append((code.co_filename, code.co_qualname))

    @property
    def way(self) -> Way:
        return Way(len({file for file, _ in self.calls}), len(self.calls))

    def __str__(self) -> str:
        """The way, and every call of it, one a line."""
        lines = (f"{Path(file).relative_to(LIBRARY)}  {name}" for file, name in self.calls)
        return "\n".join((str(self.way), *lines))


@pytest.fixture
def traces(monkeypatch) -> list[Trace]:
    """Return the traces of the decisions that have come, in the order in which they came."""
    found: list[Trace] = []
    handle = Subscriptions.handle

    def noted(self, message) -> None:
        if not isinstance(message, MatchRecord) or message.body[2:12] not in (b"truc/1/act", b"truc/1/pro"):
            handle(self, message)
            return
        found.append(Trace())
        sys.setprofile(found[-1].note)
        try:
            handle(self, message)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(Subscriptions, "handle", noted)
    return found


@pytest.mark.parametrize("kind", ["key", "guest"])
async def test_record_of_a_decision_passes_no_more_than_this(scripted, player, guest, traces, kind) -> None:
    async with at_table(scripted(target=4), player if kind == "key" else guest) as table:
        await play_on(table)
    trace = max(traces, key=lambda trace: trace.way.calls)
    assert all(counted <= most for counted, most in zip(trace.way, MOST[kind], strict=True)), str(trace)
