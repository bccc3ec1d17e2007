"""Cards drawn as SVG, Spanish and French: a symbol for every card of a pack, to be used by name in a page.

All drawings are made of the shapes here; from outside come only the names of cards, escaped.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from markupsafe import Markup

from truc_words import Speech

_INDEX: Final = Markup(
    '<g id="index-{name}"><text x="10.5" y="17" class="rank"{narrow}>{rank}</text>'
    '<use href="#suit-{suit}" x="6" y="20" width="9" height="9"/></g>'
)
_SYMBOL: Final = Markup(
    '<symbol id="card-{name}" viewBox="0 0 64 96" class="ink-{ink}">'
    '<rect x=".5" y=".5" width="63" height="95" rx="6" class="paper"/>{frame}{middle}'
    '{index}<use href="#index-{name}" transform="rotate(180 32 48)"/></symbol>'
)
_NARROW: Final = Markup(' textLength="11" lengthAdjust="spacingAndGlyphs"')
_PIP: Final = Markup('<use href="#suit-{suit}" x="{x}" y="{y}" width="{size}" height="{size}"{turned}/>')
_TURNED: Final = Markup(' transform="rotate(180 {x} {y})"')
_FIGURE: Final = Markup('<use href="#figure-{figure}" x="16" y="20" width="32" height="56"/>')
_FRAME: Final = Markup('<rect x="3.5" y="3.5" width="57" height="89" rx="4" class="frame"/>{gaps}')
_GAP: Final = Markup('<path d="M{x} 3.5h4M{x} 92.5h4" class="gap"/>')

_MIDDLE: Final = 48
_EDGES: Final = ((23, 25), (41, 25), (23, 71), (41, 71))
_SIX: Final = (*_EDGES, (23, 48), (41, 48))
_EIGHT: Final = tuple((x, y) for y in (20, 38, 58, 76) for x in (24, 40))
_PIPS: Final[Mapping[str, tuple[tuple[float, float], ...]]] = {
    "2": ((32, 26), (32, 70)),
    "3": ((32, 24), (32, 48), (32, 72)),
    "4": _EDGES,
    "5": (*_EDGES, (32, 48)),
    "6": _SIX,
    "7": (*_SIX, (32, 36.5)),
    "8": (*_SIX, (32, 36.5), (32, 59.5)),
    "9": (*_EIGHT, (32, 48)),
    "10": (*_EIGHT, (32, 29), (32, 67)),
}
"""The centres of the pips, by rank."""


class Style(NamedTuple):
    """How a kind of pack is drawn.

    Attributes:
        figures: the picture of each rank that has one.
        shapes: the drawing of each suit, in a square of side 20 around 0.
        inks: the name of each suit's colour.
        gaps: where the frame of each suit is broken, as on Spanish cards; a pack without gaps has no frame.
        is_turned: whether pips in the lower half are upside down.
    """

    figures: Mapping[str, str]
    shapes: Mapping[str, Markup]
    inks: Mapping[str, str]
    gaps: Mapping[str, tuple[int, ...]]
    is_turned: bool


_SPANISH: Final = Style(
    figures={"10": "jack", "11": "knight", "12": "king"},
    shapes={
        "o": Markup(
            '<circle r="9"/><circle r="6.6" class="inlay"/><circle r="5"/>'
            '<path d="M0-4.4L1.2-1.2L4.4 0L1.2 1.2L0 4.4L-1.2 1.2L-4.4 0L-1.2-1.2Z" class="inlay"/>'
        ),
        "c": Markup(
            '<path d="M-7-9H7C7-1.5 4.6 1 1.7 2V5L5.4 9H-5.4L-1.7 5V2C-4.6 1-7-1.5-7-9Z"/>'
            '<path d="M-5-6.6H5M-3.6-3.4H3.6" class="inlay line"/>'
        ),
        "e": Markup(
            '<path d="M0-9.8L1.7-6.8V3H-1.7V-6.8Z"/><path d="M-5.4 3H5.4V5H-5.4ZM-1.1 5H1.1V8H-1.1Z"/>'
            '<circle cy="8.4" r="1.5"/><path d="M0-7V2.4" class="inlay line"/>'
        ),
        "b": Markup(
            '<path d="M-3-9Q0-11 3-9Q5.4-5 3.4 0L1.6 9Q0 10.4-1.6 9L-3.4 0Q-5.4-5-3-9Z"/>'
            '<path d="M-3.2-2L-5.6-3.4L-5-.6L-2.8 1ZM3.2-4.4L6-5.6L5.4-3L3.4-1.6Z"/>'
            '<path d="M-1.2-7.4V-4.6M1.2-3V-.4M-.4 2V4.6" class="inlay line"/>'
        ),
    },
    inks={"o": "gold", "c": "red", "e": "blue", "b": "green"},
    gaps={"o": (), "c": (30,), "e": (22, 38), "b": (16, 30, 44)},
    is_turned=False,
)
_FRENCH: Final = Style(
    figures={"J": "jack", "Q": "queen", "K": "king"},
    shapes={
        "h": Markup(
            '<path d="M0 9C-10 1.5-9.4-8-4.2-8C-1.8-8-.4-6.4 0-4.6C.4-6.4 1.8-8 4.2-8C9.4-8 10 1.5 0 9Z"/>'
        ),
        "d": Markup(
            '<path d="M0-9.6C2-5.6 4.4-2.6 7 0C4.4 2.6 2 5.6 0 9.6C-2 5.6-4.4 2.6-7 0C-4.4-2.6-2-5.6 0-9.6Z"/>'
        ),
        "s": Markup(
            '<path d="M0-9.4C3-4.4 8.4-1.6 8.4 2.8C8.4 6.6 3.6 7.6 1 4.4C1.2 7 2 8.2 3.4 9.2H-3.4'
            'C-2 8.2-1.2 7-1 4.4C-3.6 7.6-8.4 6.6-8.4 2.8C-8.4-1.6-3-4.4 0-9.4Z"/>'
        ),
        "c": Markup(
            '<circle cy="-4.8" r="4.2"/><circle cx="-4.6" cy="1.6" r="4.2"/><circle cx="4.6" cy="1.6" r="4.2"/>'
            '<path d="M-1.4-2H1.4V3C1.4 6.6 2 8.2 3.4 9.2H-3.4C-2 8.2-1.4 6.6-1.4 3Z"/>'
        ),
    },
    inks={"h": "red", "d": "red", "s": "black", "c": "black"},
    gaps={},
    is_turned=True,
)

_BODY: Final = Markup(
    '<path d="M3 56C3 38 9 31 16 31S29 38 29 56Z"/><path d="M12 33L16 56L20 33Z" class="inlay"/>'
)
_FACE: Final = Markup(
    '<circle cx="16" cy="21" r="8" class="skin"/>'
    '<path d="M13 21v1.4M19 21v1.4M14 25.4q2 1.4 4 0" class="features"/>'
)
_LONG_HAIR: Final = Markup('<path d="M6 33C4 8 28 8 26 33Z" class="hair"/>')
_FIGURES: Final = {
    "jack": _BODY
    + _FACE
    + Markup('<path d="M6.6 18C7 9 25 9 25.4 18Q16 13.4 6.6 18Z"/><path d="M23 12q6-4 5-9q-6 1-8 8z"/>'),
    "knight": _BODY
    + _FACE
    + Markup(
        '<path d="M7 21C5 7 27 7 25 21H21.4C22 15.6 10 15.6 10.6 21Z"/><path d="M16 10q-2-8 7-9q-1 7-5 9z"/>'
    ),
    "queen": _BODY
    + _LONG_HAIR
    + _FACE
    + Markup('<path d="M8.6 14L7 5L12 9L16 3L20 9L25 5L23.4 14Q16 11 8.6 14Z"/>'),
    "king": _BODY
    + _FACE
    + Markup(
        '<path d="M8.4 23Q10 36 16 36T23.6 23Q22 28.6 16 28.6T8.4 23Z" class="hair"/>'
        '<path d="M7.6 15L6 3L11 9L16 1L21 9L26 3L24.4 15Q16 11.6 7.6 15Z"/>'
    ),
}


def style_of(pack: tuple[str, ...]) -> Style:
    """Return how the cards of a pack are drawn."""
    return _SPANISH if any(card.endswith("o") for card in pack) else _FRENCH


def symbols(pack: tuple[str, ...], speech: Speech) -> Markup:
    """Return the definitions of all cards of a pack, `card-NAME`, and of their parts."""
    style = style_of(pack)
    suits = Markup("").join(
        Markup('<symbol id="suit-{}" viewBox="-10 -10 20 20">{}</symbol>').format(suit, shape)
        for suit, shape in style.shapes.items()
    )
    figures = Markup("").join(
        Markup('<symbol id="figure-{}" viewBox="0 0 32 56">{}</symbol>').format(name, _FIGURES[name])
        for name in style.figures.values()
    )
    return suits + figures + Markup("").join(_card(name, speech.card(name)[:-1], style) for name in pack)


def _card(name: str, written: str, style: Style) -> Markup:
    rank, suit = name[:-1], name[-1]
    gaps = Markup("").join(_GAP.format(x=x) for x in style.gaps.get(suit, ()))
    return _SYMBOL.format(
        name=name,
        suit=suit,
        ink=style.inks[suit],
        frame=_FRAME.format(gaps=gaps) if style.gaps else "",
        middle=_middle(rank, suit, style),
        index=_INDEX.format(name=name, rank=written, suit=suit, narrow=_NARROW if len(written) > 1 else ""),
    )


def _middle(rank: str, suit: str, style: Style) -> Markup:
    if rank in style.figures:
        return _FIGURE.format(figure=style.figures[rank]) + _pip(50, 16, suit, 11) + _pip(14, 80, suit, 11)
    if rank in _PIPS:
        # More than six need smaller ones, or they would touch.
        size = 14 if len(_PIPS[rank]) > len(_SIX) else 16
        return Markup("").join(_pip(x, y, suit, size, is_turned=style.is_turned) for x, y in _PIPS[rank])
    return _pip(32, 48, suit, 36)


def _pip(x: float, y: float, suit: str, size: int, *, is_turned: bool = False) -> Markup:
    turned = _TURNED.format(x=x, y=y) if is_turned and y > _MIDDLE else ""
    return _PIP.format(suit=suit, x=x - size / 2, y=y - size / 2, size=size, turned=turned)
