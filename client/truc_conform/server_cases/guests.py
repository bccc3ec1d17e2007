"""Cases S3: acts of guests, pauses, and asks that come too late."""

from functools import partial
from typing import Final

from truc_conform.raw_client import Map
from truc_conform.raw_seat import Seat
from truc_conform.server_cases.play import (
    act,
    check_evidence,
    choose,
    hand_in,
    in_hand,
    is_asked,
    level,
    quiet,
)
from truc_conform.server_visit import (
    ServerCase,
    Visit,
    check_refusal,
    expect,
    expect_ok,
    need_game,
    play_on,
    server_case,
    server_row,
)
from truc_protocol.errors import Code

_LATE_ASK: Final = "truc-catalan"
_PLAY: Final = "play.md#decisions"


async def _keyed_chooses(visit: Visit) -> None:
    """choose from a player with a key gets not_now."""
    mover, _ = await in_hand(visit)
    check_refusal(await choose(mover, quiet(mover)["key"]), Code.NOT_NOW)


async def _guest_signs(visit: Visit) -> None:
    """A body from a guest gets not_now."""
    mover, _ = await _guests(visit)
    here = {"t": "act", "table": mover.table, "match": mover.ledger.setup.mid}
    check_refusal(await mover.ask({**here, "body": b"\x90", "sig": bytes(64)}), Code.NOT_NOW)


async def _guests(visit: Visit) -> tuple[Seat, Seat]:
    return await in_hand(visit, guests=(0, 1), boxed=False)


async def _guest_act(visit: Visit) -> None:
    """A guest chooses by a move line; the same again gets ok with dup."""
    mover, _ = await _guests(visit)
    at, line = mover.next, quiet(mover)["key"]
    reply = await choose(mover, line)
    expect((reply["t"], reply.get("k")) == ("ok", at), f"ok with k {at}", reply)
    again = await choose(mover, line, at=at)
    expect(
        (again["t"], again.get("k"), again.get("dup")) == ("ok", at, True), f"ok with k {at} and dup", again
    )


async def _guest_refused(visit: Visit, *, at: int, line: str, code: Code) -> None:
    mover, _ = await _guests(visit)
    line = line or quiet(mover)["key"]
    check_refusal(await choose(mover, line, at=mover.next + at), code)
    expect_ok(await choose(mover, quiet(mover)["key"]), "the match to go on after a refusal")


async def _guest_out_of_turn(visit: Visit) -> None:
    """A guest's choice out of turn gets not_your_turn."""
    mover, other = await _guests(visit)
    check_refusal(await choose(other, quiet(mover)["key"]), Code.NOT_YOUR_TURN)


async def _paused(visit: Visit) -> tuple[Seat, Seat]:
    mover, other = await in_hand(visit)
    for seat in (mover, other):
        expect_ok(await hand_in(seat, act(seat, {"kind": "pause"})), "ok to pause")
        await level(mover, other)
    await play_on((mover, other), lambda seat: seat.ledger.pause.active)
    return mover, other


async def _move_in_pause(visit: Visit) -> None:
    """A move in a pause gets paused, with evidence."""
    mover, _ = await _paused(visit)
    body = act(mover, quiet(mover))
    check_evidence(mover, body, check_refusal(await hand_in(mover, body), Code.PAUSED))


async def _resume_pause(visit: Visit) -> None:
    """A pause ends when every seat has asked to resume."""
    both = await _paused(visit)
    for seat in both:
        await level(*both)
        expect_ok(await hand_in(seat, act(seat, {"kind": "resume"})), "ok to resume")
    await play_on(both, lambda seat: not seat.ledger.pause.active)


async def _not_paused(visit: Visit) -> None:
    """resume without a pause gets illegal_action."""
    mover, _ = await in_hand(visit)
    check_refusal(await hand_in(mover, act(mover, {"kind": "resume"})), Code.ILLEGAL_ACTION)


async def _paused_twice(visit: Visit) -> None:
    """Asking twice for a pause gets illegal_action."""
    mover, _ = await in_hand(visit)
    await hand_in(mover, act(mover, {"kind": "pause"}))
    check_refusal(await hand_in(mover, act(mover, {"kind": "pause"})), Code.ILLEGAL_ACTION)


async def _void_bet(visit: Visit) -> None:
    """An ask whose window the next card has closed gets void_bet."""
    need_game(await visit.player(), _LATE_ASK)
    first, second = await in_hand(visit, game=_LATE_ASK)
    await hand_in(first, act(first, _play_of(first)))
    late = act(first, {"kind": "raise", "args": (2,)})
    await second.play(lambda seat: seat.next == first.next and is_asked(seat))
    await hand_in(second, act(second, _play_of(second)))
    error = check_refusal(await hand_in(first, late), Code.VOID_BET)
    expect("refuse" not in error, "no signed refusal of an ask that came too late", error)


def _play_of(seat: Seat) -> Map:
    return next(option for option in seat.offered if option["kind"] == "play")


_case: Final = partial(server_case, "S3")
_row: Final = partial(server_row, "S3")


def _refused_case(name: str, what: str, code: Code, *, at: int = 0, line: str = "") -> ServerCase:
    """Return a case about a guest's choice that is refused."""
    return _row(name, _PLAY, f"{what} gets {code}", partial(_guest_refused, at=at, line=line, code=code))


CASES: Final[tuple[ServerCase, ...]] = (
    _case(_keyed_chooses, _PLAY),
    _case(_guest_signs, _PLAY),
    _case(_guest_act, _PLAY),
    _refused_case("guest-stale", "A guest's choice at a taken position", Code.STALE_POSITION, at=-1),
    _refused_case("guest-ahead", "A guest's choice ahead of the match", Code.BAD_POSITION, at=90),
    _refused_case(
        "guest-illegal", "A line that is not among the options", Code.ILLEGAL_ACTION, line="fly away"
    ),
    _case(_guest_out_of_turn, _PLAY),
    _case(_move_in_pause, _PLAY),
    _case(_resume_pause, _PLAY),
    _case(_not_paused, _PLAY),
    _case(_paused_twice, _PLAY),
    _case(_void_bet, _PLAY),
)
