"""The table as lines of text: score, stake, tricks, cards, and whatever else the game has.

Apart from score, stake, tricks, table and one's own cards, a row appears only while there is something to show in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Final, NamedTuple

from rich.text import Text

from truc_client.happenings import Fact
from truc_rules import Variant
from truc_terminal.replay_model.board import LaidTrick, ShownHand
from truc_terminal.replay_model.faces import Faces, short, stake_words, taker
from truc_terminal.screen.glyphs import ASCII, MANY, Glyphs
from truc_words import Speech, score_label, side_name, sign_label, tell
from truc_words.primer import Primer

# Columns of a label, at least: rows come and go without moving the others, as long as their labels fit.
_WIDTH: Final = 8

Part = tuple[str, str]


class MatchLook(NamedTuple):
    """What stays the same in a match: the names, how cards look, and how the player is spoken to.

    Also which signs and phrases the game has, which cards a turned-up card raises, the pack, the game's name and
    its rules.
    """

    names: tuple[str, ...]
    faces: Faces
    speech: Speech
    target: int
    signs: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    raised: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    pack: tuple[str, ...] = ()
    variant: str = ""
    rules: Variant | None = None


class TableRow(NamedTuple):
    """A line of the table: its label, and its parts, each with a style."""

    label: str
    parts: tuple[Part, ...]


def short_label(label: str) -> str:
    """Return a label without its explanation in brackets."""
    return label.partition(" (")[0]


def glyphs_of(faces: Faces) -> Glyphs:
    """Return the characters to draw with if cards look like this."""
    return ASCII if faces.is_plain else MANY


def score_line(board: ShownHand, look: MatchLook) -> str:
    """Return the score of both sides."""
    return look.speech.separated(_of_side(side, board, look) for side in (0, 1))


def _of_side(side: int, board: ShownHand, look: MatchLook) -> str:
    score = score_label(board.score[side], look.target, look.speech)
    return look.speech.labelled(side_name(side, look.names, look.speech), score)


def sentence(fact: Fact, board: ShownHand, look: MatchLook) -> str | None:
    """Return the sentence for a fact, given the board after it; None if it has none."""
    # What the asker gets if it is declined: the stake as it is, while the fact has the one that is asked for.
    now = {"declined": board.stake} if fact["what"] == "stake_asked" else {}
    return tell({**fact, **now}, look.names, look.faces.card, look.speech)


def committed_text(digests: Sequence[bytes], look: MatchLook) -> str:
    """Return what the server is bound to at a deal, in short."""
    return "  ".join(f"{name} {short(digest)}" for name, digest in zip(look.names, digests, strict=False))


def opened_lines(board: ShownHand, look: MatchLook, hands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the opened cards of each seat, which were checked against its commitment."""
    tick = glyphs_of(look.faces).opened
    for name, digest, cards in zip_longest(look.names, board.memory.digests, hands):
        opened = " ".join(look.faces.card(card) for card in cards or ())
        yield f"  {tick} {name} {short(digest or b'')}: {opened}"


def table_text(board: ShownHand, look: MatchLook) -> Text:
    """Return the table before a decision."""
    rows = [*_rows(board, look)]
    width = max(_WIDTH, *(len(row.label) + 2 for row in rows))
    text = Text()
    for number, row in enumerate(rows):
        text.append(("\n" if number else "") + row.label.ljust(width))
        for part, style in row.parts or (("-", ""),):
            text.append(part, style)
    return text


def _rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    said = look.speech.catalogue.screen
    yield plain_row(said["score"], score_line(board, look))
    yield from _roles(board, look)
    yield plain_row(said["stake"], stake_words(board, look.names, look.speech))
    yield from turned_up_rows(board, look)
    yield from duel_rows(board, look)
    yield plain_row(said["tricks"], _tricks(board, look))
    yield TableRow(said["table"], tuple(laid_parts(board, look)))
    yield from heard_rows(board, look)
    yield from order_rows(board, look)
    for seat, _ in board.memory.partners:
        left = tuple(card_part(card, look) for card in board.held_by(seat) if card is not None)
        yield TableRow(said["partner"].format(seat=look.names[seat]), left)
    if board.seat is not None:
        yield _own(board, look)
        yield from own_value_rows(board, look)


