"""A server that takes nobody now: how long a client waits, how often it asks again, and what it tells."""

import itertools
from dataclasses import replace as with_field

import pytest
import trio
import trio.testing
from client.hosting import Hosting
from client.playing import visit
from msgspec.structs import replace

from truc_client import Delay, RefusedError, connect
from truc_client.line.opening import PATIENCE_S, _wait
from truc_protocol.errors import Code
from truc_protocol.messages import ClientHello, KeyLogin, bye, refusal

ASKED_MS = 4_000


class Busy(Hosting):
    """A server that refuses so many logins, each with a wait."""

    times = 1
    code = Code.RATE_LIMITED

    def __init__(self) -> None:
        super().__init__()
        self.dialed: list[float] = []

    async def answer(self, message) -> None:
        if isinstance(message, KeyLogin) and self.times:
            self.times -= 1
            refused = refusal(self.code, "too many logins", re=message.id)
            await self.write(self._connection.refuse(replace(refused, retry_after_ms=ASKED_MS)))
        else:
            await super().answer(message)

    async def dial(self, address):
        self.dialed.append(trio.current_time())
        return await super().dial(address)


@pytest.fixture
async def busy(scripted) -> Busy:
    return scripted(kind=Busy)


async def test_login_that_came_too_soon_is_made_again_later_and_told(busy, player, autojump_clock):
    told: list[Delay] = []
    await visit("host", with_field(player, on_delay=told.append), dial=busy.dial)
    first, second = busy.dialed
    assert ASKED_MS / 1000 <= second - first <= 1.5 * ASKED_MS / 1000
    reason = "too much was asked in a short time: too many logins (rate_limited)"
    assert [(delay.server, delay.reason) for delay in told] == [("host:7373", reason)]
    assert str(told[0]).startswith(f"host:7373: {reason}; trying again in ")


async def test_server_that_stays_busy_is_given_up_with_its_own_words(busy, player, autojump_clock) -> None:
    busy.times = 10_000
    with pytest.raises(RefusedError, match=r"too many logins \(rate_limited\)"):
        await visit("host", player, dial=busy.dial)
    assert PATIENCE_S <= busy.dialed[-1] - busy.dialed[0] < 2 * PATIENCE_S


async def test_login_that_is_refused_for_another_reason_is_not_made_again(busy, player) -> None:
    busy.code = Code.BANNED
    with pytest.raises(RefusedError, match="banned"):
        await visit("host", player, dial=busy.dial)
    assert len(busy.dialed) == 1


async def test_goodbye_to_too_many_connections_is_one_to_come_back_after(busy, player, autojump_clock):
    busy.times = 0
    honest = busy.greet

    async def dismiss(message: ClientHello) -> None:
        busy.greet = honest
        await busy.send(bye(Code.RATE_LIMITED, "too many connections", reconnect_after_ms=ASKED_MS))

    busy.greet = dismiss
    await visit("host", player, dial=busy.dial)
    assert busy.dialed[1] - busy.dialed[0] >= ASKED_MS / 1000


async def test_connection_is_tried_for_as_long_as_asked_for(busy, player, autojump_clock) -> None:
    busy.times = 0
    async with connect("host", player, dial=busy.dial, patience_s=4 * PATIENCE_S) as connection:
        busy.times, busy.code = 10_000, Code.SERVER_FULL
        await busy.hang_up()
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(3 * PATIENCE_S):
            await connection.tables()
        busy.times = 0
        await connection.tables()


def test_clients_that_lost_a_server_together_come_back_at_different_times() -> None:
    waits = {round(_wait(0.1, 2_000), 3) for _ in range(200)}
    assert len(waits) > 100
    assert (min(waits) >= 2.0, max(waits) <= 3.0) == (True, True)
    assert 120 <= _wait(0.1, 86_400_000) <= 180  # what a server asks for is believed up to two minutes


@pytest.fixture
async def pauses(busy, player, nursery):
    """Return a way to have each connection cut when it has lasted a time, and to know the pauses until the next."""

    async def cut(lasts_s: float) -> None:
        await trio.sleep(lasts_s)
        await busy._stream.aclose()

    async def known(lasts_s: float) -> list[float]:
        async def answer(message) -> None:
            await Busy.answer(busy, message)
            if isinstance(message, KeyLogin):
                nursery.start_soon(cut, lasts_s)

        busy.times, busy.answer = 0, answer
        async with connect("host", player, dial=busy.dial):
            await trio.sleep(100)
        return [later - earlier - lasts_s for earlier, later in itertools.pairwise(busy.dialed)]

    return known


async def test_pauses_grow_while_each_connection_is_lost_as_soon_as_it_is_open(pauses, autojump_clock):
    assert min((await pauses(0))[5:]) > 1


async def test_pause_is_short_when_a_connection_has_stood_for_a_while(pauses, autojump_clock) -> None:
    assert max(await pauses(3)) < 1
