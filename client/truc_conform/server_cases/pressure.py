"""Cases S3: floods, and clients that do not read; bounded in frames and time, and others must be served meanwhile."""

import socket
from functools import partial
from typing import Final

import trio

from truc_conform.raw_client import RawClient, frame
from truc_conform.server_cases.play import act, hand_in, in_hand, quiet
from truc_conform.server_visit import (
    InconclusiveError,
    ServerCase,
    Visit,
    check_alive,
    check_too_soon,
    expect,
    expect_ok,
    server_case,
)
from truc_protocol.errors import Code

FLOOD: Final = 400
SLOW_S: Final = 15.0
_NARROW: Final = 4_096
_BATCH: Final = 40


def _burst(client: RawClient, *, times: int) -> int:
    """Return how many requests the server takes at once, if a flood holds some times that many."""
    burst = int(client.info["limits"]["burst"])
    if times * burst > FLOOD:
        raise InconclusiveError(f"limits.burst is {burst}: {FLOOD} requests do not reach it")
    return burst


async def _flood(visit: Visit) -> None:
    """A flood gets rate_limited with a time to wait, then bye."""
    client = await visit.player()
    _burst(client, times=3)
    await client.send_bytes(b"".join(frame({"t": "tables", "id": n}) for n in range(FLOOD)))
    rest = await client.closed()
    refusals = [message for message in rest if message["t"] == "error"]
    expect(refusals, "rate_limited", rest[-1:])
    for refusal in refusals:
        check_too_soon(refusal)
    expect(rest[-1].get("code") == Code.RATE_LIMITED, "bye rate_limited at the end", rest[-1])
    await check_alive(await visit.player())


async def _retry(visit: Visit) -> None:
    """After retry_after_ms the request is accepted."""
    client = await visit.player()
    burst = _burst(client, times=2)
    for _ in range(2 * burst):
        reply = await client.ask({"t": "tables"})
        if reply["t"] == "error":
            await trio.sleep(check_too_soon(reply) / 1000)
            expect_ok(await client.ask({"t": "tables"}), "ok after retry_after_ms")
            return
    raise InconclusiveError(f"{2 * burst} requests, one after the other, were not too many")


async def _acts_free(visit: Visit) -> None:
    """An act on an open option is never refused for its rate."""
    mover, _ = await in_hand(visit)
    burst = _burst(mover.client, times=2)
    for _ in range(burst + burst // 2):
        await mover.ask({"t": "tables"})
    expect_ok(await hand_in(mover, act(mover, quiet(mover))), "ok to an act, whatever was asked before")


async def _slow_reader(visit: Visit) -> None:
    """A client that does not read is cut off; nobody waits for it.

    Ask and never read; others must still be served, and in the end the connection is cut.
    """
    client, other = await visit.player(), await visit.player()
    client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _NARROW)
    rate = int(client.info["limits"]["requests_per_s"])
    end = trio.current_time() + min(SLOW_S, 3 * visit.patience_s)
    asked = 0
    while trio.current_time() < end:
        batch = max(1, min(_BATCH, rate // 2))
        try:
            await _ask_blindly(client, batch)
        except (trio.BrokenResourceError, trio.TooSlowError):
            break
        asked += batch
        await trio.sleep(batch / rate)
    await check_alive(other)
    rest = await _ending(client)
    if rest is None:
        raise InconclusiveError(f"{asked} answers were not read, and the connection is still open")
    goodbye = [message for message in rest if message["t"] == "bye"]
    expect(all(m["code"] == Code.SLOW_CONSUMER for m in goodbye), "bye slow_consumer, if any", goodbye)


async def _ask_blindly(client: RawClient, batch: int) -> None:
    game = str(client.info["variants"][0]["name"])
    with trio.fail_after(client.patience_s):
        await client.send_bytes(
            b"".join(frame({"t": "rules", "id": n, "variant": game}) for n in range(batch))
        )


async def _ending(client: RawClient) -> list[dict[str, object]] | None:
    """Return what is left to read of a connection that has ended; None if it has not."""
    try:
        return await client.closed()
    except trio.TooSlowError:
        return None


_case: Final = partial(server_case, "S3")

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_flood, "limits.md#rates"),
    _case(_retry, "limits.md#rates"),
    _case(_acts_free, "limits.md#rates"),
    _case(_slow_reader, "limits.md#slow-clients"),
)
