"""The cases of level C2: a seat at the table, and a match by the options, whatever happens on the way."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Final

import trio

from truc_conform.grease import (
    greased,
    padded,
    raw,
    strange_error,
    strange_facts,
    strange_info,
    strange_notices,
)
from truc_conform.result import PASSED, Case, Outcome, Verdict, failed
from truc_conform.scenes import (
    ALIVE,
    Exit,
    Scene,
    absent,
    acts,
    ends_soon,
    one,
    played,
    seated,
    unended,
    without,
)
from truc_conform.shown import CODE
from truc_conform.stage import Stage, tag_of_body
from truc_protocol.errors import Code, LocalError
from truc_protocol.messages import (
    BoxedOptions,
    ClientMessage,
    GuestAct,
    Join,
    MatchRecord,
    Ok,
    OpenOptions,
    Ping,
    Pong,
    Ready,
    Resume,
    SeatTakenOver,
    ServerHello,
    ServerMessage,
    SignedAct,
    TableClosed,
    Welcome,
    bye,
    refusal,
)

_DECISIONS: Final = "play.md#decisions"
_COMING_BACK: Final = "session.md#coming-back"
_REPLIES: Final = "session.md#requests-and-replies"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
_LATE_S: Final = 0.03
_STILL_S: Final = 0.7
_RECONNECT_MS: Final = 400
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
    """Let something else be done with one of the client's decisions: the first, or a later one."""
    count = [0]

    async def intercept(message: ClientMessage) -> bool:
        if not isinstance(message, SignedAct | GuestAct) or not is_choice(message):
            return False
        count[0] += 1
        return await do(stage, message) if count[0] == number else False

    stage.intercepts.append(intercept)


def _late_replies(stage: Stage) -> None:
    """Let the replies to acts and to `ready` come late: after all that they brought about, and what the client says next."""

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


def _greased(stage: Stage) -> None:
    """Send fields, notices, facts, capabilities and figures that nobody knows with everything."""
    stage.info, stage.dress = strange_info(), greased

    def recast(message: ServerMessage) -> Iterable[ServerMessage | bytes]:
        if isinstance(message, ServerHello | Welcome):
            return (message,)
        return strange_facts(message), *strange_notices()

    stage.recast = recast


def _pinged(stage: Stage) -> None:
    """Ping beside all options and records; the clock of the pongs is days ahead."""
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
        return failed("the pongs have other numbers, or come in another order, than the pings")
    missing = pings[len(pongs) :]
    is_end = end.code is not None and len(missing) <= _SECOND * 5  # what came with the end of the match
    return PASSED if is_end else failed(f"{len(missing)} of {len(pings)} pings have no pong")


def _optional(stage: Stage) -> None:
    """Tell the client what it may do though it need not."""
    stage.tells_optional = True


def _in_pieces(stage: Stage) -> None:
    """Cut every frame into pieces of three bytes."""
    stage.cut = lambda frame: (frame[i : i + 3] for i in range(0, len(frame), 3))


def _long_frames(stage: Stage) -> None:
    """Bring every record to the longest frame that a server may send."""
    stage.recast = lambda message: (padded(raw(message)),) if isinstance(message, MatchRecord) else (message,)


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
    """Answer each ask of the client with void_bet: a ruling came first."""

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


