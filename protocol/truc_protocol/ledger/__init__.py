"""The fold of a match's records: what follows from them, and what may come next.

State, and the questions asked of it, in `state`; what the rules are told in `replay`; the records in `deals`, `play`,
`opens` and `rulings`, those of mode blind in `blind_records`; `fold` joins them and has those that end a hand or the match.
`facts` says what a record means.
"""

from truc_protocol.ledger.blind_records import (
    StepKind,
    StepsDue,
    find_cards_shown,
    opened_hands,
    seats_owing,
    seats_true_to_links,
    steps_due,
)
from truc_protocol.ledger.deals import check_server_link, learn, learn_all, next_call
from truc_protocol.ledger.fold import FoldedRecord, PlacedRecord, check_place, fold, take
from truc_protocol.ledger.opens import check_exact
from truc_protocol.ledger.replay import hangs_on_cards, known_hands, replayed, untold
from truc_protocol.ledger.rulings import may_abandon, may_forfeit
from truc_protocol.ledger.state import (
    Contributor,
    Due,
    ExposedSeat,
    HandLog,
    Ledger,
    LoggedMove,
    Outcome,
    Pause,
    awaits_substitutes,
    box_public,
    deal_public,
    deciding_match,
    due,
    is_exhausted,
    is_gone,
    is_opened,
    may_show,
    must_end,
    next_open,
    next_share,
    owes_forfeit,
    roles,
    score,
    sealed_pack,
    seats_missing,
    seats_unopened,
    side_scores,
    start_ledger,
)
