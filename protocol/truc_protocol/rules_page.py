"""The page of a game, made from its data: every rule in which games differ is a sentence here, chosen by its value.

A field of a variant without a sentence fails a test.
"""

from collections.abc import Callable, Mapping
from typing import Final

from truc_rules import SIDES, Variant, presets
from truc_rules import preset as preset_named

Sentence = Callable[[Variant], str]

_LEADER: Final = {"same": "by whoever led the tied one", "spoiler": "by the last who played a tying card"}
_CONCEDE: Final = {
    "vs_ask": "A hand is given up only by declining what the other side asks.",
    "any": "A hand may be given up at any time while no ask is open.",
    "on_turn": "A hand may be given up on one's turn.",
}
_CAP: Final = {
    "target": "Nobody asks for more than the points that win a game.",
    "strict": "Nobody asks for more than the side with more points lacks.",
    "no_overkill": "Nobody asks for more once the stake already wins the game.",
}
_ALTERNATE: Final = {
    "yes": "After an accepted ask only the side that accepted may ask again.",
    "no": "Either side may ask again after an accepted ask.",
    "once": "There is one ask in a hand.",
}
_REMAINDER: Final = {
    "none": "",
    "accept": "The whole game may be asked for; accepting it makes the hand decide the game.",
    "counter": "The whole game may be asked for; it is on when the other side asks for it too.",
}


def _pack(variant: Variant) -> str:
    return f"{len(variant.pack)} cards: {' '.join(variant.pack)}."


def _order(variant: Variant) -> str:
    return f"From strong to weak: {' '.join(variant.order)}. Equal ranks tie."


def _players(variant: Variant) -> str:
    counts = " or ".join(map(str, variant.players))
    return f"{counts} players; with more than two the seats score in turn for two sides."


def _short_deal(variant: Variant) -> str:
    if not variant.short_deal:
        return ""
    return "The seat before the dealer cuts or taps the pack; after a tap the dealer may deal one card each."


def _redeal(variant: Variant) -> str:
    if variant.redeal is None:
        return ""
    who = "the dealer agrees" if variant.redeal.consent == "dealer" else "everybody agrees"
    often = (
        "as often as the pack allows"
        if variant.redeal.max == "pack"
        else f"{variant.redeal.max} time(s) a hand"
    )
    return f"Before leading, the first player may propose new cards; they come if {who}, {often}."


def _tie_leader(variant: Variant) -> str:
    return f"After a tied trick the next is led {_LEADER[variant.tie_leader]}."


def _partner_tie(variant: Variant) -> str:
    if max(variant.players) <= len(SIDES):  # nobody has a partner
        return ""
    led = "always" if variant.partner_tie == "earlier" else "only if one of them led it"
    return f"Two equal best cards of one side take the trick {led}."


def _all_tied(variant: Variant) -> str:
    if variant.all_tied == "eldest":
        return "If every trick is tied, the side of the first player has the hand."
    return "If every trick is tied, nobody has the hand."


def _hand_rule(variant: Variant) -> str:
    if variant.hand_rule == "standard":
        return "Two tricks of three win the hand; after a tied trick the first trick won decides it."
    return "The hand is won by two tricks or by the only trick won."


def _ladder(variant: Variant) -> str:
    match variant.ladder:
        case tuple() as stakes:
            return f"Stakes: {', '.join(map(str, stakes))}."
        case "x2":
            return "A hand is worth 1; an ask doubles it."
        case "+2":
            return "A hand is worth 1; an ask adds two points."
        case "any":
            return "A hand is worth 1; an ask names any higher number."
        case "game":
            return "A hand is worth 1; the only ask is for the whole game."


def _ask_window(variant: Variant) -> str:
    after = " or after" if variant.ask_window == "ba" else ""
    return f"A player asks before{after} playing a card."


