"""The cases of level C2 at the table: a seat, a match played by the options, a connection that ends, and a seat taken over."""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Final

import trio
from msgspec.structs import replace

from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import InconclusiveError, UnadvisedError, UnexpectedError, require
from truc_conform.grease import greased, raw, strange_error
from truc_conform.playing import signed_position
from truc_conform.result import AnyAct, signs, tag_of_body
from truc_conform.scenes import (
    ALIVE,
    CLOSING_S,
    LOGIN,
    Arrange,
    ClientExit,
    OnMessage,
    Pieces,
    at_first,
    at_message,
    cut_to_pieces,
    each_of,
    end_after,
    ends_soon,
    finishes,
    grease_all,
    instead,
    intercepting,
    judged,
    lengthen,
    lose,
    said,
    scene,
    shared_scene,
    without,
)
from truc_conform.scripted import FRENCH
from truc_conform.shown import CODE
from truc_protocol import messages
from truc_protocol.errors import Code, LocalError

_DECISIONS: Final = "play.md#decisions"
_REPLIES: Final = "session.md#requests-and-replies"
_KEEP_ALIVE: Final = "session.md#keep-alive"
_UNKNOWN: Final = "evolution.md#what-a-receiver-does-with-what-it-does-not-know"
# More hands, so that a client that seldom asks for more comes to it.
_TO_SIX: Final = FRENCH._replace(options={"target": 6})
_LATE_S: Final = 0.03  # after the messages that follow from an act, which take a few milliseconds
_LAST_PINGS: Final = 10
"""How many pings may have come with the end of the match, too late for an answer."""


def on_choice(do: OnMessage, *, number: int = 1) -> Arrange:
    """Do something else with one of the client's decisions: the first, or a later one."""
    return at_message(_is_choice, instead(do), number=number)


def _is_choice(message: object) -> bool:
    """Tell whether a message decides something in a hand."""
    return isinstance(message, messages.GuestAct) or signs(message, "act")


@shared_scene(
    judged("C2.plays", _DECISIONS, "plays a match by the options, then exits", finishes),
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
@intercepting(AnyAct | messages.Ready)
async def _late_replies(server: ClientHarness, message: AnyAct | messages.Ready) -> bool:
    """Let the replies to acts and to `ready` come late: after all they bring about, and after the client's next message."""
    held: list[messages.ServerMessage] = []

    def hold(answer: messages.Ok) -> Iterable[messages.ServerMessage]:
        if answer.re != message.id:
            return (answer,)
        held.append(answer)
        return ()

    server.recast = each_of(messages.Ok, hold)
    await server.serve_judged(message)
    server.recast = lambda answer: (answer,)
    server.nursery.start_soon(_push_later, server, held)
    return True


async def _push_later(server: ClientHarness, held: Iterable[messages.ServerMessage]) -> None:
    # client-guide.md, "Play": the record shows that an act was accepted; nobody waits for its `ok`.
    await trio.sleep(_LATE_S)
    for answer in held:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, LocalError):
            await server.push(answer)


def _goes_on_or_ends(server: ClientHarness, end: ClientExit) -> None:
    # Every request gets exactly one reply (session.md): a
    # second one is the server's fault, at which it may stop.
    if not end.code:
        finishes(server, end)


@scene("C2.replies-twice", _REPLIES, "ignores a reply that comes twice, or stops", _goes_on_or_ends)
def _twice(server: ClientHarness) -> None:
    """Send the reply to the first act twice."""
    at_first(
        server,
        lambda message: isinstance(message, messages.Ok) and message.k is not None,
        lambda reply: (reply, raw(reply)),
    )


_STRANGE: Final = scene("C2.unknown", _UNKNOWN, "plays on, ignoring everything unknown", finishes)(grease_all)


def _answers_pings(server: ClientHarness, end: ClientExit) -> None:
    pings = [message.n for message in server.sent if isinstance(message, messages.Ping)]
    pongs = [pong.n for pong in said(server, messages.Pong)]
    in_order = pongs == pings[: len(pongs)]
    require(in_order, "the pongs do not repeat the numbers of the pings in order")
    missing = pings[len(pongs) :]
    # Those that came with the end of the match may be left: the client has gone by then.
    is_end = end.code is not None and len(missing) <= _LAST_PINGS
    require(is_end, f"{len(missing)} of {len(pings)} pings have no pong")