async def _broken_off(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and lose the connection within its record."""
    muted, stage.bend = stage.bend, lambda _message: None
    try:
        await stage.take(stage.record_of(message))
    finally:
        stage.bend = muted
    frame = raw(stage.message(len(stage.records) - 1))
    await stage.drop(frame[: len(frame) // 2])
    return True


async def _lost_before(stage: Stage, _message: SignedAct | GuestAct) -> bool:
    """Lose the connection with the act, which was never taken."""
    await stage.drop()
    return True


def _resumes_right(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    resumed = [heard.message for heard in stage.heard if isinstance(heard.message, Resume)]
    if not resumed:
        return failed("it did not come back to its seat by `resume`")
    had = _whole_records(stage)
    if resumed[0].next > had:
        return failed(f"it asked for {resumed[0].next} on, and had nothing from {had} on")
    return unended(stage, end) or PASSED


def _whole_records(stage: Stage) -> int:
    """Return how many records had come whole before the client first resumed."""
    sent = next(heard.sent for heard in stage.heard if isinstance(heard.message, Resume))
    return len({message.k for message in stage.sent[:sent] if isinstance(message, MatchRecord)})


def one_body_each(stage: Stage, end: Exit) -> Outcome:
    """Judge that a seat has signed one body for a position, also over a lost connection."""
    signed: dict[tuple[str, bytes, int], set[bytes]] = {}
    for message in acts(stage):
        if isinstance(message, SignedAct) and message.match is not None:
            kind = tag_of_body(message.body)
            place = (kind, message.match, stage.position_of(message))
            signed.setdefault(place, set()).add(message.body + message.sig)
    if any(len(bodies) > 1 for bodies in signed.values()):
        return failed("it signed two bodies for one position")
    return unended(stage, end) or PASSED


async def _sent_away(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Take the act, and send the client to the other door."""
    await stage.take(stage.record_of(message))
    await stage.push(bye(Code.MOVED, "this server has moved", to=f"127.0.0.1:{stage.doors[1]}"))
    return True


def _has_moved(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    return (
        (unended(stage, end) or PASSED) if 1 in stage.doors_used else failed("it did not go where `to` says")
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
    early_by = f"it came again after {waited:.0f} ms instead of {_RECONNECT_MS} ms"
    return PASSED if waited > 0.9 * _RECONNECT_MS else Outcome(Verdict.NON_STRICT, early_by)


async def _taken_over(stage: Stage, message: SignedAct | GuestAct) -> bool:
    """Give the seat to another connection, ask for a sign of life, and let rulings play for it."""
    await stage.take(stage.record_of(message))
    await stage.push(SeatTakenOver(table=CODE, seat=0))
    await stage.push(Ping(n=ALIVE))
    stage.bend = lambda sent: None if isinstance(sent, OpenOptions | BoxedOptions) else sent
    stage.is_away = not stage.is_guest  # a guest has nothing to sign: its match may stand still
    await stage.go_on()
    return True


def _take_over(stage: Stage) -> None:
    ends_soon(stage, lambda message: message == Pong(n=ALIVE), _STILL_S)
    on_choice(stage, _taken_over, number=_SECOND)


def _keeps_off(stage: Stage, _end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    said = [heard.message for heard in stage.heard]
    if Pong(n=ALIVE) not in said:
        return failed("it answered no ping after it was told")
    after = said[said.index(Pong(n=ALIVE)) :]
    grabs = [type(it).__name__ for it in after if isinstance(it, SignedAct | GuestAct | Resume | Join)]
    return failed(f"it sent {grabs[0]} for a seat that it had no more") if grabs else PASSED


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


def _goes_on_or_ends(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    return PASSED if end.code else played(stage, end)


def _ends(stage: Stage, end: Exit) -> Outcome:
    if (early := absent(stage)) is not None:
        return early
    return PASSED if end.code is not None else failed("it went on waiting at a table that is closed")


SCENES: Final = (
    Scene(
        _late_replies,
        (
            (Case("C2.plays", "play.md#decisions", "plays a match by the options, and ends with it"), played),
            (
                Case("C2.options", _DECISIONS, "chooses the key of an option that was offered"),
                without(Code.ILLEGAL_ACTION, "act", before=seated),
            ),
            (
                Case("C2.turn", _DECISIONS, "acts where options came, and nowhere else"),
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
        "a reply that comes twice is passed over, or the end",
        _twice,
        _goes_on_or_ends,
    ),
    one("C2.unknown", _UNKNOWN, "plays on through all that is unknown", _greased, played),
    Scene(
        _pinged,
        (
            (
                Case("C2.ping", "session.md#keep-alive", "answers pings during the match, in order"),
                _answers_pings,
            ),
            (
                Case("C2.clock", "session.md#keep-alive", "the server's clock is of no account"),
                played,
            ),
        ),
    ),
    one("C2.optional", _DECISIONS, "options that are not `must` need no answer", _optional, played),
    one("C2.pieces", "transport.md#frames", "plays while frames come in pieces", _in_pieces, played),
    one("C2.long-frames", "limits.md#sizes", "takes frames of 65536 bytes", _long_frames, played),
    one(
        "C2.overtaken",
        _DECISIONS,
        "plays on when a ruling came before its act",
        lambda stage: on_choice(stage, partial(_overtaken, code=Code.STALE_POSITION)),
        played,
    ),
    one(
        "C2.unknown-error",
        _UNKNOWN,
        "an unknown error code goes by its flags: this one ends nothing",
        lambda stage: on_choice(stage, _overtaken_strangely),
        played,
    ),
    one("C2.void-bet", _DECISIONS, "plays on after `void_bet`", _void_bets, _survives_void_bets, target=6),
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
                Case("C2.act-lost", _COMING_BACK, "comes back when its act was lost, and decides again"),
                _resumes_right,
            ),
            (Case("C2.same-bytes", _COMING_BACK, "what it had signed is what it sends again"), one_body_each),
        ),
    ),
    one(
        "C2.moved",
        "session.md#goodbye",
        "goes where `to` says",
        lambda stage: on_choice(stage, _sent_away, number=_SECOND),
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
        "C2.taken-over",
        "messages.md#seat_taken_over",
        "does nothing more for a seat that another connection has",
        _take_over,
        _keeps_off,
    ),
    one("C2.closed", "messages.md#closed", "ends when its table is closed", _closed, _ends),
)
