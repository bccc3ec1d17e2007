"""Blocks of text: lines of equal width, to be put beside and under each other.

Widths are in columns of a terminal, of which some characters take two.
"""

from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import zip_longest
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from truc_terminal.screen.glyphs import Glyphs
from truc_terminal.screen.wrapping import glued, unglued

Block = tuple[Text, ...]
Align = Literal["left", "center", "right"]


def fitted(text: Text, width: int, glyphs: Glyphs, align: Align = "left") -> Text:
    """Return a line of exactly this width; one that is too long is cut."""
    line = text.copy()
    line.truncate(max(0, width), overflow=glyphs.too_long)
    room = max(0, width - line.cell_len)
    before = {"left": 0, "center": room // 2, "right": room}[align]
    line.pad_left(before)
    line.pad_right(room - before)
    return line


def beside(*blocks: Block, gap: int = 0) -> Block:
    """Return blocks side by side, all filled up to the height of the tallest."""
    widths = [max((line.cell_len for line in block), default=0) for block in blocks]
    rows = zip_longest(*blocks)
    return tuple(
        Text(" " * gap).join(
            Text(" " * width) if line is None else line for line, width in zip(row, widths, strict=True)
        )
        for row in rows
    )


def lowered(block: Block, above: int, height: int, width: int) -> Block:
    """Return a block with `above` empty lines above it, filled up to a height."""
    empty = Text(" " * width)
    return (*[empty] * above, *block, *[empty] * (height - above - len(block)))


def in_middle(block: Block, height: int, width: int) -> Block:
    """Return a block centred vertically in a height."""
    return lowered(block, max(0, height - len(block)) // 2, height, width)


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Yield the lines of a text, wrapped between words."""
    line = Text()
    for word in _words(text):
        if line and line.cell_len + 1 + word.cell_len > width:
            yield line
            line = Text()
        line = Text(" ").join([line, word]) if line else word
    yield line


def _words(text: Text) -> Iterator[Text]:
    line = text.copy()
    line.plain = glued(text.plain)
    for word in line.split(" ", allow_blank=True):
        # Each word may have a no-break space in it, which is to be an ordinary one again.
        (word.plain,) = unglued([word.plain])
        yield word


def text_of(parts: Iterable[tuple[str, str]]) -> Text:
    """Return parts, each with a style, as one text."""
    text = Text()
    for part, style in parts:
        text.append(part, style)
    return text


def coded(lines: Iterable[Text]) -> str:
    """Return lines with their styles as the codes that terminals obey."""
    # Whatever the environment says of colours: the prompt leaves out what its terminal does not show.
    console = Console(file=StringIO(), force_terminal=True, color_system="standard", _environ={})
    with console.capture() as capture:
        for line in lines:
            console.print(line, soft_wrap=True)
    return capture.get()


def width_of(labels: Iterable[str]) -> int:
    """Return the width of the widest label."""
    return max(map(cell_len, labels), default=0)
