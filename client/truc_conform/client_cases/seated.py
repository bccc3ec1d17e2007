"""The cases of level C2: a seat at the table, and a match played by the options, whatever happens on the way."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Final

import trio

from truc_conform.client_harness import FRENCH, ClientHarness
from truc_conform.grease import raw, strange_error
from truc_conform.result import AnyAct, CaseOutcome, CaseVerdict, failed, tag_of_body
from truc_conform.scenes import (
    Arrange,
    Exit,
    at_first,
    cut_to_pieces,
    grease_all,
    intercepting,
    judged,
    lengthen,
    said,
    scene,
    unended,
    without,
)
from truc_protocol import messages
from truc_protocol.errors import Code, LocalError

_DECISIONS: Final = "play.md#decisions"
_REPLIES: Final = "session.md#requests-and-replies"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_TO_SIX: Final = FRENCH._replace(options={"target": 6})
_LATE_S: Final = 0.03  # after the messages that follow from an act, which take a few milliseconds
_LAST_PINGS: Final = 10
"""How many pings may have come with the end of the match, too late for an answer."""

OnChoice = Callable[[ClientHarness, AnyAct], Awaitable[None]]


def on_choice(do: OnChoice, *, number: int = 1) -> Arrange:
    """Do something else with one of the client's decisions: the first, or a later one."""

    def arrange(server: ClientHarness) -> None:
        numbers = count(1)

        async def intercept(message: messages.ClientMessage) -> bool:
            if not isinstance(message, AnyAct) or not _is_choice(message):
                return False
            is_meant = next(numbers) == number
            if is_meant:
                await do(server, message)
            return is_meant

        server.intercepts.append(intercept)

    return arrange


def _is_choice(message: AnyAct) -> bool:
    """Tell whether an act decides something in a hand."""
    return isinstance(message, messages.GuestAct) or tag_of_body(message.body) == "act"


@scene(
    judged("C2.plays", _DECISIONS, "plays a match by the options, then exits", unended),
    judged(
        "C2.options",
        _DECISIONS,
        "chooses the key of an option that was offered",
        without(Code.ILLEGAL_ACTION, "act"),
    ),
    judged(
        "C2.turn",
        _DECISIONS,
        "acts only at positions for which options came",
        without(Code.NOT_YOUR_TURN, Code.NOT_NOW),
    ),
    judged(
        "C2.requests",
        _REPLIES,
        "every request has an `id` that is not in use",
        without(Code.BAD_MESSAGE, Code.UNKNOWN_REQUEST),
    ),
)
@intercepting
async def _late_replies(server: ClientHarness, message: messages.ClientMessage) -> bool:
    """Let the replies to acts and to `ready` come late: after all they bring about, and after the client's next message."""
    if not isinstance(message, AnyAct | messages.Ready):
        return False
    held: list[messages.ServerMessage] = []

    def recast(answer: messages.ServerMessage) -> Iterable[messages.ServerMessage]:
        if isinstance(answer, messages.Ok) and answer.re == message.id:
            held.append(answer)
            return ()
        return (answer,)

    server.recast = recast
    await server.serve_judged(message)
    server.recast = lambda answer: (answer,)
    server.nursery.start_soon(_push_later, server, held)
    return True


async def _push_later(server: ClientHarness, held: Iterable[messages.ServerMessage]) -> None:
    await trio.sleep(_LATE_S)
    for answer in held:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, LocalError):
            await server.push(answer)


