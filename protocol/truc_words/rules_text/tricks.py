"""Tricks, hands, games and matches: who wins them, in sentences."""

from typing import Final

from truc_rules import Variant
from truc_words.rules_text.wording import Wording, has_partners, of_whom

_HAND: Final = ("won", "tied", "ends")


def tie_leader(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who leads after a tie."""
    return (say(f"tie_leader.{variant.tie_leader}"),)


def partner_tie(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what equal best cards of partners do."""
    return (say(f"partner_tie.{variant.partner_tie}"),) if has_partners(variant) else ()


def hand_rule(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return how tricks make a hand."""
    return tuple(say(f"hand_rule.{variant.hand_rule}.{key}") for key in _HAND)


def all_tied(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who has a hand of nothing but ties."""
    return (say("all_tied.draw" if variant.all_tied == "draw" else f"all_tied.eldest.{of_whom(variant)}"),)


def cover_from_trick(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return when a card may be played face down."""
    first = variant.cover_from_trick
    return (say(f"cover_from_trick.{first}"),) if first else ()


def scoring(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what wins a game."""
    rule, whose = variant.scoring, of_whom(variant)
    goal = say.truts(rule.target) if rule.points_per_unit else say.points(rule.target)
    told = say(f"scoring.{rule.end_check}.{whose}", goal=goal)
    if rule.points_per_unit:
        unit = say(f"scoring.unit.{whose}", points=say.points(rule.points_per_unit))
        return (unit, say(f"scoring.for_unit.{whose}"), told)
    return (f"{told} {say(f'scoring.both.{whose}')}" if rule.end_check == "hand_end" else told,)


def match(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return how many games make a match."""
    if variant.match == 1:
        return (say("match.one"),)
    return (say("match.best_of", games=variant.match, most=variant.games_to_win),)
