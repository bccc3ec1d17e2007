"""What one record costs the client in steps: bounds that may only be lowered."""

import pytest
from client.playing import play_on
from client.record_trace import Trace, Way, traced

from truc_client import connect
from truc_client.followed import Followed
from truc_protocol.messages import MatchRecord

MOST = {"key": Way(11, 44, 2), "guest": Way(9, 28, 2)}
"""Whoever shortens the way lowers these."""


@pytest.fixture
def traces(monkeypatch) -> list[Trace]:
    """Return the traces of the decisions that have come, in the order in which they came."""
    found: list[Trace] = []
    handle = Followed.handle

    def noted(self, message) -> None:
        if not isinstance(message, MatchRecord) or message.body[2:12] not in (b"truc/1/act", b"truc/1/pro"):
            handle(self, message)
            return
        with traced() as trace:
            handle(self, message)
        found.append(trace)

    monkeypatch.setattr(Followed, "handle", noted)
    return found


@pytest.mark.parametrize("kind", ["key", "guest"])
async def test_record_of_a_decision_passes_no_more_than_this(scripted, player, guest, traces, kind) -> None:
    server = scripted(target=4)
    async with connect("host", player if kind == "key" else guest, dial=server.dial) as connection:
        table = await connection.create("truc-french")
        await table.ready()
        await play_on(table)
    trace = max(traces, key=lambda trace: trace.way.calls)
    assert all(counted <= most for counted, most in zip(trace.way, MOST[kind], strict=True)), str(trace)