@shared_scene(
    judged("C2.ping", _KEEP_ALIVE, "answers pings during the match, in order", _answers_pings),
    judged("C2.clock", _KEEP_ALIVE, "does not rely on the server's clock", finishes),
)
def _pinged(server: ClientHarness) -> None:
    """Ping along with all options and records; pongs come too, with a clock that is days ahead."""
    numbers, pong = count(100), messages.Pong(n=0, now_ms=4_000_000_000_000)
    server.recast = each_of(
        messages.OpenOptions | messages.BoxedOptions | messages.MatchRecord,
        lambda message: (message, messages.Ping(n=next(numbers)), pong),
    )


@scene("C2.optional", _DECISIONS, "options that are not `must` need no answer", finishes)
def _optional(server: ClientHarness) -> None:
    """Tell the client also what it may do but need not."""
    server.tells_optional = True


_CUT: Final = [
    scene(name, clause, expected, finishes)(arrange)
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


@scene("C2.overtaken", _DECISIONS, "plays on when a ruling comes before its act", finishes)
@on_choice
async def _overtaken(server: ClientHarness, message: AnyAct) -> None:
    """Refuse an act, whose position a ruling has taken."""
    await _overtake(server, messages.refusal(Code.STALE_POSITION, "another record came first", re=message.id))


@scene(
    "C2.unknown-error", _UNKNOWN, "goes by the flags of an unknown error code: these end nothing", finishes
)
@on_choice
async def _overtaken_strangely(server: ClientHarness, message: AnyAct) -> None:
    """Refuse an act with a code that nobody knows."""
    await _overtake(server, strange_error(message.id))


def _survives_silence(server: ClientHarness, end: ClientExit) -> None:
    finishes(server, end)
    words = [chat.text for chat in said(server, messages.Chat)] + [
        say.phrase for say in said(server, messages.Say)
    ]
    if not words:
        raise InconclusiveError("it said nothing in this match")
    # errors.md, "muted": the same request does not succeed later.
    require(len({*words}) == len(words), "it repeated what it may not say")


@scene("C2.muted", "errors.md#muted", "plays on when it may not talk", _survives_silence)
@intercepting(messages.Chat | messages.Say)
async def _muted(server: ClientHarness, message: messages.Chat | messages.Say) -> bool:
    """Let the client play, but not talk."""
    await server.push(messages.refusal(Code.MUTED, "you may play, but not talk", re=message.id))
    return True


def _asks(message: AnyAct) -> bool:
    if isinstance(message, messages.GuestAct):
        return message.choose.startswith("raise")
    return signs(message, "act") and b"raise" in message.body


def _survives_void_bets(server: ClientHarness, end: ClientExit) -> None:
    finishes(server, end)
    # A client may play as it likes: what it never did is only told.
    if not any(isinstance(heard.message, AnyAct) and _asks(heard.message) for heard in server.heard):
        raise InconclusiveError("it never asked for more in this match")


@scene("C2.void-bet", _DECISIONS, "plays on after `void_bet`", _survives_void_bets, game=_TO_SIX)
@intercepting(AnyAct)
async def _void_bets(server: ClientHarness, message: AnyAct) -> bool:
    """Answer each ask of the client with void_bet, as if a ruling had come first."""
    if not _asks(message):
        return False
    await _overtake(server, messages.refusal(Code.VOID_BET, "another record came first", re=message.id))
    return True


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


def _resumes_right(server: ClientHarness, end: ClientExit) -> None:
    resumed = said(server, messages.Resume)
    require(resumed, "it did not come back to its seat with `resume`")
    # session.md, "Coming back": `next` is the first position that it lacks; an earlier one does no harm.
    had, first = _whole_records(server), resumed[0].next
    require(first <= had, f"it resumed at {first}, but had no records from {had} on")
    finishes(server, end)


def _one_body_each(server: ClientHarness, end: ClientExit) -> None:
    """Judge that a seat has signed only one body for each position, even across a lost connection."""
    signed: dict[tuple[str, bytes, int], set[bytes]] = {}
    for message in said(server, messages.SignedAct):
        if message.match is not None:
            kind = tag_of_body(message.body)
            place = (kind, message.match, signed_position(message))
            signed.setdefault(place, set()).add(message.body + message.sig)
    # specification.md, "What a client does": one body for
    # each (mid, k); what it sends again are the stored bytes.
    require(all(len(bodies) == 1 for bodies in signed.values()), "it signed two bodies for one position")
    finishes(server, end)


@shared_scene(
    judged("C2.resume", _COMING_BACK, "comes back, and resumes at the first record it lacks", _resumes_right),
    judged("C2.one-body", _COMING_BACK, "sends the same bytes again, or none", _one_body_each),
)
@_on_second_choice
async def _broken_off(server: ClientHarness, message: AnyAct) -> None:
    """Take the act, and lose the connection in the middle of its record."""
    # Taken without a word of it: what the client hears is half a frame.
    muted, server.bend = server.bend, lambda _message: None
    try:
        await server.take(server.record_of(message))
    finally:
        server.bend = muted
    frame = raw(server.message(len(server.records) - 1))
    await server.drop(frame[: len(frame) // 2])


_LOST_BEFORE: Final = shared_scene(
    judged(
        "C2.act-lost", _COMING_BACK, "comes back after its act was lost, and decides again", _resumes_right
    ),
    judged("C2.same-bytes", _COMING_BACK, "sends again only what it had signed", _one_body_each),
)(_on_second_choice(lose))
"""The act is never taken."""


async def _dismiss(server: ClientHarness, message: AnyAct, goodbye: messages.Bye) -> None:
    """Take the act, and say goodbye."""
    await server.take(server.record_of(message))
    server.rests_from = trio.current_time()
    await server.part(goodbye)


async def sent_away(server: ClientHarness, message: AnyAct) -> None:
    """Take the act, and send the client to the other door."""
    to = f"127.0.0.1:{server.doors[1]}"
    await _dismiss(server, message, messages.bye(Code.MOVED, "this server has moved", to=to))


def _has_moved(server: ClientHarness, end: ClientExit) -> None:
    require(1 in server.doors_used, "it did not go to the address in `to`")
    finishes(server, end)


def _comes_back(server: ClientHarness, end: ClientExit) -> None:
    require(len(server.opened) != 1, "it did not connect again")
    finishes(server, end)


def _comes_again(server: ClientHarness, end: ClientExit) -> None:
    _comes_back(server, end)
    waited = 1000 * (server.opened[1] - server.rests_from)
    # session.md, "Goodbye": it says when to come back, and forbids nothing earlier.
    if waited <= 0.9 * _RECONNECT_MS:
        raise UnadvisedError(f"it came back after {waited:.0f} ms instead of {_RECONNECT_MS} ms")


_DISMISSED: Final = [
    scene(name, _GOODBYE, expected, judge)(_on_second_choice(dismiss))
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


def _stays_away(server: ClientHarness, _end: ClientExit) -> None:
    is_dismissed = any(isinstance(message, messages.Bye) for message in server.sent)
    require(is_dismissed, "the match did not get that far")
    # errors.md, "kicked": connect again only when the player asks for it.
    require(len(server.opened) <= 1, "it connected again, unasked")


@scene(
    "C2.kicked",
    "errors.md#kicked",
    "does not come back by itself once the host has ended its connection",
    _stays_away,
)
@_on_second_choice
async def _kicked(server: ClientHarness, message: AnyAct) -> None:
    """Take the act, and end the connection as a host does, who wants nothing else of the player."""
    server.nursery.start_soon(end_after, server, CLOSING_S)
    await _dismiss(
        server, message, messages.bye(Code.KICKED, "the host has ended this connection; you may come back")
    )


@scene("C2.draining", "messages.md#draining", "plays on though the server will stop", finishes)
def _drain(server: ClientHarness) -> None:
    """Say with the first record that the server will stop."""
    draining = messages.Draining(left_ms=60_000)
    at_first(
        server, lambda message: isinstance(message, messages.MatchRecord), lambda record: (record, draining)
    )


@scene(
    "C2.too-soon",
    "limits.md#addresses",
    "connects again after `retry_after_ms` if its login came too soon",
    _comes_again,
)
@intercepting(LOGIN)
async def _too_soon(server: ClientHarness, message: messages.Request) -> bool:
    """Let the first login come too soon after others that have failed."""
    if server.rests_from:
        return False
    error = messages.refusal(Code.RATE_LIMITED, "too many logins have failed", re=message.id)
    server.rests_from = trio.current_time()
    await server.push(replace(error, close=True, retry_after_ms=_RECONNECT_MS))
    await server.push(messages.bye(Code.RATE_LIMITED, error.msg, reconnect_after_ms=_RECONNECT_MS))
    await server.drop()
    return True


@scene(
    "C2.away",
    "messages.md#away",
    "plays on without a claim, whoever is away, its own seat included",
    finishes,
)
def _tell_who_is_away(server: ClientHarness) -> None:
    """Let notices of who is away follow each record, about others and the client's own seat, with unknown fields."""

    def tell(record: messages.MatchRecord) -> Pieces:
        away = partial(messages.Away, table=CODE, match=record.match)
        told, back = away(seat=1, missed=2, claim_in_ms=0), away(seat=1, online=True)
        own = away(seat=0, online=True, missed=1, claim_in_ms=60_000)
        return (record, *(greased(raw(notice)) for notice in (told, own, back)))

    server.recast = each_of(messages.MatchRecord, tell)


def _is_alive(message: object) -> bool:
    return isinstance(message, messages.Pong) and message.n == ALIVE


def _tells_of_loss(message: object) -> bool:
    return isinstance(message, messages.SeatTakenOver) or (
        isinstance(message, messages.Refusal) and message.code == Code.SEAT_GONE
    )


def _keeps_off(server: ClientHarness, end: ClientExit) -> None:
    told = next((at for at, message in enumerate(server.sent) if _tells_of_loss(message)), None)
    if told is None:
        raise UnexpectedError("the match did not get that far")
    since = [heard.message for heard in server.heard if heard.sent > told]
    answers = end.code is not None or any(map(_is_alive, since))
    require(answers, "it answered no ping after it was told")
    # What was on its way before the answer to the ping is no fault; `join` and `resume` are, at any time.
    alive = next((at for at, message in enumerate(since) if _is_alive(message)), len(since))
    grabs: list[object] = [
        message for message in since if isinstance(message, messages.Resume | messages.Join)
    ]
    grabs += [message for message in since[alive:] if isinstance(message, AnyAct)]
    for grab in grabs:
        raise UnexpectedError(f"it sent {type(grab).__name__} for a seat that it no longer had")


def _losing_seat(lose: OnMessage) -> Arrange:
    def arrange(server: ClientHarness) -> None:
        ends_soon(server, _is_alive, _STILL_S)
        _on_second_choice(lose)(server)

    return arrange


@scene(
    "C2.taken-over",
    "messages.md#seat_taken_over",
    "leaves its seat alone once another connection has it",
    _keeps_off,
)
@_losing_seat
async def _taken_over(server: ClientHarness, message: AnyAct) -> None:
    """Give the seat to another connection, ping the client, and let rulings play for the seat."""
    await server.accept(message)
    await server.push(messages.SeatTakenOver(table=CODE, seat=0))
    await server.push(messages.Ping(n=ALIVE))
    # This connection has the seat no more (session.md, "Taking a seat over").
    server.bend = lambda sent: (
        None if isinstance(sent, messages.OpenOptions | messages.BoxedOptions) else sent
    )
    server.is_away = not server.is_guest  # a guest has nothing to sign, so its match may stand still
    await server.go_on()


@scene("C2.seat-gone", "errors.md#seat_gone", "leaves its seat alone once a substitute has it", _keeps_off)
@_losing_seat
async def _substituted(server: ClientHarness, message: AnyAct) -> None:
    """Refuse the act, as somebody else has the seat, and ping the client."""
    await server.push(messages.refusal(Code.SEAT_GONE, "a substitute has taken the seat", re=message.id))
    await server.push(messages.Ping(n=ALIVE))


def _ends(_server: ClientHarness, end: ClientExit) -> None:
    require(end.code is not None, "it went on waiting at a closed table")


@scene("C2.closed", "messages.md#closed", "ends when its table is closed", _ends)
@intercepting(messages.Ready)
async def _closed(server: ClientHarness, message: messages.Ready) -> bool:
    """Close the table as soon as the client is ready."""
    await server.push(messages.Ok(re=message.id))
    await server.push(messages.TableClosed(table=CODE, reason="server"))
    return True
