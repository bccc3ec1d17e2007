"""The rules of the Truc family: pure functions from values to values.

The names in `__all__` are public; everything else may move. No I/O, no clock, no randomness: shuffling, waiting and
lost connections are not rules. A match begins with `new_match`; `deal` gives it cards, `legal` says what a seat may
do, and `apply` does it and returns the next match with what happened.
"""

from .actions import KINDS, REST, TRUT, Action, ArgShape, Kind
from .cards import CARDS_EACH, Card, card_named, card_names
from .claims import is_score_open
from .deals import is_blind, lowest_slot, named, slot_of, turn_count
from .errors import (
    CardError,
    IllegalActionError,
    MatchError,
    MoveError,
    RulesError,
    UnknownOptionError,
    VariantError,
)
from .events import Event
from .hand import deciders, deciders_in_view
from .hints import hints
from .lastpoint import owed_shares
from .match import (
    apply,
    awaits_deal,
    deal,
    is_hand_over,
    know,
    know_all,
    legal,
    new_match,
    next_hand,
    settled,
)
from .moves import move_line, parse_move
from .options import TABLE_OPTIONS, with_options
from .orders import MOST_ORDERS
from .params import params, variant_from_fields, variant_from_params
from .presets import preset, presets
from .rulings import apply_ruled, ruled
from .seats import SIDES, Seat, Side, other_side, seat_after, seats_after, side_of
from .shows import owed_shows, unproven
from .signs import check_sign, sign_receivers, signs
from .state import Hand
from .table import Match, Score
from .variant import (
    ENGINE,
    Envido,
    Flor,
    LastPoint,
    Pica,
    Redeal,
    Scoring,
    Signals,
    TurnUp,
    Variant,
)
from .views import View, view
from .vocabulary import SIGNS
from .windows import has_windows, is_window, unseen

__all__ = [
    "CARDS_EACH",
    "ENGINE",
    "KINDS",
    "MOST_ORDERS",
    "REST",
    "SIDES",
    "SIGNS",
    "TABLE_OPTIONS",
    "TRUT",
    "Action",
    "ArgShape",
    "Card",
    "CardError",
    "Envido",
    "Event",
    "Flor",
    "Hand",
    "IllegalActionError",
    "Kind",
    "LastPoint",
    "Match",
    "MatchError",
    "MoveError",
    "Pica",
    "Redeal",
    "RulesError",
    "Score",
    "Scoring",
    "Seat",
    "Side",
    "Signals",
    "TurnUp",
    "UnknownOptionError",
    "Variant",
    "VariantError",
    "View",
    "apply",
    "apply_ruled",
    "awaits_deal",
    "card_named",
    "card_names",
    "check_sign",
    "deal",
    "deciders",
    "deciders_in_view",
    "has_windows",
    "hints",
    "is_blind",
    "is_hand_over",
    "is_score_open",
    "is_window",
    "know",
    "know_all",
    "legal",
    "lowest_slot",
    "move_line",
    "named",
    "new_match",
    "next_hand",
    "other_side",
    "owed_shares",
    "owed_shows",
    "params",
    "parse_move",
    "preset",
    "presets",
    "ruled",
    "seat_after",
    "seats_after",
    "settled",
    "side_of",
    "sign_receivers",
    "signs",
    "slot_of",
    "turn_count",
    "unproven",
    "unseen",
    "variant_from_fields",
    "variant_from_params",
    "view",
    "with_options",
]
