"""The fold of a match's records: what follows from them, and what may come next.

State, and the questions asked of it, in `state`; the records in `deals`, `play`, `rulings` and `ends`; `fold` joins them.
"""

from truc_protocol.ledger.deals import box_public, learn, next_call
from truc_protocol.ledger.fold import Folded, check_place, fold
from truc_protocol.ledger.rulings import may_abandon, may_forfeit
from truc_protocol.ledger.state import (
    Contributor,
    Due,
    HandLog,
    Ledger,
    Outcome,
    Pause,
    Step,
    due,
    is_gone,
    missing,
    must_end,
    next_share,
    roles,
    score,
    start,
)

__all__ = [
    "Contributor",
    "Due",
    "Folded",
    "HandLog",
    "Ledger",
    "Outcome",
    "Pause",
    "Step",
    "box_public",
    "check_place",
    "due",
    "fold",
    "is_gone",
    "learn",
    "may_abandon",
    "may_forfeit",
    "missing",
    "must_end",
    "next_call",
    "next_share",
    "roles",
    "score",
    "start",
]
