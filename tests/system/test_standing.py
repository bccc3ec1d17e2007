"""A server process that is stopped for longer than a decision may take, and wakes: nobody loses by it."""

import os
import signal

import pytest
import trio
from chaos.seating import entrance, seated
from chaos.servers import serving
from server.conftest import play_on

from truc_conform.raw_seat import bodies
from truc_protocol.bodies import Act

pytestmark = pytest.mark.slow
DECISION_MS = 3_000
STOPPED_S = 1.5 * DECISION_MS / 1_000
CLOCKS = {"decision_ms": DECISION_MS, "bank_ms": 0, "release_ms": DECISION_MS}


async def test_who_answers_while_the_server_is_stopped_has_answered_in_time(tmp_path):
    async with serving(tmp_path / "data", level="info") as server, entrance(server.connect) as players:
        seats = await seated(players.connect, **CLOCKS)
        for seat in seats:
            seat.chooses = lambda _message, _options: None
        async with trio.open_nursery() as nursery:
            for seat in seats:
                nursery.start_soon(seat.ready)
        await play_on(seats, lambda seat: seat.options is not None)
        asked = next(seat for seat in seats if seat.options["must"])
        server.signal(signal.SIGSTOP)
        await trio.to_thread.run_sync(os.waitid, os.P_PID, server.pid, os.WSTOPPED)
        await asked.act(asked.act_message(asked.options, asked.offered[0]))
        await trio.sleep(STOPPED_S)  # it is time that passes, and the server that does not see it
        server.signal(signal.SIGCONT)
        await play_on(seats, lambda seat, k=asked.next: seat.next > k)
        newest = bodies(asked.records)[-1]
        assert (type(newest), newest.seat) == (Act, asked.seat)
        assert '"stood_still"' in server.log.read_text()
