"""Whether the server does what it is there for: it takes acts, and makes them durable."""

from typing import NamedTuple

import trio

from truc_server.house import House
from truc_server.journal import SLOW_S


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
    if house.is_draining:
        return Health(is_well=False, text="draining: hands under way end, and nothing else begins")
    if journal.is_behind:
        text = f"behind: {journal.waiting} writes wait for the store"
        return Health(is_well=False, text=text)
    took = journal.commit_s(trio.current_time())
    if took > SLOW_S:
        return Health(is_well=False, text=f"behind: a commit has been under way for {took:.0f} s")
    return Health(is_well=True, text="ok")