def turned_up_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield the turn-up, and the cards that it raises."""
    if board.turned_up is None:
        return
    yield TableRow(look.speech.term("turn-up"), (card_part(board.turned_up, look),))
    if raised := look.raised.get(board.turned_up):
        has_pieces = look.rules is not None and bool(look.rules.counts_by_turn_up)
        said = look.speech.say("screen.pieces" if has_pieces else "screen.raised")
        yield TableRow(said, tuple(card_part(card, look) for card in raised))


def duel_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield who plays whom, if two seats play each other."""
    if board.duel is not None:
        yield plain_row(look.speech.term("duel"), " - ".join(look.names[seat] for seat in board.duel))


def plain_row(label: str, text: str) -> TableRow:
    """Return a row without styles."""
    return TableRow(label, ((text, ""),) if text else ())


def _roles(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    if board.dealer is not None:
        yield plain_row(look.speech.term("dealer"), look.names[board.dealer])
        yield from leader_rows(board, look)


def leader_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield the seats that lead their sides, if any do."""
    role = look.speech.local.leaders
    if seats := board.leaders(role):
        yield plain_row(look.speech.term(role), ", ".join(look.names[seat] for seat in seats))


def _tricks(board: ShownHand, look: MatchLook) -> str:
    """Return who took each trick, and with which card."""
    return look.speech.separated(
        taker(trick.side, look.names, look.speech) + _taking_card(trick, look) for trick in board.tricks
    )


def _taking_card(trick: LaidTrick, look: MatchLook) -> str:
    card = next((card for seat, card in trick.laid if seat == trick.best), None)
    return f" ({look.faces.card(card)})" if card else ""


def laid_parts(board: ShownHand, look: MatchLook) -> Iterator[Part]:
    """Yield the cards on the table, each after the name of its seat."""
    face_down = look.speech.say("screen.face_down")
    for seat, card in board.laid:
        yield look.speech.labelled(look.names[seat], ""), ""
        yield (f"{face_down}  ", "dim") if card is None else card_part(card, look)


def card_part(card: str, look: MatchLook) -> Part:
    """Return a card by rank and suit, with space after it."""
    return f"{look.faces.card(card)}  ", look.faces.colour(card)


def sign_of(word: str, look: MatchLook) -> str:
    """Return the name of a sign."""
    return sign_label(word, look.speech.lang, look.speech.words)


def heard_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield the values said and the signs seen."""
    yield from said_value_rows(board, look)
    if board.memory.signs:
        signs = (
            look.speech.labelled(look.names[seat], sign_of(word, look)) for seat, word in board.memory.signs
        )
        yield plain_row(look.speech.say("screen.signs"), ", ".join(signs))


def said_value_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield the values said, each after the name of its seat."""
    if board.memory.values:
        values = (look.speech.labelled(look.names[seat], n) for seat, n in board.memory.values)
        yield plain_row(look.speech.say("screen.values"), ", ".join(values))


def order_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield the orders in force."""
    if board.orders:
        given = ", ".join(f"{order} ({look.names[seat]})" for seat, order in board.orders)
        yield plain_row(look.speech.say("screen.order"), given)


def own_value_rows(board: ShownHand, look: MatchLook) -> Iterator[TableRow]:
    """Yield what one's own cards are worth in the bets on values, where the game has them and the cards are known."""
    # A value of some of the cards would be another one.
    known = [card for card in board.own if card is not None]
    if look.rules is not None and known and len(known) == len(board.own):
        worth = Primer(look.rules).worth(known, board.turned_up)
        if worth is not None:
            words = look.speech.local
            label = words.reasons.get(worth[0], words.moves.get(worth[0], worth[0]))
            yield plain_row(label, str(worth[1]))


def _own(board: ShownHand, look: MatchLook) -> TableRow:
    said = look.speech.catalogue.screen
    if board.is_unseen:
        return plain_row(said["cards"], said["unseen"])
    return TableRow(said["cards"], tuple(card_part(card, look) for card in board.cards))
