"""The cases of level C2: a seat at the table, and a match played by the options, whatever happens on the way."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Final

import trio

from truc_conform.client_harness import Stage
from truc_conform.grease import raw, strange_error
from truc_conform.result import AnyAct, Case, Outcome, Verdict, failed, tag_of_body
from truc_conform.scenes import (
    Arrange,
    Exit,
    Scene,
    absent,
    at_first,
    cut_to_pieces,
    grease_all,
    lengthen,
    needing,
    one,
    said,
    unended,
    without,
)
from truc_protocol.errors import Code, LocalError
from truc_protocol.messages import (
    BoxedOptions,
    Chat,
    ClientMessage,
    GuestAct,
    MatchRecord,
    Ok,
    OpenOptions,
    Ping,
    Pong,
    Ready,
    Refusal,
    Say,
    ServerMessage,
    refusal,
)

_DECISIONS: Final = "play.md#decisions"
_REPLIES: Final = "session.md#requests-and-replies"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_LATE_S: Final = 0.03
_LAST_PINGS: Final = 10
"""How many pings may have come with the end of the match, too late for an answer."""

OnChoice = Callable[[Stage, AnyAct], Awaitable[None]]


def on_choice(do: OnChoice, *, number: int = 1) -> Arrange:
    """Do something else with one of the client's decisions: the first, or a later one."""

    def arrange(stage: Stage) -> None:
        numbers = count(1)

        async def intercept(message: ClientMessage) -> bool:
            if not isinstance(message, AnyAct) or not _is_choice(message):
                return False
            is_meant = next(numbers) == number
            if is_meant:
                await do(stage, message)
            return is_meant

        stage.intercepts.append(intercept)

    return arrange


def _is_choice(message: AnyAct) -> bool:
    """Tell whether an act decides something in a hand."""
    return isinstance(message, GuestAct) or tag_of_body(message.body) == "act"


def _late_replies(stage: Stage) -> None:
    """Let the replies to acts and to `ready` come late: after all they bring about, and after the client's next message."""

    async def hold(message: ClientMessage) -> bool:
        if not isinstance(message, AnyAct | Ready):
            return False
        held: list[ServerMessage] = []

        def recast(answer: ServerMessage) -> Iterable[ServerMessage]:
            if isinstance(answer, Ok) and answer.re == message.id:
                held.append(answer)
                return ()
            return (answer,)

        stage.recast = recast
        await stage.serve_judged(message)
        stage.recast = lambda answer: (answer,)
        stage.nursery.start_soon(_push_later, stage, held)
        return True

    stage.intercepts.append(hold)


async def _push_later(stage: Stage, held: Iterable[ServerMessage]) -> None:
    await trio.sleep(_LATE_S)
    for answer in held:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, LocalError):
            await stage.push(answer)


def _twice(stage: Stage) -> None:
    """Send the reply to the first act twice."""
    at_first(
        stage,
        lambda message: isinstance(message, Ok) and message.k is not None,
        lambda reply: (reply, raw(reply)),
    )


def _pinged(stage: Stage) -> None:
    """Ping along with all options and records; pongs come too, with a clock that is days ahead."""
    numbers = iter(range(100, 100_000))

    def recast(message: ServerMessage) -> Iterable[ServerMessage]:
        if isinstance(message, OpenOptions | BoxedOptions | MatchRecord):
            return message, Ping(n=next(numbers)), Pong(n=0, now_ms=4_000_000_000_000)
        return (message,)

    stage.recast = recast


def _answers_pings(stage: Stage, end: Exit) -> Outcome | None:
    pings = [message.n for message in stage.sent if isinstance(message, Ping)]
    pongs = [pong.n for pong in said(stage, Pong)]
    if pongs != pings[: len(pongs)]:
        return failed("the pongs do not repeat the numbers of the pings in order")
    missing = pings[len(pongs) :]
    is_end = end.code is not None and len(missing) <= _LAST_PINGS
    return None if is_end else failed(f"{len(missing)} of {len(pings)} pings have no pong")


def _optional(stage: Stage) -> None:
    """Tell the client also what it may do but need not."""
    stage.tells_optional = True


async def _overtake(stage: Stage, error: Refusal) -> None:
    """Let a ruling come first, and answer the act with an error."""
    await stage.take(stage.dealer.move(stage.at_play()))
    await stage.push(error)
    await stage.go_on()


