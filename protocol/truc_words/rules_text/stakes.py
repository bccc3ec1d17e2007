"""The main stake, in sentences: what is asked for, who answers, and how a hand is given up."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, assert_never

from truc_rules import Variant
from truc_words.catalogue import local_words
from truc_words.rules_text.wording import has_partners, points, the_side

_ALTERNATE: Final = {
    "yes": "After an accepted raise only the side that accepted may raise again, in a turn in which the player has not raised yet.",
    "no": "After an accepted raise either side may raise again.",
    "once": "There is one raise in a hand.",
}
_GOVERNORS: Final = "The dealer governs its side, eldest the other; the governors change with the deal."
_CONCEDE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vs_ask": "A hand is given up only by declining a raise.",
        "any": "A hand may be given up at any time, on one's turn or not, while nothing waits for an answer.",
        "on_turn": "A hand may be given up on one's turn, while nothing waits for an answer.",
        "governor": "Only a governor gives a hand up, at any time while nothing waits for an answer.",
    }
)


def ladder(variant: Variant) -> tuple[str, ...]:
    """Return what a raise may be to."""
    worth = f"A hand is worth {points(variant.base_stake)} if nobody raises it."
    match variant.ladder:
        case tuple() as rungs:
            told = f"A raise is to the next of these stakes: {', '.join(map(str, rungs[1:]))}."
        case "x2":
            told = "A raise doubles the stake."
        case "+2":
            told = "The first raise is to 2, every further one by two more."
        case "any":
            told = "A raise names any whole number above the stake."
        case "game":
            told = f"The only raise is to the whole game, the *remainder* of the {the_side(variant)} that raises."
        case "trut":
            told = "The only raise is to a whole unit of the score, a *trut*, instead of points."
        case _:
            assert_never(variant.ladder)
    return (
        worth,
        told,
        "Declining gives the hand up: the side that raised scores what it was worth before.",
    )


def ladder_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return every raise with what it is worth, and the word for it where the game has one."""
    rest = (("the remainder", "the game", "the stake before"),) if variant.remainder != "none" else ()
    rows = (*_raises(variant), *rest)
    words = [_word(variant, to, before) for to, _, before in rows]
    heads = ("raise to", "accepted: the hand is worth", "declined: the side that raised scores")
    if not any(words):
        return (heads, *rows)
    return (
        (heads[0], "players say", *heads[1:]),
        *((row[0], f"*{word}*" if word else "", *row[1:]) for row, word in zip(rows, words, strict=True)),
    )


def _word(variant: Variant, to: str, before: str) -> str:
    """Return what players of the game say to raise to a stake; empty if they have no word for it."""
    moves = local_words(variant.words).moves
    steps = (f"raise +{int(to) - int(before)}",) if to.isdigit() else ()
    keys = ("raise rest",) if to == "the remainder" else (f"raise {to}", *steps, "raise")
    stake = to.partition(",")[0]
    return next((moves[key].format(stake=stake) for key in keys if key in moves), "")


def _raises(variant: Variant) -> tuple[tuple[str, str, str], ...]:
    base, target = variant.base_stake, variant.scoring.target
    match variant.ladder:
        case "trut":
            return (("trut", "one trut", str(base)),)
        case "any":
            return ((f"n, up to {target}", "n", "the stake before"),)
        case "game":
            return ()
        case "x2":
            rungs = tuple(base << doubled for doubled in range(target.bit_length()))
        case "+2":
            rungs = (base, *range(2, target + 1, 2))
        case stakes:
            rungs = stakes
    return tuple((str(high), str(high), str(low)) for low, high in pairwise(rungs) if high <= target)


def cap(variant: Variant) -> tuple[str, ...]:
    """Return what bounds a raise."""
    target = variant.scoring.target
    if variant.ladder in ("game", "trut") or _ends_below(variant):
        return ()
    match variant.cap:
        case "target":
            return (f"No raise is to more than {target}.",)
        case "strict":
            return (
                f"A raise is barred if the higher score and the new stake make more than {target} together."
                + _rest_is_free(variant),
            )
        case "no_overkill":
            won = "A side that would win the game with the present stake does not raise it." + _rest_is_free(
                variant
            )
            return (won,) if _rungs_end_at(variant, target) else (f"No raise is to more than {target}.", won)
        case _:
            assert_never(variant.cap)


