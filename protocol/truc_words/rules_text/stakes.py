"""The main stake, in sentences: what is asked for, who answers, and how a hand is given up."""

from itertools import pairwise

from truc_rules import Variant
from truc_words import local_words
from truc_words.rules_text.wording import Wording, has_partners, scorer


def ladder(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what may be asked for."""
    match variant.ladder:
        case tuple() as rungs:
            told = say("ladder.steps", stakes=", ".join(map(str, rungs[1:])))
        case "game":
            told = say(f"ladder.game.{scorer(variant)}")
        case kind:
            told = say(f"ladder.{kind}")
    return (say("ladder.worth", base=say.points(variant.base_stake)), told, say("ladder.declined"))


def ladder_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return every raise with what players say for it, and what it is worth."""
    rest = (say("asks.rest"), "rest", say("asks.game"), say("asks.before"))
    if variant.remainder == "last":
        rest = (say("asks.game"), "rest", say("asks.game"), str(rungs(variant)[-1]))
    rows = (*_asks(variant, say), *(() if variant.remainder == "none" else (rest,)))
    words = [_own_word(variant, raised, before) for _, raised, _, before in rows]
    heads = (say("asks.ask"), say("words.said"), say("asks.accepted"), say("asks.declined"))
    table = (heads, *((ask, own, *worth) for (ask, _, *worth), own in zip(rows, words, strict=True)))
    return table if any(words) else tuple((ask, *worth) for ask, _, *worth in table)


def _asks(variant: Variant, say: Wording) -> tuple[tuple[str, str, str, str], ...]:
    if variant.ladder == "any":
        return ((say("asks.any", target=variant.scoring.target), "n", "n", say("asks.before")),)
    if variant.ladder == "trut":
        return (("trut", "trut", say("asks.trut"), str(variant.base_stake)),)
    return tuple((str(high), str(high), str(high), str(low)) for low, high in pairwise(rungs(variant)))


def rungs(variant: Variant) -> tuple[int, ...]:
    """Return the stakes that a hand may have, from the first to the highest; the first alone where they are not fixed."""
    base, target = variant.base_stake, variant.scoring.target
    match variant.ladder:
        case tuple() as stakes:
            return tuple(stake for stake in stakes if stake == base or stake <= target)
        case "x2":
            return tuple(
                base << doubled for doubled in range(target.bit_length()) if base << doubled <= target
            )
        case "+2":
            return (base, *range(2, target + 1, 2))
        case _:
            return (base,)


def _own_word(variant: Variant, raised: str, before: str) -> str:
    """Return what players say to raise to a stake from the one before, empty if the game has no word of its own for it."""
    moves = local_words(variant.words).moves
    step = (f"raise +{int(raised) - int(before)}",) if raised.isdigit() else ()
    keys = (f"raise {raised}", *step, *(("raise",) if raised != "rest" else ()))
    label = next((moves[key] for key in keys if key in moves), "")
    return f"*{label.format(stake=raised)}*" if label else ""


def cap(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what bounds an ask."""
    target = variant.scoring.target
    if variant.ladder in ("game", "trut") or _ends_below(variant):
        return ()
    at_most = say("cap.target", target=target)
    if variant.cap == "target":
        return (at_most,)
    told = say(f"cap.{variant.cap}", target=target)
    if variant.remainder != "none":
        told = f"{told} {say('cap.rest_is_free')}"
    bounded_by_itself = variant.cap == "strict" or _rungs_end_at(variant, target)
    return (told,) if bounded_by_itself else (at_most, told)


def _ends_below(variant: Variant) -> bool:
    return variant.cap == "target" and _rungs_end_at(variant, variant.scoring.target)


def _rungs_end_at(variant: Variant, target: int) -> bool:
    """Tell whether the stakes are listed and none of them is above the target."""
    return isinstance(variant.ladder, tuple) and variant.ladder[-1] <= target


def answerer(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who answers for a side."""
    if not has_partners(variant):
        return ()
    told = say(f"answerer.{variant.answerer}")
    return (told if variant.answerer == "any" else f"{told} {say('answerer.governors')}",)


def remainder(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what asking for the whole game means."""
    if variant.remainder == "none":
        return ()
    whose = scorer(variant)
    draw = "_draw" if variant.all_tied == "draw" else ""
    is_last = variant.remainder == "last"
    taken = f"last.taken{draw}" if is_last else f"{variant.remainder}{draw}"
    won = f"{say(f'remainder.{taken}')} {say(f'remainder.scored.{whose}')}"
    asked = say(f"remainder.{'last' if is_last else 'asked'}.{whose}")
    # where every ask is for the game, the ladder has said so
    return (won,) if variant.ladder == "game" else (asked, won)


def concede(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return when a hand is given up."""
    told = say(f"concede.{variant.concede}")
    are_untold = variant.concede == "governor" and variant.answerer == "any"
    return (f"{told} {say('answerer.governors')}" if are_untold else told,)


def last_point(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return what holds for a side at its last point."""
    rule = variant.last_point
    if rule is None:
        return ()
    least = say.points(variant.scoring.target - rule.at)
    asked = say("last_point.asked", least=least)
    also = "" if variant.envido is None else "_envido"
    return (
        f"{asked} {say('last_point.who')}" if has_partners(variant) else asked,
        *((say("last_point.share"),) if rule.share and has_partners(variant) else ()),
        say(f"last_point.plays{also}", stake=rule.stake, decline=rule.decline),
        say(f"last_point.both{also}", least=least),
    )
