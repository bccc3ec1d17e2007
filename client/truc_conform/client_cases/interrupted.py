"""The cases of level C2 about a connection that ends, or a seat that somebody else has taken over."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import trio
from msgspec.structs import replace

from truc_conform.client_cases.seated import on_choice
from truc_conform.grease import greased, raw
from truc_conform.noted import tag_of_body
from truc_conform.playing import signed_position
from truc_conform.result import PASSED, Case, Outcome, Verdict, failed
from truc_conform.scenes import (
    ALIVE,
    CLOSING_S,
    Exit,
    Scene,
    absent,
    acts,
    end_after,
    ends_soon,
    one,
    played,
    unended,
)
from truc_conform.shown import CODE
from truc_conform.stage import Stage
from truc_protocol.errors import Code
from truc_protocol.messages import (
    Away,
    BoxedOptions,
    Bye,
    ClientMessage,
    Draining,
    GuestAct,
    GuestLogin,
    GuestReturn,
    Join,
    KeyLogin,
    MatchRecord,
    Ok,
    OpenOptions,
    Ping,
    Pong,
    Ready,
    Refusal,
    Resume,
    SeatTakenOver,
    ServerMessage,
    SignedAct,
    TableClosed,
    bye,
    refusal,
)

_COMING_BACK: Final = "session.md#coming-back"
_STILL_S: Final = 0.7
_RECONNECT_MS: Final = 400
_SECOND: Final = 2


async def _broken_off(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and lose the connection in the middle of its record."""
    muted, stage.bend = stage.bend, lambda _message: None
    try:
        await stage.take(stage.record_of(message))
    finally:
        stage.bend = muted
    frame = raw(stage.message(len(stage.records) - 1))
    await stage.drop(frame[: len(frame) // 2])
    return True


async def _lost_before(stage: Stage, _message: SignedAct | GuestAct) -> bool:
    """Lose the connection and the act, which is never taken."""
    await stage.drop()
    return True


def _resumes_right(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    resumed = [heard.message for heard in stage.heard if isinstance(heard.message, Resume)]
    if not resumed:
        return failed("it did not come back to its seat with `resume`")
    had = _whole_records(stage)
    if resumed[0].next > had:
        return failed(f"it resumed at {resumed[0].next}, but had no records from {had} on")
    return unended(stage, end) or PASSED


def _whole_records(stage: Stage) -> int:
    """Return how many records the client had received whole when it first resumed."""
    sent = next(heard.sent for heard in stage.heard if isinstance(heard.message, Resume))
    return len({message.k for message in stage.sent[:sent] if isinstance(message, MatchRecord)})


def one_body_each(stage: Stage, end: Exit) -> Outcome:
    """Judge that a seat has signed only one body for each position, even across a lost connection."""
    signed: dict[tuple[str, bytes, int], set[bytes]] = {}
    for message in acts(stage):
        if isinstance(message, SignedAct) and message.match is not None:
            kind = tag_of_body(message.body)
            place = (kind, message.match, signed_position(message))
            signed.setdefault(place, set()).add(message.body + message.sig)
    if any(len(bodies) > 1 for bodies in signed.values()):
        return failed("it signed two bodies for one position")
    return unended(stage, end) or PASSED


async def sent_away(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and send the client to the other door."""
    await stage.take(stage.record_of(message))
    await stage.push(bye(Code.MOVED, "this server has moved", to=f"127.0.0.1:{stage.doors[1]}"))
    return True


def _has_moved(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    return (
        (unended(stage, end) or PASSED)
        if 1 in stage.doors_used
        else failed("it did not go to the address in `to`")
    )


async def _sent_off(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and ask the client to come again later."""
    await stage.take(stage.record_of(message))
    again = bye(Code.SHUTTING_DOWN, "the server starts again", reconnect_after_ms=_RECONNECT_MS)
    stage.rests_from = trio.current_time()
    await stage.push(again)
    return True


def _comes_again(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    if len(stage.opened) == 1:
        return failed("it did not connect again")
    if (late := unended(stage, end)) is not None:
        return late
    waited = 1000 * (stage.opened[1] - stage.rests_from)
    early_by = f"it came back after {waited:.0f} ms instead of {_RECONNECT_MS} ms"
    return PASSED if waited > 0.9 * _RECONNECT_MS else Outcome(Verdict.NON_STRICT, early_by)


async def _failed(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and end the connection as a server that has failed."""
    await stage.take(stage.record_of(message))
    await stage.push(bye(Code.INTERNAL, "the server has failed"))
    return True


def _comes_back(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    if len(stage.opened) == 1:
        return failed("it did not connect again")
    return unended(stage, end) or PASSED


async def _kicked(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and end the connection as the host does who wants nothing else."""
    await stage.take(stage.record_of(message))
    stage.nursery.start_soon(end_after, stage, CLOSING_S)
    await stage.push(bye(Code.KICKED, "the host has ended this connection; you may come back"))
    return True


def _stays_away(stage: Stage, _end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    if not any(isinstance(message, Bye) for message in stage.sent):
        return failed("the match did not get that far")
    return failed("it connected again, unasked") if len(stage.opened) > 1 else PASSED


def _drain(stage: Stage) -> None:
    """Say with the first record that the server will stop."""
    left = [Draining(left_ms=60_000)]

    def recast(message: ServerMessage) -> Iterable[ServerMessage]:
        return (message, left.pop()) if isinstance(message, MatchRecord) and left else (message,)

    stage.recast = recast


def _too_soon(stage: Stage) -> None:
    """Let the first login come too soon after others that have failed."""
    turned_away: list[ClientMessage] = []

    async def intercept(message: ClientMessage) -> bool:
        if turned_away or not isinstance(message, KeyLogin | GuestLogin | GuestReturn):
            return False
        turned_away.append(message)
        error = refusal(Code.RATE_LIMITED, "too many logins have failed", re=message.id)
        stage.rests_from = trio.current_time()
        await stage.push(replace(error, close=True, retry_after_ms=_RECONNECT_MS))
        await stage.push(bye(Code.RATE_LIMITED, error.msg, reconnect_after_ms=_RECONNECT_MS))
        await stage.drop()
        return True

    stage.intercepts.append(intercept)


def _tell_who_is_away(stage: Stage) -> None:
    """Let notices of who is away follow each record, about others and the client's own seat, with unknown fields."""

    def recast(message: ServerMessage) -> Iterable[ServerMessage | bytes]:
        if not isinstance(message, MatchRecord):
            return (message,)
        told = Away(table=CODE, match=message.match, seat=1, missed=2, claim_in_ms=0)
        back = Away(table=CODE, match=message.match, seat=1, online=True)
        own = Away(table=CODE, match=message.match, seat=0, online=True, missed=1, claim_in_ms=60_000)
        return (message, *(greased(raw(notice)) for notice in (told, own, back)))

    stage.recast = recast


async def _taken_over(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Give the seat to another connection, ping the client, and let rulings play for the seat."""
    await stage.take(stage.record_of(message))
    await stage.push(Ok(re=message.id, k=len(stage.records) - 1))
    await stage.push(SeatTakenOver(table=CODE, seat=0))
    await stage.push(Ping(n=ALIVE))
    stage.bend = lambda sent: None if isinstance(sent, OpenOptions | BoxedOptions) else sent
    stage.is_away = not stage.is_guest  # a guest has nothing to sign, so its match may stand still
    await stage.go_on()
    return True


def _is_alive(message: object) -> bool:
    return isinstance(message, Pong) and message.n == ALIVE


def _take_over(stage: Stage) -> None:
    ends_soon(stage, _is_alive, _STILL_S)
    on_choice(stage, _taken_over, number=_SECOND)


async def _substituted(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Refuse the act, as somebody else has the seat, and ping the client."""
    await stage.push(refusal(Code.SEAT_GONE, "a substitute has taken the seat", re=message.id))
    await stage.push(Ping(n=ALIVE))
    return True


def _step_in(stage: Stage) -> None:
    ends_soon(stage, _is_alive, _STILL_S)
    on_choice(stage, _substituted, number=_SECOND)


def _is_take_over(message: object) -> bool:
    return isinstance(message, SeatTakenOver)


def _is_seat_gone(message: object) -> bool:
    return isinstance(message, Refusal) and message.code == Code.SEAT_GONE


def _keeps_off(stage: Stage, end: Exit, *, after: Callable[[object], bool]) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    told = next((at for at, message in enumerate(stage.sent) if after(message)), None)
    if told is None:
        return failed("the match did not get that far")
    since = [heard.message for heard in stage.heard if heard.sent > told]
    if end.code is None and not any(map(_is_alive, since)):
        return failed("it answered no ping after it was told")
    alive = next((at for at, message in enumerate(since) if _is_alive(message)), len(since))
    grabs: list[object] = [message for message in since if isinstance(message, Resume | Join)]
    grabs += [message for message in since[alive:] if isinstance(message, SignedAct | GuestAct)]
    return failed(f"it sent {type(grabs[0]).__name__} for a seat that it no longer had") if grabs else PASSED


def _closed(stage: Stage) -> None:
    """Close the table as soon as the client is ready."""
    notice = TableClosed(table=CODE, reason="server")

    async def intercept(message: ClientMessage) -> bool:
        if isinstance(message, Ready):
            await stage.push(Ok(re=message.id))
            await stage.push(notice)
            return True
        return False

    stage.intercepts.append(intercept)


def _ends(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    return PASSED if end.code is not None else failed("it went on waiting at a closed table")


SCENES: Final = (
    Scene(
        lambda stage: on_choice(stage, _broken_off, number=_SECOND),
        (
            (
                Case("C2.resume", _COMING_BACK, "comes back, and resumes at the first record it lacks"),
                _resumes_right,
            ),
            (Case("C2.one-body", _COMING_BACK, "sends the same bytes again, or none"), one_body_each),
        ),
    ),
    Scene(
        lambda stage: on_choice(stage, _lost_before, number=_SECOND),
        (
            (
                Case("C2.act-lost", _COMING_BACK, "comes back after its act was lost, and decides again"),
                _resumes_right,
            ),
            (Case("C2.same-bytes", _COMING_BACK, "sends again only what it had signed"), one_body_each),
        ),
    ),
    one(
        "C2.moved",
        "session.md#goodbye",
        "goes to the address in `to`",
        lambda stage: on_choice(stage, sent_away, number=_SECOND),
        _has_moved,
    ),
    one(
        "C2.comes-again",
        "session.md#goodbye",
        "connects again after `reconnect_after_ms`",
        lambda stage: on_choice(stage, _sent_off, number=_SECOND),
        _comes_again,
    ),
    one(
        "C2.internal",
        "session.md#goodbye",
        "comes back after the server has failed",
        lambda stage: on_choice(stage, _failed, number=_SECOND),
        _comes_back,
    ),
    one(
        "C2.kicked",
        "errors.md#kicked",
        "does not come back by itself once the host has ended its connection",
        lambda stage: on_choice(stage, _kicked, number=_SECOND),
        _stays_away,
    ),
    one(
        "C2.draining",
        "messages.md#draining",
        "plays on though the server will stop",
        _drain,
        played,
    ),
    one(
        "C2.too-soon",
        "limits.md#addresses",
        "connects again after `retry_after_ms` if its login came too soon",
        _too_soon,
        _comes_again,
    ),
    one(
        "C2.away",
        "messages.md#away",
        "plays on without a claim, whoever is away, its own seat included",
        _tell_who_is_away,
        played,
    ),
    one(
        "C2.taken-over",
        "messages.md#seat_taken_over",
        "leaves its seat alone once another connection has it",
        _take_over,
        partial(_keeps_off, after=_is_take_over),
    ),
    one(
        "C2.seat-gone",
        "errors.md#seat_gone",
        "leaves its seat alone once a substitute has it",
        _step_in,
        partial(_keeps_off, after=_is_seat_gone),
    ),
    one("C2.closed", "messages.md#closed", "ends when its table is closed", _closed, _ends),
)
