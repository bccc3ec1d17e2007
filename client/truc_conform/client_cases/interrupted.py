"""The cases of level C2 about a connection that ends, or a seat that somebody else has taken over."""

from collections.abc import Iterable
from functools import partial
from typing import Final

import trio
from msgspec.structs import replace

from truc_conform.client_cases.seated import OnChoice, on_choice
from truc_conform.client_harness import ClientHarness
from truc_conform.grease import greased, raw
from truc_conform.playing import signed_position
from truc_conform.result import AnyAct, CaseOutcome, CaseVerdict, failed, tag_of_body
from truc_conform.scenes import (
    ALIVE,
    CLOSING_S,
    Arrange,
    Exit,
    at_first,
    end_after,
    ends_soon,
    intercepting,
    judged,
    recasting,
    said,
    scene,
    unended,
)
from truc_conform.shown import CODE
from truc_protocol import messages
from truc_protocol.errors import Code

_COMING_BACK: Final = "session.md#coming-back"
_GOODBYE: Final = "session.md#goodbye"
_STILL_S: Final = 0.7  # after its pong a client has had its chance to grab the seat again
_RECONNECT_MS: Final = 400  # long enough to be told from a client that comes back at once
_on_second_choice: Final = partial(on_choice, number=2)
_AGAIN: Final = messages.bye(Code.SHUTTING_DOWN, "the server starts again", reconnect_after_ms=_RECONNECT_MS)
_BROKEN: Final = messages.bye(Code.INTERNAL, "the server has failed")


def _whole_records(server: ClientHarness) -> int:
    """Return how many records the client had received whole when it first resumed."""
    sent = next(heard.sent for heard in server.heard if isinstance(heard.message, messages.Resume))
    return len({message.k for message in server.sent[:sent] if isinstance(message, messages.MatchRecord)})


