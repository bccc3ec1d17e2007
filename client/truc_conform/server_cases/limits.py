"""Cases S3: how much of a server one address and one player may use, and that nobody else waits for them.

Drops, floods, and clients that do not read: bounded in frames and time, and others must be served meanwhile. The
server's own figures are in `limits` of its info. If they are missing, or too high for a run to reach, a case only
reports that. Invariant: a case that uses a limit up waits afterwards for as long as the server says.
"""

import socket
from contextlib import suppress
from typing import Final

import trio

from truc_conform.expectations import InconclusiveError, Map, check_refusal, check_too_soon, expect, expect_ok
from truc_conform.raw_client import RawClient, frame, length
from truc_conform.result import CaseOutcome, CaseVerdict
from truc_conform.server_cases.session import LATEST_LOGIN_S
from truc_conform.server_visit import ServerVisit, case
from truc_protocol.crypto.keys import generate_signing_key
from truc_protocol.errors import Code

MOST_CONNECTIONS: Final = 64  # more at once, and a run would need more files than a shell gives it
MOST_FAILURES: Final = 64  # each costs a connection and a signature: more would take a run a minute
MOST_TABLES: Final = 20
DRIP_S: Final = 0.1  # far less than any idle_s, so that only whole frames can count as signs of life
_AGAIN_S: Final = 0.3  # a server may take a moment to see that a connection is gone
_ANNOUNCED: Final = 2_000  # bytes of a frame that is never finished: below the limit of 2048 before a login
_SLACK_S: Final = 5.0  # for a busy machine
_OF_ADDRESS: Final = "limits.md#addresses"
_BEFORE: Final = "limits.md#before-login"
FLOOD: Final = 400  # bounded, so that the kit itself does no harm to a server without limits
SLOW_S: Final = 15.0  # enough for the answers to fill the buffers of both systems
_NARROW: Final = 4_096  # bytes: the smallest buffer that Linux gives fills soonest
_BATCH: Final = 40


def _allowed(per_min: int, since: float) -> int:
    """Return how often something may have been done since a moment, at this many times a minute."""
    # The budget fills again while it is used up, so a slow run may do more than one minute's worth.
    return per_min + 1 + int(per_min * (trio.current_time() - since) / 60)


@case("S3.failed-logins", _OF_ADDRESS)
async def _failed_logins(visit: ServerVisit) -> CaseOutcome | None:
    """Too many failed logins get rate_limited with a true wait, and a valid one is let in."""
    most = (await visit.player()).limit("failed_logins_per_min", most=MOST_FAILURES)
    since, endings = trio.current_time(), [await _fail(visit)]
    while endings[-1][0]["code"] == Code.BAD_SIGNATURE and len(endings) <= _allowed(most, since):
        endings.append(await _fail(visit))
    error, goodbye = endings[-1]
    wait_ms = check_too_soon(error, closes=True)
    expect(goodbye.get("reconnect_after_ms") == wait_ms, "reconnect_after_ms with the same time", goodbye)
    # limits.md, "Addresses": while an address has to wait, logins with a valid key still succeed.
    reply = await (await visit.connect()).login_key(generate_signing_key())
    await trio.sleep(wait_ms / 1000)
    error, _ = await _fail(visit)
    check_refusal(error, Code.BAD_SIGNATURE, closes=True)
    if reply["t"] != "welcome":
        return CaseOutcome(CaseVerdict.NON_STRICT, f"a valid key was kept out meanwhile: {reply['code']}")
    return None


async def _fail(visit: ServerVisit) -> tuple[Map, Map]:
    """Let a login fail; return the error and the goodbye."""
    client = await visit.connect()
    await client.hello()
    await client.send({**client.auth(generate_signing_key()), "sig": bytes(64)})
    rest = await client.closed()
    await client.stream.aclose()
    expect([told["t"] for told in rest] == ["error", "bye"], "error, bye, and the end", rest)
    return rest[0], rest[1]


@case("S3.connections", _OF_ADDRESS)
async def _connections(visit: ServerVisit) -> None:
    """One connection too many from an address gets server_full before it speaks, until others go."""
    most = (await visit.player()).limit("connections_per_address", most=MOST_CONNECTIONS)
    member = await visit.player()
    others = [await visit.connect() for _ in range(most)]
    (error, _) = await others[-1].check_ended(Code.SERVER_FULL)
    # limits.md, "Addresses": `server_full` comes before anything was said.
    expect("re" not in error, "an error before any request", error)
    await member.check_alive()
    for other in others:
        await other.stream.aclose()
    await _lets_in_again(visit)


async def _lets_in_again(visit: ServerVisit) -> None:
    """Check that there is room again soon after the others have gone."""
    end = trio.current_time() + visit.patience_s
    while (reply := await (await visit.connect()).hello())["t"] != "hello":
        expect(trio.current_time() < end, "to be let in when the others have gone", reply)
        await trio.sleep(_AGAIN_S)