def _accept(variant: Variant) -> str:
    return (
        "Playing a card accepts an ask." if variant.accept == "implicit" else "An ask is accepted in words."
    )


def _raise_in_answer(variant: Variant) -> str:
    return (
        "An ask may be answered with a higher one."
        if variant.raise_in_answer
        else "An ask is accepted or declined."
    )


def _last_point(variant: Variant) -> str:
    rule = variant.last_point
    if rule is None:
        return ""
    share = " Partners see each other's cards first." if rule.share else ""
    return (
        f"A side {rule.at} point(s) short is asked whether it plays: then the hand is worth {rule.stake},"
        f" else the others score {rule.decline}.{share}"
    )


def _scoring(variant: Variant) -> str:
    when = "as soon as" if variant.scoring.end_check == "immediate" else "at the end of a hand once"
    return f"A game is won {when} a side has {variant.scoring.target} points."


def _match(variant: Variant) -> str:
    return "A match is one game." if variant.match == 1 else f"A match is the best of {variant.match} games."


def _absent(variant: Variant) -> str:
    what = "the lowest card is played" if variant.absent == "play" else "the hand is given up"
    return f"For a player whose time runs out on a turn {what}."


def _reveal(variant: Variant) -> str:
    return f"All cards are opened at the end of the {variant.reveal}."


def _same(_variant: Variant) -> str:
    return ""


SENTENCES: Final[Mapping[str, Sentence]] = {
    "players": _players,
    "pack": _pack,
    "order": _order,
    "short_deal": _short_deal,
    "redeal": _redeal,
    "tie_leader": _tie_leader,
    "partner_tie": _partner_tie,
    "hand_rule": _hand_rule,
    "all_tied": _all_tied,
    "ladder": _ladder,
    "cap": lambda variant: _CAP[variant.cap],
    "ask_window": _ask_window,
    "accept": _accept,
    "answerer": _same,
    "raise_in_answer": _raise_in_answer,
    "alternate": lambda variant: _ALTERNATE[variant.alternate],
    "remainder": lambda variant: _REMAINDER[variant.remainder],
    "concede": lambda variant: _CONCEDE[variant.concede],
    "last_point": _last_point,
    "scoring": _scoring,
    "match": _match,
    "absent": _absent,
    "reveal": _reveal,
}

_CHAPTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Players and cards": ("players", "pack", "order"),
    "The deal": ("short_deal", "redeal"),
    "The tricks": ("tie_leader", "partner_tie", "hand_rule", "all_tied"),
    "The stakes": (
        "ladder",
        "cap",
        "ask_window",
        "accept",
        "answerer",
        "raise_in_answer",
        "alternate",
        "remainder",
        "concede",
        "last_point",
    ),
    "The score": ("scoring", "match"),
    "At this table": ("absent", "reveal"),
}


def games() -> tuple[str, ...]:
    """Return the names of all games that come with the software."""
    return presets()


def summary(name: str) -> str:
    """Return a game in one line."""
    variant = preset_named(name)
    counts = "/".join(map(str, variant.players))
    return (
        f"{counts} players, {len(variant.pack)} cards, to {variant.scoring.target}, best of {variant.match}"
    )


def rules_page(variant: Variant) -> str:
    """Return the rules of a game as Markdown."""
    lines = [f"# {variant.name}", "", f"Version {variant.version} of its rules."]
    for chapter, names in _CHAPTERS.items():
        sentences = [sentence for name in names if (sentence := SENTENCES[name](variant))]
        if sentences:
            lines += ["", f"## {chapter}", "", *(f"* {sentence}" for sentence in sentences)]
    return "\n".join(lines) + "\n"


def preset_page(name: str) -> str:
    """Return the rules of a preset as Markdown.

    Raises:
        ValueError: There is no preset of that name; the text lists them.
    """
    if name not in presets():
        raise ValueError(f"expected one of {', '.join(presets())}, got {name!r}")
    return rules_page(preset_named(name))
