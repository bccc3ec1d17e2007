"""Drawings of cards: wide ones with their pips, narrow ones with rank and suit, and backs.

A court card has a figure instead of pips. In ASCII a pip is the letter of the suit, and a figure is the rank.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.text import Text

from truc_terminal.replay_model.faces import Faces
from truc_terminal.screen.blocks import Block
from truc_terminal.screen.glyphs import Frame


class CardSize(NamedTuple):
    """The size of a drawn card, in columns and lines, including its frame."""

    width: int
    height: int


WIDE: Final = CardSize(9, 5)
NARROW: Final = CardSize(5, 3)

_ROWS: Final = {0: "", 1: "*", 2: "*   *", 3: "* * *", 4: "* * * *"}
"""A row of pips, by their number."""
_PIPS: Final = {
    "A": (0, 1, 0),
    "1": (0, 1, 0),
    "2": (1, 0, 1),
    "3": (1, 1, 1),
    "4": (2, 0, 2),
    "5": (2, 1, 2),
    "6": (2, 2, 2),
    "7": (2, 3, 2),
    "8": (3, 2, 3),
    "9": (3, 3, 3),
    "10": (3, 4, 3),
}
"""The number of pips in each row of a card, by its rank."""
_SPANISH_FIGURES: Final = {"10": "♙", "11": "♘", "12": "♔"}
_FRENCH_FIGURES: Final = {"J": "♙", "Q": "♕", "K": "♔"}


class Edge(NamedTuple):
    """How a card is framed: with which characters, and in which style."""

    frame: Frame
    style: str = "dim"


def card_block(card: str, faces: Faces, size: CardSize, edge: Edge) -> Block:
    """Return a card face up."""
    inner = size.width - 2
    colour = f"bold {faces.colour(card)}"
    if size == NARROW:
        return _framed([faces.card(card).rjust(inner)], "", colour, edge)
    return _framed([row.center(inner) for row in _face(card, faces)], faces.rank(card), colour, edge)


def back_block(back: str, size: CardSize, edge: Edge) -> Block:
    """Return a card face down, filled with a character."""
    return _framed([back * (size.width - 2)] * (size.height - 2), "", "dim", edge)


def _face(card: str, faces: Faces) -> Iterator[str]:
    rank, pip = card[:-1], faces.card(card)[-1]
    figure = (_SPANISH_FIGURES if faces.is_spanish else _FRENCH_FIGURES).get(rank)
    if figure is None and rank in _PIPS:
        yield from (_ROWS[count].replace("*", pip) for count in _PIPS[rank])
        return
    yield f"{pip}    "
    yield faces.rank(card) if figure is None or faces.is_plain else figure
    yield f"    {pip}"


def _framed(rows: list[str], corner: str, style: str, edge: Edge) -> Block:
    """Return rows in a frame, with the text `corner` in two of its corners."""
    inner = len(rows[0])
    (left, right, low_left, low_right), across, upright = edge.frame
    line = across * (inner - len(corner))
    middle = [Text.assemble((upright, edge.style), (row, style), (upright, edge.style)) for row in rows]
    top = Text.assemble((left, edge.style), (corner, style), (line + right, edge.style))
    bottom = Text.assemble((low_left + line, edge.style), (corner, style), (low_right, edge.style))
    return (top, *middle, bottom)
