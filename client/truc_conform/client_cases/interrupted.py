"""The cases of level C2 about a connection that ends, or a seat that somebody else has taken over."""

from collections.abc import Iterable
from functools import partial
from typing import Final

import trio
from msgspec.structs import replace

from truc_conform.client_cases.seated import OnChoice, on_choice
from truc_conform.client_harness import Stage
from truc_conform.grease import greased, raw
from truc_conform.playing import signed_position
from truc_conform.result import AnyAct, Case, Outcome, Verdict, failed, tag_of_body
from truc_conform.scenes import (
    ALIVE,
    CLOSING_S,
    Arrange,
    Exit,
    Scene,
    absent,
    at_first,
    end_after,
    ends_soon,
    needing,
    one,
    said,
    unended,
)
from truc_conform.shown import CODE
from truc_protocol.errors import Code
from truc_protocol.messages import (
    Away,
    BoxedOptions,
    Bye,
    ClientMessage,
    Draining,
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
_GOODBYE: Final = "session.md#goodbye"
_STILL_S: Final = 0.7
_RECONNECT_MS: Final = 400
_on_second_choice: Final = partial(on_choice, number=2)


async def _broken_off(stage: Stage, message: AnyAct) -> None:
    """Take the act, and lose the connection in the middle of its record."""
    muted, stage.bend = stage.bend, lambda _message: None
    try:
        await stage.take(stage.record_of(message))
    finally:
        stage.bend = muted
    frame = raw(stage.message(len(stage.records) - 1))
    await stage.drop(frame[: len(frame) // 2])


async def _lost_before(stage: Stage, _message: AnyAct) -> None:
    """Lose the connection and the act, which is never taken."""
    await stage.drop()


def _resumes_right(stage: Stage, end: Exit) -> Outcome | None:
    resumed = said(stage, Resume)
    if not resumed:
        return failed("it did not come back to its seat with `resume`")
    had = _whole_records(stage)
    if resumed[0].next > had:
        return failed(f"it resumed at {resumed[0].next}, but had no records from {had} on")
    return unended(stage, end)


def _whole_records(stage: Stage) -> int:
    """Return how many records the client had received whole when it first resumed."""
    sent = next(heard.sent for heard in stage.heard if isinstance(heard.message, Resume))
    return len({message.k for message in stage.sent[:sent] if isinstance(message, MatchRecord)})


def _one_body_each(stage: Stage, end: Exit) -> Outcome | None:
    """Judge that a seat has signed only one body for each position, even across a lost connection."""
    signed: dict[tuple[str, bytes, int], set[bytes]] = {}
    for message in said(stage, SignedAct):
        if message.match is not None:
            kind = tag_of_body(message.body)
            place = (kind, message.match, signed_position(message))
            signed.setdefault(place, set()).add(message.body + message.sig)
    if any(len(bodies) > 1 for bodies in signed.values()):
        return failed("it signed two bodies for one position")
    return unended(stage, end)


async def _dismiss(stage: Stage, message: AnyAct, goodbye: Bye) -> None:
    """Take the act, and say goodbye."""
    await stage.take(stage.record_of(message))
    stage.rests_from = trio.current_time()
    await stage.push(goodbye)


async def sent_away(stage: Stage, message: AnyAct) -> None:
    """Take the act, and send the client to the other door."""
    to = f"127.0.0.1:{stage.doors[1]}"
    await _dismiss(stage, message, bye(Code.MOVED, "this server has moved", to=to))


def _has_moved(stage: Stage, end: Exit) -> Outcome | None:
    return unended(stage, end) if 1 in stage.doors_used else failed("it did not go to the address in `to`")


def _comes_back(stage: Stage, end: Exit) -> Outcome | None:
    return failed("it did not connect again") if len(stage.opened) == 1 else unended(stage, end)


def _comes_again(stage: Stage, end: Exit) -> Outcome | None:
    if (early := _comes_back(stage, end)) is not None:
        return early
    waited = 1000 * (stage.opened[1] - stage.rests_from)
    early_by = f"it came back after {waited:.0f} ms instead of {_RECONNECT_MS} ms"
    return None if waited > 0.9 * _RECONNECT_MS else Outcome(Verdict.NON_STRICT, early_by)


async def _kicked(stage: Stage, message: AnyAct) -> None:
    """Take the act, and end the connection as the host does who wants nothing else."""
    stage.nursery.start_soon(end_after, stage, CLOSING_S)
    await _dismiss(stage, message, bye(Code.KICKED, "the host has ended this connection; you may come back"))


def _stays_away(stage: Stage, _end: Exit) -> Outcome | None:
    if not any(isinstance(message, Bye) for message in stage.sent):
        return failed("the match did not get that far")
    return failed("it connected again, unasked") if len(stage.opened) > 1 else None


def _drain(stage: Stage) -> None:
    """Say with the first record that the server will stop."""
    draining = Draining(left_ms=60_000)
    at_first(stage, lambda message: isinstance(message, MatchRecord), lambda record: (record, draining))


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


async def _taken_over(stage: Stage, message: AnyAct) -> None:
    """Give the seat to another connection, ping the client, and let rulings play for the seat."""
    await stage.take(stage.record_of(message))
    await stage.push(Ok(re=message.id, k=len(stage.records) - 1))
    await stage.push(SeatTakenOver(table=CODE, seat=0))
    await stage.push(Ping(n=ALIVE))
    stage.bend = lambda sent: None if isinstance(sent, OpenOptions | BoxedOptions) else sent
    stage.is_away = not stage.is_guest  # a guest has nothing to sign, so its match may stand still
    await stage.go_on()


async def _substituted(stage: Stage, message: AnyAct) -> None:
    """Refuse the act, as somebody else has the seat, and ping the client."""
    await stage.push(refusal(Code.SEAT_GONE, "a substitute has taken the seat", re=message.id))
    await stage.push(Ping(n=ALIVE))


def _losing_seat(lose: OnChoice) -> Arrange:
    def arrange(stage: Stage) -> None:
        ends_soon(stage, _is_alive, _STILL_S)
        _on_second_choice(lose)(stage)

    return arrange


def _is_alive(message: object) -> bool:
    return isinstance(message, Pong) and message.n == ALIVE


def _tells_of_loss(message: object) -> bool:
    return isinstance(message, SeatTakenOver) or (
        isinstance(message, Refusal) and message.code == Code.SEAT_GONE
    )


def _keeps_off(stage: Stage, end: Exit) -> Outcome | None:
    told = next((at for at, message in enumerate(stage.sent) if _tells_of_loss(message)), None)
    if told is None:
        return failed("the match did not get that far")
    since = [heard.message for heard in stage.heard if heard.sent > told]
    if end.code is None and not any(map(_is_alive, since)):
        return failed("it answered no ping after it was told")
    alive = next((at for at, message in enumerate(since) if _is_alive(message)), len(since))
    grabs: list[object] = [message for message in since if isinstance(message, Resume | Join)]
    grabs += [message for message in since[alive:] if isinstance(message, AnyAct)]
    return failed(f"it sent {type(grabs[0]).__name__} for a seat that it no longer had") if grabs else None


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


def _ends(_stage: Stage, end: Exit) -> Outcome | None:
    return None if end.code is not None else failed("it went on waiting at a closed table")


_AGAIN: Final = bye(Code.SHUTTING_DOWN, "the server starts again", reconnect_after_ms=_RECONNECT_MS)
_BROKEN: Final = bye(Code.INTERNAL, "the server has failed")

SCENES: Final = needing(
    absent,
    Scene(
        _on_second_choice(_broken_off),
        (
            (
                Case("C2.resume", _COMING_BACK, "comes back, and resumes at the first record it lacks"),
                _resumes_right,
            ),
            (Case("C2.one-body", _COMING_BACK, "sends the same bytes again, or none"), _one_body_each),
        ),
    ),
    Scene(
        _on_second_choice(_lost_before),
        (
            (
                Case("C2.act-lost", _COMING_BACK, "comes back after its act was lost, and decides again"),
                _resumes_right,
            ),
            (Case("C2.same-bytes", _COMING_BACK, "sends again only what it had signed"), _one_body_each),
        ),
    ),
    one("C2.moved", _GOODBYE, "goes to the address in `to`", _on_second_choice(sent_away), _has_moved),
    one(
        "C2.comes-again",
        _GOODBYE,
        "connects again after `reconnect_after_ms`",
        _on_second_choice(partial(_dismiss, goodbye=_AGAIN)),
        _comes_again,
    ),
    one(
        "C2.internal",
        _GOODBYE,
        "comes back after the server has failed",
        _on_second_choice(partial(_dismiss, goodbye=_BROKEN)),
        _comes_back,
    ),
    one(
        "C2.kicked",
        "errors.md#kicked",
        "does not come back by itself once the host has ended its connection",
        _on_second_choice(_kicked),
        _stays_away,
    ),
    one("C2.draining", "messages.md#draining", "plays on though the server will stop", _drain, unended),
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
        unended,
    ),
    one(
        "C2.taken-over",
        "messages.md#seat_taken_over",
        "leaves its seat alone once another connection has it",
        _losing_seat(_taken_over),
        _keeps_off,
    ),
    one(
        "C2.seat-gone",
        "errors.md#seat_gone",
        "leaves its seat alone once a substitute has it",
        _losing_seat(_substituted),
        _keeps_off,
    ),
    one("C2.closed", "messages.md#closed", "ends when its table is closed", _closed, _ends),
)
