"""Pauses: players who ask for one now and then, and for its end."""

import random
from typing import Final, Literal

from truc_protocol.ledger import Ledger
from truc_protocol.records import Phase

_FIRST: Final = 0.02  # of the records make somebody ask for a pause
_AGREES: Final = 0.5  # of them, once another has asked
_ENDS: Final = 0.8  # of those of a pause make somebody ask for its end; else its time must end it


def wish(ledger: Ledger, seat: int, whims: random.Random) -> Literal["pause", "resume"] | None:
    """Return what a seat asks for after the newest record, where it may (specification, section 9)."""
    pause = ledger.pause
    if ledger.phase not in (Phase.BETWEEN, Phase.HAND) or ledger.match is None or seat in pause.asked:
        return None
    if pause.active:
        return "resume" if whims.random() < _ENDS else None
    likely = _AGREES if pause.asked else _FIRST
    return "pause" if seat not in pause.spent and whims.random() < likely else None
