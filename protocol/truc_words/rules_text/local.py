"""What the game calls things in its own tongue, for its page: only what this game has."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from truc_rules import REST, Kind, Variant
from truc_words import Speech, catalogue, half_label, local_words
from truc_words.rules_text.stakes import ladder_rows
from truc_words.rules_text.wording import listed

Having = Callable[[Variant], bool]


def _has_envido(variant: Variant) -> bool:
    return variant.envido is not None


def _has_flor(variant: Variant) -> bool:
    return variant.flor is not None


def _has_last_point(variant: Variant) -> bool:
    return variant.last_point is not None


def _has_turnup(variant: Variant) -> bool:
    return variant.turnup is not None


_LANG: Final = "en"
_SHOWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        Kind.RAISE: "`raise n`",
        "raise +2": "`raise n`, for two more",
        "accept-flor": "`accept`, to a contraflor",
        "accept-rest": "`raise rest`, to the same",
        "decline-envido": "`decline`, to envido",
        "decline-flor": "`decline`, to a contraflor",
        "decline-last-point": "`decline`, at the last point",
        "trick_tied": "a tied trick",
        "captain": "captains",
        "last_point_asked": "the question at the last point",
        "game_staked": "the hand that decides the game",
    }
)
"""By key of a local set: how it is shown, where the key is no move line and no plain word."""
_NEEDED: Final[Mapping[str, Having]] = MappingProxyType(
    {
        Kind.CONCEDE: lambda variant: variant.concede != "vs_ask",
        Kind.STAND: lambda variant: variant.redeal is not None,
        "decline-last-point": _has_last_point,
        "last_point_asked": _has_last_point,
        "game_staked": _has_last_point,
        "turn-up": _has_turnup,
        "duel": lambda variant: variant.pica is not None,
        Kind.ENVIDO: _has_envido,
        Kind.REAL_ENVIDO: _has_envido,
        Kind.FALTA_ENVIDO: _has_envido,
        "decline-envido": _has_envido,
        Kind.FLOR: _has_flor,
        Kind.FLOR_FOLD: _has_flor,
        Kind.CONTRAFLOR: _has_flor,
        Kind.CONTRAFLOR_REST: _has_flor,
        "accept-flor": _has_flor,
        "decline-flor": _has_flor,
        "accept-rest": lambda variant: variant.remainder == "counter",
        Kind.CLAIM: _has_flor,
    }
)
"""By key of a local set: whether a game has it; every game has what is not listed here."""


def words(variant: Variant) -> tuple[str, ...]:
    """Return the words that the game is told in, and its other names."""
    local = local_words(variant.words)
    if local.tongue is None:
        return ("The game has no words of its own; it is told in plain ones.",)
    told = f"These are the words of the players, in their tongue ({catalogue(local.tongue).name}); they change no rule."
    return (told, *_besides(local.names.get(variant.name, ())), *_halves(variant))


def _besides(names: tuple[str, ...]) -> tuple[str, ...]:
    quoted = [f"*{name}*" for name in names]
    return (f"The game is also called {listed(quoted, 'or')}.",) if quoted else ()


def _halves(variant: Variant) -> tuple[str, ...]:
    target, speech = variant.scoring.target, Speech(_LANG, variant.words)
    if not speech.local.halves:
        return ()
    low, high = target // 4, target - target // 4
    told = [f"{points} as *{half_label(points, target, speech)}*" for points in (low, high)]
    return (f"Points are said by the half they are in: {told[0]}, {told[1]}.",)


def word_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return what the game calls by a word of its own."""
    rows = tuple(_rows(variant))
    return (("what", "as players say it"), *rows) if rows else ()


def _rows(variant: Variant) -> Iterator[tuple[str, str]]:
    local = local_words(variant.words)
    for line, label in local.moves.items():
        if _is_had(variant, line):
            yield _SHOWN.get(line, f"`{line}`"), label.format(stake="n")
    for name, label in (*local.facts.items(), *local.terms.items()):
        if (name in _SHOWN or name in local.terms) and _is_had(variant, name):
            yield _SHOWN.get(name, name), label


def _is_had(variant: Variant, key: str) -> bool:
    kind, _, stake = key.partition(" ")
    if kind != Kind.RAISE or not stake:
        return key not in _NEEDED or _NEEDED[key](variant)
    if stake == REST:
        return variant.remainder != "none"
    return stake == variant.ladder or stake in [row[0] for row in ladder_rows(variant)]
