"""What is said, signed and shown at the table, and what the game calls things in its own tongue: only what it has."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from truc_rules import MOST_ORDERS, REST, SIGNS, Kind, Variant
from truc_words import Speech, catalogue, half_label, local_words, phrase_label, sign_label
from truc_words.rules_text.stakes import rungs
from truc_words.rules_text.wording import Wording

_EXPLAINED: Final = frozenset(
    (
        Kind.RAISE,
        "raise +2",
        "accept-flor",
        "accept-rest",
        "envido-envido",
        "decline-envido",
        "decline-flor",
        "decline-last-point",
        "trick_tied",
        "last_point_asked",
        "game_staked",
    )
)
"""The keys of a local set that are not move lines; what they stand for is told in words, like all terms."""
_PART_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        Kind.STAND: "redeal",
        "decline-last-point": "last_point",
        "last_point_asked": "last_point",
        "game_staked": "last_point",
        "turn-up": "turnup",
        "duel": "pica",
        Kind.ENVIDO: "envido",
        Kind.REAL_ENVIDO: "envido",
        Kind.FALTA_ENVIDO: "envido",
        "envido-envido": "envido",
        "decline-envido": "envido",
        Kind.FLOR: "flor",
        Kind.CLAIM: "flor",
    }
)
"""By key of a local set: the rule without which a game does not have it."""
_OF_A_CHALLENGE: Final = frozenset(
    (Kind.FLOR_FOLD, Kind.CONTRAFLOR, Kind.CONTRAFLOR_REST, "accept-flor", "decline-flor")
)


def words(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return in whose words the game is told, and its other names."""
    local = local_words(variant.words)
    if local.tongue is None:
        return (say("words.none"),)
    told = say("words.told", tongue=catalogue(local.tongue).name)
    return (told, *_other_names(local.names.get(variant.name, ()), say), *_halves(variant, say))


def _other_names(names: tuple[str, ...], say: Wording) -> tuple[str, ...]:
    quoted = [f"*{name}*" for name in names]
    return (say("words.also", names=say.listed(quoted, "or")),) if quoted else ()


def _halves(variant: Variant, say: Wording) -> tuple[str, ...]:
    target, speech = variant.scoring.target, Speech(say.lang, variant.words)
    if not speech.local.halves:
        return ()
    # an example in each half
    low, high = target // 4, target - target // 4
    said_low, said_high = (half_label(points, target, speech) for points in (low, high))
    return (say("words.halves", low=low, said_low=said_low, high=high, said_high=said_high),)


def word_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return what the game calls by a word of its own."""
    rows = tuple(_rows(variant, say))
    return ((say("words.what"), say("words.said")), *rows) if rows else ()


def _rows(variant: Variant, say: Wording) -> Iterator[tuple[str, str]]:
    local = local_words(variant.words)
    for line, label in local.moves.items():
        if _is_in_game(variant, line):
            yield say(f"word.{line}") if line in _EXPLAINED else f"`{line}`", label.format(stake="n")
    for name, label in (*local.facts.items(), *local.terms.items()):
        if (name in _EXPLAINED or name in local.terms) and _is_in_game(variant, name):
            yield say(f"word.{name}"), label


def _is_in_game(variant: Variant, key: str) -> bool:
    if key in _PART_OF:
        return getattr(variant, _PART_OF[key]) is not None
    if key in _OF_A_CHALLENGE:
        return variant.flor is not None and variant.flor.challenge
    match key.split():
        case [Kind.CONCEDE]:
            return variant.concede != "vs_ask"
        case ["accept-rest"]:
            return variant.remainder == "counter"
        case [Kind.RAISE, stake]:
            asked = [variant.ladder, *map(str, rungs(variant)[1:])]
            return stake in asked or (stake == REST and variant.remainder != "none")
        case _:
            return True


def signals(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who signs to whom, and who gives orders."""
    rule = variant.signals
    if rule is None:
        return ()
    signs = (say("signals.told"), say(f"signals.{rule.visible_to}"), say(f"signals.{rule.truth}"))
    orders = (say("signals.order", orders=MOST_ORDERS), say("signals.obeyed"))
    return (*(signs if rule.vocabulary else ()), *(() if rule.orders == "none" else orders))


def signal_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return every sign with what it says, and the cards that make it true."""
    rule = variant.signals
    if rule is None or not rule.vocabulary:
        return ()
    rows = (
        (f"`{word}`", sign_label(word, say.lang, variant.words), _claim(variant, word, say))
        for word in rule.vocabulary
    )
    return ((say("signals.sign"), say("signals.says"), say("signals.cards")), *rows)


def _claim(variant: Variant, word: str, say: Wording) -> str:
    if not SIGNS[word]:
        return say("signals.no_card")
    ranks = {card[:-1] for card in variant.pack}
    named = [name for name in SIGNS[word] if name in ranks or name in variant.pack]
    return say.listed(named, "or") or say("signals.none_of_pack")


def phrases(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return that there are phrases."""
    return (say("phrases.told"),) if variant.phrases else ()


def phrase_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return every phrase with its words."""
    if not variant.phrases:
        return ()
    rows = ((f"`{phrase}`", phrase_label(phrase, say.lang, variant.words)) for phrase in variant.phrases)
    return ((say("phrases.phrase"), say("signals.says")), *rows)


def show(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who shows cards by choice."""
    return () if variant.show == "none" else (say(f"show.{variant.reveal}"),)
