"""Pages of rules and of words for a terminal: no marks of Markdown, tables in columns, suits as they lie on the table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from rich.cells import cell_len, set_cell_size

from truc_terminal.replay_model.faces import Faces

_GAP: Final = "  "
_FEW: Final = 2
_HEADING: Final = re.compile(r"#+ ")
_RULER: Final = re.compile(r"\|[-|]+\|")
_LINK: Final = re.compile(r"\[([^]]*)\]\([^)]*\)")
_EMPHASIS: Final = re.compile(r"\*{1,2}(?=\S)([^*]+)\*{1,2}|`([^`]+)`")
_SPANISH: Final = re.compile(r"(?<![\w`])(?:1[0-2]|[1-7])[oceb](?!\w)|`[oceb]`(?= \()")
_FRENCH: Final = re.compile(
    r"(?<![\w`])(?:(?:10|[2-9KQJVDR])[shdc](?!\w)|A[shdc](?=[,.]? (?:\w{1,2}[shdc]\b))|(?<=[shdc], )A[shdc](?!\w))|`[shdc]`(?= \()"
)
"""Cards, and suits where they are explained; an ace of spades is a word of English too, unless another card is beside it."""


def rendered(lines: Iterable[str], faces: Faces, width: int) -> Iterator[str]:
    """Yield a page as lines; a table too wide for the terminal is told row by row."""
    for is_table, block in groupby(lines, lambda line: line.startswith("|")):
        if is_table:
            yield from _table([_cells(line, faces) for line in block if not _RULER.fullmatch(line)], width)
        else:
            yield from (_plain(line, faces) for line in block)


def _plain(line: str, faces: Faces) -> str:
    cards = _SPANISH if faces.is_spanish else _FRENCH
    shown = cards.sub(lambda found: _card(found[0].strip("`"), faces), _HEADING.sub("", line))
    bullet = shown[:2] if shown.startswith("* ") else ""
    text = _EMPHASIS.sub(lambda found: found[1] or found[2], _LINK.sub(r"\1", shown[len(bullet) :]))
    return bullet + text


def _card(name: str, faces: Faces) -> str:
    return name[:-1] + faces.suit(name[-1])


def _cells(line: str, faces: Faces) -> list[str]:
    return [_plain(cell.strip(), faces) for cell in line.strip("|").split("|")]


def _table(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    heads, *others = rows
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
        for row in rows:
            yield _GAP.join(map(set_cell_size, row, widths)).rstrip()
        return
    for first, *rest in others:
        told = [(head, cell) for head, cell in zip(heads[1:], rest, strict=True) if cell]
        # one or two cells need no heading to be understood
        named = [f"{head}: {cell}" if len(rest) > _FEW else cell for head, cell in told]
        yield f"* {first}: {'; '.join(named)}"
