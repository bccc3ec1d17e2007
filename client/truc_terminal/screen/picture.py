"""The table as a picture: the seats around it, drawn cards, and beside one's own cards whatever else there is to know.

A function from the board to lines that fit a width and a height: without a clock, a terminal or a rule. One's own seat
is at the bottom, and the next player sits on the side that the game prescribes; a watcher sees the table from seat 0. The
cards of a trick lie side by side, each towards its seat, until the next trick begins. `drawing` says the same in rows.

Where there is little room, less is drawn and more is written. How much depends on the seats and the room alone, so that
the table stands still while a hand is played.

Cards are wide, with their pips, or narrow, with rank and suit. A court card has a figure instead of pips. In ASCII a pip is the
letter of the suit, and a figure is the rank.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from truc_terminal.replay_model.board import LaidCard, ShownHand
from truc_terminal.replay_model.faces import Faces, short, taker
from truc_terminal.screen.blocks import (
    Align,
    Block,
    beside,
    fitted,
    in_middle,
    lowered,
    text_of,
    width_of,
    wrapped,
)
from truc_terminal.screen.drawing import (
    MatchLook,
    Part,
    TableRow,
    duel_rows,
    glyphs_of,
    heard_rows,
    laid_parts,
    leader_rows,
    order_rows,
    own_value_rows,
    plain_row,
    score_line,
    sentence,
    short_label,
    turned_up_rows,
)
from truc_terminal.screen.glyphs import Frame, Glyphs
from truc_words import printable, score_label, shown_name

_LARGE: Final = 100
"""The fewest columns at which the cards on the table are drawn wide."""
_WIDE_OWN: Final = 72
"""The fewest columns at which one's own cards are drawn wide."""
_AROUND: Final = 60
"""The fewest columns at which the seats are drawn around the table; with fewer they are a list."""
_ROOM_FOR_ROWS: Final = 30
"""The fewest columns in which rows are put beside one's own cards and not under them."""
_LAID_WIDTH: Final = 5
"""The columns that a card takes in the list of seats."""
# Of a terminal of 24 rows three are for keys, of one of 10 a single one: there the table needs each row.
_ROWS_FOR_A_LINE_OF_KEYS: Final = 8
_MOST_LINES_OF_KEYS: Final = 3
_SPARE: Final = 2
"""The lines that are kept for rows below one's own cards."""
_GAP: Final = 2
_CROWDED: Final = 6
"""The fewest seats at which the cards of top and bottom lie one above the other, like those at the sides."""


class SeatPlaces(NamedTuple):
    """Who sits where, seen from the bottom; each side from top to bottom."""

    left: tuple[int, ...]
    top: int
    right: tuple[int, ...]


class CardSize(NamedTuple):
    """The size of a drawn card, in columns and lines, including its frame."""

    width: int
    height: int


WIDE: Final = CardSize(9, 5)
NARROW: Final = CardSize(5, 3)


class Layout(NamedTuple):
    """How much is drawn.

    Attributes:
        around: whether the seats are drawn around the table, or are a list.
        laid: the size of the cards on the table.
        own: the size of one's own cards; None if they are written.
    """

    around: bool
    laid: CardSize
    own: CardSize | None


_LAYOUTS: Final = (
    Layout(around=True, laid=WIDE, own=WIDE),
    Layout(around=True, laid=NARROW, own=WIDE),
    Layout(around=True, laid=NARROW, own=NARROW),
    Layout(around=False, laid=NARROW, own=NARROW),
    Layout(around=False, laid=NARROW, own=None),
)
"""From the largest to the smallest; if none fits, the table is written in rows."""


class Canvas(NamedTuple):
    """What is drawn, and with what: the characters, the columns, and how much is drawn."""

    board: ShownHand
    look: MatchLook
    glyphs: Glyphs
    width: int
    layout: Layout

    @property
    def laid(self) -> CardSize:
        """The size of the cards on the table."""
        return self.layout.laid

    @property
    def bottom(self) -> int:
        """The seat from which the table is seen."""
        return self.board.seat or 0

    def line(self, text: Text, align: Align = "left") -> Text:
        """Return a line as wide as the canvas."""
        return fitted(text, self.width, self.glyphs, align)


