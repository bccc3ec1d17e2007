"""What a seat may do, found out by itself: by the rules, its own cards, and what everybody is told the match waits for.

A client with the capability `own-options` makes here what it would otherwise be offered. Invariant: what is offered is
allowed whatever the closed cards are; where only those of others tell, in a round of flor, nothing is, until the server
says whom the match waits for.
"""

from collections.abc import Collection, Sequence
from secrets import randbelow

from truc_protocol.acts import Held, options_of
from truc_protocol.boxes import Option
from truc_protocol.ledger import Ledger, deciding, may_show
from truc_rules import Seat, deciders, surely_legal


def own_options(
    ledger: Ledger, seat: int, openings: Sequence[Held], awaited: Collection[int]
) -> tuple[Option, ...]:
    """Return what `seat` may do now; `openings` are its own cards, `awaited` the seats that `waiting` names."""
    rules = ledger.match if may_show(ledger) else deciding(ledger)
    if rules is None:
        return ()
    here, actions = surely_legal(rules, Seat(seat), awaited)
    is_secret = seat not in awaited and seat in deciders(here)
    also = (("waits", 1),) if is_secret else ()
    cut = some_cut(ledger) if ledger.hand is None else 0
    return options_of(here, actions, openings, cut=cut, also=also)


def some_cut(ledger: Ledger) -> int:
    """Return a place to cut at, for a seat that does not choose its own."""
    return 1 + randbelow(ledger.setup.terms.table.deck - 1)
