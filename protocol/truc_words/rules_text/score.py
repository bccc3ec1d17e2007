"""How points make games and games a match, in sentences."""

from truc_rules import Variant
from truc_words.rules_text.wording import points, the_side, truts


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