def _resumes_right(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    resumed = said(server, messages.Resume)
    if not resumed:
        return failed("it did not come back to its seat with `resume`")
    had = _whole_records(server)
    if resumed[0].next > had:
        return failed(f"it resumed at {resumed[0].next}, but had no records from {had} on")
    return unended(server, end)


def _one_body_each(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    """Judge that a seat has signed only one body for each position, even across a lost connection."""
    signed: dict[tuple[str, bytes, int], set[bytes]] = {}
    for message in said(server, messages.SignedAct):
        if message.match is not None:
            kind = tag_of_body(message.body)
            place = (kind, message.match, signed_position(message))
            signed.setdefault(place, set()).add(message.body + message.sig)
    if any(len(bodies) > 1 for bodies in signed.values()):
        return failed("it signed two bodies for one position")
    return unended(server, end)


@scene(
    judged("C2.resume", _COMING_BACK, "comes back, and resumes at the first record it lacks", _resumes_right),
    judged("C2.one-body", _COMING_BACK, "sends the same bytes again, or none", _one_body_each),
)
@_on_second_choice
async def _broken_off(server: ClientHarness, message: AnyAct) -> None:
    """Take the act, and lose the connection in the middle of its record."""
    muted, server.bend = server.bend, lambda _message: None
    try:
        await server.take(server.record_of(message))
    finally:
        server.bend = muted
    frame = raw(server.message(len(server.records) - 1))
    await server.drop(frame[: len(frame) // 2])


@scene(
    judged(
        "C2.act-lost", _COMING_BACK, "comes back after its act was lost, and decides again", _resumes_right
    ),
    judged("C2.same-bytes", _COMING_BACK, "sends again only what it had signed", _one_body_each),
)
@_on_second_choice
async def _lost_before(server: ClientHarness, _message: AnyAct) -> None:
    """Lose the connection and the act, which is never taken."""
    await server.drop()


async def _dismiss(server: ClientHarness, message: AnyAct, goodbye: messages.Bye) -> None:
    """Take the act, and say goodbye."""
    await server.take(server.record_of(message))
    server.rests_from = trio.current_time()
    await server.part(goodbye)


async def sent_away(server: ClientHarness, message: AnyAct) -> None:
    """Take the act, and send the client to the other door."""
    to = f"127.0.0.1:{server.doors[1]}"
    await _dismiss(server, message, messages.bye(Code.MOVED, "this server has moved", to=to))


def _has_moved(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    return unended(server, end) if 1 in server.doors_used else failed("it did not go to the address in `to`")


def _comes_back(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    return failed("it did not connect again") if len(server.opened) == 1 else unended(server, end)


def _comes_again(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    if (early := _comes_back(server, end)) is not None:
        return early
    waited = 1000 * (server.opened[1] - server.rests_from)
    early_by = f"it came back after {waited:.0f} ms instead of {_RECONNECT_MS} ms"
    return None if waited > 0.9 * _RECONNECT_MS else CaseOutcome(CaseVerdict.NON_STRICT, early_by)


_DISMISSED: Final = [
    scene(judged(name, _GOODBYE, expected, judge))(_on_second_choice(dismiss))
    for name, expected, judge, dismiss in (
        ("C2.moved", "goes to the address in `to`", _has_moved, sent_away),
        (
            "C2.comes-again",
            "connects again after `reconnect_after_ms`",
            _comes_again,
            partial(_dismiss, goodbye=_AGAIN),
        ),
        (
            "C2.internal",
            "comes back after the server has failed",
            _comes_back,
            partial(_dismiss, goodbye=_BROKEN),
        ),
    )
]


def _stays_away(server: ClientHarness, _end: Exit) -> CaseOutcome | None:
    if not any(isinstance(message, messages.Bye) for message in server.sent):
        return failed("the match did not get that far")
    return failed("it connected again, unasked") if len(server.opened) > 1 else None


@scene(
    judged(
        "C2.kicked",
        "errors.md#kicked",
        "does not come back by itself once the host has ended its connection",
        _stays_away,
    )
)
@_on_second_choice
async def _kicked(server: ClientHarness, message: AnyAct) -> None:
    """Take the act, and end the connection as the host does who wants nothing else."""
    server.nursery.start_soon(end_after, server, CLOSING_S)
    await _dismiss(
        server, message, messages.bye(Code.KICKED, "the host has ended this connection; you may come back")
    )


@scene(judged("C2.draining", "messages.md#draining", "plays on though the server will stop", unended))
def _drain(server: ClientHarness) -> None:
    """Say with the first record that the server will stop."""
    draining = messages.Draining(left_ms=60_000)
    at_first(
        server, lambda message: isinstance(message, messages.MatchRecord), lambda record: (record, draining)
    )


@scene(
    judged(
        "C2.too-soon",
        "limits.md#addresses",
        "connects again after `retry_after_ms` if its login came too soon",
        _comes_again,
    )
)
@intercepting
async def _too_soon(server: ClientHarness, message: messages.ClientMessage) -> bool:
    """Let the first login come too soon after others that have failed."""
    if server.rests_from or not isinstance(
        message, messages.KeyLogin | messages.GuestLogin | messages.GuestReturn
    ):
        return False
    error = messages.refusal(Code.RATE_LIMITED, "too many logins have failed", re=message.id)
    server.rests_from = trio.current_time()
    await server.push(replace(error, close=True, retry_after_ms=_RECONNECT_MS))
    await server.push(messages.bye(Code.RATE_LIMITED, error.msg, reconnect_after_ms=_RECONNECT_MS))
    await server.drop()
    return True


@scene(
    judged(
        "C2.away",
        "messages.md#away",
        "plays on without a claim, whoever is away, its own seat included",
        unended,
    )
)
@recasting
def _tell_who_is_away(
    _server: ClientHarness, message: messages.ServerMessage
) -> Iterable[messages.ServerMessage | bytes]:
    """Let notices of who is away follow each record, about others and the client's own seat, with unknown fields."""
    if not isinstance(message, messages.MatchRecord):
        return (message,)
    told = messages.Away(table=CODE, match=message.match, seat=1, missed=2, claim_in_ms=0)
    back = messages.Away(table=CODE, match=message.match, seat=1, online=True)
    own = messages.Away(table=CODE, match=message.match, seat=0, online=True, missed=1, claim_in_ms=60_000)
    return (message, *(greased(raw(notice)) for notice in (told, own, back)))


def _is_alive(message: object) -> bool:
    return isinstance(message, messages.Pong) and message.n == ALIVE


def _tells_of_loss(message: object) -> bool:
    return isinstance(message, messages.SeatTakenOver) or (
        isinstance(message, messages.Refusal) and message.code == Code.SEAT_GONE
    )


def _keeps_off(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    told = next((at for at, message in enumerate(server.sent) if _tells_of_loss(message)), None)
    if told is None:
        return failed("the match did not get that far")
    since = [heard.message for heard in server.heard if heard.sent > told]
    if end.code is None and not any(map(_is_alive, since)):
        return failed("it answered no ping after it was told")
    alive = next((at for at, message in enumerate(since) if _is_alive(message)), len(since))
    grabs: list[object] = [
        message for message in since if isinstance(message, messages.Resume | messages.Join)
    ]
    grabs += [message for message in since[alive:] if isinstance(message, AnyAct)]
    return failed(f"it sent {type(grabs[0]).__name__} for a seat that it no longer had") if grabs else None


def _losing_seat(lose: OnChoice) -> Arrange:
    def arrange(server: ClientHarness) -> None:
        ends_soon(server, _is_alive, _STILL_S)
        _on_second_choice(lose)(server)

    return arrange


@scene(
    judged(
        "C2.taken-over",
        "messages.md#seat_taken_over",
        "leaves its seat alone once another connection has it",
        _keeps_off,
    )
)
@_losing_seat
async def _taken_over(server: ClientHarness, message: AnyAct) -> None:
    """Give the seat to another connection, ping the client, and let rulings play for the seat."""
    await server.take(server.record_of(message))
    await server.push(messages.Ok(re=message.id, k=len(server.records) - 1))
    await server.push(messages.SeatTakenOver(table=CODE, seat=0))
    await server.push(messages.Ping(n=ALIVE))
    server.bend = lambda sent: (
        None if isinstance(sent, messages.OpenOptions | messages.BoxedOptions) else sent
    )
    server.is_away = not server.is_guest  # a guest has nothing to sign, so its match may stand still
    await server.go_on()


@scene(
    judged(
        "C2.seat-gone",
        "errors.md#seat_gone",
        "leaves its seat alone once a substitute has it",
        _keeps_off,
    )
)
@_losing_seat
async def _substituted(server: ClientHarness, message: AnyAct) -> None:
    """Refuse the act, as somebody else has the seat, and ping the client."""
    await server.push(messages.refusal(Code.SEAT_GONE, "a substitute has taken the seat", re=message.id))
    await server.push(messages.Ping(n=ALIVE))


def _ends(_server: ClientHarness, end: Exit) -> CaseOutcome | None:
    return None if end.code is not None else failed("it went on waiting at a closed table")


@scene(judged("C2.closed", "messages.md#closed", "ends when its table is closed", _ends))
@intercepting
async def _closed(server: ClientHarness, message: messages.ClientMessage) -> bool:
    """Close the table as soon as the client is ready."""
    if not isinstance(message, messages.Ready):
        return False
    await server.push(messages.Ok(re=message.id))
    await server.push(messages.TableClosed(table=CODE, reason="server"))
    return True
