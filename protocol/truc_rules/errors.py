"""What this package raises, and the known names that a message about an unknown one ends with."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

RefusalCode = Literal["not_your_turn", "illegal_action", "void_bet"]
RuleKey = Literal[
    "after_first_card",
    "all_at_stake",
    "answer_first",
    "ask_before_card",
    "asked_already",
    "concede_by_declining",
    "concede_by_governor",
    "concede_on_turn",
    "contest_closed",
    "cover_later",
    "decided",
    "else_first",
    "flor_declared",
    "flor_first",
    "hand_not_over",
    "hand_over",
    "late_ask",
    "late_envido",
    "no_betting",
    "no_claim",
    "no_flor",
    "no_flor_to_answer",
    "no_higher",
    "no_order",
    "no_saying",
    "not_blind",
    "not_dealt",
    "not_governor",
    "not_held",
    "not_in_duel",
    "not_in_game",
    "not_now",
    "not_silent",
    "not_your_points",
    "not_your_turn",
    "nothing_asked",
    "ordered",
    "other_stake",
    "played_unseen",
    "their_ask",
    "too_few_points",
]
"""What can forbid an action, told apart as finely as a player has to."""
_LIKE: Final = 0.7
"""A lower cutoff would find names that have no more than the family's name in common."""


class RulesError(Exception):
    """The root of every error of the rules."""


class CardError(RulesError):
    """A card that cannot be where it was put: not in the pack, twice, or in a slot that another card holds."""


class VariantError(RulesError):
    """A variant, preset or table option that does not exist or contradicts itself."""


class UnknownOptionError(VariantError):
    """A table option that no variant has."""


class MoveError(RulesError):
    """A line that is not a move in the notation."""


class MatchError(RulesError):
    """A call that the state of the match does not allow: a fault of the caller, not of a player."""


class BrokenRule(NamedTuple):
    """The rule that an action breaks: its key, by which the catalogues have words for a player, and a text of its own."""

    rule: RuleKey
    text: str


class IllegalActionError(RulesError):
    """An action that the rules do not allow this seat now; the state is unchanged.

    Attributes:
        broken_rule: the rule that it breaks; None for a sign.
    """

    def __init__(self, code: RefusalCode, message: str, broken_rule: BrokenRule | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.broken_rule = broken_rule


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names most like `name`, at most three, the nearest first."""
    return get_close_matches(name, [*known], cutoff=_LIKE)


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return `; the nearest is NAME`, up to three names, or nothing if no known name is like `name`."""
    found = similar_names(name, known)
    match found:
        case []:
            return ""
        case [only]:
            return f"; the nearest is {only}"
        case _:
            return f"; the nearest are {', '.join(found)}"
