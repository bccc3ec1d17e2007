"""The presets: the games of docs/rules/README.md, as data.

A preset that is another with a change is written as that change. To add a game whose machines exist, add an entry here.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from truc_rules.cards import FRENCH_SUITS, SPANISH_SUITS, pack_of
from truc_rules.errors import VariantError, nearest_hint
from truc_rules.variants.variant import (
    Envido,
    Flor,
    LastPoint,
    Pica,
    Redeal,
    Scoring,
    Signals,
    TurnUp,
    Variant,
)

_SPANISH_40 = pack_of("1 2 3 4 5 6 7 10 11 12", SPANISH_SUITS)
# rules.md 2, "Order variants": without 5 and 4
_SPANISH_40_HIGH = pack_of("1 2 3 6 7 8 9 10 11 12", SPANISH_SUITS)
# rules.md 18.1
_SPANISH_22 = (*pack_of("3 4 5 6 7", SPANISH_SUITS), "1e", "1b")
_FRENCH_32 = pack_of("A K Q J 10 9 8 7", FRENCH_SUITS)
# rules.md 13.6: without the 8, where others call the 8 a six
_FRENCH_32_SIX = pack_of("A K Q J 10 9 7 6", FRENCH_SUITS)
_FRENCH_36 = pack_of("A K Q J 10 9 8 7 6", FRENCH_SUITS)
_FRENCH_52 = pack_of("A K Q J 10 9 8 7 6 5 4 3 2", FRENCH_SUITS)
_BRAZIL_40 = pack_of("4 5 6 7 Q J K A 2 3", FRENCH_SUITS)
# rules.md 9, "Packs": said to have 28 cards, of which 27 are named
_BRAZIL_27 = (*pack_of("Q J K A 2 3", FRENCH_SUITS), "4c", "7h", "7d")
_BRAZIL_24 = pack_of("Q J K A 2 3", FRENCH_SUITS)

_BRAVAS = "1e 1b 7e 7o 3 2 1 12 11 10 7 6 5 4"
_MINEIRO = "4c 7h As 7d 3 2 A K J Q"

ORDERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        name: (pack, tuple(order.split()))
        for name, pack, order in (
            ("es40", _SPANISH_40, "3 2 1 12 11 10 7 6 5 4"),
            ("es40-moll", _SPANISH_40_HIGH, "3 2 1 12 11 10 9 8 7 6"),
            ("es40-bravas", _SPANISH_40, _BRAVAS),
            ("es22", _SPANISH_22, "1e 1b 7e 7o 3 7 6 5 4"),
            ("fr36", _FRENCH_36, "7 6 A K Q J 10 9 8"),
            ("fr32", _FRENCH_32, "7 8 A K Q J 10 9"),
            ("fr32-rational", _FRENCH_32, "8 7 A K Q J 10 9"),
            ("fr32-8low", _FRENCH_32, "7 A K Q J 10 9 8"),
            ("fr32-678", _FRENCH_32_SIX, "7 6 A K Q J 10 9"),
            ("fr32-ace", _FRENCH_32, "A K Q J 10 9 8 7"),
            ("fr52-put", _FRENCH_52, "3 2 A K Q J 10 9 8 7 6 5 4"),
            ("br40-vira", _BRAZIL_40, "3 2 A K J Q 7 6 5 4"),
            ("br24-vira", _BRAZIL_24, "3 2 A K J Q"),
            ("br40", _BRAZIL_40, f"{_MINEIRO} 7 6 5 4"),
            ("br27", _BRAZIL_27, _MINEIRO),
        )
    }
)
"""Packs, each with an order; rules.md, sections 2 to 10. Brazilian suits and ranks are written as French ones."""

FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "catalan": ("es40", "es40-moll"),
        "lanes": ("fr32", "fr36", "fr32-rational", "fr32-8low", "fr32-678"),
        "explained": ("fr32-ace", "fr32-8low"),
        "french": ("fr32", "fr32-rational", "fr32-8low", "fr32-678"),
        "trut": ("fr32", "fr32-rational", "fr32-678"),
        "argentine": ("es40-bravas",),
        "uruguayan": ("es40-bravas",),
        "venezuelan": ("es40-bravas",),
        "valencian": ("es22",),
        "gauderio": ("es40-bravas",),
        "paulista": ("br40-vira", "br24-vira"),
        "mineiro": ("br40", "br27"),
        "put": ("fr52-put",),
    }
)
"""By set of words, the orders that its games are played with."""


def _ordered(variant: Variant, name: str, order: str) -> Variant:
    pack, ranks = ORDERS[order]
    return replace(variant, name=name, pack=pack, order=ranks)


def _to(target: int, *, points_per_unit: int = 0) -> Scoring:
    return Scoring(target=target, points_per_unit=points_per_unit, end_check="immediate")


# rules.md, sections 2, 12 and 14
_CATALAN = Variant(
    name="truc-catalan",
    version=1,
    pack=_SPANISH_40,
    players=(2, 4),
    order=ORDERS["es40"][1],
    turnup=None,
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
    blind=False,
    cover_from_trick=0,
    envido=None,
    flor=None,
    pica=None,
    signals=Signals(("three", "two", "ace"), visible_to="partner", truth="free", orders="none"),
    phrases=(),
    show="none",
    scoring=_to(12),
    match=1,
    words="catalan",
)

# rules.md, sections 5 and 14
_FRENCH = replace(
    _ordered(_CATALAN, "truc-french", "fr32"),
    players=(2,),
    short_deal=False,
    redeal=Redeal(consent="dealer", max=1),
    all_tied="draw",
    ladder="+2",
    ask_window="b",
    accept="explicit",
    alternate="no",
    raise_in_answer=False,
    remainder="counter",
    concede="any",
    last_point=None,
    signals=None,
    match=3,
    words="french",
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
    words="lanes",
)

# rules.md, sections 4 and 14
_EXPLAINED = replace(
    _ordered(_FRENCH, "le-truc", "fr32-ace"),
    ladder="x2",
    cap="strict",
    remainder="accept",
    concede="vs_ask",
    show="owner",
    match=1,
    words="explained",
)

# rules.md, sections 6, 12 and 14
_PARTNERSHIP = replace(
    _FRENCH,
    name="truc-partnership",
    players=(4,),
    partner_tie="leader_only",
    answerer="governor",
    concede="governor",
    signals=Signals(("seven", "eight", "ace"), visible_to="governor", truth="enforced", orders="binding"),
)

# rules.md, sections 7 and 14
_TRUT = replace(
    _FRENCH,
    name="trut",
    players=(2, 4),
    redeal=None,
    tie_leader="spoiler",
    ladder="trut",
    alternate="once",
    remainder="none",
    concede="vs_ask",
    scoring=_to(7, points_per_unit=3),
    words="trut",
)

# rules.md, sections 10 and 14
_PUT = replace(
    _ordered(_FRENCH, "put", "fr52-put"),
    version=2,  # in version 1 a hand was given up only to an ask
    redeal=None,
    hand_rule="put",
    ladder="game",
    alternate="once",
    remainder="accept",
    concede="on_turn",
    scoring=_to(5),
    match=1,
    words="put",
)

_PLATE_SIGNS = ("ace-swords", "ace-clubs", "seven-swords", "seven-gold", "three", "two", "false-ace")
"""Of the cards of the Río de la Plata."""
_ARGENTINE_SIGNS = (*_PLATE_SIGNS, "high-envido", "low-envido")
_ARGENTINE_PHRASES = ("come", "come-here", "go-there", "dry", "loaded")

# rules.md, sections 8, 12 and 14
_ARGENTINE = replace(
    _ordered(_CATALAN, "truco-argentino", "es40-bravas"),
    players=(2, 4, 6),
    short_deal=False,
    ladder=(1, 2, 3, 4),
    ask_window="b",
    accept="explicit",
    concede="on_turn",
    last_point=None,
    envido=Envido(max_envido=2, max_real=1, falta="leader", fold_bonus=1),
    signals=Signals(_ARGENTINE_SIGNS, visible_to="partner", truth="free", orders="none"),
    phrases=_ARGENTINE_PHRASES,
    scoring=_to(30),
    words="argentine",
)
_FLOR = Flor(kind="suit", claims=True)
_SIX = replace(_ARGENTINE, name="truco-argentino-6", players=(6,), pica=Pica(min=5, max=20))

# rules.md, sections 8, 13b.10 and 14
_GAUDERIO = replace(
    _ARGENTINE,
    name="truco-gauderio",
    all_tied="draw",
    flor=_FLOR,
    # rules.md 12: only some of its signs agree with the Argentine ones, so none are offered
    signals=None,
    phrases=(),
    scoring=_to(24),
    words="gauderio",
)

_URUGUAYAN_SIGNS = (
    "piece-two",
    "piece-four",
    "piece-five",
    "piece-eleven",
    "piece-ten",
    *_PLATE_SIGNS,
    "nothing",
)

# rules.md, section 17
_URUGUAYAN = replace(
    _ARGENTINE,
    name="truco-uruguayo",
    turnup=TurnUp(pieces=("2", "4", "5", "11", "10"), numbers=(10, 9, 8, 7, 7), stand_in="12"),
    flor=_FLOR,
    signals=Signals(_URUGUAYAN_SIGNS, visible_to="partner", truth="free", orders="none"),
    phrases=(),
    scoring=_to(40),
    words="uruguayan",
)

# rules.md, section 19
_VENEZUELAN = replace(
    _URUGUAYAN,
    name="truco-venezolano",
    players=(2, 4),
    turnup=TurnUp(pieces=("11", "10"), numbers=(10, 9), stand_in="12"),
    ladder=(1, 3, 6, 9),
    remainder="last",
    envido=Envido(max_envido=2, max_real=0, falta="leader", fold_bonus=0),
    flor=Flor(kind="suit", claims=False, challenge=False, pays="own", reserved=True),
    signals=None,
    phrases=("come", "stay"),
    scoring=_to(24),
    words="venezuelan",
)

_VALENCIAN_SIGNS = (
    "ace-swords",
    "ace-clubs",
    "seven-swords",
    "seven-gold",
    "three",
    "high-envido",
    "thirty-three",
    "nothing",
)

# rules.md, section 18
_VALENCIAN = replace(
    _ordered(_ARGENTINE, "truc-valencia", "es22"),
    players=(2, 4),
    remainder="last",
    envido=Envido(max_envido=2, max_real=0, falta="malas-game", fold_bonus=1, settle="hand_end"),
    signals=Signals(_VALENCIAN_SIGNS, visible_to="partner", truth="free", orders="none"),
    phrases=(),
    scoring=_to(24),
    match=3,
    words="valencian",
)

_MANILHAS = ("manilha-clubs", "manilha-hearts", "manilha-spades", "manilha-diamonds", "three")
_FIXED_MANILHAS = ("zap", "seven-hearts", "ace-spades", "seven-diamonds", "three")
_MANILHA_SUITS = ("c", "h", "s", "d")

# rules.md, sections 9, 12 and 14
_PAULISTA = replace(
    _ordered(_CATALAN, "truco-paulista", "br40-vira"),
    players=(2, 4, 6),
    turnup=TurnUp(cycle=("4", "5", "6", "7", "Q", "J", "K", "A", "2", "3"), suits=_MANILHA_SUITS),
    short_deal=False,
    all_tied="draw",
    ladder=(1, 3, 6, 9, 12),
    cap="no_overkill",
    ask_window="b",
    accept="explicit",
    last_point=LastPoint(at=1, stake=3, decline=1, share=True),
    signals=Signals(_MANILHAS, visible_to="partner", truth="free", orders="none"),
    words="paulista",
)
_PAULISTA_CLEAN = replace(
    _PAULISTA,
    name="truco-paulista-clean",
    pack=_BRAZIL_24,
    order=ORDERS["br24-vira"][1],
    turnup=TurnUp(cycle=("Q", "J", "K", "A", "2", "3"), suits=_MANILHA_SUITS),
)
_MINEIRO_FIXED = replace(
    _ordered(_PAULISTA, "truco-mineiro", "br40"),
    turnup=None,
    signals=Signals(_FIXED_MANILHAS, visible_to="partner", truth="free", orders="none"),
    words="mineiro",
)
_MINEIRO_LOCAL = replace(
    _MINEIRO_FIXED,
    name="truco-mineiro-2",
    players=(2, 4),
    ladder=(2, 4, 6, 10, 12),
    last_point=LastPoint(at=2, stake=4, decline=2, share=True),
    match=3,
)

_PRESETS = (
    _CATALAN,
    _ordered(_CATALAN, "truc-catalan-moll", "es40-moll"),
    _LANES,
    _ordered(_LANES, "truc-lanes-36", "fr36"),
    _ordered(_LANES, "truc-lanes-rational", "fr32-rational"),
    _ordered(_LANES, "truc-lanes-8low", "fr32-8low"),
    _EXPLAINED,
    _ordered(_EXPLAINED, "le-truc-seven", "fr32-8low"),
    replace(_EXPLAINED, name="le-truc-two", ladder="+2"),
    replace(_EXPLAINED, name="le-truc-any", ladder="any"),
    replace(_EXPLAINED, name="le-truc-16", scoring=_to(16)),
    _FRENCH,
    _ordered(_FRENCH, "truc-french-8low", "fr32-8low"),
    replace(_FRENCH, name="truc-french-any", ladder="any"),
    replace(_FRENCH, name="truc-sackson", ladder="x2", scoring=_to(16)),
    _PARTNERSHIP,
    _TRUT,
    replace(_TRUT, name="trut-5", scoring=_to(5, points_per_unit=3)),
    _ordered(_TRUT, "trut-confrerie", "fr32-rational"),
    _ARGENTINE,
    replace(_ARGENTINE, name="truco-argentino-flor", flor=_FLOR),
    _SIX,
    replace(_SIX, name="truco-argentino-6-flor", flor=_FLOR),
    _URUGUAYAN,
    _VENEZUELAN,
    _VALENCIAN,
    _PAULISTA,
    _PAULISTA_CLEAN,
    _MINEIRO_FIXED,
    _ordered(_MINEIRO_FIXED, "truco-mineiro-clean", "br27"),
    _MINEIRO_LOCAL,
    _GAUDERIO,
    replace(_GAUDERIO, name="truco-gauderio-18", players=(2,), scoring=_to(18)),
    _PUT,
)


def presets() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(variant.name for variant in _PRESETS)


def preset(name: str) -> Variant:
    """Return the preset called `name`.

    Raises:
        VariantError: There is no preset of that name.
    """
    for variant in _PRESETS:
        if variant.name == name:
            return variant
    raise VariantError(f"variant: expected the name of a preset, got {name!r}{nearest_hint(name, presets())}")
