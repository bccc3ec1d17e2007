"""The main stake, in sentences: what is asked for, who answers, and how a hand is given up."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, assert_never

from truc_rules import Variant
from truc_words.rules_text.wording import has_partners, points, the_side

_ALTERNATE: Final = {
    "yes": "After an accepted ask only the side that accepted may ask again, in a turn in which the player has not asked yet.",
    "no": "After an accepted ask either side may ask again.",
    "once": "There is one ask in a hand.",
}
_GOVERNORS: Final = "The dealer governs its side, eldest the other; the governors change with the deal."
_CONCEDE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vs_ask": "A hand is given up only by declining what the other side asks.",
        "any": "A hand may be given up at any time, on one's turn or not, while nothing waits for an answer.",
        "on_turn": "A hand may be given up on one's turn, while nothing waits for an answer.",
        "governor": "Only a governor gives a hand up, at any time while nothing waits for an answer.",
    }
)


def ladder(variant: Variant) -> tuple[str, ...]:
    """Return what may be asked for."""
    worth = f"A hand is worth {points(variant.base_stake)} if nobody asks for more."
    match variant.ladder:
        case tuple() as rungs:
            told = f"An ask is for the next of these stakes: {', '.join(map(str, rungs[1:]))}."
        case "x2":
            told = "An ask doubles the stake."
        case "+2":
            told = "The first ask is for 2, every further one for two more."
        case "any":
            told = "An ask names any whole number above the stake."
        case "game":
            told = (
                f"The only ask is for the whole game, the *remainder* of the {the_side(variant)} that asks."
            )
        case "trut":
            told = "The only ask is for a whole unit of the score, a *trut*, instead of points."
        case _:
            assert_never(variant.ladder)
    return (
        worth,
        told,
        "Declining gives the hand up: the side that asked scores what it was worth before the ask.",
    )


def ladder_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return every ask with what it is worth."""
    heads = ("ask", "accepted: the hand is worth", "declined: the asking side scores")
    rest = ("the remainder", "the game", "the stake before")
    return (heads, *_asks(variant), *(() if variant.remainder == "none" else (rest,)))


def _asks(variant: Variant) -> tuple[tuple[str, str, str], ...]:
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
    """Return what bounds an ask."""
    target = variant.scoring.target
    if variant.ladder in ("game", "trut") or _ends_below(variant):
        return ()
    match variant.cap:
        case "target":
            return (f"No ask is for more than {target}.",)
        case "strict":
            return (
                f"An ask is barred if the higher score and the stake asked for make more than {target} together."
                + _rest_is_free(variant),
            )
        case "no_overkill":
            won = (
                "A side that would win the game with the present stake does not ask for more."
                + _rest_is_free(variant)
            )
            return (won,) if _rungs_end_at(variant, target) else (f"No ask is for more than {target}.", won)
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
    """Return when a player asks."""
    if variant.ask_window == "b":
        return ("A player asks on its turn, before its card, and once in a turn.",)
    return (
        "A player asks on its turn, before its card or right after it, and once in a turn. After its card it may ask"
        " until the next card is on the table; a later ask is void and changes nothing.",
    )


def accept(variant: Variant) -> tuple[str, ...]:
    """Return how an ask is accepted."""
    if variant.accept == "explicit":
        return ("An ask is accepted in words; nobody plays a card until it is answered.",)
    return (
        "An ask is accepted in words, or by playing a card without a word. Only the player whose turn it is can accept"
        " by a card, if the ask is the other side's; everybody else waits for the answer.",
    )


def answerer(variant: Variant) -> tuple[str, ...]:
    """Return who answers for a side."""
    if not has_partners(variant):
        return ()
    if variant.answerer == "any":
        return ("Any player of the side that is asked answers for it; the first answer counts.",)
    return (f"Any player may ask, but only the governor of the other side answers. {_GOVERNORS}",)


def raise_in_answer(variant: Variant) -> tuple[str, ...]:
    """Return whether a higher ask is an answer."""
    if variant.raise_in_answer:
        return ("The answer may also be the next ask: it accepts the one before.",)
    return ("The answer is yes or no; there is no higher ask in it.",)


def alternate(variant: Variant) -> tuple[str, ...]:
    """Return who asks next."""
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
    asked = f"A {the_side(variant)} may ask for its remainder, the whole game, instead of an ordinary ask."
    won = (
        f"{taken} the winner of the hand wins the game, whatever the scores{drawn}. The winner scores what"
        f" it lacks to the target, and the other {the_side(variant)} keeps its points. Declining the remainder is declining any ask."
    )
    # where every ask is for the game, the ladder has said so
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
        f"If it plays, the hand is worth {rule.stake} and nobody asks for more{envido}. If it declines, the other side"
        f" scores {rule.decline}.",
        f"If both sides have {least} or more, nobody is asked and nobody asks{envido}: the hand decides the game.",
    )