def picture(
    board: ShownHand, look: MatchLook, *, width: int, height: int, title: str = "", stands: bool = False
) -> Iterator[Text]:
    """Yield the lines of the table, none wider than `width`, no more than `height`; the more room the larger the cards.

    For a table that `stands` its last lines may be empty, so that it keeps its height while rows come and go.
    """
    # Names are others' words: none may write to the terminal or break a line.
    names = tuple(shown_name(name, seat) for seat, name in enumerate(look.names))
    look = look._replace(names=names)
    canvas = Canvas(board, look, glyphs_of(look.faces), width, _LAYOUTS[-1])
    drawn = (_lines(canvas._replace(layout=layout), height, title) for layout in _fitting(canvas))
    # The layouts come from the largest to the smallest.
    lines = next(filter(None, drawn), None) or _written(canvas, height, title)
    while not (stands or lines[-1].plain.strip()):
        lines.pop()
    for line in lines:
        line.rstrip()
        yield line


def _fitting(canvas: Canvas) -> Iterator[Layout]:
    """Yield the layouts that there are columns for."""
    for layout in _LAYOUTS:
        needed = _AROUND if layout.around else 0
        if layout.own == WIDE:
            needed = _WIDE_OWN
        if layout.laid == WIDE:
            needed = _LARGE
        if canvas.width >= needed:
            yield layout


def _lines(canvas: Canvas, height: int, title: str) -> list[Text] | None:
    """Return the table in a layout, with as much beside one's own cards as there is room for; None if it does not fit."""
    head = [_title(title, canvas), *_score(canvas)]
    head += _around(canvas) if canvas.layout.around else _listed(canvas)
    left = height - len(head)
    least = 1 if canvas.layout.own is None else canvas.layout.own.height
    if left < least:
        return None
    below = [*_below(canvas, left)]
    # Empty lines in the place of rows that may come, so that the table stands still while a hand is played.
    return [*head, *below, *[Text()] * (min(left, least + _SPARE) - len(below))]


def _score(canvas: Canvas) -> Iterator[Text]:
    label = canvas.look.speech.say("screen.score")
    return _rows([plain_row(label, score_line(canvas.board, canvas.look))], canvas)


def _written(canvas: Canvas, height: int, title: str) -> list[Text]:
    """Return the table in rows, for very little room: the score, what lies on the table, and one's own cards come first."""
    board, look = canvas.board, canvas.look
    score = [*_score(canvas)]
    if len(score) > 1:
        # Two long names would take a line from what lies on the table.
        score = [_score_alone(canvas)]
    on_table = TableRow(look.speech.say("screen.table"), tuple(laid_parts(board, look)))
    value = [*own_value_rows(board, look)]
    # The value stands in the line of the cards: a terminal of ten rows has none to spare.
    own = [
        row._replace(parts=(*row.parts, *((f"  {worth.label} {worth.parts[0][0]}", "") for worth in value)))
        for row in _own_row(canvas)
    ]
    first = [_title(title, canvas), *score, *_rows([on_table, *own], canvas)]
    others = (row for row in _details(canvas) if row not in value)
    return [*first, *_packed(others, height - len(first), canvas)][:height]


def _score_alone(canvas: Canvas) -> Text:
    """Return the score on one line, without names: one's own side comes first."""
    own, look = canvas.bottom % 2, canvas.look
    scores = (score_label(canvas.board.score[side], look.target, look.speech) for side in (own, 1 - own))
    return canvas.line(Text(" - ".join(scores)))


def rows_for_table(rows: int, *, is_taught: bool) -> int:
    """Return how many rows of a terminal a table may take that stands below what is told and above the options."""
    # Lessons are told above the table, a dozen lines at a time.
    told = rows // (2 if is_taught else 4)
    return max(1, rows - told - lines_of_keys(rows) - 1)