@case("S3.tables-rate", "limits.md#players")
async def _tables_rate(visit: ServerVisit) -> None:
    """Too many new tables in a minute get rate_limited; after the wait one can be opened."""
    key = generate_signing_key()
    client = await visit.player(key)
    most = client.limit("tables_per_min", most=MOST_TABLES)
    since, replies = trio.current_time(), [await _open_and_leave(client)]
    while replies[-1]["t"] == "ok" and len(replies) <= _allowed(most, since):
        replies.append(await _open_and_leave(client))
    await trio.sleep(check_too_soon(replies[-1]) / 1000)
    expect_ok(await _open_and_leave(await visit.player(key)), "a table after retry_after_ms")


async def _open_and_leave(client: RawClient) -> Map:
    """Open a table and leave it, no faster than requests may come; return the reply to the first request."""
    # Or the rate of requests would be met before that of tables (limits.md, "Rates").
    await trio.sleep(2 / client.info["limits"]["requests_per_s"])
    game = client.info["variants"][0]["name"]
    reply = await client.ask({"t": "create", "variant": game, "private": True})
    if reply["t"] == "ok":
        expect_ok(await client.ask_patiently({"t": "leave", "table": reply["table"]}), "ok to leave")
    return reply


@case("S3.drip", _BEFORE)
async def _drip(visit: ServerVisit) -> None:
    """A frame that comes a byte at a time is no sign of life."""
    client = await visit.player()
    # session.md, "Keep-alive": after one and a half times as long the connection is given up.
    last_s = 1.5 * float(client.info["limits"]["idle_s"])
    if last_s > visit.patience_s:
        raise InconclusiveError(f"silence ends a connection after {last_s:g} s: longer than this run waits")
    rest = await _dripped(client, last_s + _SLACK_S)
    expect(rest is not None, f"the end after {last_s:g} s without a whole frame", "an open connection")
    expect(rest and rest[-1].get("code") == Code.TIMEOUT, "bye timeout", rest)


@case("S3.drip-login", _BEFORE)
async def _drip_login(visit: ServerVisit) -> None:
    """A hello that comes a byte at a time gets timeout."""
    client = await visit.connect()
    started = trio.current_time()
    rest = await _dripped(client, min(visit.patience_s, LATEST_LOGIN_S))
    seconds = trio.current_time() - started
    if rest is None:
        raise InconclusiveError(f"after {seconds:.0f} s the server still waits for the rest of a hello")
    expect(rest and rest[-1].get("code") == Code.TIMEOUT, "bye timeout", rest)


async def _dripped(client: RawClient, seconds: float) -> list[Map] | None:
    """Send a frame byte by byte; return what came if the connection ends within this time, else None."""
    client.patience_s, came = 2 * seconds, None
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send_slowly, client)
            came = await client.closed()
            nursery.cancel_scope.cancel()
    return came


async def _send_slowly(client: RawClient) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        await client.send_bytes(length(_ANNOUNCED))
        for _ in range(_ANNOUNCED):
            await client.send_bytes(b"\x80")
            await trio.sleep(DRIP_S)


def _burst(client: RawClient, *, times: int) -> int:
    """Return how many requests the server takes at once, if a flood holds some times that many."""
    burst = int(client.info["limits"]["burst"])
    if times * burst > FLOOD:
        raise InconclusiveError(f"limits.burst is {burst}: {FLOOD} requests do not reach it")
    return burst


@case("S3.flood", "limits.md#rates")
async def _flood(visit: ServerVisit) -> None:
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
    await (await visit.player()).check_alive()


@case("S3.retry", "limits.md#rates")
async def _retry(visit: ServerVisit) -> None:
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


@case("S3.acts-free", "limits.md#rates")
async def _acts_free(visit: ServerVisit) -> None:
    """An act on an open option is never refused for its rate."""
    mover, _ = await visit.in_hand()
    burst = _burst(mover.client, times=2)
    for _ in range(burst + burst // 2):
        await mover.ask({"t": "tables"})
    # limits.md, "Rates": an act that chooses an open option is not counted with the requests.
    expect_ok(await mover.move(), "ok to an act, whatever was asked before")


@case("S3.slow-reader", "session.md#slow-clients")
async def _slow_reader(visit: ServerVisit) -> None:
    """A client that does not read is cut off; nobody waits for it.

    Ask and never read; others must still be served, and in the end the connection is cut.
    """
    client, other = await visit.player(), await visit.player()
    # Otherwise megabytes could wait in the buffers of the systems before the server's own queue fills.
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
    # session.md, "Slow clients": a server waits for nobody.
    await other.check_alive()
    rest = await _ending(client)
    if rest is None:
        raise InconclusiveError(f"{asked} answers were not read, and the connection is still open")
    goodbye = [message for message in rest if message["t"] == "bye"]
    # session.md, "Goodbye": where there is no room for `bye`, what waits for the connection is dropped.
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
