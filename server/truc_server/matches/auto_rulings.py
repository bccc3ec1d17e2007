"""What the server has to rule because of what the records show, and the end that a seat asks for while others are away.

Functions of the ledger, and of what no record shows: whether the wait before a call is over, and who is there.
Invariants: nothing is ruled that the ledger would not take; nobody forfeits as absent to a side that has nobody there
either; and a claim makes a winner only where the terms and the table provide a forfeit for it: in every other case nobody
wins.
"""

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from truc_protocol.dealer import Dealer
from truc_protocol.ledger import (
    Due,
    Ledger,
    awaits_substitutes,
    due,
    is_exhausted,
    is_opened,
    may_abandon,
    may_forfeit,
    must_end,
    owes_forfeit,
    seats_missing,
    seats_owing,
)
from truc_protocol.records import Phase, Record
from truc_protocol.setup import GONE_FORFEIT, GONE_SUBSTITUTE

# specification.md, "Records": where a ruling may stand. Those of mode blind are looked at before.
_RULED: Final = (Phase.BETWEEN, Phase.HAND)
# A ruling in place of one of these fails C23 or C24.
_OWED: Final = (Due.SHARE, Due.OPEN, Due.CLOSE, Due.END)


class UnrecordedState(Struct, frozen=True):
    """What no record shows.

    Attributes:
        is_held_out: whether the call has been held back long enough.
        sides: the sides with a seat connected.
        returned: the seats that were absent too often, have come back, and have missed nothing since.
        is_claimed: whether an absent seat forfeits only when its opponents ask for it.
    """

    is_held_out: bool = False
    sides: Collection[int] = (0, 1)
    returned: Collection[int] = ()
    is_claimed: bool = False


def ruling_due(dealer: Dealer, ledger: Ledger, unrecorded: UnrecordedState) -> Record | None:
    """Return the ruling that is due now, if any."""
    if ledger.blind_hand is not None and (ruling := _of_blind_hand(dealer, ledger, unrecorded)) is not None:
        return ruling
    if not may_rule(ledger):
        return None
    # after such a void nothing else may stand (specification.md, "Voids")
    if ledger.phase is Phase.BETWEEN and must_end(ledger):
        return _after_void(dealer, ledger)
    ruling = _for_absence(dealer, ledger, unrecorded) or _for_pause(dealer, ledger)
    if (
        ruling is None
        and unrecorded.is_held_out
        and ledger.phase is Phase.BETWEEN
        and not ledger.pause.active
    ):
        return _after_hold(dealer, ledger, unrecorded)
    return ruling


def desertion(dealer: Dealer, ledger: Ledger) -> Record | None:
    """Return the next step towards the end of a match that nobody may go on with; None if other records come first."""
    if ledger.blind_hand is not None:  # abandoned before anybody is blamed, if that can stand
        exposed = ledger.blind_hand.exposed
        if exposed is not None:
            return dealer.forfeit(ledger, *exposed) if owes_forfeit(ledger) else None
        return _abandoned(dealer, ledger) or _overdue(dealer, ledger)
    if seats_missing(ledger):
        return dealer.void(ledger)  # nobody forfeits for it: the match is abandoned, that is all
    return dealer.abandon(ledger, "server") if may_rule(ledger) else None


def _of_blind_hand(dealer: Dealer, ledger: Ledger, unrecorded: UnrecordedState) -> Record | None:
    """Return what follows in mode blind from a seat that is exposed, or from what seats owe and have not sent in time."""
    exposed = None if ledger.blind_hand is None else ledger.blind_hand.exposed
    # the others open the hand first: their links name the head that the forfeit would move on
    if exposed is not None:
        is_due = owes_forfeit(ledger) and (unrecorded.is_held_out or is_opened(ledger))
        return dealer.forfeit(ledger, *exposed) if is_due else None
    if due(ledger) is Due.CONSEQUENCE:  # garbled, and yet every seat did as its link says
        return _abandoned(dealer, ledger)
    if not unrecorded.is_held_out or ledger.phase is Phase.OVER:
        return None
    is_stuck = ledger.hand is None and ledger.phase is Phase.CALLED
    return _overdue(dealer, ledger) or (_abandoned(dealer, ledger) if is_stuck else None)


def _overdue(dealer: Dealer, ledger: Ledger) -> Record | None:
    """Return the ruling on seats that owe keys, or a link, which nothing can void; None if there are none."""
    owing = () if ledger.phase is Phase.OVER else sorted(seats_owing(ledger))
    if not owing:
        return None
    if len({seat % 2 for seat in owing}) > 1:
        return dealer.abandon(ledger, "empty")
    return dealer.forfeit(ledger, owing[0], "opening")