def lines_of_keys(rows: int) -> int:
    """Return how many lines are kept for the options on a terminal of so many rows, be there options or not."""
    return min(_MOST_LINES_OF_KEYS, max(1, rows // _ROWS_FOR_A_LINE_OF_KEYS))


def seat_places(seats: int, bottom: int, next_sits: Literal["left", "right"]) -> SeatPlaces:
    """Return where the other seats sit: the next in turn at the side `next_sits`, the one halfway round on top."""
    half = seats // 2
    others = [(bottom + n) % seats for n in range(1, seats)]
    if next_sits == "left":
        others.reverse()
    return SeatPlaces(
        left=tuple(others[half:]), top=others[half - 1], right=tuple(reversed(others[: half - 1]))
    )


def _title(title: str, canvas: Canvas) -> Text:
    edge = canvas.glyphs.across
    told = Text.assemble((edge * 2, "dim"), (f" {printable(title)} " if title else "", "bold"))
    line = fitted(told, min(told.cell_len, canvas.width), canvas.glyphs)
    return line.append(edge * (canvas.width - line.cell_len), "dim")


def _around(canvas: Canvas) -> Iterator[Text]:
    """Yield the table with its seats: one on top, those at the sides, one's own."""
    sitting = seat_places(canvas.board.seats, canvas.bottom, canvas.look.speech.local.next_sits)
    # First the cards in the middle: what is left is for the seats at the sides.
    laid = beside(*_cards_around(sitting, canvas), gap=1)
    side = canvas._replace(width=(canvas.width - laid[0].cell_len) // 2 - _GAP)
    yield canvas.line(_on_a_line(sitting.top, canvas), "center")
    yield from beside(
        _spread([_seat_block(seat, side, "right") for seat in sitting.left], len(laid), side.width),
        laid,
        _spread([_seat_block(seat, side, "left") for seat in sitting.right], len(laid), side.width),
        gap=_GAP,
    )
    yield canvas.line(_on_a_line(canvas.bottom, canvas), "center")


def _cards_around(sitting: SeatPlaces, canvas: Canvas) -> Iterator[Block]:
    """Yield the cards on the table in columns, each lying towards its seat, in no more room than that takes."""
    width, card = canvas.laid
    top, bottom = _laid_by(sitting.top, canvas), _laid_by(canvas.bottom, canvas)
    left, right = ([_laid_by(seat, canvas) for seat in seats] for seats in (sitting.left, sitting.right))
    if canvas.board.seats >= _CROWDED:
        columns = (left, [top, bottom], right)
        yield from (_spread(column, 2 * card, width) for column in columns)
        return
    lower = canvas.board.seats // 2
    yield from (_spread([block], card + lower, width) for block in left)
    yield lowered(top, 0, card + lower, width)
    yield lowered(bottom, lower, card + lower, width)
    yield from (_spread([block], card + lower, width) for block in right)


def _spread(blocks: Sequence[Block], height: int, width: int) -> Block:
    """Return blocks one under the other, each with the same share of a height."""
    shares = [in_middle(block, height // len(blocks), width) for block in blocks]
    return in_middle(tuple(line for share in shares for line in share), height, width)


def _seat_block(seat: int, canvas: Canvas, align: Align) -> Block:
    marks = [*_marks(seat, canvas)]
    if canvas.board.seats >= _CROWDED:
        marks = [Text(" " * _GAP).join(marks)]
    told = (_named(seat, canvas), _held(seat, canvas), *marks)
    return tuple(canvas.line(line, align) for line in told)


def _laid_by(seat: int, canvas: Canvas) -> Block:
    """Return a seat's card on the table, or its empty place."""
    trick = canvas.board.last_trick
    for player, card in trick.laid:
        if player == seat:
            return _face(card, canvas.laid, canvas, is_taking=seat == trick.best)
    place = Text(canvas.glyphs.place.center(canvas.laid.width), style="dim")
    return in_middle((place,), canvas.laid.height, canvas.laid.width)


def _laid_in_line(seat: int, canvas: Canvas) -> Text:
    trick = canvas.board.last_trick
    return text_of(
        part for each in trick.laid if each.seat == seat for part in _of_trick(each, trick.best, canvas)
    )


def _of_trick(laid: LaidCard, taker: int | None, canvas: Canvas) -> Iterator[Part]:
    """Yield a card of a trick, marked if it took the trick."""
    if laid.seat == taker:
        yield canvas.glyphs.taken_by, "bold"
    yield _part(laid.card, canvas)


def _face(card: str | None, size: CardSize, canvas: Canvas, *, is_taking: bool = False) -> Block:
    glyphs = canvas.glyphs
    edge = CardEdge(glyphs.taking, "bold") if is_taking else CardEdge(glyphs.frame)
    if card is None:
        return back_block(glyphs.back, size, edge)
    return card_block(card, canvas.look.faces, size, edge)


def _listed(canvas: Canvas) -> Iterator[Text]:
    """Yield a line for each seat, the next in turn first, one's own last."""
    seats = canvas.board.seats
    widest = min(width_of(canvas.look.names) + _GAP, canvas.width // 2)
    for seat in ((canvas.bottom + n) % seats for n in range(1, seats + 1)):
        parts = (
            fitted(_named(seat, canvas), widest, canvas.glyphs),
            fitted(_laid_in_line(seat, canvas), _LAID_WIDTH, canvas.glyphs),
            _on_a_line(seat, canvas, is_named=False),
        )
        yield canvas.line(Text(" ").join(parts))


def _on_a_line(seat: int, canvas: Canvas, *, is_named: bool = True) -> Text:
    parts = [_named(seat, canvas)] if is_named else []
    return Text(" " * _GAP).join(
        part for part in (*parts, _held(seat, canvas), *_marks(seat, canvas)) if part
    )


def _named(seat: int, canvas: Canvas) -> Text:
    name = canvas.look.names[seat]
    return Text(f"{canvas.glyphs.turn} {name}", style="bold") if seat in canvas.board.acting else Text(name)


def _held(seat: int, canvas: Canvas) -> Text:
    """Return what another seat holds, as far as known here."""
    cards = canvas.board.held_by(seat) if seat != canvas.board.seat else ()
    return Text(" ").join(text_of([_part(card, canvas)]) for card in cards)


def _part(card: str | None, canvas: Canvas) -> Part:
    """Return a card by rank and suit, or its back."""
    if card is None:
        return canvas.glyphs.back, "dim"
    return canvas.look.faces.card(card), canvas.look.faces.colour(card)


def _marks(seat: int, canvas: Canvas) -> Iterator[Text]:
    """Yield the commitment to a seat's cards, ticked once they are open, and whether it deals."""
    memory, glyphs = canvas.board.memory, canvas.glyphs
    if seat < len(memory.digests):
        mark, style = (glyphs.opened, "green") if memory.is_open else (glyphs.sealed, "dim")
        yield Text(f"{mark} {short(memory.digests[seat])}", style=style)
    if seat == canvas.board.dealer:
        yield Text(canvas.look.speech.term("dealer"), style="italic")


def _below(canvas: Canvas, height: int) -> Iterator[Text]:
    """Yield one's own cards, and beside them, if there is room, what else there is to know."""
    size, own = canvas.layout.own, _own(canvas.board)
    cards = () if size is None else beside(*(_face(card, size, canvas) for card in own), gap=1)
    left = canvas.width - cards[0].cell_len - _GAP if cards else canvas.width
    if size is None:
        held = [*_rows([*_own_row(canvas)], canvas)]
        yield from (*held, *_packed(_details(canvas), height - len(held), canvas))
    elif not cards or left < _ROOM_FOR_ROWS:
        rows = [*_details(canvas)] if cards else [*_own_row(canvas), *_details(canvas)]
        yield from (*cards, *[*_rows(rows, canvas)][: height - len(cards)])
    else:
        told = tuple(_rows([*_details(canvas)], canvas._replace(width=left)))
        yield from beside(cards, told[:height], gap=_GAP)


def _own_row(canvas: Canvas) -> Iterator[TableRow]:
    """Yield one's own cards as a row, if one has a seat."""
    if canvas.board.seat is not None:
        parts = [part for card in _own(canvas.board) for part in (_part(card, canvas), ("  ", ""))]
        yield TableRow(canvas.look.speech.say("screen.cards"), tuple(parts))


def _own(board: ShownHand) -> Sequence[str | None]:
    """Return one's own cards, face down in a blind hand."""
    return board.held_by(board.seat) if board.is_unseen else board.cards


def _details(canvas: Canvas) -> Iterator[TableRow]:
    """Yield what else there is to know, the most important first."""
    board, look = canvas.board, canvas.look
    said = look.speech.catalogue.screen
    yield plain_row(said["stake"], look.speech.stake(board.stake))
    yield from _offers(canvas)
    yield from own_value_rows(board, look)
    # Where little is told, the cards that are raised come before what raises them.
    around = [*turned_up_rows(board, look)]
    yield from around if canvas.layout.own else reversed(around)
    yield from duel_rows(board, look)
    yield from _tricks(canvas)
    for rows in (heard_rows, order_rows, leader_rows):
        yield from rows(board, look)
    if board.is_unseen:
        yield plain_row(said["cards"], said["unseen"])
    yield from _proven(canvas)


def _offers(canvas: Canvas) -> Iterator[TableRow]:
    """Yield what waits for an answer, in the sentences that told it."""
    label = canvas.look.speech.say("screen.open")
    for offer in canvas.board.offers:
        yield TableRow(label, ((sentence(offer, canvas.board, canvas.look) or "", "bold yellow"),))
        label = ""


def _proven(canvas: Canvas) -> Iterator[TableRow]:
    """Yield how many of the hands so far had all their cards opened and checked."""
    if hands := canvas.board.proven_hands:
        tick, style = (f"{canvas.glyphs.opened} ", "green") if all(hands) else ("", "")
        label = canvas.look.speech.say("screen.proven")
        yield TableRow(label, ((f"{tick}{sum(hands)}/{len(hands)}", style),))


def _tricks(canvas: Canvas) -> Iterator[TableRow]:
    """Yield each finished trick: its cards in the order played, and who took it."""
    board, label = canvas.board, canvas.look.speech.say("screen.tricks")
    for trick in board.tricks:
        cards = [part for each in trick.laid for part in (*_of_trick(each, trick.best, canvas), (" ", ""))]
        taken = taker(trick.side, canvas.look.names, canvas.look.speech)
        yield TableRow(label, (*cards, (f" {taken}", "")))
        label = ""


def _packed(rows: Iterable[TableRow], height: int, canvas: Canvas) -> Iterator[Text]:
    """Yield as many rows as fit into a height, several on a line; where there is no room for one, the next is tried."""
    lines: list[Text] = []
    for row in rows:
        told = Text.assemble((f"{short_label(row.label)} " if row.label else "", "dim"), text_of(row.parts))
        told.rstrip()
        if lines and lines[-1].cell_len + _GAP + told.cell_len <= canvas.width:
            lines[-1].append(" " * _GAP).append_text(told)
        elif len(lines) < height:
            lines.append(told)
    yield from map(canvas.line, lines)


def _rows(rows: Sequence[TableRow], canvas: Canvas) -> Iterator[Text]:
    """Yield the lines of rows, with their texts aligned and wrapped; a label that is too long loses what is in brackets."""
    # No label may leave its text less than half of the room.
    most = canvas.width // 2 - _GAP
    labels = [row.label if cell_len(row.label) <= most else short_label(row.label) for row in rows]
    widest = min(width_of(labels), most)
    for row, told in zip(rows, labels, strict=True):
        label = Text(told, style="dim")
        for line in wrapped(text_of(row.parts), canvas.width - widest - _GAP):
            yield canvas.line(Text(" " * _GAP).join([fitted(label, widest, canvas.glyphs), line]))
            label = Text()


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


class CardEdge(NamedTuple):
    """How a card is framed: with which characters, and in which style."""

    frame: Frame
    style: str = "dim"


def card_block(card: str, faces: Faces, size: CardSize, edge: CardEdge) -> Block:
    """Return a card face up."""
    inner = size.width - 2
    colour = f"bold {faces.colour(card)}"
    if size == NARROW:
        return _framed([faces.card(card).rjust(inner)], "", colour, edge)
    return _framed([row.center(inner) for row in _pips(card, faces)], faces.rank(card), colour, edge)


def back_block(back: str, size: CardSize, edge: CardEdge) -> Block:
    """Return a card face down, filled with a character."""
    return _framed([back * (size.width - 2)] * (size.height - 2), "", "dim", edge)


def _pips(card: str, faces: Faces) -> Iterator[str]:
    rank, pip = card[:-1], faces.card(card)[-1]
    figure = (_SPANISH_FIGURES if faces.is_spanish else _FRENCH_FIGURES).get(rank)
    if figure is None and rank in _PIPS:
        yield from (_ROWS[count].replace("*", pip) for count in _PIPS[rank])
        return
    yield f"{pip}    "
    yield faces.rank(card) if figure is None or faces.is_plain else figure
    yield f"    {pip}"


def _framed(rows: list[str], corner: str, style: str, edge: CardEdge) -> Block:
    """Return rows in a frame, with the text `corner` in two of its corners."""
    inner = len(rows[0])
    (left, right, low_left, low_right), across, upright = edge.frame
    line = across * (inner - len(corner))
    middle = [Text.assemble((upright, edge.style), (row, style), (upright, edge.style)) for row in rows]
    top = Text.assemble((left, edge.style), (corner, style), (line + right, edge.style))
    bottom = Text.assemble((low_left + line, edge.style), (corner, style), (low_right, edge.style))
    return (top, *middle, bottom)
