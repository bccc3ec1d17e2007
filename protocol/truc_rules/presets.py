"""The presets: the games of rules.md, section 14, as data.

A preset that is another with one change is written as that change. Adding a game whose machines exist is adding an
entry here.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from .cards import FRENCH_SUITS, SPANISH_SUITS, pack_of
from .errors import VariantError
from .variant import LastPoint, Redeal, Scoring, Variant

_SPANISH_40 = pack_of("1 2 3 4 5 6 7 10 11 12", SPANISH_SUITS)
_SPANISH_40_HIGH = pack_of("1 2 3 6 7 8 9 10 11 12", SPANISH_SUITS)
_FRENCH_32 = pack_of("A K Q J 10 9 8 7", FRENCH_SUITS)
_FRENCH_36 = pack_of("A K Q J 10 9 8 7 6", FRENCH_SUITS)

ORDERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "es40": (_SPANISH_40, ("3", "2", "1", "12", "11", "10", "7", "6", "5", "4")),
        "es40-moll": (_SPANISH_40_HIGH, ("3", "2", "1", "12", "11", "10", "9", "8", "7", "6")),
        "fr36": (_FRENCH_36, ("7", "6", "A", "K", "Q", "J", "10", "9", "8")),
        "fr32": (_FRENCH_32, ("7", "8", "A", "K", "Q", "J", "10", "9")),
        "fr32-rational": (_FRENCH_32, ("8", "7", "A", "K", "Q", "J", "10", "9")),
        "fr32-8low": (_FRENCH_32, ("7", "A", "K", "Q", "J", "10", "9", "8")),
        "fr32-ace": (_FRENCH_32, ("A", "K", "Q", "J", "10", "9", "8", "7")),
    }
)
"""Packs with an order each; rules.md, section 3, has the French names."""


def _ordered(variant: Variant, name: str, order: str) -> Variant:
    pack, ranks = ORDERS[order]
    return replace(variant, name=name, pack=pack, order=ranks)


# rules.md, sections 2 and 14
_CATALAN = Variant(
    name="truc-catalan",
    version=1,
    pack=_SPANISH_40,
    players=(2, 4),
    order=ORDERS["es40"][1],
    short_deal=True,
    redeal=None,
    tie_leader="same",
    partner_tie="earlier",
    all_tied="eldest",
    hand_rule="standard",
    ladder=(1, 2, 3),
    cap="target",
    ask_window="ba",
    accept="implicit",
    answerer="any",
    alternate="yes",
    raise_in_answer=True,
    remainder="none",
    concede="vs_ask",
    last_point=LastPoint(at=1, stake=3, decline=1, share=False),
    scoring=Scoring(target=12, end_check="immediate"),
    match=1,
)

# rules.md, sections 5 and 14
_FRENCH = Variant(
    name="truc-french",
    version=1,
    pack=_FRENCH_32,
    players=(2,),
    order=ORDERS["fr32"][1],
    short_deal=False,
    redeal=Redeal(consent="dealer", max=1),
    tie_leader="same",
    partner_tie="earlier",
    all_tied="draw",
    hand_rule="standard",
    ladder="+2",
    cap="target",
    ask_window="b",
    accept="explicit",
    answerer="any",
    alternate="no",
    raise_in_answer=False,
    remainder="counter",
    concede="any",
    last_point=None,
    scoring=Scoring(target=12, end_check="immediate"),
    match=3,
)

# rules.md, sections 3 and 14
_LANES = replace(
    _FRENCH,
    name="truc-lanes",
    players=(2, 4),
    redeal=Redeal(consent="all", max="pack"),
    all_tied="eldest",
    ladder="any",
    alternate="yes",
    remainder="accept",
    concede="vs_ask",
)

_SIXTEEN = Scoring(target=16, end_check="immediate")

_PRESETS = (
    _CATALAN,
    _ordered(_CATALAN, "truc-catalan-moll", "es40-moll"),
    _FRENCH,
    _ordered(_FRENCH, "truc-french-8low", "fr32-8low"),
    replace(_FRENCH, name="truc-french-any", ladder="any"),
    replace(_FRENCH, name="truc-sackson", ladder="x2", scoring=_SIXTEEN),
    _LANES,
    _ordered(_LANES, "truc-lanes-36", "fr36"),
    _ordered(_LANES, "truc-lanes-rational", "fr32-rational"),
    _ordered(_LANES, "truc-lanes-8low", "fr32-8low"),
)


def presets() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(variant.name for variant in _PRESETS)


def preset(name: str) -> Variant:
    """Return the preset called `name`.

    Raises:
        VariantError: There is none of that name.
    """
    for variant in _PRESETS:
        if variant.name == name:
            return variant
    raise VariantError(f"variant: expected one of {', '.join(presets())}, got {name!r}")