def _ends_below(variant: Variant) -> bool:
    return variant.cap == "target" and _rungs_end_at(variant, variant.scoring.target)


def _rungs_end_at(variant: Variant, target: int) -> bool:
    """Tell whether the stakes are listed and none of them is above the target."""
    return isinstance(variant.ladder, tuple) and variant.ladder[-1] <= target


def _rest_is_free(variant: Variant) -> str:
    return "" if variant.remainder == "none" else " The remainder is not barred by this."


def ask_window(variant: Variant) -> tuple[str, ...]:
    """Return when a player raises."""
    if variant.ask_window == "b":
        return ("A player raises on its turn, before its card, and once in a turn.",)
    return (
        "A player raises on its turn, before its card or right after it, and once in a turn. After its card it may raise"
        " until the next card is on the table; a later raise is void and changes nothing.",
    )


def accept(variant: Variant) -> tuple[str, ...]:
    """Return how a raise is accepted."""
    if variant.accept == "explicit":
        return ("A raise is accepted in words; nobody plays a card until it is answered.",)
    return (
        "A raise is accepted in words, or by playing a card without a word. Only the player whose turn it is can accept"
        " by a card, if the other side raised; everybody else waits for the answer.",
    )


def answerer(variant: Variant) -> tuple[str, ...]:
    """Return who answers for a side."""
    if not has_partners(variant):
        return ()
    if variant.answerer == "any":
        return ("Any player of the side that is asked answers for it; the first answer counts.",)
    return (f"Any player may raise, but only the governor of the other side answers. {_GOVERNORS}",)


def raise_in_answer(variant: Variant) -> tuple[str, ...]:
    """Return whether a higher raise is an answer."""
    if variant.raise_in_answer:
        return ("The answer may also be the next raise: it accepts the one before.",)
    return ("The answer is yes or no, not a higher raise.",)


def alternate(variant: Variant) -> tuple[str, ...]:
    """Return who raises next."""
    return (_ALTERNATE[variant.alternate],)


def remainder(variant: Variant) -> tuple[str, ...]:
    """Return what asking for the whole game means."""
    if variant.remainder == "none":
        return ()
    if variant.remainder == "accept":
        taken = "Once the remainder is accepted"
    else:
        taken = "The remainder is taken only by saying *my remainder* too; then"
    drawn = "; a drawn hand decides nothing" if variant.all_tied == "draw" else ""
    asked = f"A {the_side(variant)} may raise to its remainder, the whole game, instead of an ordinary raise."
    won = (
        f"{taken} the winner of the hand wins the game, whatever the scores{drawn}. The winner scores what"
        f" it lacks to the target, and the other {the_side(variant)} keeps its points. Declining the remainder is declining any raise."
    )
    # where every raise is for the game, the ladder has said so
    return (won,) if variant.ladder == "game" else (asked, won)


def concede(variant: Variant) -> tuple[str, ...]:
    """Return when a hand is given up."""
    told = _CONCEDE[variant.concede]
    if variant.concede == "vs_ask":
        return (told,)
    governors = f" {_GOVERNORS}" if variant.concede == "governor" and variant.answerer == "any" else ""
    return (f"{told} The other side scores the stake.{governors}",)


def last_point(variant: Variant) -> tuple[str, ...]:
    """Return what holds for a side at its last point."""
    rule = variant.last_point
    if rule is None:
        return ()
    least = points(variant.scoring.target - rule.at)
    who = " Any of its players answers." if has_partners(variant) else ""
    share = ("Its players see each other's cards before they answer.",) if rule.share else ()
    envido = " or calls envido" if variant.envido is not None else ""
    return (
        f"If one side has {least} or more and the other has not, that side is asked before the first card whether it"
        f" plays.{who}",
        *(share if has_partners(variant) else ()),
        f"If it plays, the hand is worth {rule.stake} and nobody raises it{envido}. If it declines, the other side"
        f" scores {rule.decline}.",
        f"If both sides have {least} or more, nobody is asked and nobody raises{envido}: the hand decides the game.",
    )
