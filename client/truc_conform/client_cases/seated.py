"""The cases of level C2: a seat at the table, and a match played by the options, whatever happens on the way."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Final

import trio

from truc_conform.grease import (
    raw,
    strange_error,
)
from truc_conform.noted import tag_of_body
from truc_conform.result import PASSED, Case, Outcome, Verdict, failed
from truc_conform.scenes import (
    Exit,
    Scene,
    absent,
    acts,
    cut_to_pieces,
    grease_all,
    lengthen,
    one,
    played,
    seated,
    unended,
    without,
)
from truc_conform.stage import Stage
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
    Say,
    ServerMessage,
    SignedAct,
    refusal,
)

_DECISIONS: Final = "play.md#decisions"
_REPLIES: Final = "session.md#requests-and-replies"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_LATE_S: Final = 0.03
_SECOND: Final = 2

OnChoice = Callable[[Stage, SignedAct | GuestAct], Awaitable[bool]]


def is_choice(message: ClientMessage) -> bool:
    """Tell whether a message decides something in a hand."""
    match message:
        case GuestAct():
            return True
        case SignedAct(body=body):
            return tag_of_body(body) == "act"
        case _:
            return False


def on_choice(stage: Stage, do: OnChoice, *, number: int = 1) -> None:
    """Do something else with one of the client's decisions: the first, or a later one."""
    count = [0]

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, SignedAct | GuestAct) or not is_choice(message):
            return False
        count[0] += 1
        return await do(stage, message) if count[0] == number else False

    stage.intercepts.append(intercept)


def _late_replies(stage: Stage) -> None:
    """Let the replies to acts and to `ready` come late: after all they bring about, and after the client's next message."""

    async def hold(message: ClientMessage) -> bool:
        if not isinstance(message, SignedAct | GuestAct | Ready):
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
    left = [1]

    def recast(message: ServerMessage) -> Iterable[ServerMessage | bytes]:
        if isinstance(message, Ok) and message.k is not None and left:
            left.clear()
            return message, raw(message)
        return (message,)

    stage.recast = recast


def _pinged(stage: Stage) -> None:
    """Ping along with all options and records; pongs come too, with a clock that is days ahead."""
    numbers = iter(range(100, 100_000))

    def recast(message: ServerMessage) -> Iterable[ServerMessage]:
        if isinstance(message, OpenOptions | BoxedOptions | MatchRecord):
            return message, Ping(n=next(numbers)), Pong(n=0, now_ms=4_000_000_000_000)
        return (message,)

    stage.recast = recast


def _answers_pings(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    pings = [message.n for message in stage.sent if isinstance(message, Ping)]
    pongs = [heard.message.n for heard in stage.heard if isinstance(heard.message, Pong)]
    if pongs != pings[: len(pongs)]:
        return failed("the pongs do not repeat the numbers of the pings in order")
    missing = pings[len(pongs) :]
    is_end = end.code is not None and len(missing) <= _SECOND * 5  # what came with the end of the match
    return PASSED if is_end else failed(f"{len(missing)} of {len(pings)} pings have no pong")


def _optional(stage: Stage) -> None:
    """Tell the client also what it may do but need not."""
    stage.tells_optional = True


async def _rule(stage: Stage) -> None:
    await stage.take(stage.dealer.move(stage.at_play()))


async def _overtaken(stage: Stage, message: SignedAct | GuestAct, *, code: Code) -> bool:
    await _rule(stage)
    await stage.push(refusal(code, "another record came first", re=message.id))
    await stage.go_on()
    return True


async def _overtaken_strangely(stage: Stage, message: SignedAct | GuestAct) -> bool:
    await _rule(stage)
    await stage.push(strange_error(message.id))
    await stage.go_on()
    return True


def _void_bets(stage: Stage) -> None:
    """Answer each ask of the client with void_bet, as if a ruling had come first."""

    async def intercept(message: ClientMessage) -> bool:
        if isinstance(message, SignedAct | GuestAct) and _asks(message):
            return await _overtaken(stage, message, code=Code.VOID_BET)
        return False

    stage.intercepts.append(intercept)


def _asks(message: SignedAct | GuestAct) -> bool:
    if isinstance(message, GuestAct):
        return message.choose.startswith("raise")
    return tag_of_body(message.body) == "act" and b"raise" in message.body


def _survives_void_bets(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage) or unended(stage, end)) is not None:
        return early
    asked = any(_asks(message) for message in acts(stage))
    return PASSED if asked else Outcome(Verdict.INFO, "it never asked for more in this match")


def _muted(stage: Stage) -> None:
    """Let the client play, but not talk."""

    async def intercept(message: ClientMessage) -> bool:
        if isinstance(message, Chat | Say):
            await stage.push(refusal(Code.MUTED, "you may play, but not talk", re=message.id))
        return isinstance(message, Chat | Say)

    stage.intercepts.append(intercept)


def _survives_silence(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage) or unended(stage, end)) is not None:
        return early
    said = [_words(heard.message) for heard in stage.heard if isinstance(heard.message, Chat | Say)]
    if not said:
        return Outcome(Verdict.INFO, "it said nothing in this match")
    return PASSED if len({*said}) == len(said) else failed("it repeated what it may not say")


def _words(message: Chat | Say) -> str:
    return message.text if isinstance(message, Chat) else message.phrase


def _goes_on_or_ends(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    return PASSED if end.code else played(stage, end)


SCENES: Final = (
    Scene(
        _late_replies,
        (
            (Case("C2.plays", "play.md#decisions", "plays a match by the options, then exits"), played),
            (
                Case("C2.options", _DECISIONS, "chooses the key of an option that was offered"),
                without(Code.ILLEGAL_ACTION, "act", before=seated),
            ),
            (
                Case("C2.turn", _DECISIONS, "acts only at positions for which options came"),
                without(Code.NOT_YOUR_TURN, Code.NOT_NOW, before=seated),
            ),
            (
                Case("C2.requests", _REPLIES, "every request has an `id` that is not in use"),
                without(Code.BAD_MESSAGE, Code.UNKNOWN_REQUEST, before=seated),
            ),
        ),
    ),
    one(
        "C2.replies-twice",
        _REPLIES,
        "ignores a reply that comes twice, or stops",
        _twice,
        _goes_on_or_ends,
    ),
    one("C2.unknown", _UNKNOWN, "plays on, ignoring everything unknown", grease_all, played),
    Scene(
        _pinged,
        (
            (
                Case("C2.ping", "session.md#keep-alive", "answers pings during the match, in order"),
                _answers_pings,
            ),
            (
                Case("C2.clock", "session.md#keep-alive", "does not rely on the server's clock"),
                played,
            ),
        ),
    ),
    one("C2.optional", _DECISIONS, "options that are not `must` need no answer", _optional, played),
    one("C2.pieces", "transport.md#frames", "plays when frames come in pieces", cut_to_pieces, played),
    one("C2.long-frames", "limits.md#sizes", "takes frames of 65536 bytes", lengthen, played),
    one(
        "C2.overtaken",
        _DECISIONS,
        "plays on when a ruling comes before its act",
        lambda stage: on_choice(stage, partial(_overtaken, code=Code.STALE_POSITION)),
        played,
    ),
    one(
        "C2.unknown-error",
        _UNKNOWN,
        "goes by the flags of an unknown error code: these end nothing",
        lambda stage: on_choice(stage, _overtaken_strangely),
        played,
    ),
    one("C2.muted", "errors.md#muted", "plays on when it may not talk", _muted, _survives_silence),
    one("C2.void-bet", _DECISIONS, "plays on after `void_bet`", _void_bets, _survives_void_bets, target=6),
)
