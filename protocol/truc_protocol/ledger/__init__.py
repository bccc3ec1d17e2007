"""The fold of a match's records: what follows from them, and what may come next.

State, and the questions asked of it, in `state`; what the rules are told in `replay`; the records in `deals`, `play`,
`opens`, `rulings` and `ends`; `fold` joins them.
"""

from truc_protocol.ledger.deals import check_server_link, learn, learn_all, next_call
from truc_protocol.ledger.fold import Folded, InPlace, check_place, fold, take
from truc_protocol.ledger.opens import check_exact
from truc_protocol.ledger.replay import hangs_on_cards, replayed
from truc_protocol.ledger.rulings import may_abandon, may_forfeit
from truc_protocol.ledger.state import (
    Contributor,
    Due,
    HandLog,
    Ledger,
    LoggedMove,
    Outcome,
    Pause,
    awaits_substitutes,
    box_public,
    deal_public,
    deciding,
    due,
    is_exhausted,
    is_gone,
    may_show,
    missing,
    must_end,
    next_open,
    next_share,
    roles,
    score,
    side_scores,
    start,
)

__all__ = [
    "Contributor",
    "Due",
    "Folded",
    "HandLog",
    "InPlace",
    "Ledger",
    "LoggedMove",
    "Outcome",
    "Pause",
    "awaits_substitutes",
    "box_public",
    "check_exact",
    "check_place",
    "check_server_link",
    "deal_public",
    "deciding",
    "due",
    "fold",
    "hangs_on_cards",
    "is_exhausted",
    "is_gone",
    "learn",
    "learn_all",
    "may_abandon",
    "may_forfeit",
    "may_show",
    "missing",
    "must_end",
    "next_call",
    "next_open",
    "next_share",
    "replayed",
    "roles",
    "score",
    "side_scores",
    "start",
    "take",
]
