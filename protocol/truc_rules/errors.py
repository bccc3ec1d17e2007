"""What this package raises; every message says what was expected and what came."""

from typing import Literal

Refusal = Literal["not_your_turn", "illegal_action", "void_bet"]


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


class IllegalActionError(RulesError):
    """An action that the rules do not allow this seat now; the state is unchanged."""

    def __init__(self, code: Refusal, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