def _goes_on_or_ends(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    return None if end.code else unended(server, end)


@scene(judged("C2.replies-twice", _REPLIES, "ignores a reply that comes twice, or stops", _goes_on_or_ends))
def _twice(server: ClientHarness) -> None:
    """Send the reply to the first act twice."""
    at_first(
        server,
        lambda message: isinstance(message, messages.Ok) and message.k is not None,
        lambda reply: (reply, raw(reply)),
    )


_STRANGE: Final = scene(judged("C2.unknown", _UNKNOWN, "plays on, ignoring everything unknown", unended))(
    grease_all
)


def _answers_pings(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    pings = [message.n for message in server.sent if isinstance(message, messages.Ping)]
    pongs = [pong.n for pong in said(server, messages.Pong)]
    if pongs != pings[: len(pongs)]:
        return failed("the pongs do not repeat the numbers of the pings in order")
    missing = pings[len(pongs) :]
    is_end = end.code is not None and len(missing) <= _LAST_PINGS
    return None if is_end else failed(f"{len(missing)} of {len(pings)} pings have no pong")


@scene(
    judged("C2.ping", _KEEP_ALIVE, "answers pings during the match, in order", _answers_pings),
    judged("C2.clock", _KEEP_ALIVE, "does not rely on the server's clock", unended),
)
def _pinged(server: ClientHarness) -> None:
    """Ping along with all options and records; pongs come too, with a clock that is days ahead."""
    numbers = iter(range(100, 100_000))

    def recast(message: messages.ServerMessage) -> Iterable[messages.ServerMessage]:
        if isinstance(message, messages.OpenOptions | messages.BoxedOptions | messages.MatchRecord):
            return message, messages.Ping(n=next(numbers)), messages.Pong(n=0, now_ms=4_000_000_000_000)
        return (message,)

    server.recast = recast


@scene(judged("C2.optional", _DECISIONS, "options that are not `must` need no answer", unended))
def _optional(server: ClientHarness) -> None:
    """Tell the client also what it may do but need not."""
    server.tells_optional = True


_CUT: Final = [
    scene(judged(name, clause, expected, unended))(arrange)
    for name, clause, expected, arrange in (
        ("C2.pieces", "transport.md#frames", "plays when frames come in pieces", cut_to_pieces),
        ("C2.long-frames", "limits.md#sizes", "takes frames of 65536 bytes", lengthen),
    )
]


async def _overtake(server: ClientHarness, error: messages.Refusal) -> None:
    """Let a ruling come first, and answer the act with an error."""
    await server.take(server.dealer.move(server.at_play()))
    await server.push(error)
    await server.go_on()


@scene(judged("C2.overtaken", _DECISIONS, "plays on when a ruling comes before its act", unended))
@on_choice
async def _overtaken(server: ClientHarness, message: AnyAct) -> None:
    """Refuse an act, whose position a ruling has taken."""
    await _overtake(server, messages.refusal(Code.STALE_POSITION, "another record came first", re=message.id))


@scene(
    judged(
        "C2.unknown-error",
        _UNKNOWN,
        "goes by the flags of an unknown error code: these end nothing",
        unended,
    )
)
@on_choice
async def _overtaken_strangely(server: ClientHarness, message: AnyAct) -> None:
    """Refuse an act with a code that nobody knows."""
    await _overtake(server, strange_error(message.id))


def _survives_silence(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    if (early := unended(server, end)) is not None:
        return early
    words = [chat.text for chat in said(server, messages.Chat)] + [
        say.phrase for say in said(server, messages.Say)
    ]
    if not words:
        return CaseOutcome(CaseVerdict.INFO, "it said nothing in this match")
    return None if len({*words}) == len(words) else failed("it repeated what it may not say")


@scene(judged("C2.muted", "errors.md#muted", "plays on when it may not talk", _survives_silence))
@intercepting
async def _muted(server: ClientHarness, message: messages.ClientMessage) -> bool:
    """Let the client play, but not talk."""
    if not isinstance(message, messages.Chat | messages.Say):
        return False
    await server.push(messages.refusal(Code.MUTED, "you may play, but not talk", re=message.id))
    return True


def _asks(message: AnyAct) -> bool:
    if isinstance(message, messages.GuestAct):
        return message.choose.startswith("raise")
    return tag_of_body(message.body) == "act" and b"raise" in message.body


def _survives_void_bets(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    if (early := unended(server, end)) is not None:
        return early
    has_asked = any(isinstance(heard.message, AnyAct) and _asks(heard.message) for heard in server.heard)
    return None if has_asked else CaseOutcome(CaseVerdict.INFO, "it never asked for more in this match")


@scene(judged("C2.void-bet", _DECISIONS, "plays on after `void_bet`", _survives_void_bets), game=_TO_SIX)
@intercepting
async def _void_bets(server: ClientHarness, message: messages.ClientMessage) -> bool:
    """Answer each ask of the client with void_bet, as if a ruling had come first."""
    if not isinstance(message, AnyAct) or not _asks(message):
        return False
    await _overtake(server, messages.refusal(Code.VOID_BET, "another record came first", re=message.id))
    return True