async def _overtaken(stage: Stage, message: AnyAct, *, code: Code = Code.STALE_POSITION) -> None:
    await _overtake(stage, refusal(code, "another record came first", re=message.id))


async def _overtaken_strangely(stage: Stage, message: AnyAct) -> None:
    await _overtake(stage, strange_error(message.id))


def _void_bets(stage: Stage) -> None:
    """Answer each ask of the client with void_bet, as if a ruling had come first."""

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, AnyAct) or not _asks(message):
            return False
        await _overtaken(stage, message, code=Code.VOID_BET)
        return True

    stage.intercepts.append(intercept)


def _asks(message: AnyAct) -> bool:
    if isinstance(message, GuestAct):
        return message.choose.startswith("raise")
    return tag_of_body(message.body) == "act" and b"raise" in message.body


def _survives_void_bets(stage: Stage, end: Exit) -> Outcome | None:
    if (early := unended(stage, end)) is not None:
        return early
    has_asked = any(isinstance(heard.message, AnyAct) and _asks(heard.message) for heard in stage.heard)
    return None if has_asked else Outcome(Verdict.INFO, "it never asked for more in this match")


def _muted(stage: Stage) -> None:
    """Let the client play, but not talk."""

    async def intercept(message: ClientMessage) -> bool:
        if isinstance(message, Chat | Say):
            await stage.push(refusal(Code.MUTED, "you may play, but not talk", re=message.id))
        return isinstance(message, Chat | Say)

    stage.intercepts.append(intercept)


def _survives_silence(stage: Stage, end: Exit) -> Outcome | None:
    if (early := unended(stage, end)) is not None:
        return early
    words = [chat.text for chat in said(stage, Chat)] + [say.phrase for say in said(stage, Say)]
    if not words:
        return Outcome(Verdict.INFO, "it said nothing in this match")
    return None if len({*words}) == len(words) else failed("it repeated what it may not say")


def _goes_on_or_ends(stage: Stage, end: Exit) -> Outcome | None:
    return None if end.code else unended(stage, end)


SCENES: Final = needing(
    absent,
    Scene(
        _late_replies,
        (
            (Case("C2.plays", "play.md#decisions", "plays a match by the options, then exits"), unended),
            (
                Case("C2.options", _DECISIONS, "chooses the key of an option that was offered"),
                without(Code.ILLEGAL_ACTION, "act"),
            ),
            (
                Case("C2.turn", _DECISIONS, "acts only at positions for which options came"),
                without(Code.NOT_YOUR_TURN, Code.NOT_NOW),
            ),
            (
                Case("C2.requests", _REPLIES, "every request has an `id` that is not in use"),
                without(Code.BAD_MESSAGE, Code.UNKNOWN_REQUEST),
            ),
        ),
    ),
    one("C2.replies-twice", _REPLIES, "ignores a reply that comes twice, or stops", _twice, _goes_on_or_ends),
    one("C2.unknown", _UNKNOWN, "plays on, ignoring everything unknown", grease_all, unended),
    Scene(
        _pinged,
        (
            (Case("C2.ping", _KEEP_ALIVE, "answers pings during the match, in order"), _answers_pings),
            (Case("C2.clock", _KEEP_ALIVE, "does not rely on the server's clock"), unended),
        ),
    ),
    one("C2.optional", _DECISIONS, "options that are not `must` need no answer", _optional, unended),
    one("C2.pieces", "transport.md#frames", "plays when frames come in pieces", cut_to_pieces, unended),
    one("C2.long-frames", "limits.md#sizes", "takes frames of 65536 bytes", lengthen, unended),
    one(
        "C2.overtaken",
        _DECISIONS,
        "plays on when a ruling comes before its act",
        on_choice(_overtaken),
        unended,
    ),
    one(
        "C2.unknown-error",
        _UNKNOWN,
        "goes by the flags of an unknown error code: these end nothing",
        on_choice(_overtaken_strangely),
        unended,
    ),
    one("C2.muted", "errors.md#muted", "plays on when it may not talk", _muted, _survives_silence),
    one("C2.void-bet", _DECISIONS, "plays on after `void_bet`", _void_bets, _survives_void_bets, target=6),
)
