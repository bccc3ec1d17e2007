"""What everybody may know right after a decision, where whoever knows all cards knows more.

After a flor the server sees at once whether another seat holds one. Nobody is told before that seat could have spoken:
what a record means, and whom the match waits for, is what the open cards alone tell, and the rest comes with the next
record (rules.md 13b.3). Invariant: of a window, only `later` depends on closed cards.
"""

from typing import NamedTuple

from msgspec.structs import replace

from truc_protocol.bodies import Act, AnyBody, Proxy, Rule
from truc_protocol.ledger import Folded, Ledger, fold
from truc_protocol.records import Record
from truc_rules import Event, Kind, deciders, has_windows, is_window, unseen

_OF_CARDS = (Kind.PLAY, Kind.COVER, Kind.SHOW)  # they show a card: nobody is silent after them


class Window(NamedTuple):
    """A record after which the hand may wait for seats that have nothing to say.

    `ledger` and `events` are the match and what happened as everybody sees it; `later` happened too, and is told with
    the next record.
    """

    ledger: Ledger
    events: tuple[Event, ...]
    later: tuple[Event, ...]


def window(before: Ledger, record: Record, body: AnyBody, folded: Folded) -> Window | None:
    """Return the window that a record opens, if it opens one."""
    if before.match is None or before.hand is None or not has_windows(before.match):
        return None
    match body:
        case Act(kind=kind) | Proxy(kind=kind) | Rule(ruling="move", kind=kind) if kind not in _OF_CARDS:
            pass
        case _:
            return None
    public = fold(replace(before, match=unseen(before.match)), record, body)
    if public.ledger.match is None or not is_window(public.ledger.match):
        return None
    return Window(public.ledger, public.events, folded.events[len(public.events) :])


def is_asked(opened: Window, ledger: Ledger, seat: int) -> bool:
    """Tell whether a seat has something to say in the window that is open."""
    public = opened.ledger.match
    if ledger.match is None or public is None or ledger.match.hand.offers != public.hand.offers:
        return False
    return seat in deciders(ledger.match)
