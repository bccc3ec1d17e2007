"""Whether the server does what it is there for: it takes acts, and makes them durable."""

from typing import Final, NamedTuple

import trio

from truc_server.house import House
from truc_server.operation.figures import Spread
from truc_server.storage.journal import SLOW_S, Journal


class Health(NamedTuple):
    """Whether all is well, and if not, in a few words what is wrong."""

    is_well: bool
    text: str


def health(house: House) -> Health:
    """Return how the server is."""
    journal = house.journal
    if house.failure is not None:
        return Health(is_well=False, text="failed: the store takes no more writes")
    if journal.is_closed:
        return Health(is_well=False, text="stopping")
    if house.drain.is_on:
        return Health(is_well=False, text="draining: hands under way end, and nothing else begins")
    behind = why_behind(journal)
    return Health(is_well=behind is None, text=behind or "ok")


def why_behind(journal: Journal) -> str | None:
    """Return how the store does not keep up; None if it does."""
    if journal.is_behind:
        return f"behind: {journal.waiting} writes wait for the store"
    took = journal.commit_s(trio.current_time())
    return f"behind: a commit has been under way for {took:.0f} s" if took > SLOW_S else None


EVERY_S: Final = 0.25


async def watch(late_s: Spread) -> None:
    """Note how late the loop is, again and again."""
    moment = trio.current_time()
    while True:
        moment += EVERY_S
        await trio.sleep_until(moment)
        now = trio.current_time()
        late_s.add(now - moment)
        moment = max(moment, now)
