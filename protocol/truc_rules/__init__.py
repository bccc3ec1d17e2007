"""The rules of the Truc family: pure functions from values to values.

The names in `__all__` are public; everything else may move. No I/O, no clock, no randomness: shuffling, waiting and
lost connections are not rules. A match begins with `new_match`; `deal` gives it cards, `legal` says what a seat may
do, and `apply` does it and returns the next match with what happened.
"""

from truc_rules.cards import CARDS_EACH, COVERED, Card, card_named, card_names
from truc_rules.contests.claims import is_score_open, leaves_open
from truc_rules.contests.flor import waits_for_unknown
from truc_rules.deals import is_blind, lowest_slot, with_known_card
from truc_rules.errors import (
    CardError,
    IllegalActionError,
    MatchError,
    MoveError,
    RulesError,
    UnknownOptionError,
    VariantError,
    nearest_hint,
)
from truc_rules.machines import deciders, deciders_in_view
from truc_rules.match import (
    apply,
    awaits_deal,
    deal,
    is_hand_over,
    know,
    know_all,
    legal,
    new_match,
    next_hand,
    surely_legal,
    without_unknown_flor,
)
from truc_rules.moves import DescribedAction, described, move_line, parse_move
from truc_rules.orders import MOST_ORDERS
from truc_rules.positions.actions import KINDS, PLAIN_PLAYS, REST, TRUT, Action, ArgShape, Kind
from truc_rules.positions.events import Event
from truc_rules.positions.match import (
    ContraflorAsk,
    EnvidoAsk,
    Hand,
    HandPhase,
    LastPointAsk,
    Match,
    RedealAsk,
    Score,
    StakeAsk,
)
from truc_rules.rulings import apply_ruled, ruled
from truc_rules.seats import SIDES, Seat, Side, other_side, seat_after, seats_after, side_of
from truc_rules.shows import compared_seats, owed_shows, unproven_seats
from truc_rules.signing import check_sign, sign_receivers
from truc_rules.stakes import owed_shares
from truc_rules.variants.options import TABLE_OPTIONS, with_options
from truc_rules.variants.params import params, variant_from_fields, variant_from_params
from truc_rules.variants.presets import preset, presets
from truc_rules.variants.variant import (
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
from truc_rules.variants.vocabulary import SIGNS
from truc_rules.views import View, as_seen_by_all, view

__all__ = [
    "CARDS_EACH",
    "COVERED",
    "ENGINE",
    "KINDS",
    "MOST_ORDERS",
    "PLAIN_PLAYS",
    "REST",
    "SIDES",
    "SIGNS",
    "TABLE_OPTIONS",
    "TRUT",
    "Action",
    "ArgShape",
    "Card",
    "CardError",
    "ContraflorAsk",
    "DescribedAction",
    "Envido",
    "EnvidoAsk",
    "Event",
    "Flor",
    "Hand",
    "HandPhase",
    "IllegalActionError",
    "Kind",
    "LastPoint",
    "LastPointAsk",
    "Match",
    "MatchError",
    "MoveError",
    "Pica",
    "Redeal",
    "RedealAsk",
    "RulesError",
    "Score",
    "Scoring",
    "Seat",
    "Side",
    "Signals",
    "StakeAsk",
    "TurnUp",
    "UnknownOptionError",
    "Variant",
    "VariantError",
    "View",
    "apply",
    "apply_ruled",
    "as_seen_by_all",
    "awaits_deal",
    "card_named",
    "card_names",
    "check_sign",
    "compared_seats",
    "deal",
    "deciders",
    "deciders_in_view",
    "described",
    "is_blind",
    "is_hand_over",
    "is_score_open",
    "know",
    "know_all",
    "leaves_open",
    "legal",
    "lowest_slot",
    "move_line",
    "nearest_hint",
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
    "side_of",
    "sign_receivers",
    "surely_legal",
    "unproven_seats",
    "variant_from_fields",
    "variant_from_params",
    "view",
    "waits_for_unknown",
    "with_known_card",
    "with_options",
    "without_unknown_flor",
]
