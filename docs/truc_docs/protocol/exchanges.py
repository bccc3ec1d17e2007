"""The course of a conversation: the codes each request may be refused with, and what may follow each message.

The reference is written from here, and a server is tested against it. `EVERY` holds for every request after login and is not repeated in its rows; the
registry says what a code means.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_protocol.errors import Code
from truc_protocol.messages.table import Direction

EVERY: Final = (Code.BAD_MESSAGE, Code.RATE_LIMITED, Code.INTERNAL)
"""The codes that any request after login may be refused with."""


class Course(NamedTuple):
    """What may come after a message; `errors` are the codes it may be refused with, besides those of `EVERY`."""

    then: str
    errors: tuple[Code, ...] = ()


_IN, _OUT = Direction.TO_SERVER, Direction.TO_CLIENT
_TABLE: Final = (Code.NO_SUCH_TABLE,)
_SEAT: Final = (*_TABLE, Code.NOT_SEATED, Code.SEAT_GONE)
_MATCH: Final = (*_SEAT, Code.NO_SUCH_MATCH)
_MAKING: Final = (Code.NO_SUCH_VARIANT, Code.BAD_OPTION, Code.TOO_MANY_TABLES, Code.GUESTS_NOT_ALLOWED)
_TAKING: Final = (
    Code.GUESTS_NOT_ALLOWED,
    Code.TABLE_FULL,
    Code.SEAT_TAKEN,
    Code.TABLE_NOT_OPEN,
    Code.SEAT_GONE,
)
_JUDGED: Final = (
    Code.STALE_POSITION,
    Code.BAD_POSITION,
    Code.NOT_NOW,
    Code.ILLEGAL_ACTION,
    Code.PAUSED,
)

_REQUESTS: Final[Mapping[str, Course]] = MappingProxyType(
    {
        "hello": Course(
            "`hello` of the server; nothing else may be sent before it. If the server has moved, `bye` comes right after it. If"
            " nobody is let in: `error` without `re`, then `bye`.",
            (Code.UNSUPPORTED, Code.NOT_NOW),
        ),
        "login": Course(
            "`welcome`. Nothing else may be sent before it.",
            (
                Code.NOT_NOW,
                Code.BAD_SIGNATURE,
                Code.KEY_NOT_ALLOWED,
                Code.GUESTS_NOT_ALLOWED,
                Code.BAD_TOKEN,
                Code.BANNED,
            ),
        ),
        "tables": Course("`ok` with `tables`; with `more`, ask again with `after`."),
        "rules": Course("`ok` with `doc`.", (Code.NO_SUCH_VARIANT,)),
        "create": Course(
            "`ok` with `table` and `seat`, then `table`. Next: `ready`, or `leave`; others may `join`.",
            _MAKING,
        ),
        "join": Course(
            "`ok` with `seat`, then `table`, and `terms` if they are out. Next: `ready`; in a match, `resume`.",
            (*_TABLE, *_TAKING, Code.TOO_MANY_TABLES, Code.NOT_NOW),
        ),
        "leave": Course(
            "`ok`, then `table` to the others, or `closed` if nobody is left.", (*_SEAT, Code.TABLE_NOT_OPEN)
        ),
        "ready": Course(
            "`ok`, then `table`. When every seat is ready: `table` in the state `terms`, and `terms`.",
            (*_SEAT, Code.TABLE_NOT_OPEN, Code.TOO_MANY_TABLES),
        ),
        "unready": Course("`ok`, then `table`.", (*_SEAT, Code.TABLE_NOT_OPEN)),
        "act": Course(
            "The `record` it makes, `ok` with its position, then what follows from it. For a `seat` record: `ok`, and `setup` when all have signed.",
            (
                *_MATCH,
                *_JUDGED,
                Code.NOT_YOUR_TURN,
                Code.VOID_BET,
                Code.TERMS_REFUSED,
                Code.BAD_SIGNATURE,
                Code.TOO_MANY_TABLES,
            ),
        ),
        "sign": Course("`sign` to those who may see it, then `ok`.", (*_MATCH, *_JUDGED)),
        "say": Course(
            "`said` to everybody at the table, then `ok`.", (*_SEAT, Code.ILLEGAL_ACTION, Code.MUTED)
        ),
        "claim_match": Course(
            "The `record` of the ruling that ends the match, then `ok`. Before its time: `not_now` with `retry_after_ms`.",
            (*_MATCH, Code.NOT_NOW),
        ),
        "rekey": Course(
            "`ok`; `waiting` with `what` = `rekey` when the call is held back, then `act` with a `rekey` record.",
            (*_MATCH, Code.NOT_NOW, Code.ILLEGAL_ACTION),
        ),
        "resume": Course(
            "`table`; `setup` if `next` is -1; every `record` from `next` on; `ok` with the next position; then `cards`, `options` or `waiting`.",
            (*_MATCH, Code.BAD_POSITION, Code.NOT_NOW),
        ),
        "watch": Course(
            "`table`; `terms` if they are out; in a match, `setup` or `snapshot` and every `record` that may be seen; then `ok`.",
            (*_TABLE, Code.PRIVATE_TABLE, Code.NOT_NOW, Code.BAD_POSITION),
        ),
        "unwatch": Course(
            "`ok`; nothing more of the table comes. On a connection that has a seat there it changes nothing.",
            _TABLE,
        ),
        "history": Course(
            "`ok` with `past`; with `more`, ask again from `k`.",
            (Code.NO_SUCH_MATCH, Code.PRIVATE_TABLE, Code.BAD_POSITION),
        ),
        "matches": Course(
            "`ok` with `matches`; with `more`, ask again with `after`.",
            (Code.NO_SUCH_MATCH,),
        ),
        "lobby": Course("`lobby`, and `table` of every public table, `ok`; then whatever changes."),
        "players": Course("`ok` with `players`; with `more`, ask again with `after`."),
        "seek": Course("As after `create` or `join`.", _MAKING),
        "chat": Course(
            "`chat` to everybody who follows, the speaker included; then `ok`.",
            (*_TABLE, Code.NOT_NOW, Code.MUTED),
        ),
        "ignore": Course("`ok`; no more `chat`, `said` or `sign` of that player comes."),
        "forget": Course("`ok`; a guest is then sent `bye`, a player with a key stays.", (Code.NOT_NOW,)),
        "moderate": Course(
            "`ok` when it is stored; whom it is about may be cut off a few seconds later.", (Code.NOT_NOW,)
        ),
        "leaderboard": Course(
            "`ok` with `standings`; with `more`, ask again with `from`.",
            (Code.NO_SUCH_VARIANT, Code.BAD_OPTION),
        ),
        "profile": Course("`ok` with `standings`; none for a player who is not rated."),
        "ping": Course("`pong` with the same `n`. Never an `error`."),
        "pong": Course("Nothing."),
    }
)
_ANSWERS: Final[Mapping[str, Course]] = MappingProxyType(
    {
        "hello": Course("A client with a key checks it (C37), then `login`."),
        "welcome": Course("Anything. For each entry of `seats`: `resume`, or `join` if it has no `match`."),
        "ok": Course("Nothing."),
        "error": Course(
            "With `close`: `bye`, and the end. Otherwise the request is over and has changed nothing."
        ),
        "bye": Course("Nothing."),
        "table": Course("Nothing."),
        "closed": Course("Nothing."),
        "terms": Course(
            "From each seat with a key, `act` with its `seat` record; then `setup`, or `table` in the state `open`."
        ),
        "setup": Course("`record` from position 0, or from the position asked for."),
        "record": Course(
            "The next `record`; where players are to act, `options`, `cards` or `waiting` for this position; after the"
            " last, `table`."
        ),
        "options": Course(
            "`act`, if this seat wants to act or is waited for. These options expire with the next `record`."
        ),
        "cards": Course("`options` or `waiting`."),
        "waiting": Course("The next `record`."),
        "away": Course(
            "A newer `away` of the same seat replaces it. With `claim_in_ms` 0, if the table's `claim` leaves it to the opponents: `claim_match`."
        ),
        "bot_wanted": Course("`join`, `resume`, and a `sub` record."),
        "players_wanted": Course("`join`, then `ready`."),
        "sign": Course("Nothing."),
        "said": Course("Nothing."),
        "seat_taken_over": Course("No more `options`. Next: `watch`, or `resume` to take the seat back."),
        "snapshot": Course("`record` from `k` on. Next: `history` for what came before."),
        "lobby": Course("Nothing."),
        "chat": Course("Nothing."),
        "caps": Course("Nothing."),
        "draining": Course(
            "Whatever a hand under way needs, but no `call`; then `bye` with `shutting_down`. After the restart matches go on."
        ),
        "host_says": Course("Nothing."),
        "ping": Course("`pong` with the same `n`, at once."),
        "pong": Course("Nothing."),
    }
)
COURSES: Final[Mapping[Direction, Mapping[str, Course]]] = MappingProxyType({_IN: _REQUESTS, _OUT: _ANSWERS})