def _abandoned(dealer: Dealer, ledger: Ledger) -> Record | None:
    return dealer.abandon(ledger, "server") if may_abandon(ledger, "server") else None


def may_rule(ledger: Ledger) -> bool:
    """Tell whether a ruling can stand now and the server owes no other record first."""
    if ledger.blind_hand is not None and ledger.match is not None and ledger.match.winner is not None:
        # won by a hand that is not open yet: all that may come is the opening, or a ruling on it
        return False
    return ledger.phase in _RULED and due(ledger) not in _OWED


def absent(ledger: Ledger, returned: Collection[int]) -> tuple[int, ...]:
    """Return the seats that have missed so many decisions in a row that they are gone, and have not come back."""
    # `gone_after` = 0: never
    most = ledger.setup.terms.opts.gone_after
    if not 0 < most <= max(ledger.streaks):
        return ()
    return tuple(
        seat for seat, streak in enumerate(ledger.streaks) if most <= streak and seat not in returned
    )


def _after_void(dealer: Dealer, ledger: Ledger) -> Record:
    # specification.md, "Voids": no forfeit stands where seats of both sides are named
    if may_abandon(ledger, "empty"):
        return dealer.abandon(ledger, "empty")
    for seat in ledger.silent:
        if may_forfeit(ledger, seat, "silent"):
            return dealer.forfeit(ledger, seat, "silent")
    return dealer.abandon(ledger, "voids" if may_abandon(ledger, "voids") else "server")


def _for_absence(dealer: Dealer, ledger: Ledger, unrecorded: UnrecordedState) -> Record | None:
    if ledger.setup.terms.opts.gone == GONE_SUBSTITUTE:
        return None  # rulings play on for the seat, and between hands it is offered
    gone = absent(ledger, unrecorded.returned)
    # with no side to have it no forfeit is ruled: the opponents may claim it
    return _against(dealer, ledger, gone, () if unrecorded.is_claimed else unrecorded.sides)


def _after_hold(dealer: Dealer, ledger: Ledger, unrecorded: UnrecordedState) -> Record | None:
    """Rule on the seats that nobody has taken over, and on those without a chain for the next call."""
    if awaits_substitutes(ledger):
        return _after_void(dealer, ledger)
    exhausted = (seat for seat in range(ledger.seats) if is_exhausted(ledger, seat + 1))
    seats = tuple(sorted({*absent(ledger, unrecorded.returned), *exhausted}))
    return _against(dealer, ledger, seats, unrecorded.sides)


def _against(dealer: Dealer, ledger: Ledger, seats: tuple[int, ...], sides: Collection[int]) -> Record | None:
    """Rule against those of the seats that may forfeit as absent; if both sides would, nobody wins."""
    gone = [seat for seat in seats if may_forfeit(ledger, seat, "absent")]
    if not gone:
        return None
    if may_abandon(ledger, "empty"):
        return dealer.abandon(ledger, "empty")
    first = gone[0]
    # for want of a chain alone nobody is gone, so it is not `empty` (specification.md, "New chains")
    if any(seat % 2 != first % 2 for seat in gone):
        return dealer.abandon(ledger, "server")
    # decision 14: nobody wins against an absent side by being absent too
    return dealer.forfeit(ledger, first, "absent") if 1 - first % 2 in sides else None


def _for_pause(dealer: Dealer, ledger: Ledger) -> Record | None:
    if len(ledger.pause.asked) < ledger.seats:
        return None
    return dealer.resume(ledger) if ledger.pause.active else dealer.pause(ledger)


def ruling_claimed(
    dealer: Dealer, ledger: Ledger, seat: int, unrecorded: UnrecordedState, alone: Collection[int]
) -> Record | None:
    """Return the ruling that a seat may claim now; `alone` are the seats without a connection for too long."""
    if not may_rule(ledger):
        return None
    gone = _of_other_side(seat, absent(ledger, unrecorded.returned))
    if gone and unrecorded.is_claimed and ledger.setup.terms.opts.gone == GONE_FORFEIT:
        return dealer.forfeit(ledger, gone[0], "absent")
    # without a clock no ruling says that anybody has missed anything: nobody wins
    return dealer.abandon(ledger, "server") if _of_other_side(seat, alone) else None


def _of_other_side(seat: int, seats: Collection[int]) -> tuple[int, ...]:
    return tuple(other for other in seats if other % 2 != seat % 2)
