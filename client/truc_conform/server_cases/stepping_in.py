"""Cases S3: a seat whose player is gone, and the player who takes it over in the middle of a match."""

from functools import partial
from typing import Final

import trio

from truc_conform.raw_seat import Seat, bodies
from truc_conform.server_cases.coming_back import resuming
from truc_conform.server_visit import (
    ServerCase,
    Visit,
    check_refusal,
    expect,
    expect_ok,
    play_on,
    server_case,
)
from truc_protocol.bodies import Sub
from truc_protocol.errors import Code
from truc_protocol.records import Phase

_SILENCE_MS: Final = 2_000
"""How long a link is awaited, and then a substitute."""
_NEWCOMER: Final = 2


async def _vacant(visit: Visit) -> tuple[Seat, Seat]:
    """Return a player in a match, and one who has been silent until the seat was offered to others."""
    player, gone = await visit.match(release_ms=_SILENCE_MS, gone=1)
    gone.is_idle = True
    with trio.fail_after(visit.patience_s + _SILENCE_MS / 1000):
        await play_on((gone, player), _is_vacant)
    return player, gone


def _is_vacant(seat: Seat) -> bool:
    told = seat.client.came("table")
    return any(each.get("vacant") for each in told[-1]["seats"])


async def _step_in(visit: Visit, player: Seat, gone: Seat) -> Seat:
    """Return a newcomer who has the seat of the player who was gone."""
    newcomer = await visit.seat(_NEWCOMER)
    expect_ok(await newcomer.join(player.table, gone.seat), "a place beside the vacant seat")
    expect_ok(await newcomer.ask(resuming(player, -1)), "every record of the match")
    expect_ok(await newcomer.ask(newcomer.sign(newcomer.sub())), "the seat")
    return newcomer


async def _substitute(visit: Visit) -> None:
    """A newcomer takes a vacant seat over, and is dealt cards."""
    player, gone = await _vacant(visit)
    newcomer = await _step_in(visit, player, gone)
    await play_on((player, newcomer), _is_dealt)
    taken = [body.seat for body in bodies(player.records) if isinstance(body, Sub)]
    expect(taken == [gone.seat], "one record by which the seat was taken over", taken)
    told = await gone.client.until("seat_taken_over", table=gone.table)
    expect(told["seat"] == gone.seat, "the seat that was taken over", told)


def _is_dealt(seat: Seat) -> bool:
    return seat.ledger.phase is Phase.HAND


async def _seat_gone(visit: Visit) -> None:
    """Whose seat a substitute has is refused it with seat_gone."""
    player, gone = await _vacant(visit)
    late = gone.sign(gone.rekey())
    await _step_in(visit, player, gone)
    place = {"table": gone.table, "seat": gone.seat}
    for wanted in (late, resuming(gone, gone.next), {"t": "join", **place}, {"t": "ready", **place}):
        check_refusal(await gone.ask(wanted), Code.SEAT_GONE)


_case: Final = partial(server_case, "S3")
_VACANT: Final = "play.md#a-vacant-seat"

CASES: Final[tuple[ServerCase, ...]] = (
    _case(_substitute, _VACANT),
    _case(_seat_gone, _VACANT),
)
