"""Case S2: how long a table has waited, or its match has been played; only if the server tells it."""

from typing import Final

import trio

from truc_conform.raw_client import Map
from truc_conform.server_cases.play import is_asked
from truc_conform.server_visit import ServerCase, UnofferedError, Visit, expect, play_on, server_case

_WAIT_S: Final = 0.3
_SLACK_MS: Final = 50  # two clocks are compared, one of which counts in whole milliseconds


async def _table_age(visit: Visit) -> None:
    """age_ms counts from the table's creation, then from the match's start.

    Compare each age with the kit's own clock: no table or match is older than the kit's request for it.
    """
    made = trio.current_time()
    seats = await visit.seats()
    client, code = seats[0].client, seats[0].table
    _check(await client.until("table", table=code), since=made)
    await trio.sleep(_WAIT_S)  # otherwise a match would seem as old as its table
    begun = trio.current_time()
    for seat in seats:
        await seat.ready()
    await play_on(seats, is_asked)
    states = client.came("table", table=code)
    playing = [state for state in states if state["state"] == "playing"]
    expect(playing, "a table shown as playing", [state["state"] for state in states])
    for state in playing:
        _check(state, since=begun)


def _check(state: Map, *, since: float) -> None:
    if "age_ms" not in state:
        raise UnofferedError("the server does not say how old its tables are")
    most_ms = (trio.current_time() - since) * 1000 + _SLACK_MS
    expect(state["age_ms"] <= most_ms, f"{state['state']} for at most {most_ms:.0f} ms", state["age_ms"])


CASES: Final[tuple[ServerCase, ...]] = (server_case("S2", _table_age, "lobby.md#tables"),)
