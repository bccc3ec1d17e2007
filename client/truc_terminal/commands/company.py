"""Waiting for company: until a match begins, a line now and then tells whom a table still waits for.

Arrivals and departures are told as they happen; this is for the time between. The lines grow rarer, and end with the
wait.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from itertools import count
from typing import Final

import trio

from truc_client.address import parse_address
from truc_client.table import Table
from truc_protocol.messages import TableState
from truc_terminal.screen.screen import Screen
from truc_words import shown_name

_FIRST_S: Final = (15, 60, 120, 300)
_EVERY_S: Final = 600
_MINUTE_S: Final = 60
_WAITING: Final = ("open", "over")


def tell_invite(table: Table, screen: Screen) -> None:
    """Tell how to invite others, unless there is no seat for them."""
    if table.state is not None and not has_free_seat(table.state):
        return
    screen.note("invite", table=table.code, link=table.invite)
    if is_here_alone(parse_address(table.invite).host):
        screen.note("invite_here", "yellow")


def is_here_alone(host: str) -> bool:
    """Tell whether an address reaches its server only from the same machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def told_of_waiting(table: Table, screen: Screen) -> AsyncIterator[None]:
    """Tell whom a table waits for, as long as the block lasts."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_tell, table, screen)
        yield
        nursery.cancel_scope.cancel()


async def _tell(table: Table, screen: Screen) -> None:
    began, before = trio.current_time(), table.match
    for waited in _moments():
        await trio.sleep_until(began + waited)
        state = table.state
        has_begun = table.match is not None and table.match is not before
        if state is None or state.state not in _WAITING or has_begun:
            return
        tell_waiting(state, screen, table.invite, waited)


def _moments() -> Iterator[int]:
    """Yield the seconds of waiting after which a line is due."""
    yield from _FIRST_S
    yield from count(_EVERY_S, _EVERY_S)


def tell_waiting(state: TableState, screen: Screen, invite: str, waited: int) -> None:
    """Tell how many seats are taken; once all are, who is not ready."""
    time = f"{waited} s" if waited < _MINUTE_S else f"{waited // _MINUTE_S} min"
    if has_free_seat(state):
        taken = sum(seat.kind != "empty" for seat in state.seats)
        screen.note("still_free", table=state.table, taken=taken, seats=state.n, waited=time, link=invite)
    else:
        names = ", ".join(shown_name(seat.name or "", seat.seat) for seat in state.seats if not seat.ready)
        screen.note("still_unready", table=state.table, waited=time, names=names)


def has_free_seat(state: TableState) -> bool:
    """Tell whether somebody may still sit down at a table."""
    return any(seat.kind == "empty" for seat in state.seats)
