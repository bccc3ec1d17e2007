"""Tricks, hands, games and matches: who wins them, in sentences."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from truc_rules import Variant
from truc_words.rules_text.wording import has_partners, points, the_side, truts

_ORDINAL: Final[Mapping[int, str]] = MappingProxyType({2: "second", 3: "third"})
_STANDARD: Final = (
    "Two tricks win the hand.",
    "As soon as a trick is tied, the first trick that is not tied decides: whoever won one before has the hand, else"
    " whoever wins the next. Tricks of one each and then a tie go to the winner of the first.",
    "Play ends as soon as it is known who has the hand; the other cards are not played.",
)
_PUT: Final = (
    "Two tricks win the hand, and one trick wins it if the other two are tied.",
    "One trick each and a tie counts as if every trick were tied.",
    "Play ends as soon as somebody has two tricks.",
)


def tie_leader(variant: Variant) -> tuple[str, ...]:
    """Return who leads after a tie."""
    if variant.tie_leader == "same":
        return ("After a tied trick whoever led it leads again.",)
    return ("After a tied trick the one who tied it leads: the last who played one of the equal best cards.",)


def partner_tie(variant: Variant) -> tuple[str, ...]:
    """Return what equal best cards of partners do."""
    if not has_partners(variant):
        return ()
    if variant.partner_tie == "earlier":
        return (
            "If the best cards are equal and of one side, it wins the trick, and who played first of them leads.",
        )
    return (
        "If the best cards are equal and of one side, it wins the trick only if one of them led it, and that player"
        " leads again; if neither led it, the trick is tied.",
    )


def hand_rule(variant: Variant) -> tuple[str, ...]:
    """Return how tricks make a hand."""
    return _STANDARD if variant.hand_rule == "standard" else _PUT


def all_tied(variant: Variant) -> tuple[str, ...]:
    """Return who has a hand of nothing but ties."""
    if variant.all_tied == "draw":
        return ("If every trick is tied, nobody has the hand and nobody scores for it.",)
    whose = "eldest's side" if has_partners(variant) else "eldest"
    return (f"If every trick is tied, {whose} has the hand.",)


def cover_from_trick(variant: Variant) -> tuple[str, ...]:
    """Return when a card may be played face down."""
    first = variant.cover_from_trick
    if not first:
        return ()
    return (
        f"From the {_ORDINAL[first]} trick on a card may be played face down. It is weaker than every open card and"
        " equal to another covered one; nobody learns in the hand which it was.",
    )


def scoring(variant: Variant) -> tuple[str, ...]:
    """Return what wins a game."""
    rule, side = variant.scoring, the_side(variant)
    if rule.points_per_unit:
        return (
            f"{points(rule.points_per_unit)} make a *trut*: a {side} that gets there exchanges them for one trut, and the"
            f" other {side} loses its points.",
            f"In a hand that is played for a trut the winner has one trut and keeps its points; the other {side} loses"
            f" its points.",
            f"{_when(variant)} a {side} has {truts(rule.target)}.",
        )
    told = f"{_when(variant)} a {side} has {points(rule.target)}."
    if rule.end_check == "hand_end":
        told += f" If both have them, the {side} with more wins; if they are equal, another hand is played."
    return (told,)


def _when(variant: Variant) -> str:
    at_once = variant.scoring.end_check == "immediate"
    return "A game is won as soon as" if at_once else "A game is won at the end of a hand in which"


def match(variant: Variant) -> tuple[str, ...]:
    """Return how many games make a match."""
    if variant.match == 1:
        return ("A match is one game.",)
    return (
        f"A match is the best of {variant.match} games: who has won {variant.games_to_win} of them has won it. Every"
        " game begins with no points; the deal passes on.",
    )
